"""Prompts on which two models disagree, those of a filter, in pages that keep what both
said together.

Pages begin at a key (size of the difference, prompt, place of its benchmark), so that
they hold the same prompts however many others come or go before them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.row import Flip, flip_fields
from warehouse.analysis.comparison.texts import read_texts
from warehouse.analysis.selection.prompt_links import indices_among
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import MisuseError
from warehouse.questions.question import Option, Options
from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import as_label, field_at
from warehouse.store.sql.query_files import query_text

Ids = NDArray[np.int64]

#: Prompts with a score of one model only, or of none: they have no difference.
ALONE = ("only_a", "only_b", "unscored")
#: What a prompt may be shown for, the default first, in words.
SHOW = {
    "differ": "scores differ",
    "a_higher": "a higher",
    "b_higher": "b higher",
    "a_right": "a right, b wrong",
    "b_right": "b right, a wrong",
    "all": "all that both have",
    "only_a": "only a has a score",
    "only_b": "only b has a score",
    "unscored": "a sample has no score",
}
#: Characters of each text of a page that are read.
MOST_TEXT = 20_000
#: Share of the prompts that both have, below which it is said.
LOW_OVERLAP = 0.9


@dataclass(frozen=True)
class PromptFilter(Options):
    """Which prompts of two models are looked at: by what they are, and by how the two
    did."""

    _: KW_ONLY
    text: Annotated[str, Option("The question holds it, in whichever case.")] = ""
    field: Annotated[
        str, Option("Field of the prompt's document that has a value.", "FIELD=VALUE")
    ] = ""
    in_cluster: Annotated[
        str, Option("Label of a cluster that it stands in; no cluster of scores.")
    ] = ""
    show: Annotated[str, Option("How the two did.", choices=tuple(SHOW))] = "differ"
    least: Annotated[
        float | None, Option("Differences at least that large.", least=0)
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        name, equals, _ = self.field.partition("=")
        if self.field and not (name and equals):
            raise MisuseError(f"field must be FIELD=VALUE, found {self.field!r}")

    @property
    def of_prompts(self) -> bool:
        """True if it chooses prompts by what they are: scores play no part in that."""
        return bool(self.text or self.field or self.in_cluster)

    @property
    def in_words(self) -> str:
        """The filter of prompts in words; empty for none."""
        of_cluster = ""
        if self.in_cluster:
            of_cluster = f"in the cluster {self.in_cluster}"
        return ", ".join(
            filter(
                None,
                [
                    self.text and f"the question holds {self.text!r}",
                    self.field,
                    of_cluster,
                ],
            )
        )


def prompts_of(
    store: Store, pairs: Sequence[Pair], prompt_filter: PromptFilter
) -> Ids | None:
    """Ids, ascending, of the prompts of pairs that a filter keeps by what they are;
    None for all.

    Clusters that `matrix cluster` made of scores are none of that: they would choose
    prompts by the outcome.
    """
    if not prompt_filter.of_prompts:
        return None
    name, _, value = prompt_filter.field.partition("=")
    sides = chain.from_iterable((pair.a, pair.b) for pair in pairs)
    ids = sorted({side.setting("benchmark_id") for side in sides})
    plain = ""
    if value.isascii() and value.isalnum():
        plain = value  # any other may stand there in another spelling
    params = {
        "benchmark_ids": ids,
        "text": prompt_filter.text,
        "value": plain,
        "cluster": prompt_filter.in_cluster,
    }
    column = "null"
    if name:
        column = "prompt.metadata"
    query = query_text("analysis/compare", "prompts_saying").format(column=column)
    if not name:
        return np.unique(store.columns(query, params).whole_numbers("id"))
    rows = store.rows(query, params)
    return np.unique(
        np.array(
            [row["id"] for row in rows if _says(row["metadata"], name, value)], np.int64
        )
    )


def _says(document: Any, name: str, value: str) -> bool:
    """True if a document has a value in a field."""
    parsed = document
    if isinstance(document, str):
        parsed = parse_json(document)
    found = field_at(parsed, name)
    return found is not None and as_label(found) == value


@dataclass(frozen=True)
class Counts:
    """Prompts of two models on one or several benchmarks."""

    n_both: int  #: with a score of both.
    only_a: int  #: with a score of the first only.
    only_b: int  #: with a score of the second only.
    unscored: int  #: with a sample of either that has no score.
    higher_a: int  #: of ``n_both``, those on which the first has the higher score.
    higher_b: int  #: those on which the second has it; on the others they are equal.

    @property
    def overlap(self) -> float:
        """Share of the prompts with any score that both have a score of; NaN without
        any."""
        n_any = self.n_both + self.only_a + self.only_b
        if n_any:
            return self.n_both / n_any
        return float("nan")

    @property
    def caution(self) -> str:
        """A warning about prompts that are not paired; empty for nothing."""
        if not self.overlap < LOW_OVERLAP:
            return ""
        n_any = self.n_both + self.only_a + self.only_b
        return (
            f"Both have a score of {self.n_both} of {n_any} prompts "
            f"({self.overlap:.0%}): only a has one of {self.only_a}, only b of "
            f"{self.only_b}. The difference says nothing of these."
        )


@dataclass(frozen=True)
class PairedPrompt(Flip):
    """A prompt with what both models said."""

    unscored_a: int  #: samples of the first without a score.
    unscored_b: int  #: samples of the second without a score.
    key: str  #: of a page that begins after it.


@dataclass(frozen=True, eq=False)
class Flips:
    """The prompts of pairs that a filter keeps, in order: the largest difference first,
    then by prompt."""

    pairs: tuple[Pair, ...]  #: of the comparison.
    counts: Counts  #: of what the filter keeps by what prompts are.
    which: NDArray[np.intp]  #: place among the pairs of each, shape (n,).
    prompts: Ids  #: ids, shape (n,).
    sizes: NDArray[np.float64]  #: of the differences; -1 without one, shape (n,).
    notes: tuple[str, ...]  #: what was left out, and why.

    def __len__(self) -> int:
        return len(self.prompts)

    def key(self, index: int) -> str:
        """The key that a page begins after; behind the last prompt what all stand
        before."""
        if index >= len(self):
            return "-inf:0:0"
        size = float(self.sizes[index])
        return f"{size!r}:{self.prompts[index]}:{self.which[index]}"

    def index_after(self, key: str) -> int:
        """Where the page after a key begins, whether or not its prompt is still there.

        Raises:
            MisuseError: it is none.
        """
        try:
            size, prompt, which = (
                kind(part)
                for kind, part in zip((float, int, int), key.split(":"), strict=True)
            )
        except ValueError:
            raise MisuseError(
                f"{key!r} is no place in a list of prompts; leave it out to begin with "
                "the first"
            ) from None
        same = self.sizes == size
        level = self.prompts == prompt
        before = (self.sizes > size) | same & (
            (self.prompts < prompt) | level & (self.which <= which)
        )
        return int(before.sum())

    def rows(self, store: Store, start: int, most: int) -> list[PairedPrompt]:
        """The prompts from a place on, with the first characters of what was said."""
        own = slice(max(0, start), max(0, start + most))
        named = zip(self.which[own].tolist(), self.prompts[own].tolist(), strict=True)
        chosen = [(self.pairs[which], [prompt]) for which, prompt in named]
        texts = read_texts(store, chosen, MOST_TEXT + 1) if chosen else ()
        return [self._row(index, text) for index, text in enumerate(texts, own.start)]

    def _row(self, index: int, texts: Any) -> PairedPrompt:
        pair = self.pairs[self.which[index]]
        prompt = int(self.prompts[index])
        a, b = (
            int(_unscored(side, np.array([prompt]))[0])
            for side in (pair.scores_a, pair.scores_b)
        )
        return PairedPrompt(
            **flip_fields(pair, prompt, texts),
            unscored_a=a,
            unscored_b=b,
            key=self.key(index),
        )


def flips_of_pairs(
    pairs: Sequence[Pair], prompt_filter: PromptFilter, prompts: Ids | None
) -> Flips:
    """The prompts of pairs that a filter keeps.

    Args:
        prompts: that it keeps by what they are (`prompts_of`).
    """
    kept, notes = [], []
    for pair in pairs:
        chosen, sizes, note = _kept(pair, prompt_filter)
        allowed = slice(None) if prompts is None else _are_among(chosen, prompts)
        kept.append((chosen[allowed], sizes[allowed]))
        if note:
            notes += [f"{pair.benchmark}: {note}"]
    which = np.repeat(np.arange(len(pairs)), [len(chosen) for chosen, _ in kept])
    ids = np.concatenate([chosen for chosen, _ in kept])
    sizes = np.concatenate([size for _, size in kept])
    order = np.lexsort((which, ids, -sizes))
    return Flips(
        tuple(pairs),
        counts_of(pairs, prompts),
        which[order],
        ids[order],
        sizes[order],
        tuple(notes),
    )


def _kept(
    pair: Pair, prompt_filter: PromptFilter
) -> tuple[Ids, NDArray[np.float64], str]:
    """Prompts of a pair that are kept by how the two did, the sizes of their
    differences, and why there are none."""
    if prompt_filter.show in ALONE:
        alone = _alone(pair)[prompt_filter.show]
        return alone, np.full(len(alone), -1.0), ""
    a = pair.scores_a.values[pair.of_a]
    b = pair.scores_b.values[pair.of_b]
    mask, note = _shown_mask(pair, prompt_filter.show, a, b)
    if prompt_filter.least is not None:
        mask = mask & (np.abs(a - b) >= prompt_filter.least)
    return pair.prompts[mask], np.abs(a - b)[mask], note


def _shown_mask(
    pair: Pair, show: str, a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], str]:
    plain: Mapping[str, Callable[[], Any]] = {
        "differ": lambda: a != b,
        "a_higher": lambda: a > b,
        "b_higher": lambda: a < b,
        "all": lambda: np.ones(len(a), bool),
    }
    if show in plain:
        return plain[show](), ""
    metric = pair.metric
    if metric.bounds is None or metric.higher_is_better is None:
        unknown = "whether higher is better is"
        if metric.bounds is None:
            unknown = "its bounds are"
        return np.zeros(
            len(a), bool
        ), f"what is right by {metric.label} is not known, as {unknown} not"
    if metric.higher_is_better:
        wrong, right = metric.bounds
    else:
        wrong, right = metric.bounds[::-1]
    first, second = (b, a)
    if show == "a_right":
        first, second = (a, b)
    return (first == right) & (second == wrong), ""


def _alone(pair: Pair) -> dict[str, Ids]:
    """Prompts that are not paired, and those with samples that have no score,
    ascending."""
    without = [side.seen[side.unscored > 0] for side in (pair.scores_a, pair.scores_b)]
    return {
        "only_a": np.delete(pair.scores_a.prompts, pair.of_a),
        "only_b": np.delete(pair.scores_b.prompts, pair.of_b),
        "unscored": np.unique(np.concatenate(without)),
    }


def _unscored(scores: PromptScores, prompts: Ids) -> NDArray[np.float64]:
    """Samples of some prompts without a score."""
    return np.append(scores.unscored, 0.0)[indices_among(scores.seen, prompts)]


def counts_of(pairs: Sequence[Pair], prompts: Ids | None) -> Counts:
    """How many prompts of pairs, of those that a filter keeps by what they are, have
    which scores."""

    def n(ids: Ids) -> int:
        if prompts is None:
            return len(ids)
        return int(_are_among(ids, prompts).sum())

    found = dict.fromkeys(Counts.__dataclass_fields__, 0)
    for pair in pairs:
        a = pair.scores_a.values[pair.of_a]
        b = pair.scores_b.values[pair.of_b]
        named = _alone(pair) | {
            "n_both": pair.prompts,
            "higher_a": pair.prompts[a > b],
            "higher_b": pair.prompts[a < b],
        }
        found = {name: total + n(named[name]) for name, total in found.items()}
    return Counts(**found)


def _are_among(ids: Ids, prompts: Ids) -> NDArray[np.bool_]:
    """Which ids stand among others, ascending."""
    return indices_among(prompts, ids) < len(prompts)


def among(pair: Pair, prompts: Ids) -> Pair | None:
    """A pair on some of its common prompts; None without any. A planned subset is no
    part of one."""
    mask = _are_among(pair.prompts, prompts)
    if not mask.any():
        return None
    if pair.clusters is None:
        clusters = None
    else:
        clusters = pair.clusters[mask]
    return replace(
        pair,
        prompts=pair.prompts[mask],
        of_a=pair.of_a[mask],
        of_b=pair.of_b[mask],
        clusters=clusters,
        plans=None,
    )
