"""The search for features, one file per stage."""
