"""Settings of the whole test run."""

import os

# scikit-learn's check of array API input runs only if SciPy was told before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import HealthCheck, settings

# A busy machine is not a failure: nothing here is timed.
settings.register_profile("mercer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mercer")
