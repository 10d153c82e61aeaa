"""The store: runs, raw responses and embeddings in SQLite."""
