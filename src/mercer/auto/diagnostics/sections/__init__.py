"""One section of the report each, computed from held-out rows."""
