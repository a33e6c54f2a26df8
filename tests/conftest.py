"""Settings of the whole test run."""

import os

# scikit-learn's check of array API input runs only if SciPy was told before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import HealthCheck, settings

# A busy machine is not a failure: nothing here is timed. The short form tries the same cases each time, so that a
# change is judged by what it changed; the long form draws new ones.
settings.register_profile(
    "mercer",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("MERCER_TEST_LENGTH") != "long",
)
settings.load_profile("mercer")
