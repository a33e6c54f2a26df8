"""Text as numbers: tokens, n-grams, weights, with a vocabulary or hashed."""

__all__: list[str] = []
