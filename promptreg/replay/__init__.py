"""Replay: planned calls in, samples out, with bounded concurrency and progress."""
