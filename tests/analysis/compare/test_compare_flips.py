"""`compare`: the prompts on which two models disagree, and what a notebook shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.two_models import MODELS, draws, means
from tests.support.two_models import ROWS as ROWS
from warehouse.analysis.compare.answer import Comparison, compare
from warehouse.store.connection import Store


def every(world: Store, **options: object) -> Comparison:
    return compare(world, *MODELS, where=["temperature="], **options)  # type: ignore[arg-type]


def test_flips_are_the_largest_differences_first(world: Store) -> None:
    a, b = means("many")
    found = every(world, flips=7)
    flips = [flip for flip in found.flips if flip.benchmark == "many"]
    prompts = list(draws("many", MODELS[0]))
    order = sorted(
        range(25), key=lambda place: (-abs(a[place] - b[place]), prompts[place])
    )
    assert [flip.prompt_id for flip in flips] == [prompts[place] for place in order[:7]]
    first = flips[0]
    assert first.difference == pytest.approx(a[order[0]] - b[order[0]])
    assert (first.n_draws_a, first.n_draws_b) == (4, 4)
    key = first.tool_id
    assert (first.text, first.target) == (f"question {key}", f"answer {key}")
    assert first.response_a is not None and first.response_b is not None
    assert (
        first.response_a.startswith(f"lab/x says {key}") and len(first.response_a) > 200
    )
    assert first.response_b.startswith(f"lab/y says {key}")
    assert not [
        flip for flip in found.flips if flip.benchmark == "same"
    ]  # none differs


def test_flips_of_linked_prompts_find_their_responses(world: Store) -> None:
    for flip in (f for f in every(world, flips=20).flips if f.benchmark == "shared"):
        assert flip.response_a is not None and flip.response_a.startswith(
            "lab/x says shared"
        )
        assert flip.text is not None and flip.text.startswith("question one")


def test_flips_name_the_option_that_each_finds_most_likely(world: Store) -> None:
    flips = compare(world, "lab/p", "lab/q", benchmark="left", flips=10).flips
    assert len(flips) == 10
    for flip in flips:
        place, colours = int((flip.tool_id or "")[4:]), ["red", "green", "blue"]
        for run, choice in ((flip.run_a, flip.choice_a), (flip.run_b, flip.choice_b)):
            option = (place + run) % 3
            assert choice == (colours[option] if place < 9 else f"option {option}")
        assert (flip.response_a, flip.response_b) == (None, None)
    assert compare(world, *MODELS, benchmark="one", flips=1).flips[0].choice_a is None


def test_without_being_asked_for_there_are_no_flips(world: Store) -> None:
    assert every(world).flips == ()
    assert every(world, flips=100).to_dict()["flips"][0]["benchmark"] == "many"


def test_a_notebook_shows_a_readable_table(world: Store) -> None:
    page = every(world)._repr_html_()
    assert "lab/x against lab/y" in page and ">Mean of all: " in page
    assert page.count("<tr") == 6 and ">difference</th>" in page and ">overall<" in page
    assert ">equal<" not in page and ">clusters<" not in page  # nothing in them


def test_a_notebook_shows_texts_as_texts(world: Store) -> None:
    found = every(world)
    odd = replace(
        found, a="<b>x</b>", rows=(replace(found.rows[0], metric="<i>y</i>"),) * 300
    )
    page = replace(odd, overall=None)._repr_html_()
    assert "<b>" not in page and "<i>" not in page and "&lt;i&gt;y&lt;/i&gt;" in page
    assert page.count("<tr") == 201 and "100 more rows" in page
