"""Serving faults: what broke in a call although the server may have said 200. One module per family of kinds."""
