"""Scores in, verdicts out: the only folder where that happens."""
