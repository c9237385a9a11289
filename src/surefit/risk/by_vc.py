"""``Certified(by="vc")``: a model fitted on all rows, with a bound from its training error and the VC dimension."""

from __future__ import annotations

import math

import numpy as np

from surefit.bounds.base import RiskBound
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.issuing.new_rows import LINEAR, half_space_dimension
from surefit.risk.study import Outcome, Study
from surefit.risk.training_bounds import vc_risk_bound


def certify_by_vc(study: Study) -> Outcome:
    """Fit on all rows and count training errors; raise an error if the class has no known finite VC dimension."""
    base, everything = study.estimator, np.arange(len(study.y))
    dimension = half_space_dimension(type(base).__name__, base.get_params(deep=False), study.X.shape[1])
    if dimension is None or math.isinf(dimension):
        words = f"a linear classifier with by='vc' ({', '.join(LINEAR)}), without a pipeline that looks at the rows"
        raise InvalidParameter(study.who, "estimator", words, base)
    model = study.fit(everything)
    bound = vc_risk_bound(model, study.X, study.y, delta=study.delta, strict=False)
    assert isinstance(bound, RiskBound)  # the dimension is finite
    numbers = {
        "n": len(study.y), "errors": int(np.sum(np.asarray(model.predict(study.X)) != study.y)), "dimension": int(dimension),
        "delta": study.delta, "assumes": ["iid", "class_fixed_a_priori"],
    }  # fmt: skip
    claim = Claim("risk.vc", min(1.0, bound.value * (1 + 1e-13)), numbers=numbers)
    none = np.empty(0, dtype=np.int64)
    return Outcome(model, (claim,), [("risk of the model", study.delta)], everything, none)
