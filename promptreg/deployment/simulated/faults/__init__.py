"""Faults that the simulated deployment can plant; `registry` lists them all."""
