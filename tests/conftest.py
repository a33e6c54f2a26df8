"""Settings of the whole test run."""

import os

# scikit-learn's check of array API input runs only if SciPy was told before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
