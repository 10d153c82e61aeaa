"""The models behind the embedding channel."""
