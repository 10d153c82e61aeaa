"""What is read as a fact in a text: numbers, dates, negations, names."""
