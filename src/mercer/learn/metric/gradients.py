"""The average gradient outer product (AGOP) of a random-features model, from its Gram matrix.

f(x) = b + sum_j a_j cos<omega_j, x> + b_j sin<omega_j, x> has the gradient sum_j (-a_j sin + b_j cos) omega_j, so the
mean of its outer products over the rows is quadratic in the features and follows from the Gram matrix of the fit.
"""

from __future__ import annotations

import numpy as np


def gradient_outer_product(G: np.ndarray, coef: np.ndarray, frequencies: np.ndarray, weight: float) -> np.ndarray:
    """(1/weight) sum over rows and outputs of grad f grad f', a (d, d) matrix.

    Parameters
    ----------
    G : (2m, 2m), the sum of z z' over the rows, z = (cosines, sines) at any common scale
    coef : (2m, c), the weights of z for each output
    frequencies : (m, d)
    weight : the number of rows, or the sum of their weights

    With A, B the diagonal matrices of the weights of cosines and sines of one output it is
    Omega' [A G_ss A - A G_sc B - B G_cs A + B G_cc B] Omega / weight, summed over outputs.
    """
    m = len(frequencies)
    a, b = coef[:m], coef[m:]
    inner = G[m:, m:] * (a @ a.T)
    cross = G[m:, :m] * (a @ b.T)
    inner -= cross
    inner -= cross.T
    inner += G[:m, :m] * (b @ b.T)
    product = frequencies.T @ (inner @ frequencies) / weight
    return (product + product.T) / 2


def smoothed(frequencies: np.ndarray, lengths: np.ndarray, width: float) -> np.ndarray:
    """The frequencies of gradients of f convolved with a Gaussian of this width: omega exp(-width^2 |omega|^2 / 2).

    Without it the gradients of heavy-tailed kernels (Laplace, Cauchy) are noise: the mean of |omega|^2 is infinite.
    `lengths` are |omega|.
    """
    return frequencies * np.exp(-0.5 * (width * lengths) ** 2)[:, None]
