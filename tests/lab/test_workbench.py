"""The workbench in a real browser: draw, step, play, change, compare, upload, take away."""

import re
import warnings

import numpy as np
import pytest

from surefit import load

CSV = "height,weight,shoe,kind\n" + "".join(
    f"{1.5 + 0.01 * i + 0.2 * (i % 2)},{50 + i + 9 * (i % 2)},{36 + i % 7},{'cat' if i % 2 else 'dog'}\n"
    for i in range(40)
)


def test_click_adds_drag_moves_undo_takes_back(visit):
    page = visit()
    before = page.points()
    x, y = page.place(0.5, 0.85)
    page.page.mouse.click(x, y)
    added = page.wait_points(lambda p: len(p["x"]) == len(before["x"]) + 1, "one more point")
    there = added["x"][-1], added["y"][-1]
    page.wait_caption("Iteration")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x - 150, y + 60, steps=6)
    page.page.mouse.up()
    moved = page.wait_points(lambda p: p["x"][-1] < there[0] - 0.3, "the point to move left")
    assert moved["y"][-1] < there[1] and len(moved["x"]) == len(added["x"])
    page.press("Undo")
    back = page.wait_points(lambda p: p["x"][-1] == pytest.approx(there[0], abs=1e-3), "the point to be back")
    assert back["y"][-1] == pytest.approx(there[1], abs=1e-3)
    page.press("Undo")
    assert page.wait_points(lambda p: len(p["x"]) == len(before["x"]), "the first points")["x"] == before["x"]
    page.press("Undo")
    page.page.get_by_text("There is nothing to undo.").wait_for()


def test_new_points_have_the_chosen_class_and_can_be_deleted(visit):
    page = visit()
    n = len(page.points()["x"])
    page.page.get_by_role("button", name="2", exact=True).click()
    page.wait_class(2)
    page.page.mouse.click(*page.place(0.5, 0.85))
    points = page.wait_points(lambda p: len(p["x"]) == n + 1 and p["label"][-1] == 2, "one more point of class 2")
    assert points["marker"][-1] == "square"
    page.press("Delete")
    page.wait_points(lambda p: len(p["x"]) == n, "the point to go")


def test_step_back_rewind_end_walk_through_the_run(visit):
    page = visit("/perceptron-margin")
    page.wait_caption("Start")
    page.press("Step")
    page.wait_caption(r"Update 1 of 17")
    page.press("Step")
    page.wait_caption(r"Update 2 of 17")
    page.press("Back")
    page.wait_caption(r"Update 1 of 17")
    page.press("End")
    page.wait_caption(r"Update 17 of 17.*Every point is on its side")
    assert "at most (R/γ)² = 293.3" in page.proof() and "Verified." in page.proof()
    page.press("Rewind")
    page.wait_caption("Start")


def test_play_moves_by_itself_and_pause_stops_it(visit):
    page = visit("/perceptron-margin")
    page.press("Play")
    page.wait_caption(r"Update [3-9] of 17")
    page.press("Pause")
    page.page.get_by_role("button", name="Play", exact=True).first.wait_for()
    seen = [page.caption()]
    while len(seen) < 4 or len(set(seen[-4:])) > 1:  # a step under way may still arrive
        page.page.wait_for_timeout(500)
        seen.append(page.caption())
    assert "17 of 17" not in seen[-1]


def test_sliders_change_the_model_by_keyboard(visit):
    page = visit()
    page.wait_caption("Iteration")
    width = re.search(r"Margin width ([\d.e-]+)", page.proof()).group(1)
    page.page.get_by_role("slider", name="C (wide to narrow margin)").focus()
    page.page.keyboard.press("ArrowRight")
    page._wait(page.proof, lambda text: f"Margin width {width} " not in text, "another margin")


def test_every_algorithm_can_be_chosen(visit):
    page = visit()
    for name, caption in (
        ("k-means", "Step"),
        ("Gaussian process", "Posterior"),
        ("Hoeffding's inequality", "Samples of size 5"),
    ):
        page.choose("Algorithm or idea", name)
        page.wait_caption(caption)


