"""Pictures as data: what the canvas sends to the browser, and what the exporter writes."""

from types import SimpleNamespace

import numpy as np
import pytest

from surefit.lab.canvas import Canvas, columns
from surefit.lab.export import figure_file
from surefit.lab.generators import GENERATORS
from surefit.lab.palette import CLASS_COLORS, CLASS_MARKERS
from surefit.lab.picture import Area, Bars, Box, Curve, Dots, Note, Picture, Region, bounds
from surefit.lab.proof import Verdict, legend_html, proof_html
from surefit.lab.scene import Fact, Frame, Points
from surefit.lab.scenes import SCENES
from surefit.lab.scenes.draw import GRID, lattice, levels, region

BOX = Box(0.0, 1.0, 0.0, 2.0)
EVERYTHING = Picture(
    "t",
    "x",
    "y",
    (
        Region(np.zeros((4, 4, 4), dtype=np.uint8), BOX),
        Area([0, 1, 1], [0, 0, 1]),
        Bars([0, 1], [1, 2], [3, 4]),
        Curve([0, np.nan, 1], [0, 1, 2], label="line", dash="dashed"),
        Dots([0, 1], [1, 0], color=["#000000", "#ffffff"], hollow=True),
        Note(0, 0, "n"),
    ),
)


def test_every_mark_becomes_rows_of_one_length():
    for kind, data in columns(EVERYTHING).items():
        lengths = {len(column) for column in data.values()}
        assert lengths == {2 if kind in ("bars", "dots") else 1}, kind


def test_drawing_another_picture_leaves_nothing_behind():
    canvas = Canvas()
    canvas.draw(EVERYTHING)
    canvas.draw(Picture(marks=(Curve([0, 1], [0, 1]),)))
    assert [len(source.data[next(iter(source.data))]) for source in canvas.sources.values()] == [0, 0, 0, 1, 0, 0]
    assert (canvas.figure.x_range.start, canvas.figure.x_range.end) == pytest.approx((-0.05, 1.05))


def test_bounds_ignore_gaps_and_have_a_margin():
    assert bounds(EVERYTHING._replace(box=BOX)) == BOX
    low = bounds(Picture(marks=(Curve([0, np.nan, 10], [5, np.inf, 5]),)))
    assert low == Box(-0.5, 10.5, 4.5, 5.5)
    assert bounds(Picture()) == Box(0.0, 1.0, 0.0, 1.0)


def test_level_lines_lie_on_the_level():
    box = Box(-2.0, 2.0, -2.0, 2.0)
    rows = lattice(box)[2]
    circle = levels((rows**2).sum(axis=1), box, 1.0)
    radius = np.hypot(circle.x, circle.y)
    assert np.nanmax(np.abs(radius - 1)) < 0.01


def test_regions_have_the_color_of_the_class_under_each_cell():
    box = Box(-1.0, 1.0, -1.0, 1.0)
    codes = (lattice(box)[2][:, 0] > 0).astype(int)
    rgba = region(codes, box).rgba
    assert (
        rgba.shape == (GRID, GRID, 4)
        and tuple(rgba[0, 0, :3]) == (0, 114, 178)
        and tuple(rgba[0, -1, :3]) == (213, 94, 0)
    )


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_figures_are_written_from_the_same_marks(kind):
    points = Points.of([[0.2, 0.3], [0.4, 1.0]], [0, 1])
    content = figure_file(kind, [EVERYTHING, EVERYTHING], points, "caption", True).getvalue()
    assert content.startswith(b"\x89PNG") if kind == "png" else b"<svg" in content


def test_colors_and_markers_differ_between_classes():
    assert len(set(CLASS_COLORS)) == len(set(CLASS_MARKERS)) == 4


def test_proof_reads_only_what_every_claim_has_and_escapes_it():
    def claim(name, value, limit, verdict, text):
        return SimpleNamespace(name=name, value=value, limit=limit, verdict=verdict, statement=text)

    claims = [
        claim("a.gap", 1.0, 2.0, "holds", "within <b>1</b>"),
        claim("b", float("nan"), None, "no claim", "nothing"),
        claim("c", 3.0, 2.0, "does not hold", "too large"),
        claim("d", 1.0, None, "stated", "This bound is vacuous."),
    ]
    model = type("Model", (), {"certificate_": SimpleNamespace(grade="A", claims=claims)})()
    frame = Frame("c", Picture(), model=model, facts=(Fact("n < 5", "proved"),))
    page = proof_html(SCENES["svc"], frame, Verdict(False, "changed <x>"))
    assert "within &lt;b&gt;1&lt;/b&gt;" in page and "n &lt; 5" in page and "changed &lt;x&gt;" in page
    assert "not reached yet" in page and "not claimed" in page and ">vacuous<" in page and "Refused." in page
    assert "value" not in page.split("nothing")[1].split("</div>")[0]


def test_legends_are_escaped():
    assert "<i>" not in legend_html([("a <i>", "#000000", "dashed")]).replace("<i style", "")


def test_legends_tell_lines_spots_and_rings_apart():
    marks = (
        Curve([0], [0], dash="dotted", label="c"),
        Dots([0], [0], label="d"),
        Dots([0], [0], hollow=True, label="r"),
    )
    legend = Picture(marks=marks).legend()
    assert [kind for _, _, kind in legend] == ["dotted", "spot", "ring"]
    page = legend_html(legend)
    cross = Picture(marks=(Dots([0], [0], marker="cross", label="truth"),)).legend()
    assert cross[0][2] == "cross" and "✚" in legend_html(cross)
    assert "border-top:3px dotted" in page and "background:" in page and "border:2px solid" in page


@pytest.mark.parametrize("key", GENERATORS)
def test_generators_obey_their_sliders_and_seed(key):
    generator = GENERATORS[key]
    first, again = generator.sample({}), generator.sample({})
    assert np.array_equal(first.xy, again.xy) and np.all(np.isfinite(first.xy))
    names = [slider.name for slider in generator.sliders]
    if "n" in names:
        assert len(generator.sample({"n": 10}).xy) == 10
    if "seed" in names:
        assert not np.array_equal(first.xy, generator.sample({"seed": 7}).xy)
    if generator.kind == "classes":
        assert len(first.classes) >= 2


@pytest.mark.parametrize("xy", [[[0.0, 0.0], [10.0, 4.0]], [[5.0, -7.0]], [[0.1, 0.2], [0.3, 2.9]]])
def test_the_plane_is_a_square_around_all_points(xy):
    box = Points.of(xy).box()
    assert box.right - box.left == pytest.approx(box.top - box.bottom)
    assert all(box.left < x < box.right and box.bottom < y < box.top for x, y in xy)
