"""What is known about each kind of server: one data file per kind, and their loader."""
