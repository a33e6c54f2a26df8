"""Random Fourier features: products with frequencies, and their cosines and sines."""

__all__: list[str] = []
