"""Pick-to-Learn: rows of the second half that the model gets wrong move into training, and the bound counts them."""

from __future__ import annotations

import numpy as np

from surefit.bounds.compression import pick_to_learn
from surefit.core.errors import InvalidData
from surefit.risk.claims import answer_witness, risk_claim
from surefit.risk.losses import comparable, losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study

#: Declared budgets, in batches of picked rows: the best of them is chosen, and paid for.
BUDGETS = (0, 1, 2, 4, 8, 16)


def certify_by_picking(study: Study, n_batch: int | None) -> Outcome:
    """Train on the first half, move the worst misclassified units of the second into training, batch by batch.

    What is picked depends on the picked and the misclassified units alone, so these are a compression set: each budget's bound is
    that of :func:`surefit.bounds.pick_to_learn` at a share of delta.
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
        # The worst first, ties by place in the table: a rule that looks at no other row.
        worst = np.flatnonzero(left)[np.argsort(score[left], kind="stable")[:batch]]
        picked[worst] = True
    assert best is not None
    bound, model, picked, train_rows = best
    test_rows = study.units.rows(second[~picked])
    answer = respond(model, study.rows_of(test_rows), study.loss)
    losses = losses_of(study.who, study.loss, study.y[test_rows], answer)
    witness = {
        "test_rows": test_rows, "train_rows": train_rows, "picked_rows": study.units.rows(second[picked]),
        **answer_witness(study.loss, answer, losses, None),
    }  # fmt: skip
    if study.units.kind != "rows":
        witness["units"] = study.units.renumbered(test_rows)
    claim = risk_claim(
        "risk.pick_to_learn", bound, study.loss, about=f"the model trained on half the rows and {int(picked.sum())} picked ones",
        tags=study.tags, delta=study.delta, trivial=trivial_loss(study.loss, study.y), predictor="estimator_", witness=witness,
        numbers={"picked": int(picked.sum()), "batch": batch},
    )  # fmt: skip
    ledger = [(f"budget of {k * batch} picked rows", study.delta / len(BUDGETS)) for k in BUDGETS]
    return Outcome(model, (claim,), ledger, train_rows, test_rows)


def _judge(study: Study, model, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each unit is got wrong (copies of a row all are, or none), and how well the model does on it."""
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
    """Probability or score of the true class, lower for worse; zero for a class the model has not met or gives no score."""
    if hasattr(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    else:
        return np.zeros(len(y))
    hit = comparable(y)[:, None] == comparable(model.classes_)[None, :]
    # One-vs-one machines may give a score a pair: then nothing is known about single classes, and rows go by their place.
    return np.sum(scores * hit, axis=1) if scores.shape == hit.shape else np.zeros(len(y))
