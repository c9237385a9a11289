from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils.validation import check_random_state

from surefit.bounds.resampling import holdout_size
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.fingerprint import data_fingerprint
from surefit.core.sample import read
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    NOTHING,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
    read_data,
)
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.risk.average import AveragedModels
from surefit.risk.by_holdout import certify_by_holdout, certify_by_transfer, read_fresh
from surefit.risk.by_picking import certify_by_picking
from surefit.risk.by_progressive import certify_progressively
from surefit.risk.by_vc import certify_by_vc
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.losses import LOSS, TOLERANCE, Y_RANGE
from surefit.risk.measured import MEASURED_BY, loss_for
from surefit.risk.study import Outcome, Study
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, find_units
from surefit.risk.void import why_void


class Certified(CertifiedMixin, DeployedMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Any scikit-learn estimator or pipeline, fitted together with a proved upper bound on its risk.

    .. math:: P\bigl(\mathbb E\,\ell(Y, h(X)) \le \bar R\bigr) \ge 1 - \delta, \qquad \delta = 1 - \text{confidence}.

    Hypothesis class, loss and optimizer are those of the estimator. The procedure ``by`` determines how the bound is
    obtained:

    - ``by="holdout"``: a fifth of the rows (at least 200, or half) is held out to test a model of the rest.
    - ``by="progressive"``: ten blocks of the second half are each tested by a model fitted on earlier rows; the
      predictions of the ten models are averaged, and the Brier score or squared error of the average is bounded.
      Nearly all rows are used for training.
    - ``by="transfer"``: the model trained on *all* rows is compared with a tested model on new inputs without labels.
    - ``by="p2l"``: Pick-to-Learn trains on half of the rows and on misclassified rows of the other half.
    - ``by="vc"``: a linear classifier of two classes is trained on all rows; its training error and the VC dimension of
      half-spaces give a bound, which is vacuous (and labeled so) unless there are many rows.

    Guarantee: ``risk_bound_`` is at least the true mean loss with probability at least ``confidence``, for any distribution of the rows
    and any estimator (including tuning), under the assumptions stated in the certificate (theory: :ref:`concentration`,
    :ref:`progressive-validation`, :ref:`compression`). Equal rows stay on one side of a split and count once; nothing
    is claimed for a table that was scaled with statistics of its own rows.

    Parameters
    ----------
    estimator : estimator, pipeline or None, default=None
        Estimator to fit; it is cloned. Scalers, encoders and selectors belong inside a pipeline. None is
        ``LogisticRegression()``.
    by : {"holdout", "progressive", "transfer", "p2l", "vc"}, default="holdout"
        How the bound is obtained.
    confidence : float, default=0.95
        Confidence of the bound.
    loss : {"zero_one", "brier", "squared", "absolute", "quantile", "miss"}, callable or None, default=None
        The loss to bound. None: 0-1 errors for a classifier (the Brier score with ``by="progressive"``, if it has
        probabilities); for a regressor, misses if ``tolerance`` is given, the squared error if ``y_range`` is given,
        and otherwise (``by="holdout"``) the ``coverage`` quantile of the absolute error. A function of (y, prediction)
        must return values from 0 to 1 (``by="holdout"``), or 0 and 1 (``by="p2l"``).
    y_range : (low, high) or None, default=None
        Range of the target of a regressor, declared before the data were seen; predictions are clipped to it for the bound.
    coverage : float, default=0.9
        Level of the quantile with ``loss="quantile"``.
    tolerance : float or None, default=None
        Largest error of a regressor that is not a miss (``"holdout"``, ``"p2l"``): the probability of a larger error is bounded.
    refit : bool, default=False
        With ``by="holdout"``: deploy a model fitted on all rows. The bound is then about the tested model.
    test_size : int or None, default=None
        Number of rows (or groups) to hold out; None: a fifth, at least 200 or half, at most 5000.
    n_blocks : int, default=10
        Number of blocks of ``by="progressive"``.
    batch_size : int or None, default=None
        Number of rows that ``by="p2l"`` moves at a time; None: a fiftieth of the second half.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare: equal rows are separate draws; the columns were scaled without using these rows; rows indexed by
        time are independent.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Attributes
    ----------
    estimator_ : estimator
        The model that predicts.
    risk_bound_ : float
        The risk bound; NaN if nothing could be claimed.
    ledger_ : list of (str, float)
        The division of ``delta = 1 - confidence`` among the statements.
    train_rows_, test_rows_ : ndarray of int
        The split.
    twin_ : estimator
        The model that was tested (``by="holdout"`` and ``"transfer"``).
    split_seed_ : int
        For partitioned data, the seed by which rows are held out. ``test_rows_`` then contains the first row of each
        set of equal rows, and ``train_rows_``, ``order_`` and ``groups_`` are absent (:doc:`/scaling`).
    order_, groups_ : ndarray
        Random order of the units, and the groups passed to ``fit`` (or None).
    pilot_, block_sizes_
        With ``by="progressive"``: the model whose losses chose the rate of the bound, and the number of rows of each block.
    models_, weights_ : tuple
        The averaged models (``by="progressive"``).
    classes_ : ndarray
        Classes of y, for a classifier; a class that is missing in the training part is never predicted, so its rows
        count as errors.
    certificate_ : Certificate
        The claim with its evidence; ``certificate_.verify(X, y)`` re-derives it.
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
    independent draws from one distribution and the tested rows were not used for training or for choosing columns or models
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

    def fit(self, X, y, groups=None, X_unlabeled=None, **fit_params):
        """Fit the estimator and issue a certificate.

        Parameters
        ----------
        X, y : array-like
            Rows and targets; X may have any type from which the estimator can read rows.
        groups : array of shape (n_rows,) or None
            Group labels; rows of one group stay together, and the bound counts groups instead of rows.
        X_unlabeled : array-like or None
            New inputs without labels, for ``by="transfer"``.
        **fit_params
            Passed to every ``fit`` of the estimator, restricted to its rows if there is one entry per row.
        """
        check_params(self)
        who = type(self).__name__
        if self.refit and self.by != "holdout":
            raise InvalidParameter(
                who, "refit", f"False with by={self.by!r}, which determines the deployed model", True
            )
        given, y = y, self._read(X, y)
        study = self._study(X, y, groups, fit_params)
        if self.by == "transfer":
            X_unlabeled = read_fresh(who, X, X_unlabeled, tuple(self.assume))
        outcome, reason = self._run(study, X_unlabeled), why_void(X, given, groups=groups, assume=tuple(self.assume))
        claims = outcome.claims
        if reason is not None:
            warn(f"{who}: {reason}.", DataWarning)
            claims = (Claim("risk.void"),)
        self._record(outcome, claims, X, y, study, groups)
        return self

    def _read(self, X, y) -> np.ndarray:
        read_data(self, X, y, skip_check_array=True)
        return read_target(type(self).__name__, X, y)

    def _study(self, X, y: np.ndarray, groups, fit_params: dict[str, Any]) -> Study:
        who, base = type(self).__name__, self._base()
        loss = loss_for(who, base, self.by, self.loss, self.y_range, self.tolerance)
        if groups is not None and self.by in ("transfer", "p2l", "vc"):
            raise InvalidParameter(who, "groups", f"None with by={self.by!r}; use 'holdout' or 'progressive'", "groups")
        units = find_units(who, X, y, groups, self.assume)
        if units.total < 2:
            raise InvalidData(
                f"{who}: at least 2 distinct rows (or groups) are required; got {units.total}: n_samples = {len(y)}."
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

    def _run(self, study: Study, X_unlabeled) -> Outcome:
        if self.by == "progressive":
            return certify_progressively(study, self.n_blocks, self._classes(study))
        if self.by == "vc":
            return certify_by_vc(study)
        if self.by == "p2l":
            return certify_by_picking(study, self.batch_size)
        n_test = holdout_size(study.units.total) if self.test_size is None else self.test_size
        if not 0 < n_test < study.units.total:
            words = f"below the number of rows (or groups), {study.units.total}"
            raise InvalidParameter(study.who, "test_size", words, n_test)
        if self.by == "transfer":
            return certify_by_transfer(study, n_test, X_unlabeled)
        return certify_by_holdout(study, n_test, self.refit)

    def __getstate__(self):
        state = dict(super().__getstate__())
        if not isinstance(state.get("_fresh"), np.ndarray) and not sparse.issparse(state.get("_fresh")):
            state.pop("_fresh", None)  # files store arrays, not tables of other libraries
        return state

    def _classes(self, study: Study) -> np.ndarray | None:
        return np.unique(study.y) if is_classifier(self._base()) else None

    def _record(self, outcome: Outcome, claims, X, y: np.ndarray, study: Study, groups) -> None:
        if self.by == "progressive":
            loss = loss_for("", self._base(), self.by, self.loss, self.y_range, self.tolerance)
            classes = np.unique(y) if loss.name in ("zero_one", "brier") else None
            self.models_, self.weights_ = outcome.models, outcome.weights
            self.pilot_, self.block_sizes_ = outcome.pilot, outcome.block_sizes
            self.estimator_ = AveragedModels(outcome.models, outcome.weights, loss.name, loss.low, loss.high, classes)
        else:
            self.estimator_ = outcome.estimator
            self.twin_, self._fresh = outcome.twin, outcome.fresh
        if is_classifier(self._base()):
            self._classes_of_y = np.unique(y)
        self.risk_bound_ = float(claims[0].value)
        self.ledger_ = outcome.ledger
        self.train_rows_, self.test_rows_ = outcome.train_rows, outcome.test_rows
        self.order_, self.groups_ = study.order, None if groups is None else np.asarray(groups)
        data = read(X, y)
        self._issue(
            "C",
            list(claims),
            problem=pose(self, X, y),
            model=("train_rows_", "test_rows_"),
            data=data_fingerprint(data.X, data.y),
        )
