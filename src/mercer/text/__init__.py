"""Text as numbers: tokens, n-grams, weights, with a vocabulary or hashed."""

from mercer.text.collisions import Collisions
from mercer.text.features import TextFeatures
from mercer.text.stop_words import stop_languages, stop_list

__all__ = [
    "Collisions",
    "TextFeatures",
    "stop_languages",
    "stop_list",
]
