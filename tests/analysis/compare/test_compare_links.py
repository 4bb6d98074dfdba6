"""Two models without a prompt in common are told why, and what joins equal questions."""

from __future__ import annotations

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller

QUESTIONS = [
    f"A robe takes {n} bolts of blue fibre and half that much white fibre. How many?"
    for n in range(2, 12)
]
EXAMPLES = "Natalia sold clips to 48 of her friends.\n\nANSWER: 72\n\n"


def asked(rows: StoreRows, model: str, texts: dict[str, str], right: int) -> None:
    for place, (key, text) in enumerate(texts.items()):
        number = rows.prompt("quiz", key, text=text)
        rows.rows["prompt"][number - 1]["target"] = str(3 * (place + 2))
    scores = {key: float(place < right) for place, key in enumerate(texts)}
    rows.scores(rows.run(model, "quiz"), scores)


def build() -> StoreRows:
    """One model with the bare questions, one with examples before and instructions
    behind them, one with the same texts under other ids, one with other questions."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    bare = {f"b{n}": text for n, text in enumerate(QUESTIONS)}
    around = {
        f"w{n}": f"{EXAMPLES}{text}\nThink step by step."
        for n, text in enumerate(QUESTIONS)
    }
    again = {f"t{n}": text for n, text in enumerate(QUESTIONS)}
    other = {f"o{n}": f"Which town lies north of place {n}?" for n in range(10)}
    asked(rows, "m/bare", bare, 4)
    asked(rows, "m/shots", around, 9)
    asked(rows, "m/again", again, 6)
    asked(rows, "m/other", other, 5)
    return rows


ROWS = build()


@pytest.fixture
def url(own_url: str) -> str:
    return own_url


def said(run: Caller, url: str, a: str, b: str) -> str:
    found = run("compare", a, b, "-b", "quiz", db=url)
    assert found.code == 2
    return " ".join(found.err.split())


def test_a_question_within_a_longer_prompt_is_found_and_joined(
    run: Caller, url: str
) -> None:
    why = said(run, url, "m/shots", "m/bare")
    assert "10 questions of m/bare stand whole in prompts of m/shots" in why
    assert "`warehouse fix link quiz quiz --by within` joins these" in why
    done = run("fix", "link", "quiz", "quiz", "--by", "within", db=url)
    # m/again asks the bare questions under ids of its own: which one is meant is open
    assert done.out.startswith("0 prompts linked")
    assert run("fix", "link", "quiz", "quiz", db=url).out.startswith(
        "10 prompts linked"
    )


def test_equal_texts_under_other_ids_are_named_first(run: Caller, url: str) -> None:
    why = said(run, url, "m/again", "m/bare")
    assert "10 have equal texts under other ids: `warehouse fix link quiz quiz`" in why


def test_other_questions_are_said_to_be_others(run: Caller, url: str) -> None:
    assert "other questions" in said(run, url, "m/other", "m/bare")
