"""Checks of files before anything is learned from them."""
