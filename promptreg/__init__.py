"""Prompt and context regression testing for LLM applications that change their serving stack."""

__version__ = "0.1.0"
