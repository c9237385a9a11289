r"""Steps of the stochastic solvers, each with one pass over all parameters.

With :math:`g = (\text{sum over the batch} + \alpha w) / S` (biases without :math:`\alpha`), *momentum* sets
:math:`v \leftarrow \mu v - \eta g` and adds :math:`v` to the parameters, or :math:`\mu v - \eta g` with the new
:math:`v` for Nesterov momentum. *Adam* keeps running means of :math:`g` and :math:`g^2` and adds
:math:`-\eta_t m / (\sqrt{u} + \varepsilon)` with :math:`\eta_t = \eta \sqrt{1 - \beta_2^t} / (1 - \beta_1^t)`.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.core.jit import compiled


class Momentum:
    """Stochastic gradient steps with momentum and a learning-rate schedule."""

    def __init__(self, size: int, dtype, *, rate: float, schedule: str, momentum: float, nesterov: bool, power: float):
        self.first_rate, self.rate, self.schedule = float(rate), float(rate), schedule
        self.momentum, self.nesterov, self.power = float(momentum), bool(nesterov), float(power)
        self.velocity = np.zeros(size, dtype=dtype)

    def move(self, theta, gradient, n_weights: int, alpha: float, total: float) -> None:
        """Take one step."""
        of = theta.dtype.type
        _momentum(
            theta,
            gradient,
            self.velocity,
            n_weights,
            of(alpha),
            of(total),
            of(self.momentum),
            of(self.rate),
            self.nesterov,
        )

    def end_epoch(self, rows_seen: int) -> None:
        """Update the learning rate according to the schedule."""
        if self.schedule == "invscaling":
            self.rate = self.first_rate / (rows_seen + 1) ** self.power

    def gives_up(self) -> bool:
        """Return whether to stop after a lack of progress; the adaptive schedule first lowers the rate."""
        if self.schedule != "adaptive" or self.rate <= 1e-6:
            return True
        self.rate /= 5
        return False

    def state(self) -> dict:
        """Return the state that the next call of ``partial_fit`` needs."""
        return {"velocity": self.velocity, "rate": self.rate}

    def go_on_from(self, state: dict) -> None:
        """Restore the state of an earlier call."""
        self.velocity, self.rate = state["velocity"].copy(), state["rate"]


class Adam:
    """Adam steps, scaled by running means of the gradient and its square."""

    def __init__(self, size: int, dtype, *, rate: float, beta_1: float, beta_2: float, epsilon: float):
        self.rate, self.beta_1, self.beta_2, self.epsilon = float(rate), float(beta_1), float(beta_2), float(epsilon)
        self.mean, self.square, self.steps = np.zeros(size, dtype=dtype), np.zeros(size, dtype=dtype), 0

    def move(self, theta, gradient, n_weights: int, alpha: float, total: float) -> None:
        """Take one step."""
        self.steps += 1
        of = theta.dtype.type
        rate = self.rate * math.sqrt(1 - self.beta_2**self.steps) / (1 - self.beta_1**self.steps)
        betas = of(self.beta_1), of(1 - self.beta_1), of(self.beta_2), of(1 - self.beta_2)
        means = (self.mean, self.square)
        _adam(theta, gradient, means, n_weights, of(alpha), of(total), betas, of(rate), of(self.epsilon))

    def end_epoch(self, rows_seen: int) -> None:
        """Do nothing."""

    def gives_up(self) -> bool:
        """Return True: stop after a lack of progress."""
        return True

    def state(self) -> dict:
        """Return the state that the next call of ``partial_fit`` needs."""
        return {"mean": self.mean, "square": self.square, "steps": self.steps}

    def go_on_from(self, state: dict) -> None:
        """Restore the state of an earlier call."""
        self.mean, self.square, self.steps = state["mean"].copy(), state["square"].copy(), state["steps"]


@compiled
def _momentum(theta, gradient, velocity, n_weights, alpha, total, momentum, rate, nesterov):
    for j in range(len(theta)):
        g = gradient[j] + alpha * theta[j] if j < n_weights else gradient[j]
        g = g / total
        v = momentum * velocity[j] - rate * g
        velocity[j] = v
        theta[j] += momentum * v - rate * g if nesterov else v


@compiled
def _adam(theta, gradient, means, n_weights, alpha, total, betas, rate, epsilon):
    (mean, square), (b1, c1, b2, c2) = means, betas
    for j in range(len(theta)):
        g = gradient[j] + alpha * theta[j] if j < n_weights else gradient[j]
        g = g / total
        m = b1 * mean[j] + c1 * g
        u = b2 * square[j] + c2 * (g * g)
        mean[j], square[j] = m, u
        theta[j] += -rate * m / (np.sqrt(u) + epsilon)
