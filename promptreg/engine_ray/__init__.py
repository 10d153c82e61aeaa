"""`compare --engine ray`: calls and scoring on a Ray cluster. Imported only when asked for; needs the extra `[ray]`."""
