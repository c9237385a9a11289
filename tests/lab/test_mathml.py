"""Formulas of the documentation and of the laboratory: what TeX means is what MathML says."""

import pytest

from surefit.lab.mathml import mathml, with_braces
from surefit.lab.theory import folder, theory_page


def compact(text: str) -> str:
    """The MathML without spaces between tags and without its root."""
    body = mathml(text, block=False)
    return "".join(line.strip() for line in body.splitlines()[1:-1])


@pytest.mark.parametrize(
    "short, long",
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\tfrac s3", r"\tfrac{s}{3}"),
        (r"\binom32", r"\binom{3}{2}"),
        (r"\frac\alpha2", r"\frac{\alpha}{2}"),
        (r"\frac{\frac12}S", r"\frac{\frac{1}{2}}{S}"),
    ],
)
def test_arguments_without_braces_get_them(short, long):
    assert with_braces(short) == long
    assert with_braces(long) == long


def test_index_of_an_accented_letter_stands_beside_it():
    assert "munderover" not in compact(r"\hat w_k")
    assert compact(r"\hat w_k").startswith("<msub>")


def test_delimiters_keep_their_size_unless_asked_to_grow():
    assert '<mo stretchy="false" lspace="0" rspace="0">‖</mo>' in compact(r"\|w\|")
    assert '<mo stretchy="false">(</mo>' in compact("f(x)")
    assert "minsize" in compact(r"\Bigl(x\Bigr)")


def test_unknown_commands_are_known_by_another_name():
    assert compact(r"x_1, \dots, x_n") == compact(r"x_1, \ldots, x_n")


def test_what_is_no_formula_is_an_error():
    with pytest.raises(ValueError, match="nothing"):
        mathml(r"\nothing{x}", block=False)


def test_every_formula_of_the_theory_pages_is_converted():
    pages = sorted(folder().glob("*.rst"))
    assert len(pages) > 40
    for page in pages:
        written = theory_page(page.stem)
        # formulas are never code; literals are <span class="docutils literal"> or <tt>
        assert "<code>" not in written, page.stem
