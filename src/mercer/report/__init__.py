"""Reports: gathered into a plain dict, then rendered."""
