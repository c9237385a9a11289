"""All scenes of the laboratory, one file per family."""

from __future__ import annotations

from surefit.lab.scene import Scene
from surefit.lab.scenes import (
    clusters,
    concentration,
    descent,
    discriminants,
    ensembles,
    generalization,
    guarantees,
    linear,
    local_rules,
    networks,
    perceptrons,
    projections,
    regression,
    shattering,
    smoothing,
    svm,
    trees,
)

FAMILIES = (
    perceptrons,
    linear,
    svm,
    discriminants,
    regression,
    smoothing,
    local_rules,
    trees,
    ensembles,
    networks,
    clusters,
    projections,
    shattering,
    concentration,
    generalization,
    guarantees,
    descent,
)

#: Key -> scene, in the order of the menu.
SCENES: dict[str, Scene] = {scene.key: scene for family in FAMILIES for scene in family.SCENES}


def groups() -> dict[str, list[Scene]]:
    """Return the scenes by group, ideas last."""
    found: dict[str, list[Scene]] = {}
    for scene in sorted(SCENES.values(), key=lambda scene: scene.group == "Ideas"):
        found.setdefault(scene.group, []).append(scene)
    return found
