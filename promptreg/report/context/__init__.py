"""The pages of `promptreg context test` and `promptreg context window`."""
