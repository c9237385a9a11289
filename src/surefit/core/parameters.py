"""Names of an estimator's parameters, read from the signature once per class."""

from __future__ import annotations


class ParameterNamesMixin:
    """Remembers the names of the parameters; scikit-learn reads the signature again for each call of ``get_params``.

    Place it left of ``BaseEstimator``.
    """

    _own_param_names: tuple[str, ...]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if "_own_param_names" not in cls.__dict__:
            cls._own_param_names = tuple(super()._get_param_names())  # type: ignore[misc]
        return list(cls._own_param_names)
