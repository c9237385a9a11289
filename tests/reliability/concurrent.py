"""Fits in threads, forked and fresh processes: all give the bits of one fit alone."""

from __future__ import annotations

import warnings
from hashlib import sha256

import numpy as np
from sklearn.utils import get_tags

import surefit

NAMES = ("Lasso", "LogisticRegression", "SVC", "RandomForestClassifier", "KMeans", "KernelRidge")


def bits(name: str) -> str:
    """Return a digest of the certificate of one fit without the run: values, model and claims to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(float)
    settings = {"n_estimators": 4, "n_jobs": 2} if name.startswith("Random") else {}
    settings |= {"random_state": 0} if name in ("RandomForestClassifier", "KMeans") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(surefit, name)(**settings)
        given = (X, y) if get_tags(model).target_tags.required else (X,)
        model.fit(*given).certificate_.verify(*given)
    certificate = model.certificate_
    parts = [(name, value.tobytes()) for name, value in certificate.model.items()]
    parts += [(claim.name, repr(claim.value).encode()) for claim in certificate.claims]
    return sha256(repr(parts).encode()).hexdigest()


def all_bits(names: tuple[str, ...] = NAMES) -> list[str]:
    """Return the digests of several models, for a worker."""
    return [bits(name) for name in names]
