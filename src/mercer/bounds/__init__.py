"""From (eps, delta) to dimensions, and certificates measured on data."""

from mercer.bounds.fourier import fourier_dimension, fourier_variance
from mercer.bounds.johnson_lindenstrauss import jl_dimension, jl_interval

__all__ = ["fourier_dimension", "fourier_variance", "jl_dimension", "jl_interval"]
