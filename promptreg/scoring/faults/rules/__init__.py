"""The rules, one module per family of kinds."""
