"""What reports show: of one run, of two runs, of all runs of a target."""
