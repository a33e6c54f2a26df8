"""Dimensions that guarantee (eps, delta), and certificates measured on data."""

from mercer.bounds.certificate import Certificate
from mercer.bounds.certify import DistanceCertificate, KernelCertificate, certify, certify_distances
from mercer.bounds.fourier import fourier_dimension, fourier_variance
from mercer.bounds.hashing import HashingRisk, hashing_risk
from mercer.bounds.johnson_lindenstrauss import jl_dimension, jl_interval
from mercer.bounds.sparse import sparse_nonzeros

__all__ = [
    "Certificate",
    "DistanceCertificate",
    "HashingRisk",
    "KernelCertificate",
    "certify",
    "certify_distances",
    "fourier_dimension",
    "fourier_variance",
    "hashing_risk",
    "jl_dimension",
    "jl_interval",
    "sparse_nonzeros",
]
