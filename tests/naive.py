"""Slow, obvious twins: what the library computes, written as the definition says it."""

import itertools
import math

import numpy as np

from mercer import _numeric


def naive_gram(kernel, X, Y=None):
    """k(x, z) for all pairs by a double loop."""
    Y = X if Y is None else Y
    return np.array([[naive_value(kernel, x, z) for z in Y] for x in X]).reshape(len(X), len(Y))


def naive_value(kernel, x, z):
    """k(x, z) of a kernel of mercer.kernels for two rows of floats."""
    return VALUES[type(kernel).__name__](kernel, [float(v) for v in x], [float(v) for v in z])


def naive_norm(x, z, p):
    """||x - z||_p without overflow."""
    differences = [abs(a - b) for a, b in zip(x, z, strict=True)]
    top = max(differences)
    return top * math.fsum((v / top) ** p for v in differences) ** (1 / p) if top else 0.0


def _dot(x, z):
    return math.fsum(a * b for a, b in zip(x, z, strict=True))


def _anova(k, x, z):
    subsets = itertools.combinations([a * b for a, b in zip(x, z, strict=True)], k.degree)
    return math.fsum(math.prod(subset) for subset in subsets)


def _laplace(k, x, z):
    return math.exp(-naive_norm(x, z, 1 if k.norm == "l1" else 2) / k.bandwidth)


def _gaussian(k, x, z):
    r = naive_norm(x, z, 2) / k.bandwidth
    return math.exp(-r * r / 2)


def _matern(k, x, z):
    from scipy.special import gamma, kv

    if k.nu == math.inf:
        return _gaussian(k, x, z)
    t = math.sqrt(2 * k.nu) * naive_norm(x, z, 2) / k.bandwidth
    if t < 1e-9 or t > 700:  # K_nu(t) and t^nu leave the range of floats before their product does
        return float(t < 1e-9)
    return float(2 ** (1 - k.nu) / gamma(k.nu) * t**k.nu * kv(k.nu, t))


def _rational_quadratic(k, x, z):
    r = naive_norm(x, z, 2) / k.bandwidth
    return (1 + r * r / (2 * k.alpha)) ** -k.alpha


def _exponential_power(k, x, z):
    r = naive_norm(x, z, k.p) / k.bandwidth
    return math.exp(-math.exp(min(k.q * math.log(r), 100.0))) if r else 1.0


def _cauchy(k, x, z):
    r = naive_norm(x, z, 2) / k.bandwidth
    return 1 / (1 + r * r)


def _sinc_of(t):
    return math.sin(t) / t if t else 1.0


def _sinc(k, x, z):
    if k.radial:
        return _sinc_of(naive_norm(x, z, 2) / k.bandwidth)
    return math.prod(_sinc_of((a - b) / k.bandwidth) for a, b in zip(x, z, strict=True))


def _normalized(k, x, z):
    own = naive_value(k.kernel, x, x), naive_value(k.kernel, z, z)
    return naive_value(k.kernel, x, z) / math.sqrt(own[0]) / math.sqrt(own[1]) if min(own) > 0 else 0.0


def _restricted(k, x, z):
    if isinstance(k.columns, slice):
        return naive_value(k.kernel, x[k.columns], z[k.columns])
    columns = [k.columns] if isinstance(k.columns, int) else k.columns
    return naive_value(k.kernel, [x[j] for j in columns], [z[j] for j in columns])


def _on_subsets(k, x, z):
    """The mean over all draws of columns, repetitions included."""
    d = len(x)
    chances = [1 / d] * d if k.probabilities is None else [c / math.fsum(k.probabilities) for c in k.probabilities]
    total = []
    for drawn in itertools.product(range(d), repeat=k.order):
        S = sorted(set(drawn))
        value = naive_value(k.kernel, [x[j] for j in S], [z[j] for j in S])
        total.append(math.prod(chances[j] for j in drawn) * value)
    return math.fsum(total)


VALUES = {
    "Constant": lambda k, x, z: k.value,
    "Linear": lambda k, x, z: _dot(x, z),
    "Polynomial": lambda k, x, z: (k.offset + k.scale * _dot(x, z)) ** k.degree,
    "AllSubsets": lambda k, x, z: math.prod(1 + k.scale * a * b for a, b in zip(x, z, strict=True)),
    "Anova": _anova,
    "Gaussian": _gaussian,
    "Laplace": _laplace,
    "Cauchy": _cauchy,
    "Matern": _matern,
    "RationalQuadratic": _rational_quadratic,
    "ExponentialPower": _exponential_power,
    "Sinc": _sinc,
    "Overlap": lambda k, x, z: float(sum(a != 0 and b != 0 for a, b in zip(x, z, strict=True))),
    "Custom": lambda k, x, z: k.function(np.array(x), np.array(z)),
    "Sum": lambda k, x, z: naive_value(k.left, x, z) + naive_value(k.right, x, z),
    "Product": lambda k, x, z: naive_value(k.left, x, z) * naive_value(k.right, x, z),
    "Scaled": lambda k, x, z: k.scale * naive_value(k.kernel, x, z),
    "Restricted": _restricted,
    "Normalized": _normalized,
    "OnSubsets": _on_subsets,
    "Through": lambda k, x, z: naive_value(k.kernel, np.dot(x, k.matrix), np.dot(z, k.matrix)),
}


def squared_features(X, root=True):
    """Features of the kernel (1 + <x, z>)^2: 1, sqrt(2) x_j, x_j^2, sqrt(2) x_i x_j; without `root` plain monomials."""
    X = np.asarray(X)
    pairs = list(itertools.combinations(range(X.shape[1]), 2))
    products = np.array([X[:, i] * X[:, j] for i, j in pairs]).reshape(len(pairs), len(X)).T
    scale = math.sqrt(2) if root else 1
    return np.hstack([np.ones((len(X), 1), dtype=X.dtype), scale * X, X * X, scale * products])


def squared_weights(d):
    """The squares of those roots: the inner product of plain monomials that makes the same kernel."""
    return np.array([1] + [2] * d + [1] * d + [2] * (d * (d - 1) // 2))


def naive_perceptron(A, codes, n_classes, n_epochs, inner=None):
    """The primal perceptron on explicit features: rows of mistakes, weights, sum of the weights after each row."""
    inner = np.ones(A.shape[1], dtype=A.dtype) if inner is None else inner
    W = np.zeros((n_classes, A.shape[1]), dtype=A.dtype)
    total, mistakes = np.zeros_like(W), []
    for _ in range(n_epochs):
        before = len(mistakes)
        for i, (a, c) in enumerate(zip(A, codes, strict=True)):
            scores = [int((w * inner * a).sum()) if A.dtype.kind == "i" else (w * inner * a).sum() for w in W]
            rivals = [s if k != c else -math.inf for k, s in enumerate(scores)]
            rival = int(np.argmax(rivals))
            if scores[c] <= rivals[rival]:
                mistakes.append(i)
                W[c] += a
                W[rival] -= a
            total += W
        if len(mistakes) == before:
            break
    return mistakes, W, total


def hashed_index(key, i, width):
    """Output index and sign of a 64-bit key in block i of `width` outputs, from one field of a hash word."""
    fields = 2
    if width & (width - 1) == 0 and width <= 2**15:
        fields = 8 if width <= 2**7 else 4
    bits = 64 // fields
    word = int(_numeric.splitmix64(key, i // fields)[0])
    field = (word >> (64 - bits * (i % fields + 1))) & (2**bits - 1)
    return (field * width) >> bits, 1 - 2 * (field & 1)
