"""Stored samples against a baseline: what is read, scored, asked of judges and judged."""
