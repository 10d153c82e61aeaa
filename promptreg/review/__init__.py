"""Decisions of reviewers: their file, what applying it does, and where they stand in git."""
