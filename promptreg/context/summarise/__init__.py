"""Summaries of the turns that leave: extractive by default, by a model when one is given, and a gate for both."""
