"""Plots of risk certificates: measured loss, proved bound, and loss on held-out rows."""

from __future__ import annotations

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.plots.axes import BLUE, FILL, GRAY, INK, new_axes, tidy
from surefit.risk.losses import Loss


class RiskDisplay:
    """Plot of the risk bounds of several models: from the measured loss to the proved bound.

    Parameters
    ----------
    names : list of str
        One name per model.
    measured, proved : array
        Loss on the tested rows, and its proved bound, in the same units.
    vacuous : array of bool, optional
        Whether the bound is no better than that of a constant prediction; such bounds are drawn in gray.
    test : array, optional
        Loss on held-out rows, if any: a black tick that lies left of the bound with the stated confidence.
    label : str
        Name of the loss.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : matplotlib container
        Bars from the measured loss to the proved bound, one per model.
    dots_, ticks_ : matplotlib lines
        Losses on the tested rows, and losses on held-out rows (or None).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefit import Certified, RiskDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> fits = {name: Certified(model, random_state=0).fit(X, y).certificate_ for name, model in models.items()}
    >>> RiskDisplay.from_certificates(fits).plot().names
    ['tree', 'Bayes']
    """

    def __init__(self, names, measured, proved, *, vacuous=None, test=None, label="loss"):
        self.names = [str(name) for name in names]
        self.measured, self.proved = np.asarray(measured, dtype=np.float64), np.asarray(proved, dtype=np.float64)
        self.vacuous = np.zeros(len(self.names), dtype=bool) if vacuous is None else np.asarray(vacuous, dtype=bool)
        self.test = None if test is None else np.asarray(test, dtype=np.float64)
        self.label = label
        if self.measured.shape != (len(self.names),) or self.proved.shape != self.measured.shape:
            raise InvalidData(
                f"RiskDisplay: expected one measured and one proved loss per model, {len(self.names)} of each."
            )

    @classmethod
    def from_certificates(cls, certificates: dict[str, Certificate], *, test=None) -> RiskDisplay:
        """Return the display of the first risk bound of each certificate; all must use the same loss."""
        claims = []
        for name, certificate in certificates.items():
            found = [c for c in certificate.claims if c.kind == "risk_bound" and _mean_loss(c) is not None]
            if not found:
                raise InvalidData(f"RiskDisplay: the certificate of {name!r} does not bound a mean loss.")
            claims.append(found[0])
        if len({claim.numbers["loss"] for claim in claims}) > 1:
            raise InvalidData("RiskDisplay: the certificates bound different losses; draw one plot per loss.")
        measured = [_mean_loss(c) * _loss_of(c).scale for c in claims]  # type: ignore[operator]
        vacuous = [c.value >= c.numbers["trivial"] * _loss_of(c).scale for c in claims]
        label = _loss_of(claims[0]).words if claims else "loss"
        return cls(list(certificates), measured, [c.value for c in claims], vacuous=vacuous, test=test, label=label)

    def plot(self, ax=None) -> RiskDisplay:
        """Draw on ``ax``, or on new axes. Returns the display."""
        self.figure_, self.ax_ = new_axes(ax)
        places = np.arange(len(self.names))[::-1]
        colors = [GRAY if empty else FILL for empty in self.vacuous]
        self.bars_ = self.ax_.barh(places, self.proved - self.measured, left=self.measured, height=0.5, color=colors)
        (self.dots_,) = self.ax_.plot(self.measured, places, "o", color=BLUE, markersize=6, label="measured")
        self.ax_.plot(self.proved, places, "|", color=BLUE, markersize=18, markeredgewidth=2, label="proved bound")
        self.ticks_ = None
        if self.test is not None:
            (self.ticks_,) = self.ax_.plot(self.test, places, "x", color=INK, markersize=7, label="held-out rows")
        self.ax_.set_yticks(places, self.names)
        self.ax_.set_xlim(left=0)
        self.ax_.set_xlabel(self.label)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


def _loss_of(claim: Claim) -> Loss:
    z = claim.numbers
    return Loss(z["loss"], "predict", False, z["low"], z["high"], tolerance=z.get("tolerance", 0.0))


def _mean_loss(claim: Claim) -> float | None:
    """Return the measured mean loss, from 0 to 1; None for other claims."""
    z = claim.numbers
    if "trivial" not in z:
        return None
    return z["errors"] / z["n"] if "errors" in z else z.get("empirical")
