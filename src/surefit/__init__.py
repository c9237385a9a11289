"""surefit: classical statistical learning in which every fitted model carries a certificate.

Public names are imported when first used: ``import surefit`` costs no Numba, no matplotlib and no scikit-learn.
"""

from importlib import import_module
from typing import Any

from surefit._version import __version__ as __version__

#: Public name -> module that defines it.
_HOME = {
    "ActivationsDisplay": "surefit.plots.neural",
    "ActiveDesign": "surefit.selection.active_design",
    "AdaBoostClassifier": "surefit.ensembles.adaboost",
    "AveragedPerceptron": "surefit.perceptrons.averaged",
    "BatchPerceptron": "surefit.perceptrons.batch",
    "BayesianLinearRegression": "surefit.linear.bayesian",
    "Certificate": "surefit.core.certificate",
    "CertificateError": "surefit.core.errors",
    "Certified": "surefit.risk.certified",
    "Claim": "surefit.core.claims",
    "ConformalClassifier": "surefit.risk.conformal_classifier",
    "ConformalRegressor": "surefit.risk.conformal_regressor",
    "CurveDisplay": "surefit.plots.curves",
    "DataRemark": "surefit.core.errors",
    "DecisionStump": "surefit.ensembles.stump",
    "DecisionTreeClassifier": "surefit.trees.classifier",
    "DecisionTreeRegressor": "surefit.trees.regressor",
    "DegreeDisplay": "surefit.plots.degrees",
    "DeltaLedger": "surefit.risk.ledger",
    "DescentDisplay": "surefit.plots.optimisers",
    "ElasticNet": "surefit.linear.elastic_net",
    "ElasticNetCV": "surefit.linear.elastic_net_cv",
    "ElbowDisplay": "surefit.plots.clusters",
    "EstimationPictureDisplay": "surefit.plots.estimation_picture",
    "ExhaustiveClustering": "surefit.clusters.exhaustive",
    "FilterFactorDisplay": "surefit.plots.splines",
    "FisherDiscriminant": "surefit.discriminants.fisher",
    "FisherDisplay": "surefit.plots.discriminants",
    "FourierBasis": "surefit.bases.waves",
    "GapDisplay": "surefit.plots.gap",
    "GapProgress": "surefit.core.progress",
    "GaussianMixture": "surefit.clusters.gaussian_mixture",
    "GeometricSchedule": "surefit.perceptrons.schedules",
    "GradientDescent": "surefit.optimisers.gradient_descent",
    "GramDisplay": "surefit.plots.kernels",
    "GridSearchCV": "surefit.selection.search",
    "HingeBasis": "surefit.bases.local",
    "HistGradientBoostingClassifier": "surefit.ensembles.boosted_classifier",
    "HistGradientBoostingRegressor": "surefit.ensembles.boosted_regressor",
    "HistogramClassifier": "surefit.partitions.classifier",
    "InvalidData": "surefit.core.errors",
    "InvalidParameter": "surefit.core.errors",
    "Invalidated": "surefit.core.errors",
    "KMeans": "surefit.clusters.k_means",
    "KNeighborsClassifier": "surefit.neighbors.classifier",
    "KNeighborsRegressor": "surefit.neighbors.regressor",
    "KernelPerceptron": "surefit.perceptrons.kernel",
    "KernelPolynomialFeatures": "surefit.bases.polynomial",
    "Lasso": "surefit.linear.lasso",
    "LassoCV": "surefit.linear.elastic_net_cv",
    "LeastAbsoluteDeviations": "surefit.linear.least_absolute",
    "LeastSquaresClassifier": "surefit.linear.least_squares_classifier",
    "LinearDiscriminantAnalysis": "surefit.discriminants.lda",
    "LinearRegression": "surefit.linear.least_squares",
    "LinearSVC": "surefit.linear.linear_svc",
    "LinearSVR": "surefit.linear.linear_svr",
    "LogisticRegression": "surefit.linear.logistic",
    "LogisticRegressionCV": "surefit.linear.logistic_cv",
    "LossCurveDisplay": "surefit.plots.neural",
    "MLPClassifier": "surefit.neural.mlp_classifier",
    "MLPRegressor": "surefit.neural.mlp_regressor",
    "MarginHistogramDisplay": "surefit.plots.perceptrons",
    "MarginPerceptron": "surefit.perceptrons.margin",
    "MistakeBoundDisplay": "surefit.plots.perceptrons",
    "NetworkDisplay": "surefit.plots.neural",
    "PCA": "surefit.decomposition.pca",
    "PartitionClassifier": "surefit.partitions.classifier",
    "PathDisplay": "surefit.plots.path",
    "Perceptron": "surefit.perceptrons.perceptron",
    "PeriodicBasis": "surefit.bases.waves",
    "PersistenceError": "surefit.core.errors",
    "PolynomialBasis": "surefit.bases.polynomial",
    "PowerSchedule": "surefit.perceptrons.schedules",
    "QuadraticDiscriminantAnalysis": "surefit.discriminants.qda",
    "RKHSFunction": "surefit.kernels.rkhs",
    "RadialBasis": "surefit.bases.local",
    "RandomizedSearchCV": "surefit.selection.search",
    "Regressogram": "surefit.partitions.regressogram",
    "Ridge": "surefit.linear.ridge",
    "RidgeCV": "surefit.linear.ridge_cv",
    "RiskDisplay": "surefit.plots.risk",
    "SGDClassifier": "surefit.linear.sgd_classifier",
    "SGDRegressor": "surefit.linear.sgd_regressor",
    "SKOPS_TRUSTED": "surefit.persistence.trust",
    "SVC": "surefit.kernel_machines.svc",
    "SilhouetteDisplay": "surefit.plots.clusters",
    "SmoothingSpline": "surefit.splines.smoothing_spline",
    "SplineFamilyDisplay": "surefit.plots.splines",
    "StepSizeDisplay": "surefit.plots.optimisers",
    "StochasticGradientDescent": "surefit.optimisers.stochastic",
    "StructuralRiskMinimizer": "surefit.selection.structural",
    "StructureDisplay": "surefit.plots.curves",
    "UpdatePathDisplay": "surefit.plots.perceptrons",
    "VariableIncrementPerceptron": "surefit.perceptrons.variable_increment",
    "VotedPerceptron": "surefit.perceptrons.voted",
    "bias_variance": "surefit.selection.bias_variance",
    "check_kernel": "surefit.checks.kernels",
    "check_schedule": "surefit.perceptrons.schedules",
    "complexity_curve": "surefit.selection.curves",
    "consistency_study": "surefit.partitions.consistency",
    "cross_validate": "surefit.selection.cross_validation",
    "degree_path": "surefit.selection.degree_path",
    "distances": "surefit.separation.margins",
    "enet_path": "surefit.linear.path",
    "exchange_sigmoid": "surefit.neural.sigmoids",
    "filter_factors": "surefit.splines.spectrum",
    "kkt_report": "surefit.duality.kkt",
    "lasso_path": "surefit.linear.path",
    "learning_curve": "surefit.selection.curves",
    "load": "surefit.persistence.models",
    "local_links": "surefit.neural.links",
    "margin_bracket": "surefit.separation.margin",
    "margin_perceptron_bounds": "surefit.perceptrons.novikoff",
    "margins": "surefit.separation.margins",
    "maximal_margin": "surefit.separation.margin",
    "network_output": "surefit.neural.sigmoids",
    "novikoff_bound": "surefit.perceptrons.novikoff",
    "partition_count": "surefit.clusters.partition_count",
    "prediction_stability": "surefit.linear.stability",
    "ridge_risk": "surefit.linear.ridge_risk",
    "risk_certificate": "surefit.risk.holdout",
    "save": "surefit.persistence.models",
    "scatter": "surefit.clusters.scatter",
    "separability": "surefit.separation.separability",
    "sine_filter_factors": "surefit.splines.spectrum",
    "three_way_split": "surefit.selection.splits",
    "truncated_series": "surefit.splines.spectrum",
    "validation_curve": "surefit.selection.curves",
    "weak_duality": "surefit.duality.kkt",
    "zip_net": "surefit.neural.zip_net",
}

#: Public folders, reached as attributes: ``surefit.bounds.hoeffding``.
_FOLDERS = ("bounds", "data", "duality", "kernels", "losses", "optimisers", "penalties")

__all__ = sorted(["__version__", *_HOME])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _FOLDERS:
        return import_module(f"surefit.{name}")
    raise AttributeError(f"module 'surefit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_FOLDERS, *_HOME])
