"""The command line: one thin module per command; each parses, calls one function and prints."""
