"""A conversation inside a window: counters, prompt encoders, strategies that shorten, and what they lose."""
