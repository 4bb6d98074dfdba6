"""The votes on a benchmark as arrays, and what of them is left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.errors import MisuseError, did_you_mean
from warehouse.stats.preferences.ballots import TIE
from warehouse.store.columns import Columns, pc
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Why votes are left out.
AGAINST_ITSELF, NO_VERDICT = "a model against itself", "no verdict"
HIDDEN_RUN = "a run that is superseded or invalidated"
NO_COVARIATE = "no finite covariate"

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Scorer:
    """Who judges."""

    id: int
    label: str  #: what it is called here; no two of a benchmark are called the same.
    kind: str  #: ``human``, ``model``, ``match`` or ``execution``.
    n_votes: int  #: of its votes on the benchmark, those that are left out included.

    def __str__(self) -> str:
        return f"{self.label} ({self.kind}, {self.n_votes} votes)"


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes on a benchmark, one a place of each array."""

    benchmark: str  #: its name.
    models: tuple[str, ...]  #: names, by the codes of ``first`` and ``second``.
    scorers: tuple[Scorer, ...]  #: who judged, by the codes of ``scorer``.
    first: Codes  #: code of the model whose answer was shown first; where the order is unknown, of either.
    second: Codes  #: of the other.
    order_known: NDArray[np.bool_]  #: whether the order is known.
    outcome: Codes  #: code of `warehouse.stats.preferences.ballots.OUTCOMES`.
    weight: NDArray[np.float64]  #: above 0.
    prompt: Codes  #: code of the prompt; -1: the source names none.
    voter: Codes  #: code of the person; -1: unknown, as it is of all votes of models that judge.
    scorer: Codes  #: code of who judged.
    variant: Codes  #: code of the form of the question, or of the judge's instructions.
    draw: Codes  #: which of several votes by the same on the same.
    #: of each name that was asked for the numbers of the first and the second answer,
    #: shape (votes, 2).
    covariates: Mapping[str, NDArray[np.float64]]
    left_out: Mapping[str, int]  #: how many votes are not among these, by reason.
    n_shared: int  #: votes that another source holds as well: counted as often as they stand there.
    shared_by: tuple[str, ...]  #: where these sources lay.
    source_ids: tuple[int, ...]  #: ids of all sources.

    def __len__(self) -> int:
        return len(self.first)

    @property
    def pair_keys(self) -> Codes:
        """A number for each prompt and pair of models, in whatever order they were
        shown."""
        low = np.minimum(self.first, self.second)
        high = np.maximum(self.first, self.second)
        n = len(self.models)
        return (self.prompt * n + low) * n + high


def scorers_of_votes(store: Store, benchmark_ids: Sequence[int]) -> list[Scorer]:
    """Who judged answers against each other on some benchmarks, most votes first."""
    rows = store.rows(
        query_text("analysis/prefer", "vote_scorers"),
        {"benchmark_ids": list(benchmark_ids)},
    )
    labels = [row["name"] or row["judge_model"] or row["kind"] for row in rows]
    for more in ("judge_model", "kind", "parameters_key", "id"):
        counts = Counter(labels)
        labels = [
            f"{label} {str(row[more])[:12]}" if counts[label] > 1 else label
            for label, row in zip(labels, rows, strict=True)
        ]
    found = [
        Scorer(row["id"], label, row["kind"], row["n_votes"])
        for label, row in zip(labels, rows, strict=True)
    ]
    return sorted(found, key=lambda scorer: (-scorer.n_votes, scorer.label))


