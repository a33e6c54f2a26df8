"""Presets: the pictures and questions of the lecture notes, each a topic and a state."""

from mercer.explore.presets.base import Preset
from mercer.explore.presets.kernels import KERNELS
from mercer.explore.presets.landmarks import LANDMARKS
from mercer.explore.presets.lifts import LIFTS
from mercer.explore.presets.normalization import NORMALIZATION
from mercer.explore.presets.random_features import RANDOM_FEATURES
from mercer.explore.presets.selection import SELECTION
from mercer.explore.presets.similarity import SIMILARITY

PRESETS: tuple[Preset, ...] = (
    *LIFTS,
    *KERNELS,
    *RANDOM_FEATURES,
    *LANDMARKS,
    *SIMILARITY,
    *SELECTION,
    *NORMALIZATION,
)

__all__ = ["PRESETS", "Preset"]
