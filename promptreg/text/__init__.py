"""Pure functions on strings: no I/O, no other folder of promptreg."""
