"""What counts tokens: DeepSeek's own vocabulary, servers' counts, estimates."""
