"""Run a script or module with surefit's estimators in place of scikit-learn's, or with an audit of scikit-learn's."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from surefit.core.errors import CommandError, SurefitError
from surefit.sklearn.fits import Fits
from surefit.sklearn.importing import mirrored
from surefit.sklearn.mirror import Mirrors, Rule, is_estimator, replacement

FAILED, INTERRUPTED = 1, 130


def replacing() -> tuple[Fits, Rule]:
    """Return the record of fits, and the rule that replaces scikit-learn's estimators by surefit's."""
    fits = Fits(_own_certificate, "Fits by surefit")

    def rule(value: Any, module: str, name: str) -> Any:
        ours = replacement(value, module, name)
        if ours is not value:
            fits.watch(ours)
        return ours

    return fits, rule


def _own_certificate(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return the certificate of a fit; a search reports that of its best model."""
    best: Any = getattr(model, "best_estimator_", None)
    best = best[-1] if hasattr(best, "steps") else best
    return getattr(best, "certificate_", None) or getattr(model, "certificate_", "no certificate")


def auditing(tol: float | None) -> tuple[Fits, Rule]:
    """Return the record of certified fits of scikit-learn's estimators, and the rule that records them.

    Without ``tol``, the gap of each model is compared with its own tolerance.
    """
    certify: Any = import_module("surefit.audit.certify")
    reading: Any = import_module("surefit.audit.reading")
    tolerances: Any = import_module("surefit.audit.tolerances")
    for family in certify.FAMILIES:
        import_module(f"surefit.audit.{family}")

    def certificate(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        try:
            wanted = tolerances.own_tolerance(model, X) if tol is None else tol
            return certify.certify(model, X, y, sample_weight, tol=wanted)
        except SurefitError as error:
            return f"not audited: {error}"
        except Exception as error:  # an error of the audit must not end the program
            return f"not audited ({type(error).__name__}: {error}); please report this"

    fits = Fits(certificate, "Audit of the fits by scikit-learn")

    def rule(value: Any, module: str, name: str) -> Any:
        if is_estimator(value) and any(("sklearn", kind.__name__) in reading.READERS for kind in value.__mro__):
            fits.watch(value)
        return value

    return fits, rule


def run(target: str, arguments: Sequence[str], fits: Fits, rule: Rule, *, module: bool = False) -> int:
    """Run a script (or, with ``module``, a module) as ``__main__``, print the table of its fits, and return its exit code."""
    if not module and not Path(target).is_file():
        raise CommandError(f"{target}: there is no such script.")
    argv, path = sys.argv, list(sys.path)
    sys.argv = [target, *arguments]
    sys.path.insert(0, "" if module else str(Path(target).resolve().parent))
    try:
        with mirrored(Mirrors(rule)):
            code = _executed(target, module)
    finally:
        sys.argv, sys.path[:] = argv, path
        fits.end()
    print(f"\n{fits}" if fits.rows else "\nNo estimator that surefit knows was fitted.", flush=True)
    return code


def _executed(target: str, module: bool) -> int:
    """Execute the program and return its exit code; an error is printed as Python prints it."""
    try:
        if module:
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(target, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        traceback.print_exception(type(error), error, _program(error.__traceback__))
        return FAILED
    return 0


def _program(trace: Any) -> Any:
    """Return the part of a traceback that belongs to the program."""
    while trace is not None and trace.tb_next is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _is_ours(name: str) -> bool:
    return name == __file__ or name.startswith("<frozen") or Path(name).name == "runpy.py"
