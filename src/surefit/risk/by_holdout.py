"""Hold-out and transfer: a twin is tested on withheld rows; fresh inputs carry its bound over to the model of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.resampling import transfer
from surefit.checks.base import read
from surefit.checks.risk_rows import row_keys, take_rows
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import data_fingerprint
from surefit.risk.carried import largest_excess, transfer_losses
from surefit.risk.claims import answer_witness, no_claim, risk_claim
from surefit.risk.losses import comparable, losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study
from surefit.risk.tested_rows import tested_claim

TWIN = "the twin trained without the {} withheld rows"


def certify_by_holdout(study: Study, n_test: int, refit: bool) -> Outcome:
    """Withhold units, train on the rest, test on them; ``refit`` deploys a model of all rows, about which nothing is proved."""
    test, train = np.sort(study.order[:n_test]), np.sort(study.order[n_test:])
    test_rows, train_rows = study.units.rows(test), study.units.rows(train)
    twin = study.fit(train_rows)
    about = TWIN.format(len(test_rows)) if refit else f"the model, which did not see the {len(test_rows)} withheld rows"
    claim = tested_claim(
        study.who, twin, study.rows_of(test_rows), study.y[test_rows], loss=study.loss, units=study.units, rows=test_rows,
        delta=study.delta, coverage=study.coverage, about=about, declared=study.declared, train_rows=train_rows,
        predictor="twin_" if refit else "estimator_",
    )  # fmt: skip
    claims: tuple[Claim, ...] = (claim,)
    model = twin
    if refit:
        model = study.fit(np.arange(len(study.y)))
        unproved = "the twin's bound mostly holds for it in practice, but is not proved; use by='transfer' for a proof"
        claims = (claim, no_claim("risk.refit", "the model refitted on all rows", unproved))
    ledger = [("risk of the twin" if refit else "risk of the model", study.delta)]
    return Outcome(model, claims, ledger, train_rows, test_rows, twin=twin)


def certify_by_transfer(study: Study, n_test: int, X_unlabelled: Any) -> Outcome:
    """Bound the model of all rows by its tested twin and by what it can lose against the twin on fresh inputs."""
    test, train = np.sort(study.order[:n_test]), np.sort(study.order[n_test:])
    test_rows, train_rows = study.units.rows(test), study.units.rows(train)
    twin, model = study.fit(train_rows), study.fit(np.arange(len(study.y)))
    classes = np.unique(study.y) if study.loss.method == "predict_proba" else None
    answer = respond(twin, study.rows_of(test_rows), study.loss, classes)
    losses = losses_of(study.who, study.loss, study.y[test_rows], answer, classes)
    unit_losses = study.units.means(losses, test_rows)
    first, second = (respond(each, X_unlabelled, study.loss, classes) for each in (twin, model))
    if study.loss.name == "zero_one":
        first, second = comparable(first), comparable(second)
        differ = int(np.sum(first != second))
        bound = transfer(int(unit_losses.sum()), len(unit_losses), differ, len(first), study.delta)
    else:
        bound = transfer_losses(unit_losses, largest_excess(study.loss, second, first), study.delta)
    witness = {
        "test_rows": test_rows, "train_rows": train_rows, "twin_on_fresh": first, "model_on_fresh": second,
        **answer_witness(study.loss, answer, losses, classes),
    }  # fmt: skip
    if study.units.kind != "rows":
        witness["units"] = study.units.renumbered(test_rows)
    claim: Claim = risk_claim(
        "risk.transfer", bound, study.loss, about="the model trained on all rows", tags=study.tags, delta=study.delta,
        trivial=trivial_loss(study.loss, study.y[test_rows]), predictor="twin_", witness=witness,
        numbers={"fresh": data_fingerprint(read(X_unlabelled).X)["X"]},
    )  # fmt: skip
    ledger = [("risk of the twin", study.delta / 2), ("difference between twin and model", study.delta / 2)]
    return Outcome(model, (claim,), ledger, train_rows, test_rows, twin=twin, fresh=X_unlabelled)


def read_fresh(who: str, X: Any, X_unlabelled: Any, assume: tuple[str, ...]) -> Any:
    """Refuse inputs without labels that are missing, of another width, or taken from the labelled rows; copies count once."""
    if X_unlabelled is None:
        raise InvalidData(
            f"{who}: by='transfer' needs inputs without labels that follow the same law; pass fit(X, y, X_unlabelled=...)."
        )
    fresh, own = read(X_unlabelled).X, read(X).X
    if fresh.shape[1] != own.shape[1]:
        raise InvalidData(f"{who}: X_unlabelled has {fresh.shape[1]} columns, X has {own.shape[1]}.")
    keys = row_keys(fresh)
    shared = set(row_keys(own.astype(fresh.dtype))).intersection(keys)
    if shared:
        raise InvalidData(
            f"{who}: {len(shared)} rows of X_unlabelled are rows of X too, which were trained on; pass inputs that were not."
        )
    if "equal_rows_are_draws" in assume or len(set(keys)) == len(keys):
        return X_unlabelled
    return take_rows(X_unlabelled, np.sort(list({key: i for i, key in reversed(list(enumerate(keys)))}.values())))
