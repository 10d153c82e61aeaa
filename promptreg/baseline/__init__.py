"""Baselines: recorded goldens as JSON Lines that people review in git."""
