"""`pytest --promptreg`: suites as test items, judged once by the same functions as `promptreg compare`."""
