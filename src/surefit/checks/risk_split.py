"""Which rows were tested, which were trained on, and whether the split is the one that the seed draws."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data
from surefit.checks.risk_rows import row_keys
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def split_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    """Whether a tested row, or a copy of one, was trained on; whether units are copies; whether the split was drawn."""
    tested, n = claim.witness["test_rows"], data.X.shape[0]
    if len(tested) == 0 or len(np.unique(tested)) != len(tested) or tested.min() < 0 or tested.max() >= n:
        return "a row was tested twice, or is not there"
    train = claim.witness.get("train_rows")
    if train is not None and np.intersect1d(train, tested).size:
        return "a tested row was trained on"
    ledger = certificate.problem.get("ledger", [])
    if math.fsum(share for _, share in ledger) > claim.numbers["delta"] * (1 + 1e-9):
        return "the ledger spends more than delta"
    if "groups_iid" in claim.assumptions:
        return None  # groups: only the caller knows them
    codes = unit_codes(claim, data)
    if not _same_partition(claim.witness.get("units"), codes[tested]):
        return "rows are counted together that are not copies of each other"
    if train is not None and np.intersect1d(codes[train], codes[tested]).size:
        return "a tested row is a copy of a training row"
    return _drawing_trouble(certificate, claim, codes)


def unit_codes(claim: Claim, data: Data) -> np.ndarray:
    """Unit of each row, numbered by first appearance: copies of a row are one, unless they were declared to be draws."""
    if "equal_rows_are_draws" in claim.assumptions:
        return np.arange(data.X.shape[0])
    if "unit_codes" not in data.memo:
        seen: dict[bytes, int] = {}
        keys = row_keys(data.X, data.y)
        data.memo["unit_codes"] = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)
    return data.memo["unit_codes"]


def _same_partition(claimed: np.ndarray | None, codes: np.ndarray) -> bool:
    if claimed is None:
        return len(np.unique(codes)) == len(codes)
    if len(claimed) != len(codes):
        return False
    pairs = len(np.unique(np.column_stack([claimed, codes]), axis=0))
    return pairs == len(np.unique(claimed)) == len(np.unique(codes))


def _drawing_trouble(certificate: Certificate, claim: Claim, codes: np.ndarray) -> str | None:
    """Draw the split again from the seed of the estimator; compare sizes where there is no seed."""
    procedure = certificate.problem.get("procedure")
    total, tested = int(codes.max()) + 1, codes[claim.witness["test_rows"]]
    if claim.name == "risk.pick_to_learn" and claim.numbers["n"] != total - total // 2:
        return f"{claim.numbers['n']} units are said to be the second half of {total}"
    firsts = np.sort(np.unique(tested, return_index=True)[1])  # first row of each unit, in the order of testing
    if claim.name == "risk.progressive" and not _blocks_follow(claim.witness["blocks"][firsts]):
        return "a block was not tested by the model of the rows before it"
    order = drawn_order(certificate, total) if certificate.estimator == "Certified" else None
    if order is None:
        return None
    half, units = total // 2, np.unique(tested)
    if procedure in ("holdout", "transfer"):
        same = np.array_equal(units, np.sort(order[: len(units)]))
    elif procedure == "p2l":
        same = bool(np.all(np.isin(units, order[half:]))) and len(
            np.unique(codes[claim.witness["train_rows"]])
        ) == total - len(units)
    else:
        same = np.array_equal(tested[firsts], order[half:])
    return None if same else f"the split is not the one that random_state={certificate.params['random_state']} draws"


def _blocks_follow(blocks: np.ndarray) -> bool:
    """Whether the blocks come one after the other and are of the same size, but for one unit."""
    parts = np.array_split(np.arange(len(blocks)), int(blocks.max()) + 1)
    return np.array_equal(blocks, np.repeat(np.arange(len(parts)), [len(part) for part in parts]))


def drawn_order(certificate: Certificate, total: int) -> np.ndarray | None:
    """Order of the units that the seed of the estimator draws; None if it has no seed, and the split is believed."""
    seed = certificate.params.get("random_state")
    return np.random.RandomState(seed).permutation(total) if isinstance(seed, int) else None
