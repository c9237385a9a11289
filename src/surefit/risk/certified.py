from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils.validation import check_random_state, validate_data

from surefit.bounds.resampling import holdout_size
from surefit.checks.base import read
from surefit.core.errors import DataRemark, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import ANYTHING, BOOLEAN, COUNT, NOTHING, RANDOM_STATE, Rule, check_params, one_of
from surefit.risk.average import AveragedModels
from surefit.risk.by_holdout import certify_by_holdout, certify_by_transfer, read_fresh
from surefit.risk.by_picking import certify_by_picking
from surefit.risk.by_progressive import certify_progressively
from surefit.risk.claims import no_claim, sentence
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.losses import LOSS, TOLERANCE, Y_RANGE
from surefit.risk.measured import MEASURED_BY, loss_for
from surefit.risk.study import Outcome, Study
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, find_units
from surefit.risk.void import why_void


class Certified(CertifiedMixin, DeployedMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Any scikit-learn estimator or pipeline, fitted together with a proved limit of its risk.

    .. math:: P\bigl(\mathbb E\,\ell(Y, h(X)) \le \bar R\bigr) \ge 1 - \delta, \qquad \delta = 1 - \text{confidence}.

    Hypothesis class, loss and optimiser are those of the estimator; the rows are spent so that something can be proved:

    - ``by="holdout"``: a fifth of the rows (at least 200, or half) is withheld; the model of the others is tested on them.
    - ``by="progressive"``: ten blocks of the second half are each tested by a model of the rows before; the predictions of the
      ten models are averaged, and the Brier score or squared error of the average is bounded. Uses nearly all rows.
    - ``by="transfer"``: the model of *all* rows, by a tested twin and by fresh inputs without labels.
    - ``by="p2l"``: Pick-to-Learn: half the rows, and those of the other half that the model gets wrong.

    Guarantee: ``risk_bound_`` is at least the true mean loss with probability at least ``confidence``, whatever the law of the
    rows and whatever the estimator does inside (tuning included), under the assumptions named in the certificate (theory:
    :ref:`concentration`, :ref:`progressive-validation`, :ref:`compression`). Equal rows stay on one side of a split and count
    once; a table that was scaled with its own rows gets no claim.

    Parameters
    ----------
    estimator : estimator, pipeline or None, default=None
        What to fit; it is cloned. Scalers, encoders and selectors belong inside a pipeline. None is ``LogisticRegression()``.
    by : {"holdout", "progressive", "transfer", "p2l"}, default="holdout"
        How the bound is bought.
    confidence : float, default=0.95
        Probability with which the bound is to hold.
    loss : {"zero_one", "brier", "squared", "absolute", "quantile", "miss"}, callable or None, default=None
        What is bounded. None: errors for a classifier (the Brier score with ``by="progressive"``, where it has
        probabilities); for a regressor misses if ``tolerance`` is given, the squared error if ``y_range`` is, else
        (``by="holdout"``) the absolute error that a share ``coverage`` of rows obeys. A function of (y, prediction) must return
        values from 0 to 1 (``by="holdout"``), or 0 and 1 (``by="p2l"``).
    y_range : (low, high) or None, default=None
        Range of the target of a regressor, declared before the data were seen; predictions are clipped to it for the bound.
    coverage : float, default=0.9
        Share of rows that ``loss="quantile"`` speaks of.
    tolerance : float or None, default=None
        Largest error of a regressor that is no miss (``"holdout"``, ``"p2l"``): the probability of a larger one is bounded.
    refit : bool, default=False
        With ``by="holdout"``: deploy a model of all rows. The bound is then about its twin, and the certificate says so.
    test_size : int or None, default=None
        Rows (or groups) to withhold; None: a fifth, at least 200 or half, at most 5000.
    n_blocks : int, default=10
        Blocks of ``by="progressive"``.
    batch_size : int or None, default=None
        Rows that ``by="p2l"`` moves at a time; None: a fiftieth of the second half.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        What you vouch for: equal rows are separate draws; the columns were scaled without looking at these rows; rows
        indexed by time do not depend on each other.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Attributes
    ----------
    estimator_ : estimator
        The model that predicts.
    risk_bound_ : float
        The proved limit; NaN if nothing could be claimed.
    ledger_ : list of (str, float)
        What each share of ``delta = 1 - confidence`` was spent on.
    train_rows_, test_rows_ : ndarray of int
        The split.
    twin_ : estimator
        The model that was tested (``by="holdout"`` and ``"transfer"``).
    models_, weights_ : tuple
        The averaged models (``by="progressive"``).
    classes_ : ndarray
        Classes of y, of a classifier; one that the training part happened to lack is never predicted, and counts as an error.
    certificate_ : Certificate
        The claim with its evidence; ``certificate_.verify(X, y)`` recounts it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from surefit import Certified, LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = Certified(make_pipeline(StandardScaler(), LogisticRegression(C=0.1)), random_state=0).fit(X, y)
    >>> print(model.certificate_.claims[0].statement)
    probability of error of the model, which did not see the 200 withheld rows <= 0.06473 with confidence 0.95, if the rows are
    independent draws from one law and the tested rows took no part in training or in any choice
    >>> model.verify(X, y)["risk.holdout"].ok
    True
    """

    _rules = {
        "estimator": NOTHING
        | Rule("an estimator with fit and predict", lambda v: hasattr(v, "fit") and hasattr(v, "predict")),
        "by": one_of(*MEASURED_BY),
        "confidence": SHARE,
        "loss": LOSS,
        "y_range": Y_RANGE,
        "coverage": SHARE,
        "tolerance": TOLERANCE,
        "refit": BOOLEAN,
        "test_size": NOTHING | COUNT,
        "n_blocks": COUNT,
        "batch_size": NOTHING | COUNT,
        "assume": ASSUME,
        "random_state": RANDOM_STATE | ANYTHING,
    }

    def __init__(
        self,
        estimator=None,
        by="holdout",
        *,
        confidence=0.95,
        loss=None,
        y_range=None,
        coverage=0.9,
        tolerance=None,
        refit=False,
        test_size=None,
        n_blocks=10,
        batch_size=None,
        assume=(),
        random_state=None,
    ):
        self.estimator = estimator
        self.by = by
        self.confidence = confidence
        self.loss = loss
        self.y_range = y_range
        self.coverage = coverage
        self.tolerance = tolerance
        self.refit = refit
        self.test_size = test_size
        self.n_blocks = n_blocks
        self.batch_size = batch_size
        self.assume = assume
        self.random_state = random_state

    def fit(self, X, y, groups=None, X_unlabelled=None, **fit_params):
        """Fit and certify.

        Parameters
        ----------
        X, y : array-like
            Rows and targets; X may be anything that the estimator can read row by row.
        groups : array of shape (n_rows,) or None
            Rows of one group stay together, and groups are what is counted.
        X_unlabelled : array-like or None
            Fresh inputs, for ``by="transfer"``.
        **fit_params
            Handed to every ``fit`` of the estimator, cut to its rows where there is one entry a row.
        """
        check_params(self)
        who = type(self).__name__
        if self.refit and self.by != "holdout":
            raise InvalidParameter(
                who, "refit", f"False with by={self.by!r}, which decides itself what is deployed", True
            )
        given, y = y, self._read(X, y)
        study = self._study(X, y, groups, fit_params)
        if self.by == "transfer":
            X_unlabelled = read_fresh(who, X, X_unlabelled, tuple(self.assume))
        outcome, reason = self._run(study, X_unlabelled), why_void(X, given, groups=groups, assume=tuple(self.assume))
        claims = outcome.claims
        if reason is not None:
            warnings.warn(f"{who}: {reason}.", DataRemark, stacklevel=2)
            claims = (no_claim(claims[0].name, claims[0].about, reason),)
        self._record(outcome, claims, X, y)
        return self

    def _read(self, X, y) -> np.ndarray:
        validate_data(self, X, y, skip_check_array=True)
        return read_target(type(self).__name__, X, y)

    def _study(self, X, y: np.ndarray, groups, fit_params: dict[str, Any]) -> Study:
        who, base = type(self).__name__, self._base()
        loss = loss_for(who, base, self.by, self.loss, self.y_range, self.tolerance)
        if groups is not None and self.by in ("transfer", "p2l"):
            raise InvalidParameter(who, "groups", f"None with by={self.by!r}; use 'holdout' or 'progressive'", "groups")
        units = find_units(who, X, y, groups, self.assume)
        if units.total < 2:
            raise InvalidData(
                f"{who}: at least 2 different rows (or groups) are needed to withhold one; got {units.total}: n_samples = {len(y)}."
            )
        order = check_random_state(self.random_state).permutation(units.total)
        return Study(
            who,
            clone(base),
            X,
            y,
            units,
            order,
            loss,
            1.0 - self.confidence,
            self.coverage,
            tuple(self.assume),
            fit_params,
        )

    def _run(self, study: Study, X_unlabelled) -> Outcome:
        if self.by == "progressive":
            return certify_progressively(study, self.n_blocks, self._classes(study))
        if self.by == "p2l":
            return certify_by_picking(study, self.batch_size)
        n_test = holdout_size(study.units.total) if self.test_size is None else self.test_size
        if not 0 < n_test < study.units.total:
            words = f"below the number of rows (or groups), {study.units.total}"
            raise InvalidParameter(study.who, "test_size", words, n_test)
        if self.by == "transfer":
            return certify_by_transfer(study, n_test, X_unlabelled)
        return certify_by_holdout(study, n_test, self.refit)

    def __getstate__(self):
        return {
            name: value for name, value in super().__getstate__().items() if name != "_fresh"
        }  # a file need not hold inputs

    def _classes(self, study: Study) -> np.ndarray | None:
        return np.unique(study.y) if is_classifier(self._base()) else None

    def _record(self, outcome: Outcome, claims, X, y: np.ndarray) -> None:
        if self.by == "progressive":
            loss = loss_for("", self._base(), self.by, self.loss, self.y_range, self.tolerance)
            classes = np.unique(y) if loss.name in ("zero_one", "brier") else None
            self.models_, self.weights_ = outcome.models, outcome.weights
            self.estimator_ = AveragedModels(outcome.models, outcome.weights, loss.name, loss.low, loss.high, classes)
        else:
            self.estimator_ = outcome.estimator
            self.twin_, self._fresh = outcome.twin, outcome.fresh
        if is_classifier(self._base()):
            self._classes_of_y = np.unique(y)
        self.risk_bound_ = float(claims[0].value)
        self.ledger_ = outcome.ledger
        self.train_rows_, self.test_rows_ = outcome.train_rows, outcome.test_rows
        data = read(X, y)
        self._issue(
            "C",
            list(claims),
            problem={
                "procedure": self.by,
                "assumptions": sentence(claims[0].assumptions) if claims[0].assumptions else "",
                "ledger": [list(entry) for entry in outcome.ledger],
            },
            model=("train_rows_", "test_rows_"),
            data=data_fingerprint(data.X, data.y),
        )
