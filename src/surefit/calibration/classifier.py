from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.calibration.calibrators import CalibratedPair
from surefit.calibration.training import Labels, fit_pairs, fit_parameters
from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin
from surefit.core.routing import router_of, routing_enabled
from surefit.core.sample import read
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    N_JOBS,
    NOTHING,
    Rule,
    check_labels,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.problems import pose
from surefit.risk.target import read_target

SIX_DIGITS = 5e-6  # tolerance of the checker when it compares scores
SCORING = Rule(
    "a classifier with fit and with decision_function or predict_proba",
    lambda v: hasattr(v, "fit") and (hasattr(v, "decision_function") or hasattr(v, "predict_proba")),
)


class CalibratedClassifierCV(CertifiedMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Calibrated probabilities for any classifier, fitted on scores of held-out rows.

    A map from the scores s to probabilities minimizes, over the calibration rows,

    .. math::

       \text{sigmoid:}\quad \sum_i w_i [\ln(1 + e^{z_i}) - t_i z_i], \quad z = -(a s + b),

       \text{isotonic:}\quad \sum_i w_i (g(s_i) - y_i)^2, \quad g \text{ non-decreasing},

       \text{temperature:}\quad \sum_i w_i \Bigl[\ln \sum_k e^{\beta s_{ik}} - \beta s_{iy_i}\Bigr], \quad e^{-10} \le \beta \le e^{10},

    with targets t smoothed away from 0 and 1 as if each class had two more rows, one of them with the wrong label. With
    several classes, there is one map per class, and probabilities are divided by their sum (sigmoid, isotonic).
    Hypothesis class and loss are those of the classifier and of the map. Optimizer: Newton's method, the
    pool-adjacent-violators algorithm, or root finding.

    Guarantee: the certificate encloses the gap of every map to the smallest possible objective on its recorded scores
    (theory: :ref:`isotonic-gap`, :ref:`fenchel-gap`). Recorded scores are compared with those of the classifiers,
    except with ``ensemble=False``, which does not store the classifiers of the folds. No claim is made about new rows.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier with ``decision_function`` or ``predict_proba``. None is ``LinearSVC(loss="squared_hinge")`` with
        ``tol=1e-10``. A fitted classifier in ``sklearn.frozen.FrozenEstimator`` is not fitted again.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        The map from scores to probabilities.
    cv : int, splitter, iterable of splits, or None, default=None
        Folds; None is 5.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it.
    ensemble : bool or "auto", default="auto"
        Whether to keep one classifier per fold and average their probabilities, instead of one classifier fitted on all
        rows, whose map is fitted on scores of held-out rows. "auto" is False for a frozen classifier.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    calibrated_classifiers_ : list
        Pairs with ``estimator``, ``calibrators`` and ``predict_proba``.
    calibration_rows_ : ndarray of int
        Rows that the maps were fitted on, pair by pair.
    calibration_scores_ : list of ndarray
        Scores of these rows, one array per pair; logits for ``method="temperature"``.
    calibration_starts_ : ndarray of int
        Index at which the rows of each pair begin.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefit import CalibratedClassifierCV, GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=3).fit(X, y)
    >>> model.predict_proba(X[5:6]).round(2).tolist()
    [[0.81, 0.19]]
    >>> model.certificate_["calibration.isotonic"].value < 1e-12, model.verify(X, y)["calibration.isotonic"].ok
    (True, True)
    """

    _rules = {
        "estimator": NOTHING | SCORING,
        "method": one_of("sigmoid", "isotonic", "temperature"),
        "cv": ANYTHING,
        "n_jobs": N_JOBS,
        "ensemble": BOOLEAN | one_of("auto"),
    }

    def __init__(self, estimator=None, *, method="sigmoid", cv=None, n_jobs=None, ensemble="auto"):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the classifiers and the maps of their scores; ``fit_params`` go to the classifier. Returns the estimator."""
        check_params(self)
        read_data(self, X, y, skip_check_array=True)
        target = read_target(type(self).__name__, X, y)
        check_labels(target)
        sample_weight = read_weights(self, sample_weight, len(target))
        self.classes_, codes = np.unique(target, return_inverse=True)
        params, split_params = fit_parameters(self, X, sample_weight, fit_params)
        labels = Labels(target, codes, self.classes_, np.ones(len(target)) if sample_weight is None else sample_weight)
        found = fit_pairs(self, X, labels, params, split_params)
        self.calibrated_classifiers_: list[CalibratedPair] = found.pairs
        self.calibration_rows_, self.calibration_starts_ = found.rows, found.starts
        self.calibration_scores_ = found.scores
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(found.pairs[0].estimator, name):
                setattr(self, name, getattr(found.pairs[0].estimator, name))
        data = read(X, target, sample_weight)
        recomputable = len(found.pairs) > 1 or isinstance(self._base(), FrozenEstimator) or self.ensemble is True
        self._issue(
            "A",
            [Claim(f"calibration.{self.method}"), *([Claim("calibration.scores", SIX_DIGITS)] if recomputable else [])],
            problem=pose(self, X, target),
            model=("classes_", "calibration_rows_", "calibration_starts_"),
            sample=(data.X, data.y, data.weights),
        )
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class, averaged over the pairs."""
        check_is_fitted(self)
        return np.sum([pair.predict_proba(X) for pair in self.calibrated_classifiers_], axis=0) / len(
            self.calibrated_classifiers_
        )

    def predict(self, X) -> np.ndarray:
        """Return the most probable class; ties go to the first."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from surefit.linear.margins.classifier import LinearSVC

        # The loss of scikit-learn's default; with a small gap, weights and repetitions agree to seven digits.
        base = LinearSVC(loss="squared_hinge", tol=1e-10, random_state=0)
        return base.set_fit_request(sample_weight=True) if routing_enabled() else base

    def get_metadata_routing(self):
        """Return the metadata routing to the classifier and the splitter."""
        return router_of(self, own=True, estimator=(self._base(), {"fit": "fit"}), splitter=(self.cv, {"fit": "split"}))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base()).input_tags.sparse
        return tags
