"""Excerpts show what differs, not what all prompts share."""

from __future__ import annotations

from warehouse.analysis.items.excerpts import SHARED, distinctive

HEAD = "Answer the following question with one letter only and nothing else."
TAIL = "Think step by step, then say: the answer is"


def test_a_template_is_left_out_and_marked() -> None:
    texts = [f"{HEAD} How old is {name}? {TAIL}" for name in ("Ann", "Bob", "Cleo")]
    assert distinctive(texts) == ["… Ann? …", "… Bob? …", "… Cleo? …"]
    assert distinctive([HEAD + " x", *texts])[0] == "… x"


def test_what_a_few_words_or_two_texts_share_stays() -> None:
    short = [" ".join(["same"] * (SHARED - 1) + [word]) for word in ("a", "b", "c")]
    assert distinctive(short) == short
    two = [f"{HEAD} a", f"{HEAD} b"]
    assert distinctive(two) == two and distinctive(two, [f"{HEAD} c"]) == ["… a", "… b"]


def test_odd_texts_stay_whole() -> None:
    assert distinctive([]) == [] and distinctive([None, "", "a  b"]) == ["", "", "a b"]
    assert distinctive([HEAD] * 5) == [HEAD] * 5  # nothing differs
    one_inside_another = [HEAD, f"{HEAD} and more", f"{HEAD} or less"]
    assert distinctive(one_inside_another) == ["…", "… and more", "… or less"]
