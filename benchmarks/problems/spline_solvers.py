"""How each package is asked for a smoothing spline whose weight is chosen from the data."""

import numpy as np

from benchmarks.problems.spline import CurveData
from benchmarks.workload import OURS, Workload


def add_solvers(workload: Workload) -> None:
    workload.solver(OURS)(surefit)
    workload.solver("SciPy", package="scipy")(scipy)
    workload.solver("SciPy, x times n", package="scipy")(scipy_rescaled)
    workload.solver("csaps (fixed rule, no GCV)", package="csaps")(csaps)
    workload.solver("pygam (30 splines, 11 weights)", package="pygam")(pygam)


def surefit(data: CurveData):
    from surefit import SmoothingSpline

    return SmoothingSpline().fit(data.x, data.y).fitted_values_


def scipy(data: CurveData):
    from scipy.interpolate import make_smoothing_spline

    return make_smoothing_spline(data.x, data.y)(data.x)


def scipy_rescaled(data: CurveData):
    """The same problem in other units: its search is not invariant, and fails in those of the data when points are close."""
    from scipy.interpolate import make_smoothing_spline

    x = data.x * len(data.x)
    return make_smoothing_spline(x, data.y)(x)


def csaps(data: CurveData):
    from csaps import csaps

    return csaps(data.x, data.y, data.x).values


def pygam(data: CurveData):
    from pygam import LinearGAM, s

    X = data.x[:, None]
    model = LinearGAM(s(0, n_splines=30)).gridsearch(X, data.y, lam=np.logspace(-4, 3, 11), progress=False)
    return model.predict(X)
