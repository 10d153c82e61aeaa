"""Suites: files of cases in, cases with their requests out."""
