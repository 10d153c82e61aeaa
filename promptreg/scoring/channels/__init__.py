"""Distances between answers, one module per channel."""
