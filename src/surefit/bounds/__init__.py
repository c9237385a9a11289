"""Statistical guarantees: concentration, VC, Rademacher, margin, compression, PAC-Bayes, progressive, conformal.

Every function states its assumptions and reports vacuous bounds as such. Names are imported when first used.
"""

from importlib import import_module
from typing import Any

#: File -> public names it defines.
_FILES = {
    "affine_functions": ["AffineWitness", "affine_witness"],
    "balls": [
        "kernel_ball_rademacher",
        "kernel_ball_trace",
        "linear_ball_closed_form",
        "linear_ball_rademacher",
        "mean_absolute_sum",
    ],
    "base": ["Deviation", "NoBound", "RiskBound"],
    "binomial": [
        "binomial_tail_inverse",
        "clopper_pearson",
        "clopper_pearson_interval",
        "clopper_pearson_lower",
        "clopper_pearson_size",
        "holdout",
        "holdout_loss",
        "log_binomial_cdf",
        "log_binomial_sf",
    ],
    "catalog": ["SetClass", "set_class", "vc_dimension"],
    "code_length": ["delta_share", "occam", "tree_bits"],
    "compression": ["pick_to_learn", "sample_compression", "stable_compression"],
    "conformal": [
        "ConformalQuantile",
        "conformal_p_value",
        "conformal_quantile",
        "conformal_quantiles_by_class",
        "conformal_rank",
        "conformal_size",
        "jackknife_plus",
    ],
    "estimates": ["Estimate", "bic", "generalized_cross_validation", "leave_one_out_limit", "model_probabilities"],
    "exponential_moments": [
        "chernoff",
        "cramer",
        "cramer_transform",
        "log_mgf_bernoulli",
        "log_mgf_gaussian",
        "log_mgf_sample",
    ],
    "finite": ["finite_class", "random_search"],
    "growth": ["log_choose", "log_growth", "sauer"],
    "kernel_ridge": ["kernel_ridge_mse", "kernel_ridge_mse_grid", "theory_lambda"],
    "kl": ["binary_kl", "kl_inverse", "kl_inverse_lower", "relative_entropy"],
    "lipschitz_losses": ["lp_lipschitz", "rademacher_risk"],
    "margins": ["margin", "ramp_loss", "vote_margin"],
    "pac_bayes": ["pac_bayes_hybrid", "pac_bayes_kl", "pac_bayes_linear"],
    "progressive": [
        "online_mistakes",
        "pilot_rate",
        "pilot_rate_bernstein",
        "progressive_errors",
        "progressive_losses",
    ],
    "pseudo": [
        "PseudoShattering",
        "common_threshold_dimension",
        "linear_pseudo_dimension",
        "pseudo_dimension",
        "pseudo_dimension_deviation",
        "pseudo_shatters",
        "squared_loss_pseudo_dimension",
        "vector_space_pseudo_dimension",
    ],
    "rademacher": ["Complexity", "empirical_rademacher", "massart"],
    "resampling": ["RiskSplit", "holdout_size", "k_fold", "risk_split", "transfer"],
    "shatter": ["Labelings", "empirical_risk_minimum", "labelings", "search_shattered", "shatters"],
    "shatter_witness": [
        "RadonPartition",
        "Shattering",
        "radon_partition",
        "shatter_coefficient",
        "sine_witness",
        "vc_dimension_of",
    ],
    "structural": ["Structure", "structural_risk"],
    "tail_integral": ["mean_by_tails"],
    "tails": [
        "bernstein",
        "chebyshev",
        "empirical_bernstein",
        "gaussian_approximation",
        "hoeffding",
        "markov",
        "sub_gaussian",
    ],
    "uniform_law": ["dkw", "interval_deviation", "ks_distance", "ray_deviation"],
    "vc_inequality": ["vc", "vc_bound", "vc_consistent"],
    "votes": ["out_of_bag_bounds", "vote_c_bound", "vote_first_order", "vote_tandem"],
}
_HOME = {name: file for file, names in _FILES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"surefit.bounds.{_HOME[name]}"), name)
    raise AttributeError(f"module 'surefit.bounds' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
