"""Rest of the cyclic garbage collector while many objects that stay are created."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not collect cyclic garbage inside the block, and count what it leaves as old.

    Python searches young objects first. After an import or a compilation there are hundreds of thousands of them, of which
    nearly all stay, so the first search would take 0.1 s in vain. The next complete search finds the garbage among them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # otherwise the program has frozen objects, which must stay so
            gc.freeze()
            gc.unfreeze()  # moves all objects to the oldest generation
        gc.enable()
