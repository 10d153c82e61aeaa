"""Baselines: what a new recording keeps of an earlier one, what it is checked for, promotions, differences."""
