"""Ways to make a conversation shorter, each a small frozen value with a name and one method."""
