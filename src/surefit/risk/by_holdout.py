"""Hold-out and transfer: bounds from held-out rows, and their transfer by unlabeled inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.resampling import transfer
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.rows import row_keys, take_rows
from surefit.core.sample import read
from surefit.risk.carried import largest_excess, transfer_losses
from surefit.risk.claims import risk_claim
from surefit.risk.losses import comparable, losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study
from surefit.risk.tested_rows import Asked, tested_claim


def certify_by_holdout(study: Study, n_test: int, refit: bool) -> Outcome:
    """Hold out units, train on the rest, and test. With ``refit``, deploy a model fitted on all rows."""
    test, train = np.sort(study.order[:n_test]), np.sort(study.order[n_test:])
    test_rows, train_rows = study.units.rows(test), study.units.rows(train)
    twin = study.fit(train_rows)
    predictor = "twin_" if refit else "estimator_"
    asked = Asked(study.who, study.loss, study.units, study.delta, study.coverage, study.declared)
    claim = tested_claim(asked, twin, study.rows_of(test_rows), study.y[test_rows], test_rows, predictor=predictor)
    claims: tuple[Claim, ...] = (claim,)
    model = twin
    if refit:
        model = study.fit(np.arange(len(study.y)))
        claims = (claim, Claim("risk.refit"))
    ledger = [("risk of the twin" if refit else "risk of the model", study.delta)]
    return Outcome(model, claims, ledger, train_rows, test_rows, twin=twin)


def certify_by_transfer(study: Study, n_test: int, X_unlabeled: Any) -> Outcome:
    """Bound the risk of the model fitted on all rows by that of a tested model plus the largest excess loss."""
    test, train = np.sort(study.order[:n_test]), np.sort(study.order[n_test:])
    test_rows, train_rows = study.units.rows(test), study.units.rows(train)
    twin, model = study.fit(train_rows), study.fit(np.arange(len(study.y)))
    classes = np.unique(study.y) if study.loss.method == "predict_proba" else None
    answer = respond(twin, study.rows_of(test_rows), study.loss, classes)
    losses = losses_of(study.who, study.loss, study.y[test_rows], answer, classes)
    unit_losses = study.units.means(losses, test_rows)
    first, second = (respond(each, X_unlabeled, study.loss, classes) for each in (twin, model))
    if study.loss.name == "zero_one":
        first, second = comparable(first), comparable(second)
        differ = int(np.sum(first != second))
        bound = transfer(int(unit_losses.sum()), len(unit_losses), differ, len(first), study.delta)
    else:
        bound = transfer_losses(unit_losses, largest_excess(study.loss, second, first), study.delta)
    claim: Claim = risk_claim(
        "risk.transfer", bound, study.loss, tags=study.tags, delta=study.delta, predictor="twin_", tested=len(test_rows),
        trivial=trivial_loss(study.loss, study.y[test_rows]),
    )  # fmt: skip
    ledger = [("risk of the twin", study.delta / 2), ("difference between twin and model", study.delta / 2)]
    return Outcome(model, (claim,), ledger, train_rows, test_rows, twin=twin, fresh=X_unlabeled)


def read_fresh(who: str, X: Any, X_unlabeled: Any, assume: tuple[str, ...]) -> Any:
    """Validate the unlabeled inputs, which must be new rows with the columns of X; duplicates count once."""
    if X_unlabeled is None:
        raise InvalidData(
            f"{who}: by='transfer' needs inputs without labels that follow the same distribution; pass fit(X, y, X_unlabeled=...)."
        )
    fresh, own = read(X_unlabeled).X, read(X).X
    if fresh.shape[1] != own.shape[1]:
        raise InvalidData(f"{who}: X_unlabeled must have {own.shape[1]} columns like X; got {fresh.shape[1]}.")
    keys = row_keys(fresh)
    shared = set(row_keys(own.astype(fresh.dtype))).intersection(keys)
    if shared:
        raise InvalidData(
            f"{who}: {len(shared)} rows of X_unlabeled are also rows of X, which were used for training; pass other inputs."
        )
    if "equal_rows_are_draws" in assume or len(set(keys)) == len(keys):
        return X_unlabeled
    return take_rows(X_unlabeled, np.sort(list({key: i for i, key in reversed(list(enumerate(keys)))}.values())))
