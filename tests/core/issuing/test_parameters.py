"""Parameters as JSON values: objects become text, and a value that contains itself ends."""

from sklearn.linear_model import Ridge

import surefit as sf
from surefit.core.issuing.parameters import plain


class Kept(list):
    """A list that copies share, so that scikit-learn can clone an estimator inside it."""

    def __deepcopy__(self, memo):
        return self


def test_equal_parameters_have_equal_values():
    assert plain(Ridge(alpha=2.0)) == plain(Ridge(alpha=2.0)) != plain(Ridge(alpha=3.0))
    assert plain({"a": (1, [2.0, None])}) == {"pairs": [["a", [1, [2.0, None]]]]}


def test_a_value_that_contains_itself_ends():
    several: list = [1.0]
    several.append(several)
    assert plain(several) == [1.0, "list that contains itself"]
    assert plain([several[0], several[0]]) == [1.0, 1.0]  # the same value twice is not inside itself


def test_a_search_over_an_estimator_that_keeps_a_list_of_itself_is_certified():
    kept = Kept()
    base = Ridge(alpha=kept)
    kept.append(base)
    search = sf.GridSearchCV(base, {"alpha": [0.1, 1.0]}, cv=2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 4.0])
    assert all(check.ok for check in search.verify([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 4.0]))
