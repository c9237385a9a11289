r"""Minimum-norm point of convex hulls on few rows: the compiled part of ``hull.py``.

The weights of the minimum-norm point of the affine hulls of the support rows P, with groups E (one column per group),
solve
:math:`\min \|P^\top \beta\|` with :math:`E^\top \beta = 1`. Rows are lifted to :math:`(p_i, \sqrt\sigma e_i)` and orthogonalized:
:math:`[P, \sqrt\sigma E] = L Q` with L triangular. With :math:`y = L^\top \beta` and :math:`Q_E` the last columns of Q,
the problem is to find the y of minimum norm with :math:`Q_E^\top y = \sqrt\sigma 1`, one equation per group; then
:math:`\beta` solves :math:`L^\top \beta = y`. No matrix is multiplied by its transpose, so accuracy is not lost for
rows of very different lengths or for margins far below those lengths. The factors are updated one row at a time.
"""

import numpy as np

from surefit.core.jit import compiled


@compiled(relaxed=True)
def shortest(B, groups, n_groups, alpha, max_rounds):
    """Find the minimum-norm point of the convex hulls of the rows of ``B``; return the number of iterations.

    The weights ``alpha``, with sum one per group, are updated in place. Each iteration adds the row that most violates
    the optimality condition of its group, then moves to the minimum-norm point of the affine hulls, dropping rows whose
    weight reaches zero. The norm decreases in each iteration, so no support is visited twice.
    """
    n, d = B.shape
    capacity = min(n, d + n_groups) + 2
    support, L = np.empty(capacity, dtype=np.int64), np.zeros((capacity, capacity))
    Q = np.empty((capacity, d + n_groups))
    sigma, k = 1e-300, 0
    for i in range(n):
        sigma += _dot(B[i], B[i], d) / n  # so that both parts of a lifted row have similar size
    for i in range(n):
        if alpha[i] > 0.0:
            if k + 1 < capacity and _append(B, groups, support, L, Q, k, i, sigma):
                k += 1
            else:
                alpha[i] = 0.0  # an affine combination of the others, up to rounding
    if not _normalize(alpha, groups, n_groups):
        return 0
    last = np.inf
    for done in range(1, max_rounds + 1):
        k = _descend(n_groups, alpha, support, L, Q, k, sigma)
        z = np.zeros(d)
        for s in range(k):
            for j in range(d):
                z[j] += alpha[support[s]] * B[support[s], j]
        length = _dot(z, z, d)
        if not length < last * (1.0 - 1e-14):
            return done  # no progress beyond rounding
        last = length
        new = _most_undercut(B, groups, n_groups, alpha, z, length)
        if new < 0 or k + 1 >= capacity or not _append(B, groups, support, L, Q, k, new, sigma):
            return done  # optimal, or the new row depends on the support up to rounding
        k += 1
    return max_rounds


@compiled(relaxed=True)
def _most_undercut(B, groups, n_groups, alpha, z, length):
    """Return the row outside the support that lies farthest below its group's level along ``z``; -1 if none does."""
    scores, level = np.empty(len(B)), np.zeros(n_groups)
    for i in range(len(B)):
        scores[i] = _dot(B[i], z, len(z))
        level[groups[i]] += alpha[i] * scores[i]
    best, new = 1e-13 * length, -1
    for i in range(len(B)):
        if alpha[i] == 0.0 and level[groups[i]] - scores[i] > best:
            best, new = level[groups[i]] - scores[i], i
    return new


@compiled(relaxed=True)
def _descend(n_groups, alpha, support, L, Q, k, sigma):
    """Move to the minimum-norm point of the affine hulls of the support, dropping rows whose weight reaches zero."""
    while True:
        target = _affine_minimum(n_groups, L, Q, k, sigma)
        step = 1.0
        for s in range(k):
            if target[s] <= 0.0:
                now = alpha[support[s]]
                step = min(step, now / (now - target[s]) if now > target[s] else 0.0)
        if step == 1.0:
            for s in range(k):
                alpha[support[s]] = target[s]
            return k
        leaver = -1
        for s in range(k):
            i = support[s]
            moved = alpha[i] + step * (target[s] - alpha[i])
            alpha[i] = max(moved, 0.0)
            if target[s] <= 0.0 and (leaver < 0 or alpha[i] < alpha[support[leaver]]):
                leaver = s
        alpha[support[leaver]] = 0.0
        k = _remove(support, L, Q, k, leaver)


