"""Free-form answers as options: the key, then the distinct answers by how many models gave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.labels.votes import NOT_ASKED, UNPARSED

#: Options of an item with free-form answers: the key and the eleven most frequent others.
N_OPTIONS = 12

Answer = str | None


@dataclass(frozen=True)
class FreeFormOptions:
    """Free-form answers as numbers of options, ready for ``votes_for_options``.

    Attributes:
        answers: option of each draw, ``UNPARSED`` where the answer is None or one of the dropped,
            ``NOT_ASKED`` where there is no draw, shape (J, M, K).
        keys: 0 for each item, NaN where it has no key, shape (J,).
        texts: the texts of each item's options, the key first; at most ``n_options``.
        n_options: options C that every item is taken to have.
        n_dropped: draws whose answer came after the first C options.
    """

    answers: NDArray[np.int64]
    keys: NDArray[np.float64]
    texts: tuple[tuple[str, ...], ...]
    n_options: int
    n_dropped: int


def free_form_options(
    answers: Sequence[Sequence[Sequence[Answer]]], keys: Sequence[Answer], *, n_options: int = N_OPTIONS
) -> FreeFormOptions:
    """Number the distinct answers of each item: 0 for the key, then by votes, ties by text.

    A model's draws share one vote. Texts that are to count as one answer must be equal: normalise
    them, and the keys alike, before.

    Args:
        answers: of each item, of each model, the texts of its draws (None: not parsed; no draw:
            not asked), lengths J, M, any.
        keys: normalised key of each item, None where there is none, length J.
        n_options: options C of every item, at least 2; answers beyond are wrong and no option.

    Raises:
        StatisticsError: lengths that differ, or ``n_options`` below 2.

    Examples:
        >>> options = free_form_options([[["7"], ["8"], ["8"], [None], []]], ["7"])
        >>> options.answers[0, :, 0].tolist(), options.texts
        ([0, 1, 1, -1, -2], (('7', '8'),))
    """
    if n_options < 2:
        raise StatisticsError(f"`n_options` must be at least 2, found {n_options}")
    if len(answers) != len(keys):
        raise StatisticsError(f"`keys` has {len(keys)} entries, expected one per item: {len(answers)}")
    widths = {len(models) for models in answers}
    if len(widths) != 1 or 0 in widths:
        raise StatisticsError(f"`answers` must have the same models for each item, found {sorted(widths)} of them")
    most = max(1, max(len(draws) for models in answers for draws in models))
    codes = np.full((len(answers), widths.pop(), most), NOT_ASKED, dtype=np.int64)
    texts, n_dropped = [], 0
    for item, (models, key) in enumerate(zip(answers, keys, strict=True)):
        named = _options(models, key, n_options)
        texts.append(named)
        numbers: dict[Answer, int] = {text: number for number, text in enumerate(named, start=key is None)}
        for model, draws in enumerate(models):
            options = [numbers.get(text, UNPARSED) for text in draws]
            codes[item, model, : len(options)] = options
            n_dropped += sum(text is not None and text not in numbers for text in draws)
    return FreeFormOptions(
        answers=codes,
        keys=np.array([np.nan if key is None else 0.0 for key in keys], dtype=np.float64),
        texts=tuple(texts),
        n_options=n_options,
        n_dropped=n_dropped,
    )


def _options(models: Sequence[Sequence[Answer]], key: Answer, n_options: int) -> tuple[str, ...]:
    """The key (where there is one), then at most C − 1 other texts, most votes first."""
    votes: Counter[str] = Counter()
    for draws in models:
        for text, times in Counter(draws).items():
            if text is not None and text != key:
                votes[text] += times / len(draws)  # type: ignore[assignment]
    # Sums of shares in another order differ by rounding, which must not decide between ties.
    ranked = sorted(votes, key=lambda text: (-round(votes[text], 9), text))
    return (*(() if key is None else (key,)), *ranked[: n_options - 1])
