"""Calls of a deployment and the reading of what comes back: bytes with arrival times in, answers out."""
