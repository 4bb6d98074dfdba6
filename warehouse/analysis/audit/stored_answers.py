"""Answers of models as arrays: texts of generations, options with their likelihoods, the likeliest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TextAnswers:
    """Answers in words, one for each draw.

    Attributes:
        prompts: prompt of each, shape (n,).
        runs: run of each, shape (n,).
        texts: extracted answer, or the beginning of the response; None where there is none.
        values: score of each draw, NaN without, shape (n,).
    """

    prompts: Ints
    runs: Ints
    texts: list[str | None]
    values: Floats


@dataclass(frozen=True)
class ChoiceRows:
    """Options as runs scored them; the rows of one draw stand together, by option.

    Attributes:
        prompts: prompt of each row, shape (n,).
        runs: run of each row.
        draw: number of the draw that the row is of, ascending from 0.
        option: from 0.
        loglikelihood: nats, NaN if unknown.
        unconditional: nats of the option alone, NaN if unknown.
        n_tokens: NaN if unknown, like the next.
        n_bytes: length of the option.
        is_target: 1, 0, NaN if unknown.
    """

    prompts: Ints
    runs: Ints
    draw: Ints
    option: Ints
    loglikelihood: Floats
    unconditional: Floats
    n_tokens: Floats
    n_bytes: Floats
    is_target: Floats


@dataclass(frozen=True)
class LikeliestOptions:
    """The option that a run finds likeliest, one for each draw."""

    prompts: Ints
    runs: Ints
    option: Ints


#: Ways to compare options, as metrics do (``acc``, ``acc_norm``, ``acc_mutual_info`` ...).
_MEASURES: tuple[Callable[[ChoiceRows], Floats], ...] = (
    lambda rows: rows.loglikelihood,
    lambda rows: rows.loglikelihood / rows.n_bytes,
    lambda rows: rows.loglikelihood / rows.n_tokens,
    lambda rows: rows.loglikelihood - rows.unconditional,
)


def likeliest_options(
    rows: ChoiceRows, keys: Mapping[int, int], right: Mapping[tuple[int, int], bool]
) -> LikeliestOptions:
    """The likeliest option of each draw, by the measure that the metric's scores agree with best.

    Args:
        keys: option of the recorded key by prompt.
        right: whether the metric says that run and prompt are right, where it is all or nothing.

    Returns:
        draws with several options, all of them with a likelihood; of equals the first option.
    """
    sizes = np.bincount(rows.draw) if len(rows.draw) else np.empty(0, np.int64)
    starts = np.cumsum(sizes) - sizes
    parts: list[LikeliestOptions] = []
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty option has no length: NaN or infinite
        measured = [_best_of(measure(rows), rows, starts, sizes) for measure in _MEASURES]
    runs_of_draws = rows.runs[starts]
    prompts = rows.prompts[starts]
    key = np.array([keys.get(prompt, -9) for prompt in prompts.tolist()], dtype=np.int64)
    answers = np.array(
        [right.get(pair, np.nan) for pair in zip(runs_of_draws.tolist(), prompts.tolist(), strict=True)], dtype=float
    )
    for run in np.unique(runs_of_draws).tolist():
        own = runs_of_draws == run
        chosen = max(
            (best[own] for best in measured),
            key=lambda options: (np.sum((options == key[own]) == answers[own]), np.sum(options >= 0)),
        )
        kept = chosen >= 0
        parts.append(LikeliestOptions(prompts[own][kept], runs_of_draws[own][kept], chosen[kept]))
    empty = np.empty(0, np.int64)
    return LikeliestOptions(
        np.concatenate([empty, *(part.prompts for part in parts)]),
        np.concatenate([empty, *(part.runs for part in parts)]),
        np.concatenate([empty, *(part.option for part in parts)]),
    )


def _best_of(values: Floats, rows: ChoiceRows, starts: Ints, sizes: Ints) -> Ints:
    """The option with the largest value in each draw; −1 where there is one option only, or a value is unknown."""
    if not len(starts):
        return np.empty(0, np.int64)
    top = np.maximum.reduceat(values, starts)  # NaN where any is
    hits = np.flatnonzero(values == np.repeat(top, sizes))
    draws, first = np.unique(rows.draw[hits], return_index=True)
    best = np.full(len(starts), -1, dtype=np.int64)
    best[draws] = rows.option[hits[first]]
    best[(sizes < 2) | np.isnan(top)] = -1
    return best
