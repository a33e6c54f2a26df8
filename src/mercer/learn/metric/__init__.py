"""The learned metric (AGOP)."""