def test_compare_puts_two_algorithms_on_the_same_points_with_linked_views(visit):
    page = visit()
    page.page.get_by_role("switch", name="Compare with a second one").click()
    page.wait_caption("Iteration", lane=1)
    page.choose("Second algorithm or idea", "Decision tree")
    page.wait_caption("depth", lane=1)
    assert re.search("Iteration", page.caption(0))
    n = len(page.points()["x"])
    page.page.mouse.click(*page.place(0.5, 0.85))
    page.wait_points(lambda p: len(p["x"]) == n + 1, "a point in both")
    shared = page.page.evaluate(
        """() => { const ranges = []; for (const doc of Bokeh.documents) for (const m of doc._all_models.values())
             if (m.type === 'Figure' && m.name === 'plane') ranges.push(m.x_range.id); return ranges; }"""
    )
    assert len(shared) == 2 and shared[0] == shared[1]


def upload(page, name: str, content: bytes) -> None:
    if page.page.locator("input[type=file]").count() == 0:
        page.press("Type or upload points")
    page.page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )


def test_upload_of_a_good_table_is_scaled_and_said(visit):
    page = visit()
    upload(page, "animals.csv", CSV.encode())
    page.page.get_by_text("Classes: 0 = cat, 1 = dog.").wait_for()
    points = page.wait_points(lambda p: len(p["x"]) == 40, "forty points")
    assert np.mean(points["x"]) == pytest.approx(0.0, abs=1e-3) and np.std(points["x"]) == pytest.approx(1.0, abs=1e-3)


BAD = (
    ("bad.csv", b"a,b\n1,2\n3\n", "bad.csv: row 3"),
    ("words.csv", b"a,b\nx,y\nz,w\n", "two columns of numbers"),
    ("zip.csv", b"PK\x03\x04rest", "plain CSV"),
    ("bin.csv", bytes(range(256)) * 8, "bin.csv"),
)


def test_bad_uploads_get_a_sentence(visit):
    page = visit()
    n = len(page.points()["x"])
    for name, content, sentence in BAD:
        upload(page, name, content)
        message = page.page.locator("p.message").first
        text = page._wait(message.inner_text, lambda text, wanted=sentence: wanted in text, sentence)
        assert "Traceback" not in text and "/tmp" not in text
        assert len(page.points()["x"]) == n


def test_huge_upload_is_refused_and_the_page_lives_on(visit):
    page = visit("/perceptron-margin")
    page.wait_caption("Start")
    upload(page, "huge.csv", b"a,b\n" + b"1.0,2.0\n" * 1_200_000)
    page.page.get_by_text("at most 5 MB are read").wait_for()
    page.press("Step")
    page.wait_caption("Update 1")


