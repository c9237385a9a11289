"""The time of a step in each scene with 500 points: ``python -m tests.lab.steps`` (an idle machine, please)."""

import time
import warnings

import numpy as np

from surefit.lab.canvas import columns
from surefit.lab.generators import GENERATORS
from surefit.lab.proof import proof_html, verify
from surefit.lab.scene import Points, Scene
from surefit.lab.scenes import SCENES


def five_hundred(scene: Scene) -> Points:
    generator = GENERATORS[scene.data or "two-gaussians"]
    return generator.sample({"n": 500} if "n" in generator.defaults() else {})


def step_seconds(scene: Scene) -> list[float]:
    """The wall time of six steps: the model of the moment, its verified certificate and the picture."""
    frames = scene.run(five_hundred(scene), {})
    verify(frames.at(frames.count - 1))  # loops are compiled, and a path is fitted, before the first step
    seconds = []
    for index in np.unique(np.linspace(0, frames.count - 1, 6).astype(int)):
        start = time.perf_counter()
        frame = frames.at(int(index))
        proof_html(scene, frame, verify(frame))
        columns(frame.picture)
        seconds.append(time.perf_counter() - start)
    return seconds


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # runs that are stopped early are what a step is
    for key, scene in SCENES.items():
        seconds = step_seconds(scene)
        print(f"{key:24} median {1e3 * np.median(seconds):6.1f} ms   largest {1e3 * max(seconds):6.1f} ms")
