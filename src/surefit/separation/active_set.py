r"""Shortest point of convex hulls on few rows: the compiled part of ``hull.py``.

With P the support rows and E their groups (one line a group), the weights of the shortest point of the affine hulls solve
:math:`\min \|P^\top \beta\|` with :math:`E \beta = 1`. The matrix :math:`M = P P^\top + \sigma E^\top E` is positive definite
exactly when no support row is an affine combination of others of the support, so its Cholesky factor is kept, grown and
shrunk by a row at a time; residuals taken from P itself restore what forming :math:`P P^\top` loses.
"""

import numpy as np

from surefit.core.jit import compiled


@compiled(relaxed=True)
def shortest(B, groups, n_groups, alpha, max_rounds):
    """Improve ``alpha`` (in place; one a group in sum) to the shortest point of the hulls of the rows of ``B``; count rounds.

    Each round adds the row that most undercuts its group's support, then moves to the shortest point of the affine hulls,
    dropping rows whose weight reaches zero on the way. The point gets shorter each round, so no support comes twice.
    """
    n, d = B.shape
    capacity = min(n, d + n_groups) + 2
    support, L = np.empty(capacity, dtype=np.int64), np.zeros((capacity, capacity))
    sigma, k = 1e-300, 0
    for i in range(n):
        sigma += _dot(B[i], B[i], d) / n  # of the size of P P', so that M is balanced
    for i in range(n):
        if alpha[i] > 0.0:
            if k + 1 < capacity and _append(B, groups, support, L, k, i, sigma):
                k += 1
            else:
                alpha[i] = 0.0  # an affine combination of the others, as far as floats can tell
    if not _normalise(alpha, groups, n_groups):
        return 0
    last = np.inf
    for done in range(1, max_rounds + 1):
        k = _descend(B, groups, n_groups, alpha, support, L, k)
        z = np.zeros(d)
        for s in range(k):
            for j in range(d):
                z[j] += alpha[support[s]] * B[support[s], j]
        length = _dot(z, z, d)
        if not length < last * (1.0 - 1e-14):
            return done  # rounding allows no progress
        last = length
        new = _most_undercut(B, groups, n_groups, alpha, z, length)
        if new < 0 or k + 1 >= capacity or not _append(B, groups, support, L, k, new, sigma):
            return done  # optimal, or the new row depends on the support as far as floats can tell
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
def _descend(B, groups, n_groups, alpha, support, L, k):
    """Move to the shortest point of the affine hulls of the support; rows that would get a negative weight leave it."""
    while True:
        target = _affine_minimum(B, groups, n_groups, support, L, k)
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
        k = _remove(support, L, k, leaver)


@compiled(relaxed=True)
def _affine_minimum(B, groups, n_groups, support, L, k):
    """Weights (of any sign) of the shortest point of the affine hulls of the support, refined on the residual."""
    to_level = np.zeros((n_groups, k))
    for s in range(k):
        to_level[groups[support[s]], s] = 1.0
    for g in range(n_groups):
        _solve(L, k, to_level[g])  # M^-1 E', a column a group
    sums = np.zeros((n_groups, n_groups))
    for s in range(k):
        for g in range(n_groups):
            sums[groups[support[s]], g] += to_level[g, s]
    beta = np.zeros(k)
    for sweep in range(3):
        change, missing = np.zeros(k), np.ones(n_groups)
        if sweep > 0:
            z = np.zeros(B.shape[1])
            for s in range(k):
                for j in range(B.shape[1]):
                    z[j] += beta[s] * B[support[s], j]
            for s in range(k):
                change[s] = -_dot(B[support[s]], z, len(z))
            _solve(L, k, change)
        for s in range(k):
            missing[groups[support[s]]] -= beta[s] + change[s]
        multiplier = _solve_groups(sums, missing)
        for s in range(k):
            for g in range(n_groups):
                change[s] += multiplier[g] * to_level[g, s]
            beta[s] += change[s]
    return beta


@compiled(relaxed=True)
def _solve_groups(sums, missing):
    """Solve the one or two equations that restore the sums of the groups."""
    if len(missing) == 1:
        missing[0] /= sums[0, 0]
        return missing
    determinant = sums[0, 0] * sums[1, 1] - sums[0, 1] * sums[1, 0]
    result = np.empty(2)
    result[0] = (missing[0] * sums[1, 1] - missing[1] * sums[0, 1]) / determinant
    result[1] = (missing[1] * sums[0, 0] - missing[0] * sums[1, 0]) / determinant
    return result


@compiled(relaxed=True)
def _append(B, groups, support, L, k, new, sigma):
    """Grow the factor by row ``new``; False (and nothing changed) if that row depends on the support."""
    row = L[k]
    for s in range(k):
        i = support[s]
        entry = _dot(B[i], B[new], B.shape[1]) + (sigma if groups[i] == groups[new] else 0.0)
        row[s] = (entry - _dot(L[s], row, s)) / L[s, s]
    whole = _dot(B[new], B[new], B.shape[1]) + sigma
    rest = whole - _dot(row, row, k)
    if not rest > 1e-14 * whole:
        return False
    row[k] = np.sqrt(rest)
    support[k] = new
    return True


@compiled(relaxed=True)
def _remove(support, L, k, leaver):
    """Shrink the factor by support position ``leaver``: rotate the rows below back to triangular form."""
    for s in range(leaver, k - 1):
        support[s] = support[s + 1]
        for j in range(s + 2):
            L[s, j] = L[s + 1, j]
        a, b = L[s, s], L[s, s + 1]
        radius = np.hypot(a, b)
        c, r = a / radius, b / radius
        L[s, s], L[s, s + 1] = radius, 0.0
        for i in range(s + 2, k):
            a, b = L[i, s], L[i, s + 1]
            L[i, s], L[i, s + 1] = c * a + r * b, c * b - r * a
    return k - 1


@compiled(relaxed=True)
def _solve(L, k, x):
    """Solve ``L L' x = x`` in place."""
    for s in range(k):
        x[s] = (x[s] - _dot(L[s], x, s)) / L[s, s]
    for s in range(k - 1, -1, -1):
        x[s] /= L[s, s]
        for i in range(s):
            x[i] -= L[s, i] * x[s]


@compiled(relaxed=True)
def _dot(a, b, m):
    """Sum of the first ``m`` products."""
    total = 0.0
    for j in range(m):
        total += a[j] * b[j]
    return total


@compiled
def _normalise(alpha, groups, n_groups):
    """Scale the weights of each group to sum one; False if a group has none."""
    total = np.zeros(n_groups)
    for i in range(len(alpha)):
        total[groups[i]] += alpha[i]
    for i in range(len(alpha)):
        if total[groups[i]] <= 0.0:
            return False
        alpha[i] /= total[groups[i]]
    return True
