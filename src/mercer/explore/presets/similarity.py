"""Presets of similarity functions and of the two updates."""

from mercer.explore.presets.base import Preset, gaussian, polynomial

_GROUP = "Updates and similarities"
_NOTES = "Data-dependent features"
_PAIR = {"data": "two_points", "n": 2, "passes": 1}

SIMILARITY = (
    Preset(
        "ordinary-and-special",
        _GROUP,
        "Ordinary and special update",
        f"{_NOTES}, superpositions and kernels",
        "Play the steps: the update of w and the update of α make the same predictions, up to rounding. The third "
        "plane uses the ordinary update on the similarities as features, and differs.",
        topic="steps",
        state={"data": "circles", "kernel": polynomial(2), "t": 12},
    ),
    Preset(
        "kernelized-perceptron",
        _GROUP,
        "The kernelized perceptron",
        f"{_NOTES}, ordinary and kernelized perceptron",
        "Each step changes a single entry of α, that of the point in the ring. With a Gaussian kernel no finite w "
        "exists, and coordinates in the span of the points take its place.",
        topic="steps",
        state={"data": "moons", "kernel": gaussian(0.5), "t": 6},
    ),
    Preset(
        "kernelized-hinge",
        _GROUP,
        "Food for thought: kernelized hinge loss",
        f"{_NOTES}, “Write a kernelized program to minimize hinge loss”",
        "The program is the perceptron's with y d < 1 in place of y d ≤ 0: copy it as Python. Lower the step size and "
        "watch how many more steps it takes.",
        topic="steps",
        state={"data": "moons", "kernel": gaussian(0.5), "loss": "hinge", "rate": 0.2, "t": 60},
    ),
    Preset(
        "two-penalties",
        _GROUP,
        "Food for thought: two penalties",
        f"{_NOTES}, “λ‖w‖² or λ‖α‖²”",
        "Switch the penalty between the function and the coefficients: the first keeps few points in play, the second "
        "spreads small coefficients over all. In the steps, λ‖w‖² is the easy one: it only shrinks α.",
        state={
            "data": "moons",
            "noise": 0.25,
            "representation": "kernel",
            "kernel": gaussian(0.4),
            "learner": "hinge",
            "alpha": 1.0,
            "penalty": "coefficients",
        },
    ),
    Preset(
        "shrinking-steps",
        _GROUP,
        "The penalty λ‖w‖² in steps",
        f"{_NOTES}, two regularizers",
        "With the special update the penalty multiplies all of α by 1 − 2ηλ in every step. Compare λ = 0 with "
        "λ = 0.05: the boundary keeps a wider margin.",
        topic="steps",
        state={
            "data": "blobs",
            "kernel": [{"name": "Linear"}, {"name": "Constant"}],
            "loss": "hinge",
            "rate": 0.1,
            "shrink": 0.05,
            "t": 100,
        },
    ),
    Preset(
        "count-multiplications",
        _GROUP,
        "Food for thought: where does FN² come from?",
        f"{_NOTES}, margin note on FT and FN² + NT",
        "The special update first needs all N(N + 1)/2 similarities, each an inner product of F numbers. Without a "
        "closed form of the kernel it pays off only after about N²/2 steps.",
        topic="counts",
        state={"d": 45, "n": 300, "support": 50},
    ),
    Preset(
        "thousand-features",
        _GROUP,
        "Food for thought: a thousand features",
        f"{_NOTES}, φ_s for s < 1000",
        "With φ_s(x) = x^s/√s! (the root in the notes is misplaced) the similarity is exp(x′x″): compare S(x′), S(x″) "
        "and S(x′ + x″). Choose opposite signs of x′ and x″ and watch the partial sums swing.",
        topic="power_series",
        state={"x": 1.5, "z": 2.0},
    ),
    Preset(
        "gaussian-in-r3",
        _GROUP,
        "Food for thought: 1000 features in R³",
        f"{_NOTES}, φ: R³ → R¹⁰⁰⁰ for exp(−‖x − x′‖²)",
        "Raise the degree to 16: 969 scaled monomials reproduce the Gaussian kernel to rounding for points within 0.6 "
        "of the origin. At radius 2 the same features fail, and no thousand features work everywhere.",
        topic="power_series",
        state={"degree": 16, "x": -1.5, "z": 2.0},
    ),
    Preset(
        "spam-similarity",
        _GROUP,
        "Food for thought: a similarity for spam",
        f"{_NOTES}, “Design a similarity function”",
        "Four parts of an email are compared by four kernels, and a weighted sum of kernels is a kernel. Find weights "
        "with which every message is predicted correctly from the others.",
        topic="emails",
        state={"words": 1.0, "sender": 0.0, "files": 0.0, "hour": 0.0},
    ),
    Preset(
        "positivity",
        _GROUP,
        "Food for thought: positivity",
        f"{_NOTES}, the positivity rule",
        "With a similarity of −1 to itself, the update on a point lowers its own score, so it is a mistake again. "
        "Play the steps: the field around the point turns ever more to the other class.",
        topic="steps",
        state={**_PAIR, "kernel": [{"name": "negative_gaussian"}], "passes": 4, "t": 2},
    ),
    Preset(
        "wrong-way",
        _GROUP,
        "Food for thought: the wrong way",
        f"{_NOTES}, “Does 1 + ‖x − x′‖ obey Mercer's rule?”",
        "It does not: the matrix [[1, 1 + r], [1 + r, 1]] has the eigenvalue −r. After one step on both points the "
        "boundary is between them, with the classes exchanged.",
        topic="steps",
        state={**_PAIR, "kernel": [{"name": "one_plus_distance"}], "t": 2},
    ),
    Preset(
        "not-mercer",
        _GROUP,
        "A similarity that is not Mercer",
        f"{_NOTES}, Mercer's rule",
        "The Gram matrix of 1 + ‖x − x′‖ has negative eigenvalues, and the learner warns. The penalty on the "
        "coefficients stays convex and still separates the points.",
        state={
            "data": "circles",
            "n": 60,
            "representation": "kernel",
            "kernel": [{"name": "one_plus_distance"}],
            "learner": "hinge",
            "penalty": "coefficients",
            "alpha": 0.1,
        },
    ),
)
