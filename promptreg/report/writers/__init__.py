"""Reports for other programs: CSV, JSON Lines, JUnit, Markdown."""
