"""What every kernel machine promises: scikit-learn's checks, every kind of rows, and a word about bad similarities.

Adding a machine is adding a row to the table.
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.machines import KernelPerceptron, KernelRegressor

TABLE = [
    KernelPerceptron(),
    KernelPerceptron(Polynomial(2), average=True),
    KernelPerceptron(Gaussian(3.0), budget=20),
    KernelPerceptron(Gaussian(3.0), budget=100, policy="forgetron"),
    KernelPerceptron(Gaussian(3.0), budget=100, policy="oldest"),
    KernelRegressor(),
    KernelRegressor(alpha=1.0),
    KernelRegressor(Linear() + 1, alpha="loo"),
    KernelRegressor(Precomputed(), alpha=1.0),
    KernelRegressor(Gaussian(3.0), alpha=0.1, solver="falkon", n_centers=30),
]


# One check hands Precomputed() random numbers for similarities, and is told so.
@pytest.mark.filterwarnings("ignore::mercer.machines.NotMercerWarning")
@parametrize_with_checks(TABLE)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
