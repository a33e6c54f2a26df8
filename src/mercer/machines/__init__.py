"""Predictors that see rows through a kernel only."""

from mercer.machines.hinge import KernelHinge
from mercer.machines.kmeans import KernelKMeans
from mercer.machines.pca import KernelPCA
from mercer.machines.perceptron import KernelPerceptron
from mercer.machines.regressor import KernelRegressor
from mercer.machines.similarity import NotMercerWarning

__all__ = ["KernelHinge", "KernelKMeans", "KernelPCA", "KernelPerceptron", "KernelRegressor", "NotMercerWarning"]
