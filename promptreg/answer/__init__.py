"""One response in, one Answer out: content, reasoning, tool calls and finish reason kept apart."""
