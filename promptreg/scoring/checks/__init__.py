"""Checks that a suite can name. One module per check; `registry` knows them all."""
