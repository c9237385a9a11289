"""Draw the picture of the README: the figure of ``examples/plot_certified_path.py``, as SVG with reproducible bytes."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "surefit"  # ids of the file do not change from run to run

import matplotlib.pyplot as plt

ROOT = Path(__file__).parent.parent

if __name__ == "__main__":
    runpy.run_path(str(ROOT / "examples" / "plot_certified_path.py"))
    plt.savefig(ROOT / "docs" / "_static" / "certified_path.svg", dpi=150, metadata={"Date": None, "Creator": None})
