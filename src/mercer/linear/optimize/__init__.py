"""Solvers: L-BFGS, Newton, conjugate gradients, interior point, dual coordinate ascent."""
