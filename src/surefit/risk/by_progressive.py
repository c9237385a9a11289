"""Progressive validation: every block is tested by a model of the rows before it; the models are averaged."""

from __future__ import annotations

import math

import numpy as np

from surefit.bounds.progressive import pilot_rate, pilot_rate_bernstein, progressive_errors, progressive_losses
from surefit.core.errors import InvalidData
from surefit.risk.claims import answer_witness, risk_claim
from surefit.risk.losses import losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study


def certify_progressively(study: Study, n_blocks: int, classes: np.ndarray | None) -> Outcome:
    """Test block after block in the second half; the rate of the bound comes from a pilot in the first.

    A convex loss bounds the average of the predictions; for 0-1 errors the vote of the models errs at most twice as often as they
    do on average.
    """
    half = study.units.total // 2
    if study.units.total - half < n_blocks or half < 2:
        raise InvalidData(
            f"{study.who}: by='progressive' needs at least {2 * n_blocks} independent rows (or groups) for {n_blocks} blocks; "
            f"got {study.units.total}."
        )
    cut = half - max(1, half // 4)
    pilot = _tested(study, study.order[:cut], study.order[cut:half], classes)[0]
    blocks = np.array_split(study.order[half:], n_blocks)
    models, parts, start = [], [], half
    for block in blocks:
        models.append(study.fit(study.units.rows(study.order[:start])))
        parts.append(_test(study, models[-1], block, classes))
        start += len(block)
    losses, rows, answers = (np.concatenate([part[k] for part in parts]) for k in range(3))
    unit_losses = study.units.means(losses, rows)
    n = len(unit_losses)
    if study.loss.name == "zero_one" and study.units.kind != "groups":
        rate = pilot_rate(int(pilot.sum()), len(pilot), n, study.delta)
        bound = progressive_errors(int(unit_losses.sum()), n, study.delta, rate=rate)
    else:
        bound = progressive_losses(unit_losses, study.delta, rate=pilot_rate_bernstein(pilot, n, study.delta))
    about, factor = f"the average of the {n_blocks} models, which used all rows but the last block", 1.0
    if not study.loss.convex:
        about, factor = f"the vote of the {n_blocks} models, at most twice their mean risk", 2.0
    sizes = [len(part[0]) for part in parts]
    witness = {
        "test_rows": rows, "blocks": np.repeat(np.arange(n_blocks), sizes),
        **answer_witness(study.loss, answers, losses, classes),
    }  # fmt: skip
    if study.units.kind != "rows":
        witness["units"] = study.units.renumbered(rows)
    claim = risk_claim(
        "risk.progressive", bound, study.loss, about=about, tags=study.tags, delta=study.delta, factor=factor,
        trivial=trivial_loss(study.loss, study.y[rows]), predictor="models_", witness=witness,
        numbers={"pilot_rows": len(pilot), "order_before": half},
    )  # fmt: skip
    weights = tuple(len(block) / math.fsum(map(len, blocks)) for block in blocks)
    first_rows = study.units.rows(study.order[:half])
    return Outcome(
        None,
        (claim,),
        [("mean risk of the models", study.delta)],
        first_rows,
        rows,
        models=tuple(models),
        weights=weights,
    )


def _tested(study: Study, train: np.ndarray, test: np.ndarray, classes) -> tuple[np.ndarray, np.ndarray]:
    """Unit losses of a model of some units on others, and the rows tested."""
    losses, rows, _ = _test(study, study.fit(study.units.rows(train)), test, classes)
    return study.units.means(losses, rows), rows


def _test(study: Study, model, test: np.ndarray, classes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = study.units.ordered_rows(test)
    answer = respond(model, study.rows_of(rows), study.loss, classes)
    return losses_of(study.who, study.loss, study.y[rows], answer, classes), rows, answer
