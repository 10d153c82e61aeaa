"""Conversations and cases against the window of a deployment."""