def read_votes(
    store: Store,
    benchmark: str,
    scorer: str | None = None,
    *,
    by_scorer: bool = False,
    covariates: Sequence[str] = (),
) -> Votes:
    """The votes on a benchmark, in an order that is the same in every store that holds
    the same.

    Args:
        benchmark: its name, or one that is an alias of it.
        scorer: who judged, as :class:`Scorer` calls it; needed where several did.
        by_scorer: the votes of all who judged, told apart by :attr:`Votes.scorer`.
        covariates: names of those to read; votes that lack one are left out.

    Raises:
        MisuseError: no such benchmark, no votes on it, no such scorer or covariate, or
            several scorers and none chosen.
    """
    found = find_benchmark(store, benchmark)
    chosen = _chosen(scorers_of_votes(store, found.ids), scorer, by_scorer, found.name)
    ids: dict[str, Any] = {
        "benchmark_ids": list(found.ids),
        "scorer_ids": [scorer.id for scorer in chosen],
    }
    models, code_of = _models(
        store.rows(query_text("analysis/prefer", "vote_models"), ids)
    )
    table = store.columns(
        query_text("analysis", "votes"),
        ids | {"with_covariates": int(bool(covariates))},
    )
    a, b = (code_of(table.whole_numbers(f"checkpoint_{side}_id")) for side in "ab")
    scorer_codes = _codes(table.whole_numbers("scorer_id"), ids["scorer_ids"])
    voter = _voters(table.table.column("voter"), scorer_codes)
    sides = _covariates(table.table.column("covariates"), covariates, found.name)
    keep, left_out = _kept(table, a == b, sides)
    shown, outcome, prompt, variant, draw = (
        table.whole_numbers(name)
        for name in ("shown_first", "outcome", "prompt_id", "variant_id", "draw")
    )
    own = [
        table.whole_numbers("source_id"),
        outcome,
        draw,
        shown,
        b,
        a,
        variant,
        voter,
        scorer_codes,
        prompt,
    ]
    at = np.lexsort(own)
    at = at[keep[at]]
    n_shared, shared_by = _shared(store, own, at)
    turned = shown[at] == 1
    voted, pairs = np.unique(np.stack([a[at], b[at]]), return_inverse=True)
    of_a, of_b = pairs.reshape(2, len(at))
    return Votes(
        benchmark=found.name,
        models=tuple(models[code] for code in voted),
        scorers=tuple(chosen),
        first=np.where(turned, of_b, of_a),
        second=np.where(turned, of_a, of_b),
        order_known=shown[at] < 2,
        outcome=np.where(turned & (outcome[at] < TIE), 1 - outcome[at], outcome[at]),
        weight=table.numbers("weight")[at],
        prompt=_numbered(prompt[at]),
        voter=_numbered(voter[at]),
        scorer=scorer_codes[at],
        variant=np.unique(variant[at], return_inverse=True)[1],
        draw=draw[at],
        covariates={
            name: np.where(turned[:, None], values[at, ::-1], values[at])
            for name, values in sides.items()
        },
        left_out=left_out,
        n_shared=n_shared,
        shared_by=shared_by,
        source_ids=tuple(np.unique(own[0][at]).tolist()),
    )


