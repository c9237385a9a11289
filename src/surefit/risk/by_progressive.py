"""Progressive validation: every block is tested by a model fitted on the earlier rows, and the models are averaged."""

from __future__ import annotations

import math

import numpy as np

from surefit.bounds.progressive import pilot_rate, pilot_rate_bernstein, progressive_errors, progressive_losses
from surefit.core.errors import InvalidData
from surefit.risk.claims import risk_claim
from surefit.risk.losses import losses_of, respond, trivial_loss
from surefit.risk.study import Outcome, Study


def certify_progressively(study: Study, n_blocks: int, classes: np.ndarray | None) -> Outcome:
    """Test the second half block by block; a pilot model on the first half chooses the rate of the bound.

    For a convex loss, the bound applies to the average of the predictions; for 0-1 errors, the error of the vote is at most twice the
    mean error of the models.
    """
    half = study.units.total // 2
    if study.units.total - half < n_blocks or half < 2:
        raise InvalidData(
            f"{study.who}: by='progressive' needs at least {2 * n_blocks} independent rows (or groups) for {n_blocks} blocks; "
            f"got {study.units.total}."
        )
    cut = half - max(1, half // 4)
    scout = study.fit(study.units.rows(study.order[:cut]))
    losses, rows, _ = _test(study, scout, study.order[cut:half], classes)
    pilot = study.units.means(losses, rows)
    blocks = np.array_split(study.order[half:], n_blocks)
    models, parts, start = [], [], half
    for block in blocks:
        models.append(study.fit(study.units.rows(study.order[:start])))
        parts.append(_test(study, models[-1], block, classes))
        start += len(block)
    losses, rows = (np.concatenate([part[k] for part in parts]) for k in range(2))
    unit_losses = study.units.means(losses, rows)
    n = len(unit_losses)
    if study.loss.name == "zero_one" and study.units.kind != "groups":
        rate = pilot_rate(int(pilot.sum()), len(pilot), n, study.delta)
        bound = progressive_errors(int(unit_losses.sum()), n, study.delta, rate=rate)
    else:
        bound = progressive_losses(unit_losses, study.delta, rate=pilot_rate_bernstein(pilot, n, study.delta))
    # The error of a vote is at most twice the mean error; the convex loss of an average is at most the mean loss.
    claim = risk_claim(
        "risk.progressive", bound, study.loss, tags=study.tags, delta=study.delta, factor=1 if study.loss.convex else 2,
        trivial=trivial_loss(study.loss, study.y[rows]), predictor="models_", tested=len(rows), blocks=n_blocks,
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
        pilot=scout,
        block_sizes=np.array([len(part[0]) for part in parts]),
    )


def _test(study: Study, model, test: np.ndarray, classes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = study.units.ordered_rows(test)
    answer = respond(model, study.rows_of(rows), study.loss, classes)
    return losses_of(study.who, study.loss, study.y[rows], answer, classes), rows, answer
