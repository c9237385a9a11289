"""Types that a model file may contain."""

from surefit import _HOME

#: What models are made of besides public classes.
_PARTS = {
    "AveragedModels": "surefit.risk.average",
    "Bins": "surefit.solvers.boosting.binning",
    "Candidate": "surefit.selection.evidence",
    "Certificate": "surefit.core.certificate",
    "Claim": "surefit.core.claims",
    "CalibratedPair": "surefit.calibration.calibrators",
    "CostComplexity": "surefit.trees.prune",
    "CubicPartition": "surefit.partitions.partitioners",
    "Evidence": "surefit.solvers.gaussian_process.exact",
    "FlatTree": "surefit.solvers.trees.flat",
    "IsotonicCalibrator": "surefit.calibration.calibrators",
    "KernelLeftOut": "surefit.risk.left_out",
    "LinearLeftOut": "surefit.risk.left_out",
    "Mode": "surefit.solvers.gaussian_process.laplace",
    "QuantilePartition": "surefit.partitions.partitioners",
    "ReducedError": "surefit.trees.prune",
    "RiskBound": "surefit.bounds.base",
    "Structure": "surefit.bounds.structural",
    "CalibratedModel": "surefit.studies.model",
    "SigmoidCalibrator": "surefit.calibration.calibrators",
    "TableEncoder": "surefit.tables.encoder",
    "TableModel": "surefit.studies.model",
    "TemperatureCalibrator": "surefit.calibration.calibrators",
    "Tree": "surefit.solvers.boosting.gradient",
    "TwoClasses": "surefit.gaussian_processes.classifier_training",
}

#: Kernels by the file that defines them; models carry the one they were fitted with.
_KERNELS = {
    "algebra": ("Power", "Product", "Scaled", "Sum"),
    "brownian": ("IntegratedBrownian", "Min"),
    "closure": ("Exponential", "Normalized", "PolynomialOf", "Warped"),
    "strings.common_words": ("CommonWords",),
    "constant": ("Constant", "Noise"),
    "diffusion": ("Diffusion",),
    "function": ("Function",),
    "laplacian": ("Laplacian",),
    "linear": ("DotProduct", "Linear"),
    "matern": ("Matern",),
    "periodic": ("Periodic",),
    "polynomial": ("Polynomial",),
    "precomputed": ("Precomputed",),
    "rational_quadratic": ("RationalQuadratic",),
    "rbf": ("RBF",),
    "sigmoid": ("Sigmoid",),
    "strings.subsequence": ("StringSubsequence",),
    "untranslated": ("Untranslated",),
}

#: Sparse matrices: arrays of numbers, which are read without pickle.
_SPARSE = ["scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"]

#: Folders whose public classes are never part of a model.
_SURFACES = ("core", "data", "plots")


class TypeNames(tuple):
    """Names of types that a file may contain, in the form that ``skops`` expects.

    ``surefit.SKOPS_TRUSTED`` lists surefit's estimators and the types of their attributes. These types are data without
    code, so opening an untrusted file can give a wrong model but cannot execute code. Types that skops trusts by
    default (NumPy arrays, numbers, strings, scikit-learn's estimators) are also allowed.

    Examples
    --------
    >>> import surefit
    >>> "surefit.linear.lasso.lasso.Lasso" in surefit.SKOPS_TRUSTED
    True
    """


def _is_class_of_a_model(name: str, home: str) -> bool:
    is_constant = name.isupper() and "_" in name  # PCA is a class, SKOPS_TRUSTED is not
    return name[0].isupper() and not is_constant and home.split(".")[1] not in _SURFACES


_FOUND = {name: home for name, home in _HOME.items() if _is_class_of_a_model(name, home)}
_CARRIED = [f"surefit.kernels.{file}.{name}" for file, names in _KERNELS.items() for name in names]

SKOPS_TRUSTED = TypeNames(
    sorted([*(f"{home}.{name}" for name, home in {**_FOUND, **_PARTS}.items()), *_CARRIED, *_SPARSE])
)