def _kept(
    table: Columns,
    is_itself: NDArray[np.bool_],
    sides: Mapping[str, NDArray[np.float64]],
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Which votes count, and how many do not for the first reason that holds."""
    lacks = np.zeros(len(table), np.bool_)
    for values in sides.values():
        lacks |= ~np.isfinite(values).all(axis=1)
    reasons = {
        AGAINST_ITSELF: is_itself,
        NO_VERDICT: table.whole_numbers("outcome") < 0,
        HIDDEN_RUN: table.whole_numbers("is_hidden") > 0,
        NO_COVARIATE: lacks,
    }
    keep = np.ones(len(table), np.bool_)
    left_out = {}
    for reason, fault in reasons.items():
        if n := int(np.count_nonzero(keep & fault)):
            left_out[reason] = n
        keep &= ~fault
    return keep, left_out


def _chosen(
    scorers: Sequence[Scorer], name: str | None, by_scorer: bool, benchmark: str
) -> list[Scorer]:
    if not scorers:
        raise MisuseError(
            f"{benchmark} has no votes; its scores: warehouse leaderboard {benchmark}"
        )
    if name is not None:
        chosen = [scorer for scorer in scorers if scorer.label == name]
        if not chosen:
            there = f"there are: {', '.join(map(str, scorers))}"
            hint = did_you_mean(name, [scorer.label for scorer in scorers], there)
            raise MisuseError(
                f"no scorer of votes on {benchmark} is called {name!r}; {hint}"
            )
        return chosen
    if len(scorers) > 1 and not by_scorer:
        several = ", ".join(map(str, scorers))
        raise MisuseError(
            f"{benchmark} has votes of several scorers, choose one with --scorer: "
            f"{several}"
        )
    return list(scorers)


def _models(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], Any]:
    """Names of models, and what turns ids of checkpoints into their codes: those of one
    model, training and place in it are one."""
    named = {
        row["id"]: (
            row["model"],
            row["training_seed"],
            row["recipe"],
            row["checkpoint"],
        )
        for row in rows
    }
    entries = sorted(set(named.values()))
    of_model = Counter(model for model, *_ in entries)
    labels = tuple(
        model if of_model[model] == 1 else " ".join(filter(None, (model, *more)))
        for model, *more in entries
    )
    ids = np.array(sorted(named), dtype=np.int64)
    codes = np.array(
        [entries.index(named[int(number)]) for number in ids], dtype=np.int64
    )
    return labels, lambda column: codes[np.searchsorted(ids, column)]


def _codes(column: NDArray[np.int64], ids: Sequence[int]) -> Codes:
    """The place of each value in a list of all values."""
    listed = np.array(ids, dtype=np.int64)
    order = np.argsort(listed)
    return order[np.searchsorted(listed[order], column)]


def _numbered(ids: NDArray[np.int64]) -> Codes:
    """Codes from 0 in the order of ids; what is below 0 stays."""
    unique, codes = np.unique(ids, return_inverse=True)
    return codes - np.count_nonzero(unique < 0)


def _voters(column: pa.ChunkedArray, scorer: Codes) -> Codes:
    """The code of each vote's person: people of two scorers are never the same."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        if encoded.num_chunks:
            encoded = encoded.chunk(0)
        else:
            encoded = pa.array([], pa.string()).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if names:
        by_name = np.argsort(np.array(names, dtype=object))
    else:
        by_name = np.empty(0, np.int64)
    rank = np.empty(len(names), np.int64)
    rank[by_name] = np.arange(len(names))
    if len(column):
        ranks = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    else:
        ranks = np.empty(0, np.int64)
    unknown = -1
    if "" in names:
        unknown = rank[names.index("")]
    return np.where(ranks == unknown, -1, scorer * max(len(names), 1) + ranks)


#: Covariates of so many votes are read at a time.
_AT_ONCE = 50_000


def _covariates(
    column: pa.ChunkedArray, names: Sequence[str], benchmark: str
) -> dict[str, NDArray[np.float64]]:
    """Numbers of both answers, a before b; NaN where a vote says none."""
    values = {name: np.full((len(column), 2), np.nan) for name in names}
    found = set[str]()
    if names:
        size = len(column)
    else:
        size = 0
    for start in range(0, size, _AT_ONCE):
        texts = column.slice(start, _AT_ONCE).to_pylist()
        said = json.loads(f"[{','.join(text or '{}' for text in texts)}]")
        sides = [(row.get("a", {}), row.get("b", {})) for row in said]
        found.update(*chain.from_iterable(sides))
        for name in names:
            values[name][start : start + len(said)] = [
                [own.get(name, np.nan) for own in both] for both in sides
            ]
    for name in names:
        if name not in found:
            there = "they have none"
            if found:
                there = f"there are: {', '.join(sorted(found))}"
            raise MisuseError(
                f"votes on {benchmark} have no covariate {name!r}; {there}"
            )
    return values


def _shared(
    store: Store, columns: Sequence[Codes], order: Codes
) -> tuple[int, tuple[str, ...]]:
    """How many votes another source holds as well, and where those sources lay.

    Args:
        columns: those that make a vote, the source first and the prompt last.
        order: votes sorted by all of them, the last first.
    """
    source, *rest = columns
    same = rest[-1][order[1:]] >= 0
    for column in rest:
        same &= column[order[1:]] == column[order[:-1]]
    pairs = np.stack([source[order[1:]][same], source[order[:-1]][same]])
    pairs = pairs[:, pairs[0] != pairs[1]]
    if not pairs.size:
        return 0, ()
    rows = store.rows(
        "select path from source where id in (:ids) order by id",
        {"ids": np.unique(pairs).tolist()},
    )
    return pairs.shape[1], tuple(row["path"] for row in rows)
