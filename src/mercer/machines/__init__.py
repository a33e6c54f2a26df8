"""Predictors that see rows through a kernel only."""

from mercer.machines.perceptron import KernelPerceptron
from mercer.machines.regressor import KernelRegressor
from mercer.machines.similarity import NotMercerWarning

__all__ = ["KernelPerceptron", "KernelRegressor", "NotMercerWarning"]
