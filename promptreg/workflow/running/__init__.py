"""Runs: what they would cost, the passes they take, which one is meant, what they left unanswered."""
