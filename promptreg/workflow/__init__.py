"""The product's main jobs, as functions that the command line, pytest and Python callers share."""
