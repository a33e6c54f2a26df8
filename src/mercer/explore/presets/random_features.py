"""Presets of random features and random projections."""

from mercer.explore.presets.base import Preset, gaussian

_GROUP = "Random features"
_FEATURES = "Features (Hsu 2015)"
_LIFTINGS = "Building embeddings: liftings"

RANDOM_FEATURES = (
    Preset(
        "few-random-features",
        _GROUP,
        "A linear model on random features",
        f"{_FEATURES}, random Fourier features",
        "Thirty-two random cosines and sines make the circles linearly separable. Lower their number to 4 and change "
        "the seed of the draw: the boundary then depends on chance.",
        state={"data": "circles", "representation": "random", "kernel": gaussian(0.5), "n_components": 32},
    ),
    Preset(
        "approximation-error",
        _GROUP,
        "How many random features?",
        f"{_FEATURES}, “m = Ω(1/ε²)”",
        "The largest error over all pairs falls like one over the root of their number, below the bound that is drawn "
        "in. Compare orthogonal with independent frequencies, and the two forms.",
        state={
            "data": "moons",
            "representation": "random",
            "kernel": gaussian(0.5),
            "n_components": 256,
            "sampling": "iid",
        },
    ),
    Preset(
        "cosines-with-phase",
        _GROUP,
        "Cosines with a random phase",
        f"{_LIFTINGS}, random Fourier features",
        "The form √(2/D) cos(⟨ω, x⟩ + t) needs one column per frequency, but even k(x, x) = 1 is then only an "
        "estimate. Switch to cos and sin and compare the error curves at the same number of columns.",
        state={
            "data": "moons",
            "representation": "random",
            "kernel": gaussian(0.5),
            "n_components": 128,
            "pairing": "phase",
        },
    ),
    Preset(
        "random-polynomial",
        _GROUP,
        "Random features of polynomials",
        f"{_FEATURES}, kernel approximation",
        "Sketches approximate (1 + ⟨x, z⟩)^p too, without writing down all monomials. In the plane there are few "
        "monomials, so compare with the exact lift of the same degree.",
        state={
            "data": "ring",
            "representation": "random",
            "kernel": [{"name": "Polynomial", "degree": 4, "offset": 1.0}],
            "n_components": 64,
            "alpha": 0.01,
        },
    ),
    Preset(
        "projection-theorem",
        _GROUP,
        "Theorem 1: lengths after a Gaussian projection",
        f"{_FEATURES}, Theorem 1",
        "Almost no draw leaves the interval: the theorem is safe, and loose. Lower m until the interval reaches zero, "
        "and compare with the Hadamard projection.",
        topic="projection",
        state={"projection": "gaussian", "m": 64},
    ),
    Preset(
        "sparse-projection",
        _GROUP,
        "Theorem 2: sparse projections",
        f"{_FEATURES}, Theorem 2 and the remark on signs",
        "Four nonzeros per column suffice for dense vectors; vectors with two nonzero entries need more. Leave out the "
        "signs for a vector of positive entries: the mean is no longer one.",
        topic="projection",
        state={"projection": "sparse", "m": 64, "nonzeros": 4, "vector": "sparse"},
    ),
)
