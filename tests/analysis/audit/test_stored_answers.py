"""The likeliest option of each draw, from likelihoods as runs scored them."""

from __future__ import annotations

import numpy as np

from warehouse.analysis.audit.keys import ChoiceRows, likeliest_options

NAN = float("nan")


def rows_of(
    *draws: tuple[int, int, list[float]], lengths: list[float] | None = None
) -> ChoiceRows:
    """Draws as (prompt, run, log-likelihoods of the options)."""
    prompts, runs, numbers, options, values = [], [], [], [], []
    for number, (prompt, run, likelihoods) in enumerate(draws):
        for option, value in enumerate(likelihoods):
            for column, item in zip(
                (prompts, runs, numbers, options, values),
                (prompt, run, number, option, value),
                strict=True,
            ):
                column.append(item)
    unknown = np.full(len(values), NAN)
    return ChoiceRows(
        *(
            np.array(column, dtype=np.int64)
            for column in (prompts, runs, numbers, options)
        ),
        loglikelihood=np.array(values, dtype=float),
        unconditional=unknown,
        n_tokens=unknown,
        n_bytes=unknown if lengths is None else np.array(lengths, dtype=float),
        is_target=unknown,
    )


def found(
    rows: ChoiceRows, keys: dict[int, int], right: dict[tuple[int, int], bool]
) -> list[tuple[int, int, int]]:
    answers = likeliest_options(rows, keys, right)
    return list(
        zip(
            answers.prompts.tolist(),
            answers.runs.tolist(),
            answers.option.tolist(),
            strict=True,
        )
    )


def test_two_options_are_enough_and_one_is_not() -> None:
    rows = rows_of(
        (1, 7, [-2.0, -1.0]),
        (2, 7, [-3.0]),
        (3, 7, [-1.0, -1.0, -5.0]),
        (4, 7, [-1.0, NAN]),
    )
    assert found(rows, {1: 1}, {(7, 1): True}) == [
        (1, 7, 1),
        (3, 7, 0),
    ]  # of equals the first


def test_the_measure_is_that_which_scores_agree_with_by_run() -> None:
    draws = ((1, 7, [-4.0, -5.0]), (1, 8, [-4.0, -5.0]))
    rows = rows_of(
        *draws, lengths=[2.0, 10.0, 2.0, 10.0]
    )  # by byte the second is likelier
    assert found(rows, {1: 0}, {(7, 1): True, (8, 1): False}) == [(1, 7, 0), (1, 8, 1)]


def test_nothing_is_nothing() -> None:
    assert found(rows_of(), {}, {}) == []
