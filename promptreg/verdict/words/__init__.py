"""What verdicts say, in English and Chinese."""
