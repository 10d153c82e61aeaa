"""The simulated deployment: an OpenAI-compatible server that answers from a script."""
