"""What a fit is asked for: the objective, the splits that match the question, and the shape of the model."""

from mercer.auto.options.objective import Objective
from mercer.auto.options.shape import ModelShape
from mercer.auto.options.splitting import Splitting

__all__ = ["ModelShape", "Objective", "Splitting"]
