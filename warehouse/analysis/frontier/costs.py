"""Costs of answers, prompt by prompt: as recorded, or by tokens and prices (two figures
that are never mixed)."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.hooks import COSTS_OF_PAIRS, PairCosts
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.selection.prompt_links import (
    Links,
    follow_links,
    indices_among,
    read_links,
    values_at,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import MisuseError
from warehouse.stats import cheaper_test, cost_ratio
from warehouse.store.columns import Columns
from warehouse.store.connection import Store
from warehouse.store.curate.prices import Price, read_prices, stored_prices
from warehouse.store.sql.query_files import query_text

#: What each kind of cost counts, for an answer, in words.
UNITS = {"dollars": "US$", "tokens": "tokens", "seconds": "s", "calls": "calls"}
#: In place of a file: the prices that the store has.
STORED = "stored"


@dataclass(frozen=True)
class CostSource:
    """Which cost is meant."""

    kind: str  #: ``dollars``, ``tokens``, ``seconds`` or ``calls``.
    #: for dollars by tokens; None: as recorded.
    prices: tuple[Price, ...] | None = None
    digest: str = ""  #: sha256 of the prices; empty without.

    @property
    def metric(self) -> str:
        """Its name: recorded and priced dollars are two."""
        if self.kind != "dollars":
            return self.kind
        if self.prices is None:
            return "cost"
        return "cost_priced"

    @property
    def unit(self) -> str:
        """In words."""
        return UNITS[self.kind]

    def of_pair(
        self, store: Store, pair: Pair, *, level: float, times: float | None = None
    ) -> PairCosts:
        """Costs of a pair, links followed.

        Args:
            times: test whether the first is so many times cheaper.
        """
        return pair_costs(store, pair, self, level=level, times=times)


@dataclass(frozen=True)
class PromptCosts:
    """Costs of the answers of one condition."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    #: mean over the draws that say it; NaN where none does, shape (n,).
    values: NDArray[np.float64]
    said: NDArray[np.float64]  #: draws that say it, shape (n,).
    n: NDArray[np.float64]  #: draws that the dump has, shape (n,).

    def at(self, prompts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Costs of some prompts, NaN for the others."""
        return values_at(self.values, indices_among(self.prompts, prompts))

    def share_missing(self, scores: PromptScores) -> float:
        """The share of a condition's scored answers whose cost is not known."""
        indices = indices_among(self.prompts, scores.prompts)
        said, n = (
            float(np.nan_to_num(values_at(counts, indices)).sum())
            for counts in (self.said, self.n)
        )
        return 1 - said / max(n, scores.n_samples - scores.n_unscored, 1)


NO_COSTS = PromptCosts(np.empty(0, np.int64), *[np.empty(0)] * 3)


def cost_source(store: Store, kind: str, prices: str | None) -> CostSource:
    """Which cost a question means (InputError: a file that is none of prices;
    MisuseError: the store has no prices).

    Args:
        prices: path of a file of prices, or ``stored``.
    """
    if prices is None:
        return CostSource(kind)
    if prices != STORED:
        found: Sequence[Price] = read_prices(prices)
        return CostSource(
            kind, tuple(found), hashlib.sha256(Path(prices).read_bytes()).hexdigest()
        )
    found = stored_prices(store)
    if not found:
        raise MisuseError(
            "the store has no prices; warehouse fix prices FILE stores some, --prices FILE "
            "takes a file's"
        )
    words = "\n".join(
        ",".join(map(str, dataclasses.astuple(price)[:-1])) for price in found
    )
    return CostSource(kind, tuple(found), hashlib.sha256(words.encode()).hexdigest())


COSTS_OF_PAIRS.fill(cost_source)


def read_costs(
    store: Store,
    runs: Mapping[int, int],
    source: CostSource,
    links: Links | None = None,
) -> dict[int, PromptCosts]:
    """Costs of prompts by group.

    Args:
        runs: run id -> number of the group that it belongs to; the runs of a group are
            pooled.
        links: put prompts under those that these lead to.
    """
    found = store.columns(
        query_text("analysis/frontier", "prompt_costs"),
        {"run_ids": list(runs)},
        per="run_id",
    )
    of_run = found.whole_numbers("run_id")
    prompts = found.whole_numbers("prompt_id")
    n_known, sums = _sums(store, found, of_run, source)
    if links is not None:
        prompts = follow_links(prompts, links)
    groups = np.array([runs[run] for run in of_run.tolist()], dtype=np.int64)
    costs = {}
    for group in np.unique(groups).tolist():
        here = groups == group
        ids, indices = np.unique(prompts[here], return_inverse=True)
        n, said, total = (
            np.bincount(indices, values[here], len(ids)).astype(np.float64)
            for values in (
                found.numbers("n"),
                n_known,
                np.where(n_known > 0, sums, 0.0),
            )
        )
        costs[group] = PromptCosts(
            ids, np.where(said > 0, total / np.maximum(said, 1), np.nan), said, n
        )
    return costs


def _sums(
    store: Store, found: Columns, of_run: NDArray[np.int64], source: CostSource
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draws of each row that say what they cost, counted, and their sum."""
    if source.prices is None:
        return found.numbers(f"n_{source.kind}"), found.numbers(source.kind)
    rows = store.rows(
        query_text("analysis/frontier", "runs_for_prices"),
        {"run_ids": np.unique(of_run).tolist()},
        per="run_id",
    )
    by_run = {row["run_id"]: _rates(row, source.prices) for row in rows}
    rates = np.array([by_run[run] for run in of_run.tolist()] or np.empty((0, 5))).T
    names = (
        "tokens",
        "output_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
    )
    tokens, output, cached, stored, thought = (found.numbers(name) for name in names)
    sums = (
        rates
        * [cached, stored, tokens - output - cached - stored, thought, output - thought]
    ).sum(axis=0) / 1e6
    return np.where(np.isnan(sums), 0.0, found.numbers("n_tokens")), sums


def _rates(run: Mapping[str, Any], prices: Sequence[Price]) -> tuple[float, ...]:
    """Prices of cached input, of input that was written into a cache and of other
    input, of reasoning and of other output on the day of a run, found as the view
    ``run_price`` does; NaN without."""
    day = run["started_at"]
    names = (run["model_recorded"], run["model"])
    fits = [
        price
        for price in prices
        if price.model in names and (day is None or price.date <= day)
    ]
    best = max(
        fits, key=lambda price: (price.model == names[0], price.date), default=None
    )
    if best is None or (
        day is not None and best.until is not None and day >= best.until
    ):
        return (np.nan,) * 5
    cached = best.cached
    stored = best.cache_write
    thought = best.reasoning
    return (
        best.input if cached is None else cached,
        best.input if stored is None else stored,
        best.input,
        best.output if thought is None else thought,
        best.output,
    )


def pair_costs(
    store: Store,
    pair: Pair,
    source: CostSource,
    *,
    level: float,
    times: float | None = None,
) -> PairCosts:
    """Costs of a pair, links followed.

    Args:
        times: test whether the first is so many times cheaper.
    """
    runs = dict.fromkeys(pair.a.run_ids, 0) | dict.fromkeys(pair.b.run_ids, 1)
    found = read_costs(store, runs, source, read_links(store))
    sides = [found.get(side, NO_COSTS) for side in (0, 1)]
    a, b = (side.at(pair.prompts) for side in sides)
    has_costs = ~np.isnan(a + b)
    share = max(
        side.share_missing(of)
        for side, of in zip(sides, (pair.scores_a, pair.scores_b), strict=True)
    )
    a = a[has_costs]
    b = b[has_costs]
    clusters = None if pair.clusters is None else pair.clusters[has_costs]
    figures: tuple[float | None, float | None] = (None, None)
    ratio = test = None
    if has_costs.any():
        figures = (float(a.mean()), float(b.mean()))
        ratio = cost_ratio(a, b, clusters, level=level)
        test = None if times is None else cheaper_test(a, b, clusters, times=times)
    return PairCosts(
        source.metric,
        source.digest,
        *figures,
        ratio,
        test,
        int((~has_costs).sum()),
        share,
    )