def test_what_can_be_taken_away_is_what_was_shown(visit, tmp_path):
    page = visit()
    page.wait_caption("Iteration 197 of 197")
    page.press("Take away")
    files = {}
    for label in ("PNG", "SVG", "CSV", "Model", "Report"):
        with page.page.expect_download() as started:
            page.press(label)
        files[label] = tmp_path / started.value.suggested_filename
        started.value.save_as(files[label])
    assert files["PNG"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"<svg" in files["SVG"].read_bytes()
    rows = np.loadtxt(files["CSV"], delimiter=",", skiprows=1)
    X, y = rows[:, :2], rows[:, 2].astype(int)
    model = load(files["Model"])
    assert model.verify(X, y) is not None
    report = files["Report"].read_text(encoding="utf-8")
    assert "Support vector machine" in report and "<script" not in report and "svc" in report.lower()
    space: dict = {}
    program = page.page.locator("pre").first.inner_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(program, {})  # its time limit is not meant for a compiler: compile first
    exec(program, space)
    assert np.array_equal(space["model"].predict(X), model.predict(X))


def test_a_link_restores_the_screen(visit):
    page = visit("/perceptron-margin")
    page.wait_caption("Start")
    page.press("Step")
    page.wait_caption("Update 1 of 17")
    page.page.mouse.click(*page.place(0.9, 0.9))
    n = len(page.wait_points(lambda p: len(p["x"]) == 61, "a new point")["x"])
    page.press("Take away")
    field = page.page.get_by_label("Link to this screen")
    field.wait_for()
    link = page._wait(field.input_value, lambda text: "state=" in text, "a link")
    again = visit(link[len(page.address) :])
    again.wait_caption("Update 1")
    assert again.points()["x"] == page.points()["x"] and len(again.points()["x"]) == n


def test_impossible_points_get_a_sentence_and_nothing_else(visit):
    page = visit()
    page.press("Clear")
    page.wait_message("needs points of two classes")
    page.press("Undo")
    page.wait_caption("Iteration")


def test_damaged_links_start_afresh(visit):
    page = visit("/?state=this-is-no-state")
    page.wait_message("damaged")
    page.wait_caption("Iteration")


def test_two_sessions_do_not_see_each_other(visit):
    first, second = visit("/perceptron-margin"), visit("/perceptron-margin")
    first.wait_caption("Start")
    n = len(second.points()["x"])
    first.page.mouse.click(*first.place(0.5, 0.9))
    first.wait_points(lambda p: len(p["x"]) == n + 1, "a new point in the first session")
    first.press("End")
    first.wait_caption("Update")
    assert len(second.points()["x"]) == n
    second.wait_caption("Start")


def test_the_tour_opens_once_and_has_five_screens(visit):
    page = visit(tour=True)
    for number in range(1, 6):
        page.page.get_by_text(f"{number} of 5").wait_for()
        page.press("Next" if number < 5 else "Start")
    page.page.get_by_text("5 of 5").wait_for(state="hidden")
    page._wait(
        page.context.cookies, lambda cookies: any(c["name"] == "surefit_lab_tour" for c in cookies), "the cookie"
    )
    page.open("/")
    page.wait_caption("Iteration")
    assert page.page.get_by_text("1 of 5").count() == 0 or not page.page.get_by_text("1 of 5").is_visible()


def test_a_narrow_page_shows_the_picture_first_and_scrolls_only_down(visit):
    page = visit("/perceptron-margin", width=400, height=800)
    page.wait_caption("Start")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 400
    plane, select = page.plane(), page.page.get_by_role("combobox").first.bounding_box()
    assert plane["width"] <= 400 and plane["y"] < select["y"]
    page.press("Step")
    page.wait_caption("Update 1")


def test_theory_is_one_click_away(visit):
    page = visit("/perceptron-margin")
    page.wait_caption("Start")
    with page.context.expect_page() as opened:
        page.page.get_by_text("The theorem, with its proof").click()
    opened.value.wait_for_load_state()
    assert "mistake bound of the perceptron" in opened.value.title()
    assert opened.value.locator("math").count() > 5


def test_lessons_are_in_the_menu_and_buttons_work_by_keyboard(visit):
    page = visit()
    page.press("Lessons")
    page.page.get_by_role("menuitem", name="The perceptron stops").click()
    page.page.wait_for_url("**/perceptron-margin")
    page.wait_caption("Start")
    step = page.page.get_by_role("button", name="Step", exact=True).first
    step.focus()
    page.page.keyboard.press("Enter")
    page.wait_caption("Update 1")


def test_a_message_left_behind_is_sent_without_another_event(visit):
    """Panel sends a message that was left behind during another write with the next change; the page makes one every second."""
    page = visit()
    pulse = """() => { for (const doc of Bokeh.documents) for (const model of doc._all_models.values()) {
         const found = typeof model.text === 'string' && model.text.match(/^(?:<|&lt;)!-- ([0-9]+) --/);
         if (found) return parseInt(found[1]); } return 0 }"""
    first = page._wait(lambda: page.page.evaluate(pulse), lambda count: count > 0, "the first pulse")
    page._wait(lambda: page.page.evaluate(pulse), lambda count: count > first, "another pulse")
