"""Pick-to-Learn: misclassified rows of the second half are moved to the training rows, and the bound counts them."""

from __future__ import annotations

import numpy as np

from surefit.bounds.compression import pick_to_learn
from surefit.core.errors import InvalidData
from surefit.risk.claims import risk_claim
from surefit.risk.losses import comparable, losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study

#: Declared budgets, in batches of picked rows: the best one is chosen, and the bound accounts for the choice.
BUDGETS = (0, 1, 2, 4, 8, 16)


def certify_by_picking(study: Study, n_batch: int | None) -> Outcome:
    """Train on the first half, then move the worst misclassified units of the second half to training, in batches.

    The selection depends only on the moved and the misclassified units, so these form a compression set. For each
    number of moved units, the bound is that of :func:`surefit.bounds.pick_to_learn` with a fraction of delta.
    """
    half = study.units.total // 2
    first, second = study.order[:half], np.sort(study.order[half:])
    batch = max(1, len(second) // 50) if n_batch is None else n_batch
    picked = np.zeros(len(second), dtype=bool)
    best = None
    for round_ in range(BUDGETS[-1] + 1):
        train_rows = study.units.rows(np.concatenate([first, second[picked]]))
        model = study.fit(train_rows)
        wrong, score = _judge(study, model, second)
        left = wrong & ~picked
        if round_ in BUDGETS or not left.any():
            bound = pick_to_learn(int(picked.sum()), int(left.sum()), len(second), study.delta, budgets=len(BUDGETS))
            if best is None or bound.value < best[0].value:
                best = (bound, model, picked.copy(), train_rows)
        if not left.any():
            break
        # The worst rows come first, ties ordered by position in the table; this rule uses no other row.
        worst = np.flatnonzero(left)[np.argsort(score[left], kind="stable")[:batch]]
        picked[worst] = True
    assert best is not None
    bound, model, picked, train_rows = best
    test_rows = study.units.rows(second[~picked])
    claim = risk_claim(
        "risk.pick_to_learn", bound, study.loss, tags=study.tags, delta=study.delta, predictor="estimator_",
        trivial=trivial_loss(study.loss, study.y[test_rows]), tested=len(test_rows), picked=int(picked.sum()),
    )  # fmt: skip
    ledger = [(f"budget of {k * batch} picked rows", study.delta / len(BUDGETS)) for k in BUDGETS]
    return Outcome(model, (claim,), ledger, train_rows, test_rows)


def _judge(study: Study, model, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each unit is misclassified (duplicates agree), and the score of the model on it."""
    rows = study.units.ordered_rows(units)
    X, y = study.rows_of(rows), study.y[rows]
    answer = respond(model, X, study.loss)
    losses = losses_of(study.who, study.loss, y, answer)
    if not np.all((losses == 0) | (losses == 1)):
        other = losses[(losses != 0) & (losses != 1)][0]
        words = "by='p2l' bounds the probability of a miss, so the loss must be 0 or 1"
        raise InvalidData(f"{study.who}: {words}; got {other:g}. Return loss > threshold, or use by='holdout'.")
    first = np.unique(study.units.renumbered(rows), return_index=True)[1]
    if study.loss.name == "miss":
        score = -np.abs(np.asarray(y, dtype=np.float64) - answer)
    else:
        score = _support(model, X, y) if study.loss.name == "zero_one" else np.zeros(len(y))
    return losses[first] > 0, score[first]


def _support(model, X, y: np.ndarray) -> np.ndarray:
    """Return the probability or score of the true class of each row; zero for a class missing in the training rows."""
    if hasattr(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    else:
        return np.zeros(len(y))
    hit = comparable(y)[:, None] == comparable(model.classes_)[None, :]
    # One-vs-one models may have one score per pair of classes; rows are then ordered by position.
    return np.sum(scores * hit, axis=1) if scores.shape == hit.shape else np.zeros(len(y))
