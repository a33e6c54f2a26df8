"""Principal components, and the repair of rows."""
