"""Result object of ``separability``, with a text summary, a plot and a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.core import tables
from surefit.core.certificate import Certificate
from surefit.core.errors import InvalidData
from surefit.separation.columns import Responsible
from surefit.separation.margin import MarginBracket
from surefit.separation.signed_rows import rounded

SENTENCES = {
    "strict": "a hyperplane has every row strictly on its side",
    "weak": "a hyperplane has no row on the wrong side, but none has all rows strictly on theirs",
    "not separable": "no hyperplane has all rows on their side, not even weakly",
    "not strict": "no hyperplane has every row strictly on its side; whether one separates weakly was not decided",
    "one class": "all rows have the same label: there is nothing to separate",
    "undecided": "not decided: a proof would exceed the limits of size or time",
}
LOGISTIC = {
    True: "logistic regression without a penalty has a finite estimate",
    False: "logistic regression without a penalty has no finite estimate: its coefficients grow without bound",
    None: "whether logistic regression without a penalty has a finite estimate was not decided",
}


@dataclass(frozen=True, eq=False, repr=False)
class SeparabilityReport:
    """Proved facts about the separation of two classes by hyperplanes.

    Attributes
    ----------
    status : str
        ``"strict"``, ``"weak"``, ``"not separable"`` or ``"one class"``; ``"not strict"`` or ``"undecided"`` if the
        limits of size or time prevented a decision.
    level : {"exact", "enclosed"} or None
        How the status was proved: in exact integer arithmetic, or in floats with rounding accounted for. None if
        undecided.
    separable : bool or None
        Whether a hyperplane separates the classes strictly. None if undecided.
    mle_exists : bool or None
        Whether unpenalized logistic regression has a finite estimate.
    w, b : ndarray of shape (n_columns,), float; or None
        Separating hyperplane. If the status is strict, it has maximal margin and is scaled to ``min t f = 1``; if the
        status is weak, it separates weakly.
    alpha : ndarray of shape (n_rows,) or None
        Weights, summing to one, whose combination ``sum alpha t (x, 1)`` vanishes. The certificate stores them exactly.
    support : ndarray of int
        Rows used by the proof: those with a positive weight, or the support vectors of the maximal margin.
    bracket : MarginBracket or None
        Proved bounds on the maximal margin, if strict.
    radius : float
        Upper bound on the norm of a row.
    columns : dict
        ``strict`` and ``weak``: columns that separate by themselves; ``together``: a small set that separates.
    certificate : Certificate
        Claims with their witnesses; ``verify(X, y)`` re-derives each claim.

    Examples
    --------
    >>> from surefit import separability
    >>> separability([[1.0, 5.0], [2.0, 7.0], [3.0, 6.0]], ["no", "no", "yes"]).columns
    {'strict': [0], 'weak': [], 'together': [0]}
    """

    status: str
    level: str | None
    intercept: bool
    classes: tuple[Any, ...]
    n_rows: int
    n_columns: int
    w: np.ndarray | None
    b: float | None
    alpha: np.ndarray | None
    support: np.ndarray
    bracket: MarginBracket | None
    radius: float
    columns: dict[str, list]
    certificate: Certificate
    _plane: tuple[Any, ...] = field(
        default=(), repr=False
    )  # the rows and labels, kept for a plot if there are two columns

    @classmethod
    def assembled(cls, data, rows, decision, margin, responsible: Responsible, radius, level, certificate):
        """Assemble the report from its parts."""
        n, d = rows.X.shape
        w = b = alpha = None
        support = np.empty(0, dtype=np.int64)
        if decision.rows is not None:
            support = np.array(sorted(decision.rows), dtype=np.int64)
            alpha = _weights(rows, decision)
        if decision.direction:
            v = rounded(decision.direction)
            w, b = v[:d], float(v[d]) if rows.intercept else 0.0
        if margin is not None:
            w, b, support = margin.w, margin.b, np.flatnonzero(margin.alpha)
        found = {"strict": responsible.strict, "weak": responsible.weak, "together": responsible.together}
        if data.names is not None:
            found = {kind: [data.names[j] for j in listed] for kind, listed in found.items()}
        status = {"overlap": "not separable"}.get(decision.status, decision.status)
        plane = (data.raw.X, data.t) if d == 2 else ()
        bracket = None if margin is None else margin.bracket
        table = (rows.intercept, data.classes, n, d, w, b, alpha, support, bracket, radius, found, certificate, plane)
        return cls(status, level, *table)

    @property
    def separable(self) -> bool | None:
        """Whether a hyperplane separates the classes strictly; None if undecided."""
        return {"strict": True, "one class": True, "undecided": None}.get(self.status, False)

    @property
    def mle_exists(self) -> bool | None:
        """Whether logistic regression without a penalty has a finite estimate."""
        decided = {"strict": False, "weak": False, "one class": False, "not separable": True}
        return decided.get(self.status)

    @property
    def margin(self) -> float | None:
        """Proved margin of ``(w, b)``, a lower bound on the maximal margin."""
        return None if self.bracket is None else self.bracket.low

    @property
    def difficulty(self) -> float | None:
        r"""Upper bound on :math:`(R / \gamma^*)^2`, which appears in mistake bounds; at least 1."""
        return None if self.bracket is None or not self.bracket.low > 0 else (self.radius / self.bracket.low) ** 2

    def verify(self, X, y):
        """Re-derive every claim of the certificate from the data, independently of the solver."""
        return self.certificate.verify(X, y)

    def plot(self, ax=None):
        """Plot the rows, the hyperplane, its margin and the rows of the proof (two columns only). Returns the axes."""
        if not self._plane:
            raise InvalidData(
                f"SeparabilityReport.plot: needs data with 2 columns; these have {self.n_columns}. Pass two columns of X."
            )
        from surefit.separation.picture import draw

        X, t = self._plane
        return draw(self, X, t, ax)

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        proof = f" (proof: {self.level})" if self.level else ""
        lines = [("answer", SENTENCES[self.status] + proof)]
        if self.bracket is not None:
            lines.append(("margin", f"the widest is between {self.bracket.low:.9g} and {self.bracket.up:.9g}"))
            if self.difficulty is not None:
                lines.append(("radius", f"R = {self.radius:.6g}; (R / margin)^2 <= {self.difficulty:.6g}"))
        if self.alpha is not None:
            lines.append(("proof rows", f"{len(self.support)} rows have a positive combination that vanishes"))
        lines += self._column_lines()
        lines.append(("logistic", LOGISTIC[self.mle_exists]))
        through = "" if self.intercept else ", hyperplanes through the origin"
        title = f"Separability of {self.n_rows} rows x {self.n_columns} columns{through}: {self.status}"
        foot = "verify(X, y) re-derives each claim of .certificate from the data."
        return title, ("fact", "what is proved"), lines, foot

    def _column_lines(self) -> list[tuple[str, str]]:
        lines = []
        for kind, words in (("strict", "separates strictly by itself"), ("weak", "separates weakly by itself")):
            if self.columns[kind]:
                lines.append(("columns", f"{_listed(self.columns[kind])}: {words}"))
        if len(self.columns["together"]) > 1:
            lines.append(("columns", f"{_listed(self.columns['together'])}: separate together"))
        return lines


def _listed(columns: list, most: int = 8) -> str:
    more = f", ... ({len(columns)} in all)" if len(columns) > most else ""
    return ", ".join(str(column) for column in columns[:most]) + more


def _weights(rows, decision) -> np.ndarray:
    """Return the weights as floats with sum one; for an enclosed proof, they are approximate and only for display."""
    alpha = np.zeros(len(rows.t))
    if decision.weights is not None:
        total = sum(decision.weights)
        alpha[decision.rows] = [weight / total for weight in decision.weights]
        return alpha
    X = rows.X[decision.rows]
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    lifted = np.column_stack([X, np.ones(len(X))]) if rows.intercept else X
    system = np.vstack([(rows.t[decision.rows, None] * lifted).T, np.ones(len(X))])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    alpha[decision.rows] = np.linalg.lstsq(system, goal, rcond=None)[0]
    return alpha
