"""A hundred thousand distinct labels for every classifier: ``python -m tests.reliability.labels [ROWS]``.

Each classifier verifies or refuses them in a sentence, within LIMIT seconds of CPU time and MOST bytes.
"""

from __future__ import annotations

import resource
import sys
import warnings
from functools import partial

import numpy as np
from sklearn.base import is_classifier
from tests.reliability.isolated import Ended, Isolated
from tests.reliability.results import write
from tests.reliability.roster import estimators, make

from surefit.core.errors import InvalidData, InvalidParameter

LIMIT = 120.0
MOST = 4 * 2**30
LONGEST = 600  # characters; a model that fits another one quotes its sentence


def classifiers() -> list[type]:
    """Return every public classifier."""
    return [cls for cls in estimators() if is_classifier(make(cls))]


def outcome(n: int, k: int) -> str:
    """Fit classifier ``k`` on ``n`` rows of ``n`` classes; return "fitted", "refused", or what went wrong."""
    warnings.simplefilter("ignore")
    X, y = np.abs(np.random.default_rng(0).normal(size=(n, 2))), np.arange(n)
    try:
        make(classifiers()[k]).fit(X, y).verify(X, y)
        found = "fitted"
    except (InvalidData, InvalidParameter) as error:
        found = "refused" if len(str(error)) < LONGEST and "\n" not in str(error) else f"a long sentence: {error}"
    except Exception as error:
        found = repr(error)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found if used < MOST else f"{found} with {used / 2**30:.1f} GiB"


def main(words: list[str]) -> int:
    """Print the outcomes and the count."""
    n, found = int(words[0]) if words else 100_000, {}
    for k, cls in enumerate(classifiers()):
        with Isolated(partial(outcome, n), LIMIT) as process:
            try:
                found[cls.__name__] = process(k)
            except Ended as error:
                found[cls.__name__] = str(error)
        print(f"{cls.__name__}: {found[cls.__name__]}", flush=True)
    wrong = [name for name, words in found.items() if words not in ("fitted", "refused")]
    fitted = sum(words == "fitted" for words in found.values())
    counts = {"fitted": fitted, "refused": len(found) - fitted - len(wrong)}
    write("labels", f"{n} distinct labels for every classifier", len(found), len(wrong), **counts)
    print(f"{len(found)} classifiers, {len(wrong)} faults", *wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
