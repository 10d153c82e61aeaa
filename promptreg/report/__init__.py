"""The report: its payload, the HTML page and the words of both languages."""
