from typing import NamedTuple

from surefit.losses.base import is_margin_loss, value


class ZeroOne(NamedTuple):
    r"""0-1 loss: 1 if :math:`u = y z \le 0`, else 0. For evaluation only: it is not convex and has no slope."""


@value.register(ZeroOne)
def _(loss, y, z):
    return 1.0 if y * z <= 0.0 else 0.0


@is_margin_loss.register(ZeroOne)
def _(loss):
    return True
