r"""Histograms of rows of two classes with integer weights, and their best cuts.

A cell is one word, with the weight in the high bits and the weight of the second class in the low bits. A single
addition therefore adds a row to the histogram of a column, and sums are exact. Let the left side have weight L, of
which p belongs to the second class, and the right side R and q. The best cut has the largest
:math:`p^2 / L + q^2 / R`. At a node with few rows, one bit per bin tells which cells are not empty, and only these are
read.
"""

import numpy as np

from surefit.core.jit import compiled

FEW = 160  # nodes with fewer rows have one bit per bin
TIE = 1e-12
LOW = np.uint64(2**32 - 1)  # the bits of the row in an entry, and of the second class in a cell
ONE, SIX, HIGHEST, HALF = np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(32)
SPREAD, SHIFT = 0x03F79D71B4CB0A89, np.uint64(58)  # de Bruijn sequence: its product with a power of two tells which one
WHICH = np.argsort([(SPREAD << k) % 2**64 >> 58 for k in range(64)]).astype(np.uint64)
SECOND, THIRD, FOURTH, FIFTH = (np.uint64(256 * k) for k in (1, 2, 3, 4))  # the first cells of columns


@compiled
def cell(entry):
    """Return the contribution of a row to a cell: its weight, and in the low bits its weight in the second class."""
    times = entry >> np.uint64(33)
    second = np.uint64(0) - ((entry >> np.uint64(32)) & np.uint64(1))  # all bits, or none
    return (times << np.uint64(32)) + (times & second)


@compiled
def add_rows(rows, span, drawn, taken, batch, cells):
    """Add the rows at places ``span`` to the histograms of ``batch`` columns."""
    (table, width, entries), (first, last) = rows, span
    if batch == 5:  # the square root of 25 to 35 columns: five independent additions
        a, b, c = np.uint64(drawn[taken]), np.uint64(drawn[taken + 1]), np.uint64(drawn[taken + 2])
        d, e = np.uint64(drawn[taken + 3]), np.uint64(drawn[taken + 4])
        for k in range(first, last):
            value, row = cell(entries[k]), (entries[k] & LOW) * width
            cells[np.uint64(table[row + a])] += value
            cells[SECOND + table[row + b]] += value
            cells[THIRD + table[row + c]] += value
            cells[FOURTH + table[row + d]] += value
            cells[FIFTH + table[row + e]] += value
        return
    for k in range(first, last):
        value, row = cell(entries[k]), (entries[k] & LOW) * width
        for p in range(batch):
            cells[np.uint64(256 * p) + table[row + np.uint64(drawn[taken + p])]] += value


@compiled
def add_few(rows, span, drawn, taken, batch, cells, marks):
    """Add the rows at places ``span`` to the histograms of ``batch`` columns, and mark the bins of the rows."""
    (table, width, entries), (first, last) = rows, span
    if batch == 5:
        a, b, c = np.uint64(drawn[taken]), np.uint64(drawn[taken + 1]), np.uint64(drawn[taken + 2])
        d, e = np.uint64(drawn[taken + 3]), np.uint64(drawn[taken + 4])
        for k in range(first, last):
            value, row = cell(entries[k]), (entries[k] & LOW) * width
            _mark(cells, marks, np.uint64(table[row + a]), value)
            _mark(cells, marks, SECOND + table[row + b], value)
            _mark(cells, marks, THIRD + table[row + c], value)
            _mark(cells, marks, FOURTH + table[row + d], value)
            _mark(cells, marks, FIFTH + table[row + e], value)
        return
    for k in range(first, last):
        value, row = cell(entries[k]), (entries[k] & LOW) * width
        for p in range(batch):
            _mark(cells, marks, np.uint64(256 * p) + table[row + np.uint64(drawn[taken + p])], value)


@compiled
def _mark(cells, marks, place, value):
    cells[place] += value
    marks[place >> SIX] |= ONE << (place & HIGHEST)


@compiled
def scan(cells, scores, c, W, P):
    """Return the best cut of a histogram, which is cleared; no cut has a negative score and bin. Ties go to the lowest bin."""
    sums, second, found, most = scores[0], scores[1], scores[2], scores[3]
    left, base = np.uint64(0), np.uint64(256 * c)
    for b in range(np.uint64(256)):
        left += cells[base + b]
        cells[base + b] = 0
        sums[b], second[b] = np.float64(np.int64(left >> HALF)), np.float64(np.int64(left & LOW))
    weight, total, best = float(W), float(P), -1.0
    for b in range(256):
        L, p = sums[b], second[b]
        R, q = weight - L, total - p
        found[b] = (p * p * R + q * q * L) / (L * R)  # not a number if a side is empty
    for k in range(32):
        most[k] = -1.0
    for start in range(0, 256, 32):
        for k in range(32):  # side by side, in one instruction per vector
            most[k] = found[start + k] if found[start + k] > most[k] else most[k]
    for k in range(32):
        best = most[k] if most[k] > best else best
    if best < 0.0:
        return best, -1
    limit, b = best - TIE * W, 0
    while not found[b] >= limit:
        b += 1
    return found[b], b


@compiled
def scan_few(cells, marks, scores, c, W, P):
    """Return the same for a histogram whose cells that are not empty are marked."""
    left, best, count = np.uint64(0), -1.0, np.uint64(0)
    weight, total = float(W), float(P)
    for q in range(np.uint64(4 * c), np.uint64(4 * c + 4)):
        mark = marks[q]
        marks[q] = 0
        while mark:
            lowest = mark & (np.uint64(0) - mark)
            mark ^= lowest
            place = (q << SIX) + WHICH[(lowest * np.uint64(SPREAD)) >> SHIFT]
            left += cells[place]
            cells[place] = 0
            L, p = np.float64(np.int64(left >> HALF)), np.float64(np.int64(left & LOW))
            R, other = weight - L, total - p
            score = (p * p * R + other * other * L) / (L * R)
            best = score if score > best else best
            scores[0, count], scores[1, count] = score, np.int64(place)
            count += ONE
    if best < 0.0:
        return best, -1
    limit, k = best - TIE * W, np.uint64(0)
    while not scores[0, k] >= limit:
        k += ONE
    return scores[0, k], np.int64(scores[1, k]) - 256 * c
