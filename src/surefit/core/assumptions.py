"""Text of assumptions and confidence levels in statistical statements."""

from __future__ import annotations

#: Text of each assumption.
ASSUMPTIONS = {
    "iid": "the rows are independent draws from one distribution",
    "groups_iid": "the groups are independent draws from one distribution",
    "equal_rows_are_copies": "equal rows are copies of one observation",
    "equal_rows_are_draws": "equal rows are separate draws, as declared",
    "fixed_scaling": "the scaling of X was fixed without looking at these rows, as declared",
    "independent_times": "rows at different times do not depend on each other, as declared",
    "rows_untouched": "the tested rows were not used for training or for choosing columns or models",
    "loss_in[0,1]": "no loss exceeds the declared range",
    "order_fixed_before_testing": "the order of testing was drawn at random",
    "start_independent_of_rows": "the first weights were chosen without using the rows",
    "kernel_fixed": "the kernel was chosen without using the rows",
    "unlabeled_same_distribution": "the unlabeled inputs follow the same distribution and were not used for training",
    "worst_row_picked_by_fixed_rule": "rows are picked by a rule that does not use other rows",
    "folds_drawn_independently_of_rows": "the folds were drawn at random",
    "calibration_untouched": "the calibration rows were not used for training or for choosing columns or models",
    "exchangeable": "the rows are exchangeable with future rows",
    "class_fixed_a_priori": "the candidates were fixed before the tested rows were seen",
    "classes_known": "the folds were drawn by classes alone and there are no other classes",
    "range_declared": "losses lie in a range declared beforehand",
    "independent_draws": "the draws are independent",
}


def sentence(tags: tuple[str, ...] | list[str]) -> str:
    """Return the assumptions as a clause that ends a sentence: ``if A, B and C``."""
    parts = [ASSUMPTIONS.get(tag, tag.replace("_", " ")) for tag in tags]
    return "if " + (parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1])


def confidence_text(delta: float) -> str:
    """Return the confidence ``1 - delta`` as text: ``0.95``, or ``1 - 1e-12`` if the decimal form would round to one."""
    return f"{1 - delta:.4g}" if delta >= 1e-3 or delta == 0 else f"1 - {delta:.3g}"
