"""Strategies tried on conversations: what they keep, what they cost, and which rules they break."""
