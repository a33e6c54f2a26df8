"""Presets of kernels and kernel machines."""

from mercer.explore.presets.base import Preset, gaussian, polynomial

_GROUP = "Kernels"
_HSU = "Feature maps and kernels (Hsu 2023)"
_FEATURES = "Features (Hsu 2015)"
_LIFTINGS = "Building embeddings: liftings"

KERNELS = (
    Preset(
        "kernel-perceptron",
        _GROUP,
        "The kernel perceptron",
        f"{_HSU}, kernel perceptron",
        "The perceptron with the kernel (1 + ⟨x, z⟩)² never writes down a feature: it keeps one number per mistake. "
        "Change the kernel to linear and the mistakes never end.",
        state={
            "data": "circles",
            "representation": "kernel",
            "kernel": polynomial(2),
            "learner": "perceptron",
            "n_epochs": 50,
        },
    ),
    Preset(
        "sqrt-two",
        _GROUP,
        "The factor √2",
        f"{_FEATURES}, all interaction features of degree 2",
        "With √2 the inner product of the features is the kernel (1 + ⟨x, z⟩)²; without it only the penalty changes. "
        "Switch the weights of the monomials and compare the boundaries at a strong and at a weak penalty.",
        state={
            "data": "ellipse",
            "n": 150,
            "representation": "polynomial",
            "scaling": "kernel",
            "learner": "ridge",
            "alpha": 3.0,
        },
    ),
    Preset(
        "time-to-predict",
        _GROUP,
        "The time of one prediction",
        f"{_HSU}, “What is the time required?”",
        "With 784 pixels there are 308,505 quadratic features, but one kernel value takes 785 multiplications. Raise "
        "the number of points with α ≠ 0 until predicting with w becomes faster.",
        topic="counts",
        state={"d": 784, "n": 1000, "support": 200},
    ),
    Preset(
        "gaussian-kernel",
        _GROUP,
        "The Gaussian kernel",
        f"{_HSU}, Gaussian kernel",
        "The bandwidth σ sets how far a point reaches, and the frequencies spread as 1/σ. Move z, halve the bandwidth "
        "and see how many more random features the same accuracy takes.",
        topic="kernel_shapes",
        state={"kernel": gaussian(0.5), "n_components": 16},
    ),
    Preset(
        "laplace-kernel",
        _GROUP,
        "The Laplace kernel",
        f"{_HSU}, Laplace kernel; {_LIFTINGS}",
        "The kink at z comes from heavy tails of the frequencies: no finite sum of cosines has one. Compare the "
        "error with that of the Gaussian kernel at the same number of features.",
        topic="kernel_shapes",
        state={"kernel": [{"name": "Laplace", "bandwidth": 0.5}], "n_components": 64},
    ),
    Preset(
        "sinc-kernel",
        _GROUP,
        "The sinc kernel",
        f"{_LIFTINGS}, reproducing kernels",
        "The frequencies are uniform on an interval, and similarity becomes negative and positive again with distance. "
        "With the sign that is printed in the notes k(x, x) would be −1; here it is 1.",
        topic="kernel_shapes",
        state={"kernel": [{"name": "Sinc", "bandwidth": 0.2}], "n_components": 32},
    ),
    Preset(
        "gaussian-boundary",
        _GROUP,
        "A boundary of any shape",
        f"{_HSU}, pictures of the Gaussian kernel",
        "A Gaussian kernel winds along both spirals. Change the bandwidth from 0.05 to 2 and watch the Gram matrix "
        "turn from the identity to a constant.",
        state={
            "data": "spirals",
            "n": 200,
            "noise": 0.05,
            "representation": "kernel",
            "kernel": gaussian(0.25),
            "learner": "hinge",
            "alpha": 0.05,
        },
    ),
    Preset(
        "sums-and-products",
        _GROUP,
        "Sums and products of kernels",
        f"{_FEATURES}, kernels",
        "A sum of kernels puts features side by side, a product multiplies them; here a plane of degree 1 carries "
        "local corrections. Replace the plus by a times and compare the ranks of the Gram matrices.",
        state={
            "data": "moons",
            "noise": 0.2,
            "representation": "kernel",
            "kernel": [
                {"name": "Polynomial", "degree": 1},
                {"name": "Gaussian", "bandwidth": 0.4, "weight": 0.5},
            ],
            "learner": "ridge",
            "alpha": 0.3,
        },
    ),
    Preset(
        "kernel-least-squares",
        _GROUP,
        "Kernel least squares",
        f"{_HSU}, kernel ordinary least squares",
        "Without a penalty the curve of smallest norm passes through all points. Raise the bandwidth and watch ‖f‖, "
        "then switch to the penalty and see the norm fall.",
        topic="curve",
        state={"model": "kernel", "kernel": gaussian(0.2), "exact": "least squares", "noise": 0.1},
    ),
    Preset(
        "alone-point",
        _GROUP,
        "Close to one point, far from all others",
        f"{_HSU}, “What happens if x is close to x⁽ⁱ⁾?”",
        "In the gap the fit falls back to zero: near a lone point f(x) is its coefficient times the bump, and far from "
        "all points there is nothing. Widen the gap, then raise the bandwidth until it is bridged.",
        topic="curve",
        state={"model": "kernel", "kernel": gaussian(0.1), "alpha": 0.001, "gap": 0.8, "n": 14, "noise": 0.05},
    ),
    Preset(
        "nearest-neighbor",
        _GROUP,
        "Comparison with nearest neighbors",
        f"{_HSU}, comparison to nearest neighbors",
        "At a small bandwidth the sign of f agrees with the nearest neighbor almost everywhere. Raise the bandwidth "
        "slowly and watch the agreement and both test errors.",
        state={
            "data": "moons",
            "noise": 0.25,
            "n": 80,
            "representation": "kernel",
            "kernel": gaussian(0.08),
            "learner": "ridge",
            "alpha": 0.001,
            "nearest": True,
        },
    ),
)