@compiled(relaxed=True)
def _affine_minimum(n_groups, L, Q, k, sigma):
    """Return the weights (of any sign) of the minimum-norm point of the affine hulls of the support."""
    d = Q.shape[1] - n_groups
    inner, share = np.zeros((n_groups, n_groups)), np.empty(n_groups)
    for g in range(n_groups):
        for h in range(n_groups):
            for s in range(k):
                inner[g, h] += Q[s, d + g] * Q[s, d + h]
    if n_groups == 1:
        share[0] = 1.0 / inner[0, 0]
    else:
        determinant = inner[0, 0] * inner[1, 1] - inner[0, 1] * inner[1, 0]
        share[0] = (inner[1, 1] - inner[0, 1]) / determinant
        share[1] = (inner[0, 0] - inner[1, 0]) / determinant
    beta = np.zeros(k)
    for s in range(k):
        for g in range(n_groups):
            beta[s] += np.sqrt(sigma) * Q[s, d + g] * share[g]
    for s in range(k - 1, -1, -1):
        beta[s] /= L[s, s]
        for i in range(s):
            beta[i] -= L[s, i] * beta[s]
    return beta


@compiled(relaxed=True)
def _append(B, groups, support, L, Q, k, new, sigma):
    """Append row ``new`` to the factor; return False if it depends on the support up to rounding."""
    d, width = B.shape[1], Q.shape[1]
    rest, row = Q[k], L[k]
    for j in range(d):
        rest[j] = B[new, j]
    for g in range(width - d):
        rest[d + g] = np.sqrt(sigma) if groups[new] == g else 0.0
    whole = np.sqrt(_dot(rest, rest, width))
    for s in range(k + 1):
        row[s] = 0.0
    for _ in range(2):  # two passes give orthogonality up to rounding
        for s in range(k):
            part = _dot(Q[s], rest, width)
            row[s] += part
            for j in range(width):
                rest[j] -= part * Q[s, j]
    row[k] = np.sqrt(_dot(rest, rest, width))
    if not row[k] > 1e-13 * whole:
        return False
    for j in range(width):
        rest[j] /= row[k]
    support[k] = new
    return True


@compiled(relaxed=True)
def _remove(support, L, Q, k, leaver):
    """Remove support position ``leaver`` from the factor; rotations restore the triangular form."""
    for s in range(leaver, k - 1):
        support[s] = support[s + 1]
        for j in range(s + 2):
            L[s, j] = L[s + 1, j]
        radius = np.hypot(L[s, s], L[s, s + 1])
        c, r = L[s, s] / radius, L[s, s + 1] / radius
        L[s, s], L[s, s + 1] = radius, 0.0
        for i in range(s + 2, k):
            a, b = L[i, s], L[i, s + 1]
            L[i, s], L[i, s + 1] = c * a + r * b, c * b - r * a
        for j in range(Q.shape[1]):
            a, b = Q[s, j], Q[s + 1, j]
            Q[s, j], Q[s + 1, j] = c * a + r * b, c * b - r * a
    return k - 1


@compiled(relaxed=True)
def _dot(a, b, m):
    """Return the sum of the first ``m`` products."""
    total = 0.0
    for j in range(m):
        total += a[j] * b[j]
    return total


@compiled
def _normalize(alpha, groups, n_groups):
    """Scale the weights of each group to sum to one; return False if a group has no weight."""
    total = np.zeros(n_groups)
    for i in range(len(alpha)):
        total[groups[i]] += alpha[i]
    for i in range(len(alpha)):
        if total[groups[i]] <= 0.0:
            return False
        alpha[i] /= total[groups[i]]
    return True
