"""Five networks of the handwritten ZIP-code experiment (Le Cun, 1989)."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import InvalidParameter
from surefit.neural.links import local_links
from surefit.neural.mlp_classifier import MLPClassifier

PICTURE = (16, 16)


def zip_net(number: int, **options: Any) -> MLPClassifier:
    """Return one of five networks for images of 16 x 16 pixels and ten classes, ready to be fitted.

    ====== ==================================================================== ====== ==========
    number layers                                                               links  parameters
    ====== ==================================================================== ====== ==========
    1      none                                                                 2570   2570
    2      12 units, fully connected                                            3214   3214
    3      8 x 8 units (windows of 3 x 3), 4 x 4 units (5 x 5)                  1226   1226
    4      two maps of 8 x 8 with shared weights, 4 x 4 units                   2266   1132
    5      two maps of 8 x 8, four maps of 4 x 4, all with shared weights       5194   1060
    ====== ==================================================================== ====== ==========

    Biases are never shared; windows stay inside the image (:func:`surefit.local_links`). The loss is the squared error
    of softmax outputs, as in the experiment. Of the parameters of network 1 only 2570 - 257 = 2313 can be identified.

    Parameters
    ----------
    number : {1, 2, 3, 4, 5}
        Number of the network.
    **options
        Parameters of :class:`surefit.MLPClassifier`, which take precedence over those of the experiment.

    Returns
    -------
    MLPClassifier

    Examples
    --------
    >>> from surefit import zip_net
    >>> nets = [zip_net(k).architecture(256, 10) for k in (1, 2, 3, 4, 5)]
    >>> [(net.n_links, net.n_parameters) for net in nets]
    [(2570, 2570), (3214, 3214), (1226, 1226), (2266, 1132), (5194, 1060)]

    The squared error of softmax outputs is flat for rows that are misclassified with high confidence, so training often
    ends with one or two misclassified rows. The log loss is not flat there, so start with it and continue with the
    squared error. In the setting of the experiment (320 images, 256 gray values), all five networks then have zero
    training error:

    >>> from surefit.data import load_small_digits
    >>> X, y, X_test, y_test, _ = load_small_digits(320, 160)
    >>> net = zip_net(1, alpha=0.01, loss="log_loss", warm_start=True, random_state=0).fit(X, y)
    >>> net.set_params(loss="squared_error").fit(X, y).score(X, y)
    1.0
    """
    layers: dict[int, tuple[tuple[int, ...], list]] = {
        1: ((), [None]),
        2: ((12,), [None, None]),
        3: ((64, 16), [_first(1, shared=False), _second(1, 1, shared=False), None]),
        4: ((128, 16), [_first(2, shared=True), _second(2, 1, shared=False), None]),
        5: ((128, 64), [_first(2, shared=True), _second(2, 4, shared=True), None]),
    }
    if number not in layers:
        raise InvalidParameter("zip_net", "number", "1, 2, 3, 4 or 5", number)
    sizes, links = layers[number]
    chosen = {
        "hidden_layer_sizes": sizes,
        "links": links,
        "activation": "tanh",
        "loss": "squared_error",
        "alpha": 0.1,
        "batch_size": 32,
        "learning_rate_init": 0.005,
        "tol": 1e-3,
        "max_iter": 500,
    }
    return MLPClassifier(**{**chosen, **options})


def _first(maps: int, *, shared: bool):
    return local_links(PICTURE, 3, (8, 8), out_maps=maps, shared=shared)


def _second(maps: int, out_maps: int, *, shared: bool):
    return local_links((8, 8), 5, (4, 4), maps=maps, out_maps=out_maps, shared=shared)
