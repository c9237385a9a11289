"""Link tables of units with local windows of an image, with separate or shared weights (convolution)."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter


def local_links(
    shape: tuple[int, int],
    window: int,
    out_shape: tuple[int, int],
    *,
    maps: int = 1,
    out_maps: int = 1,
    shared: bool = False,
) -> np.ndarray:
    r"""Link each unit to a square window of the images below.

    Windows are spaced evenly over the image and never extend beyond its border: the window of row :math:`i` of
    :math:`m` starts at :math:`i (h - \text{window}) / (m - 1)`, rounded. Units are counted map by map, row by row.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the images below.
    window : int
        Side of the window.
    out_shape : (int, int)
        Height and width of the maps of units.
    maps, out_maps : int, default=1
        Number of maps below and above; each unit uses the same window of all maps below.
    shared : bool, default=False
        Whether the units of one map share their weights, which makes the map a convolution. Biases are never shared.

    Returns
    -------
    ndarray of shape (maps * height * width, out_maps * out height * out width)
        -1 if there is no link, otherwise the index of the free weight.

    Examples
    --------
    Four units with windows of two by two on an image of three by three:

    >>> from surefit import local_links
    >>> table = local_links((3, 3), 2, (2, 2))
    >>> (table >= 0).sum(axis=0), int(table.max()) + 1
    (array([4, 4, 4, 4]), 16)
    >>> int(local_links((3, 3), 2, (2, 2), shared=True).max()) + 1
    4
    """
    if not 1 <= window <= min(shape):
        raise InvalidParameter("local_links", "window", f"an integer from 1 to {min(shape)}", window)
    if min(*out_shape, maps, out_maps) < 1:
        raise InvalidParameter("local_links", "out_shape, maps and out_maps", "at least 1", (out_shape, maps, out_maps))
    (height, width), (rows, columns) = shape, out_shape
    tops, lefts = _starts(height, window, rows), _starts(width, window, columns)
    table = np.full((maps, height, width, out_maps, rows, columns), -1, dtype=np.int64)
    kernel = np.arange(maps * window * window).reshape(maps, window, window)
    for m in range(out_maps):
        for i, top in enumerate(tops):
            for j, left in enumerate(lefts):
                unit = m if shared else (m * rows + i) * columns + j
                table[:, top : top + window, left : left + window, m, i, j] = unit * kernel.size + kernel
    return table.reshape(maps * height * width, out_maps * rows * columns)


def _starts(length: int, window: int, count: int) -> list[int]:
    if count == 1:
        return [(length - window) // 2]
    return [(2 * i * (length - window) + count - 1) // (2 * (count - 1)) for i in range(count)]
