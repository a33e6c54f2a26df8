"""Models of wide sparse text features."""
