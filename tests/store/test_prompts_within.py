"""A question that stands whole in a longer prompt is the same one, where nothing says
otherwise."""

from __future__ import annotations

from warehouse.store.curate.prompts_within import AskedText, questions_within

FIRST = "How many bolts of blue fibre does a robe take that is sewn in a day?"
SECOND = "How many sheep do Toulouse and Charleston have together in the end?"


def asked(
    number: int, text: str, target: str | None = "3", run: int | None = None
) -> AskedText:
    return AskedText(number, 1, text, target, {number if run is None else run})


def test_a_question_is_found_between_examples_and_instructions() -> None:
    longer = [asked(1, f"An example. {SECOND[:30]} {FIRST} Think.")]
    found = questions_within(longer, [asked(2, FIRST), asked(3, SECOND)])
    assert found.pairs == ((1, 2),)
    assert questions_within([asked(2, FIRST)], longer).pairs == ((1, 2),)


def test_other_targets_and_one_run_of_both_tell_them_apart() -> None:
    longer = asked(1, f"{FIRST} Think.")
    for other in (asked(2, FIRST, target="4"), asked(2, FIRST, run=1)):
        found = questions_within([longer], [other])
        assert (found.pairs, found.n_ambiguous) == ((), 1)
    assert questions_within([longer], [asked(2, FIRST, target=None)]).pairs


def test_several_questions_in_one_prompt_or_one_in_several_are_left_alone() -> None:
    both = asked(1, f"{FIRST} {SECOND} Think.")
    questions = [asked(2, FIRST), asked(3, SECOND)]
    assert not questions_within([both], questions).pairs
    twice = [asked(4, f"{FIRST} Think."), asked(5, f"{FIRST} Be brief.")]
    assert not questions_within(twice, [asked(6, FIRST)]).pairs


def test_short_texts_stand_in_others_by_chance() -> None:
    assert not questions_within(
        [asked(1, "Is 7 a prime? Think.")], [asked(2, "7 a")]
    ).pairs
