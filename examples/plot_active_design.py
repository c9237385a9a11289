"""
Greedy A-optimal design: which measurement should come next?
============================================================

Greedy A-optimal design for a line on an interval: the points go to the ends.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import ActiveDesign

design = ActiveDesign([[0.0], [0.1], [-0.1]])
grid = np.linspace(-1, 1, 41)[:, None]
chosen = []
for _ in range(12):
    query = design.choose(grid)
    chosen.append(grid[query.row, 0])
    design.add(grid[query.row])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(chosen, "o")
left.set(xlabel="measurement", ylabel="chosen point", title="The ends of the interval in turn")
right.semilogy(design.history_, "o-")
right.set(xlabel="measurement", ylabel="sum of the variances", title="What each measurement gains")
plt.show()
