"""The statistics behind verdicts: permutation tests, lists, effect sizes. Arrays in, numbers out."""
