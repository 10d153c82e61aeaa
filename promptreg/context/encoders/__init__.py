"""Messages to the text that a model reads: one module per format."""
