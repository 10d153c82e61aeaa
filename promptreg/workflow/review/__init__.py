"""Reviews: what waits for a decision, and decisions that take effect."""
