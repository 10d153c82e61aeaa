"""Cases grouped by what is otherwise on the target, so that a reader sees a few causes."""
