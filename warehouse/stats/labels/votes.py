"""The votes of models for the options of items, or for free-form answers: what
suspected wrong keys are found from.

A model that answered an item several times has one vote, split by the shares of its
draws. Only options with votes, and the key, need a row; all others of an item are alike
and share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats, check_length

IntArray = NDArray[np.int64]

#: Code of an answer that names no option: wrong, but no vote for a rival.
UNPARSED = -1
#: Code of an answer that does not exist: the model was not asked.
NOT_ASKED = -2

NO_OPTION_COUNT = "no option count"
KEY_NO_OPTION = "the key is no option"
NOT_ANSWERED = "no model answered"


@dataclass(frozen=True)
class Votes:
    """The votes for the options of J items by M models; N rows, those of one item
    together."""

    n_items: int  #: J, refused items included.
    #: why each item is refused, empty where it is not, shape (J,) of strings.
    reasons: NDArray[np.str_]
    items: IntArray  #: the items that are not refused, ascending, shape (I,).
    #: 1 where the model answered the item, else 0, shape (I, M).
    answered_by: FloatArray
    n_options: FloatArray  #: options C of each item, at least 2, shape (I,).
    start: IntArray  #: first row of each item, shape (I,); it is that of the key.
    owner: IntArray  #: item of each row, as an index into ``items``, shape (N,).
    option: IntArray  #: option of each row, shape (N,); −1 for a row of options without votes.
    copies: FloatArray  #: options that the row stands for: 1, or the number of options without votes.
    shares: FloatArray  #: share of each model's draws that chose the row's option, shape (N, M).

    @property
    def n_models(self) -> int:
        """Number of models M."""
        return int(self.answered_by.shape[1])

    @cached_property
    def counts(self) -> FloatArray:
        """Votes of each row, for one option of those that it stands for, shape (N,)."""
        counts: FloatArray = self.shares.sum(axis=1)
        return counts

    def accuracy(self) -> FloatArray:
        """Share of each model's votes that went to the recorded key, shape (M,)."""
        right, answered = (
            self.shares[self.start].sum(axis=0),
            self.answered_by.sum(axis=0),
        )
        accuracy: FloatArray = np.divide(
            right, answered, out=np.full(self.n_models, np.nan), where=answered > 0
        )
        return accuracy

    def totals(self, values: FloatArray) -> FloatArray:
        """Sums of ``values`` (one or more per row) over the rows of each item."""
        sums: FloatArray = self._adder @ values
        return sums

    @cached_property
    def _adder(self) -> scipy.sparse.csr_array:
        """Items × rows, 1 where the row is of the item; as a product it adds faster
        than `reduceat`."""
        n = len(self.owner)
        return scipy.sparse.csr_array(
            (np.ones(n), np.arange(n), np.append(self.start, n)), (len(self.items), n)
        )


def votes_for_options(
    answers: ArrayLike, keys: ArrayLike, n_options: ArrayLike
) -> Votes:
    """The votes behind answers that are numbers of options.

    Items are refused, with a reason, where the number of options is unknown (NaN or
    below 2), where the key is none of them, and where no model answered.

    Args:
        answers: option that each model chose, 0 to C−1, ``UNPARSED`` (−1) or
            ``NOT_ASKED`` (−2), shape (J, M); or (J, M, K) with K draws, ``NOT_ASKED``
            where there are fewer.
        keys: recorded option of each item, shape (J,); NaN where there is none.
        n_options: options C of each item, shape (J,), or one number; NaN where unknown.

    Raises:
        StatisticsError: another shape, numbers that are not whole, or an answer that is
            an option which its item does not have.

    Examples:
        >>> votes = votes_for_options([[1, 1, 0], [2, UNPARSED, 2], [0, 0, 0]], [0, 2, 0], [4, 4, None])
        >>> votes.reasons.tolist()
        ['', '', 'no option count']
        >>> votes.option.tolist(), votes.counts.tolist(), votes.copies.tolist()
        ([0, 1, -1, 2, -1], [1.0, 2.0, 0.0, 2.0, 0.0], [1.0, 1.0, 2.0, 1.0, 3.0])
    """
    codes = _codes(answers)
    n = len(codes)
    key, width = (
        as_floats(keys, "keys"),
        np.broadcast_to(as_floats(n_options, "n_options"), (n,)),
    )
    check_length(key.size, n, "keys")
    answered_by = codes != NOT_ASKED
    reasons = np.full(n, "", dtype=f"<U{len(KEY_NO_OPTION)}")
    reasons[~answered_by.any(axis=(1, 2))] = NOT_ANSWERED
    reasons[~((key >= 0) & (key < width) & (key == np.floor(key)))] = KEY_NO_OPTION
    reasons[~((width >= 2) & np.isfinite(width) & (width == np.floor(width)))] = (
        NO_OPTION_COUNT
    )
    items = np.flatnonzero(reasons == "")
    if not len(items):
        raise StatisticsError(
            f"no item can be judged: {', '.join(sorted(set(reasons.tolist())))}"
        )
    _check_options(codes, width, items)
    return _collect(
        codes[items], key[items].astype(np.int64), width[items], items, reasons
    )


