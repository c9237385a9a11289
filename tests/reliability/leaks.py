"""Memory over many fits: ``python -m tests.reliability.leaks [FITS]``."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.utils import get_tags
from tests.reliability.results import write

import surefit

#: Bytes by which a process may grow after its first fits, whatever their number: caches and the allocator's slack.
MOST_GROWTH = 2**24
MODELS = (
    surefit.Ridge(), surefit.Lasso(alpha=0.1), surefit.DecisionTreeRegressor(max_depth=2), surefit.SVR(), surefit.KernelRidge(),
    surefit.KNeighborsRegressor(), surefit.PCA(), surefit.GaussianMixture(random_state=0),
)  # fmt: skip


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def growth(fits: int, warm: int = 50) -> tuple[int, int]:
    """Return by how many bytes and by how many objects the process grew over ``fits`` fits with a verification each."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)

    def work(count: int) -> None:
        for k in range(count):
            model = MODELS[k % len(MODELS)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                given = (X, y) if get_tags(model).target_tags.required else (X,)
                model.fit(*given).certificate_.verify(*given)

    work(warm * len(MODELS))
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    work(fits)
    gc.collect()
    return resident() - before, len(gc.get_objects()) - objects


def main(words: list[str]) -> int:
    """Print the growth."""
    fits = int(words[0]) if words else 100_000
    grown, objects = growth(fits)
    print(f"{fits} fits: {grown / 2**20:.1f} MB, {objects} objects")
    write(
        "leaks",
        "fits and verifications in one process, kilobytes of growth",
        fits,
        int(grown > MOST_GROWTH),
        grown=grown // 1024,
    )
    return int(grown > MOST_GROWTH or objects > 1000)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
