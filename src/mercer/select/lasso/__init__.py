"""L1 penalties and constraints."""