def votes_of_models(votes: Votes, models: ArrayLike) -> Votes:
    """The votes of some of the models; items that none of them answered are refused.

    Args:
        votes: of all models.
        models: numbers of the models to keep, each once.

    Raises:
        StatisticsError: no model, a number out of range or given twice, or no item
            left.
    """
    chosen = np.asarray(models, dtype=np.int64)
    if (
        len(chosen) == 0
        or len(np.unique(chosen)) != len(chosen)
        or not set(chosen) <= set(range(votes.n_models))
    ):
        raise StatisticsError(
            f"`models` must be different numbers from 0 to {votes.n_models - 1}"
        )
    answered = votes.answered_by[:, chosen].sum(axis=1) > 0
    if not answered.any():
        raise StatisticsError(
            "none of these models answered an item that can be judged"
        )
    reasons = votes.reasons.copy()
    reasons[votes.items[~answered]] = NOT_ANSWERED
    kept = answered[votes.owner]
    shares = votes.shares[kept][:, chosen]
    owner = (np.cumsum(answered) - 1)[votes.owner[kept]]
    start = np.searchsorted(owner, np.arange(answered.sum()))
    return Votes(
        n_items=votes.n_items,
        reasons=reasons,
        items=votes.items[answered],
        answered_by=votes.answered_by[answered][:, chosen],
        n_options=votes.n_options[answered],
        start=start.astype(np.int64),
        owner=owner,
        option=votes.option[kept],
        copies=votes.copies[kept],
        shares=shares,
    )


def _codes(answers: ArrayLike) -> IntArray:
    values = as_floats(answers, "answers")
    if values.ndim == 2:
        values = values[:, :, None]
    if values.ndim != 3 or 0 in values.shape:
        raise StatisticsError(
            "`answers` must be items x models (x draws), none of them 0, found "
            f"{values.shape}"
        )
    wrong = ~np.isfinite(values) | (values < NOT_ASKED) | (values != np.floor(values))
    if wrong.any():
        item, model, _draw = np.argwhere(wrong)[0]
        raise StatisticsError(
            f"`answers` must be whole numbers of options, {UNPARSED} (names no option) "
            f"or {NOT_ASKED} (not asked); {int(wrong.sum())} are not (first: item "
            f"{item}, model {model})"
        )
    codes: IntArray = values.astype(np.int64)
    return codes


def _check_options(codes: IntArray, width: FloatArray, items: IntArray) -> None:
    beyond = codes[items] >= width[items, None, None]
    if beyond.any():
        row, model, draw = np.argwhere(beyond)[0]
        item = items[row]
        raise StatisticsError(
            f"`answers` holds {int(beyond.sum())} option(s) that their item does not "
            f"have (first: item {item}, model {model}: {codes[item, model, draw]} of "
            f"{width[item]:g} options); what is no option is {UNPARSED}"
        )


