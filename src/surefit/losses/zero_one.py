from typing import NamedTuple

from surefit.losses.base import is_margin_loss, usable, value


@usable("zero_one")
class ZeroOne(NamedTuple):
    r"""0-1 loss: 1 if :math:`u = y z \le 0`, else 0. For evaluation only: it is not convex and has no subgradients.

    Examples
    --------
    >>> from surefit.losses import ZeroOne
    >>> ZeroOne()(1.0, 0.2), ZeroOne()(1.0, 0.0)
    (0.0, 1.0)
    """


@value.register(ZeroOne)
def _(loss, y, z):
    return 1.0 if y * z <= 0.0 else 0.0


@is_margin_loss.register(ZeroOne)
def _(loss):
    return True
