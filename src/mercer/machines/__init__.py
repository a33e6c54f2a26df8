"""Predictors that see rows through a kernel only."""

from mercer.machines.regressor import KernelRegressor
from mercer.machines.similarity import NotMercerWarning

__all__ = ["KernelRegressor", "NotMercerWarning"]
