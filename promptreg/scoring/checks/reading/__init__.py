"""What checks read answers with; no check knows another."""