def _collect(
    codes: IntArray,
    keys: IntArray,
    width: FloatArray,
    items: IntArray,
    reasons: NDArray[np.str_],
) -> Votes:
    """Rows in the order of items, the key first, then the options with votes, then all
    others."""
    n, n_models, _draws = codes.shape
    drawn = (codes != NOT_ASKED).sum(axis=2)
    item, model, draw = np.nonzero(codes >= 0)
    chosen = codes[item, model, draw]
    # One number for each item and option that sorts by item, and within it the key to
    # the front.
    span = int(width.max()) + 2
    is_key = chosen == keys[item]
    cells = item * span + np.where(is_key, 0, chosen + 1)
    of_keys, of_rest = np.arange(n) * span, np.arange(n) * span + span - 1
    voted = np.unique(np.concatenate([cells, of_keys]))
    n_voted = np.bincount(voted // span, minlength=n)
    rest = width - n_voted
    rows = np.sort(np.concatenate([voted, of_rest[rest > 0]]))
    owner, offset = rows // span, rows % span
    option = np.where(
        offset == 0, keys[owner], np.where(offset == span - 1, -1, offset - 1)
    )
    shares = np.bincount(
        np.searchsorted(rows, cells) * n_models + model,
        weights=1 / drawn[item, model],
        minlength=len(rows) * n_models,
    ).reshape(len(rows), n_models)
    return Votes(
        n_items=len(reasons),
        reasons=reasons,
        items=items.astype(np.int64),
        answered_by=(drawn > 0).astype(np.float64),
        n_options=width.astype(np.float64),
        start=np.searchsorted(rows, of_keys).astype(np.int64),
        owner=owner.astype(np.int64),
        option=option.astype(np.int64),
        copies=np.where(option < 0, rest[owner], 1.0),
        shares=shares.astype(np.float64),
    )


#: Options of an item with free-form answers: the key and the eleven most frequent
#: others.
N_OPTIONS = 12

Answer = str | None


@dataclass(frozen=True)
class FreeFormOptions:
    """Free-form answers as numbers of options, ready for ``votes_for_options``."""

    #: option of each draw, ``UNPARSED`` where the answer is None or one of the dropped,
    #: ``NOT_ASKED`` where there is no draw, shape (J, M, K).
    answers: NDArray[np.int64]
    keys: NDArray[np.float64]  #: 0 for each item, NaN where it has no key, shape (J,).
    #: the texts of each item's options, the key first; at most ``n_options``.
    texts: tuple[tuple[str, ...], ...]
    n_options: int  #: options C that every item is taken to have.
    n_dropped: int  #: draws whose answer came after the first C options.


def free_form_options(
    answers: Sequence[Sequence[Sequence[Answer]]],
    keys: Sequence[Answer],
    *,
    n_options: int = N_OPTIONS,
) -> FreeFormOptions:
    """Number the distinct answers of each item: 0 for the key, then by votes, ties by
    text.

    A model's draws share one vote. Texts that are to count as one answer must be equal:
    normalise them, and the keys alike, before.

    Args:
        answers: of each item, of each model, the texts of its draws (None: not parsed;
            no draw: not asked), lengths J, M, any.
        keys: normalised key of each item, None where there is none, length J.
        n_options: options C of every item, at least 2; answers beyond are wrong and no
            option.

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
        raise StatisticsError(
            f"`keys` has {len(keys)} entries, expected one per item: {len(answers)}"
        )
    widths = {len(models) for models in answers}
    if len(widths) != 1 or 0 in widths:
        raise StatisticsError(
            "`answers` must have the same models for each item, found "
            f"{sorted(widths)} of them"
        )
    most = 1
    for models in answers:
        most = max(most, *map(len, models))
    codes = np.empty((len(answers), widths.pop(), most), dtype=np.int64)
    texts, n_dropped, lacking = [], 0, [NOT_ASKED] * most
    for item, (models, key) in enumerate(zip(answers, keys, strict=True)):
        named = _options(models, key, n_options)
        texts.append(named)
        numbers: dict[Answer, int] = {
            text: number for number, text in enumerate(named, start=key is None)
        }
        for model, draws in enumerate(models):
            given = [numbers.get(text, UNPARSED) for text in draws]
            codes[item, model] = given + lacking[len(draws) :]
            n_dropped += sum(text is not None and text not in numbers for text in draws)
    return FreeFormOptions(
        answers=codes,
        keys=np.array(
            [np.nan if key is None else 0.0 for key in keys], dtype=np.float64
        ),
        texts=tuple(texts),
        n_options=n_options,
        n_dropped=n_dropped,
    )


def _options(
    models: Sequence[Sequence[Answer]], key: Answer, n_options: int
) -> tuple[str, ...]:
    """The key (where there is one), then at most C − 1 other texts, most votes first."""
    votes: Counter[str] = Counter()
    for draws in models:
        shares = ((draws[0], 1),) if len(draws) == 1 else Counter(draws).items()
        for text, times in shares:
            if text is not None and text != key:
                votes[text] += times / len(draws)  # type: ignore[assignment]
    # Sums of shares in another order differ by rounding, which must not decide between
    # ties.
    ranked = sorted(votes, key=lambda text: (-round(votes[text], 9), text))
    return (*(() if key is None else (key,)), *ranked[: n_options - 1])
