"""Answers in, scores out: distances, checks and what is read off an answer."""
