"""The workbench without a mouse: Tab reaches every control, and every control has a name."""

FOCUSED = """() => {
  let element = document.activeElement
  const groups = []
  while (element && element.shadowRoot && element.shadowRoot.activeElement) {
    if (element.getAttribute('role') === 'group') groups.push(element.getAttribute('aria-label'))
    element = element.shadowRoot.activeElement
  }
  if (!element || element === document.body) return null
  const named = (element.getAttribute('aria-labelledby') || '').split(' ').filter(id => id)
  const words = named.map(id => element.getRootNode().getElementById(id)?.innerText || '').join(' ')
  const label = element.labels && element.labels.length ? element.labels[0].innerText : ''
  const name = element.getAttribute('aria-label') || words || label || element.innerText || element.title || groups.pop() || ''
  return name.trim().split('\\n').pop()  // an icon's name comes before the word of its button
}"""

CONTROLS = [
    "surefit lab",
    "Lessons",
    "Tour",
    "Toggle theme",
    "Algorithm or idea",
    "Kernel",
    "C (wide to narrow margin)",
    "γ of the kernel",
    "Degree",
    "Compare with a second one",
    "Data set",
    "Points n",
    "Noise",
    "Separation",
    "Seed",
    "0",
    "Undo",
    "Delete",
    "Clear",
    "Type or upload points",
    "Point (x, y)",
    "Add point",
    "Upload CSV",
    "Rewind",
    "Back",
    "Play",
    "Step",
    "End",
    "Frame",
    "Plane",
]
LAST = ["Chart", "The theorem, with its proof", "Take away"]


def names_by_tab(page) -> list[str]:
    """Return the names of what Tab reaches, from the top of the page to its end."""
    page.page.mouse.click(4, 4)  # Tab goes on from here
    names = []
    while len(names) < 80:
        page.page.keyboard.press("Tab")
        name = page.page.evaluate(FOCUSED)
        if name is None:
            break
        names.append(name)
    return names


def test_tab_reaches_every_control_and_each_has_a_name(visit):
    page = visit()
    page.wait_caption("Iteration")
    page.press("Type or upload points")
    page.page.get_by_label("Point (x, y)").wait_for()
    page.page.get_by_role("slider", name="Frame").wait_for()
    page.page.get_by_role("button", name="Take away").wait_for()
    names = names_by_tab(page)
    assert "" not in names
    assert names[: len(CONTROLS)] == CONTROLS
    assert names[-len(LAST) :] == LAST


def test_a_point_is_drawn_and_taken_back_by_keyboard(visit):
    page = visit()
    page.wait_caption("Iteration")
    n = len(page.points()["x"])
    page.page.get_by_role("button", name="0", exact=True).focus()
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("Enter")
    page.page.get_by_role("button", name="1", exact=True, pressed=True).wait_for()
    page.wait_class(1)
    page.page.get_by_role("button", name="Type or upload points").focus()
    page.page.keyboard.press("Enter")
    field = page.page.get_by_label("Point (x, y)")
    field.wait_for()
    for text, sentence in (("1.5", "two numbers with a comma"), ("1e12, 0", "smaller than 1e+09")):
        field.fill(text)
        field.press("Enter")
        page.page.get_by_role("button", name="Add point").press("Enter")
        page.page.get_by_text(sentence).wait_for()
    field.fill("1.5, -2")
    field.press("Enter")
    page.page.get_by_role("button", name="Add point").press("Enter")
    points = page.wait_points(lambda p: len(p["x"]) == n + 1, "the typed point")
    assert (points["x"][-1], points["y"][-1], points["label"][-1]) == (1.5, -2.0, 1)
    page.page.get_by_role("button", name="Undo").press("Enter")
    page.wait_points(lambda p: len(p["x"]) == n, "the first points")
