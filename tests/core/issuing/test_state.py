"""Reading the state of a model."""

import pytest

from surefit import Lasso
from surefit.core.issuing import state


class Interrupted:
    """A context variable; Ctrl-C comes as soon as it is true."""

    value = False

    def get(self):
        return self.value

    def set(self, value):
        self.value = value
        if value:
            raise KeyboardInterrupt


def test_ctrl_c_at_the_start_of_a_digest_leaves_nothing_behind(monkeypatch):
    variable = Interrupted()
    monkeypatch.setattr(state, "DIGESTING", variable)
    with pytest.raises(KeyboardInterrupt):
        state.digest(Lasso())
    assert variable.value is False
