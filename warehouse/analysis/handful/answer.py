"""How few questions, clusters or seeds carry the lead of one of two models (statistics.md
§26)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.hooks import on_plans
from warehouse.analysis.comparison.pairing import (
    NotComparable,
    Pair,
    cells_of_seeds,
)
from warehouse.analysis.comparison.read import TwoModels
from warehouse.analysis.comparison.texts import PairTexts, read_texts
from warehouse.analysis.handful.question import Handful
from warehouse.analysis.handful.read import cluster_names, others_on_prompts
from warehouse.analysis.handful.row import (
    CLUSTERS,
    QUESTIONS,
    SEEDS,
    HandfulItem,
    HandfulRow,
)
from warehouse.analysis.handful.view import brief, whole
from warehouse.analysis.results import Result
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    ChangedVerdicts,
    HandfulOfSeeds,
    HandfulP,
    changed_verdicts,
    handful_of_seeds,
    passing_binary,
    passing_clusters,
    passing_t,
)
from warehouse.stats import Handful as Found
from warehouse.stats import handful as fewest_units
from warehouse.stats.core.inputs import is_constant
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.view import View

#: Units of one kind that are listed on a benchmark, and named in its row.
MOST_ITEMS, MOST_NAMES = 1000, 10
#: Characters of a question that are read.
_TEXT = 300
_OVER_SEEDS = "no p by questions: the error is that of training seeds too"
_BY_CLUSTER = "p is by cluster: see the row of clusters"
#: Where there is no p by these units.
_NO_P = HandfulP(None, None, True, None, np.empty(0, np.intp), "")
_WEIGHTED = "no p by questions: they have weights"


@dataclass(frozen=True)
class HandfulAnswer(Result):
    """One row for each kind of unit on each benchmark and split."""

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[HandfulRow, ...]
    items: tuple[
        HandfulItem, ...
    ]  #: what is left out, in order, 1 000 of a kind at most.
    left_out: tuple[str, ...]  #: what was not compared, each with the reason.
    notes: tuple[str, ...]  #: what a reader should know of the rows.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def _first(self) -> HandfulRow:
        """The row of questions (MisuseError: there are several benchmarks)."""
        rows = [row for row in self.rows if row.unit == QUESTIONS]
        if len(rows) > 1:
            raise MisuseError("several benchmarks: take the figures from `rows`")
        return rows[0]

    @property
    def count(self) -> int | None:
        """Fewest questions without which the other leads, of one benchmark."""
        return self._first.count

    @property
    def tie_at(self) -> int | None:
        """Fewest questions without which they are tied, of one benchmark."""
        return self._first.tie_at

    @property
    def p_count(self) -> int | None:
        """Fewest questions without which p passes 1 - level, of one benchmark."""
        return self._first.p_count

    @property
    def exact(self) -> bool | None:
        """Whether ``p_count`` is proved to be the fewest, of one benchmark."""
        return self._first.exact

    def view(self, *, verbose: bool = False) -> View:
        """A sentence for each benchmark, and a line for each kind of unit; with
        ``verbose`` every column, what is left out, and how it was found."""
        if verbose:
            return whole(self.rows, self.items, is_share=self.is_share)
        return brief(self.rows, is_share=self.is_share)


@answers(Handful)
def handful(store: Store, question: Handful) -> HandfulAnswer:
    """Benchmark by benchmark."""
    shared = SharedReads(store)
    models = TwoModels(
        shared, question.a, question.b, selection_of(question), question.force
    )
    both = models.on_each(models.pair)
    pairs, refused = both.compute(partial(_usable, level=question.level))
    if not pairs:
        raise NotComparable("; ".join(refused))
    rows: list[HandfulRow] = []
    items: list[HandfulItem] = []
    notes: list[str] = []
    for pair in pairs:
        found = _Found(store, pair, question.level)
        rows += found.rows
        items += found.items
        if pair.note:
            notes.append(f"{pair.benchmark}: {pair.note}")
    return HandfulAnswer(
        question.a,
        question.b,
        tuple(rows),
        tuple(items),
        (*refused, *both.missing),
        tuple(notes),
        is_share=all(pair.metric.bounds == (0.0, 1.0) for pair in pairs),
    )


def _usable(pair: Pair, level: float) -> Pair:
    """The pair, where its figure is a mean of its questions (NotComparable: it is not)."""
    if pair.has_infinite:
        raise NotComparable("a score is infinite, and no number of questions turns it")
    planned = on_plans(pair, level=level, estimand="prompts_sampled")
    if planned is not None and planned.whole is not None:
        raise NotComparable(
            "one of them was asked a planned subset: the figure is of the whole "
            "benchmark, and is no mean of the questions that were asked"
        )
    (_, weights_a), (_, weights_b) = pair.sides
    if pair.metric.link != "identity" or not np.array_equal(weights_a, weights_b):
        raise NotComparable(
            f"{pair.metric.label} is no mean of the scores of questions, so that none "
            "can be left out one by one"
        )
    return pair


class _Found:
    """What is found of one pair.

    Args:
        store: where others and names are read.
        pair: the two.
        level: 1 less what p passes.
    """

    def __init__(self, store: Store, pair: Pair, level: float) -> None:
        self._store = store
        self._pair = pair
        self._level = level
        self._sign = 1.0
        if pair.metric.higher_is_better is False:
            self._sign = -1.0
        self._others = others_on_prompts(store, pair)
        # of equal contributions those go first that others have wrong
        odd = np.where(np.isnan(self._others), np.inf, self._sign * self._others)
        self._order = np.lexsort((pair.prompts, odd))
        differences: NDArray[np.float64] = self._sign * pair.differences
        self._differences = differences[self._order]
        self._weights = None
        weights = pair.sides[0][1]
        if not is_constant(weights):
            self._weights = weights[self._order]

    @cached_property
    def _of_questions(self) -> Found:
        return fewest_units(self._differences, weights=self._weights)

    @property
    def _first_leads(self) -> bool:
        return self._of_questions.first_leads

    @property
    def _leads(self) -> str:
        if self._of_questions.reason == "tied":
            return ""
        if self._first_leads:
            return "a"
        return "b"

    @property
    def _is_single(self) -> bool:
        return self._pair.is_zero_one and self._weights is None

    @property
    def _alpha(self) -> float:
        return 1 - self._level

    @property
    def rows(self) -> list[HandfulRow]:
        """A row for questions, for clusters where there are any, and for seeds."""
        found = [self._questions()]
        if self._pair.clusters is not None:
            found.append(self._clusters())
        if self._pair.over_seeds:
            found.append(self._seeds())
        return found

    def _questions(self) -> HandfulRow:
        passing, reason = self._passing_of_questions()
        row = self._row(
            QUESTIONS, self._of_questions, passing, self._prompt_names, reason
        )
        if not self._is_single:
            return row
        verdicts = self._verdicts()
        return replace(
            row,
            verdicts_to_turn=verdicts.for_sign,
            verdicts_to_pass=verdicts.for_p if row.p_method == "mcnemar" else None,
            keys_to_turn=verdicts.keys,
        )

    def _prompt_names(self, units: NDArray[np.intp]) -> tuple[str, ...]:
        """Some of the questions, by their ids."""
        prompts = self._pair.prompts[self._order[units]]
        return tuple(map(str, prompts.tolist()))

    def _passing_of_questions(self) -> tuple[HandfulP | None, str]:
        """How few questions p rests on, or why there is none by questions."""
        if self._pair.over_seeds:
            return None, _OVER_SEEDS
        if self._pair.clusters is not None:
            return None, _BY_CLUSTER
        if self._weights is not None:
            return None, _WEIGHTED
        if self._is_single:
            return passing_binary(self._differences, self._alpha), ""
        return passing_t(self._differences, self._alpha), ""

    def _verdicts(self) -> ChangedVerdicts:
        """How few verdicts turn it, of questions with one of each model."""
        won = int(np.count_nonzero(self._differences > 0))
        lost = int(np.count_nonzero(self._differences < 0))
        more, fewer = max(won, lost), min(won, lost)
        return changed_verdicts(more, fewer, self._pair.n, self._alpha)

    @cached_property
    def _of_clusters(self) -> tuple[Found, NDArray[np.int64]]:
        """What clusters carry, and the cluster of each unit."""
        units = self._pair.units[self._order]
        numbers, codes = np.unique(units, return_inverse=True)
        return fewest_units(self._differences, codes, self._weights), numbers

    def _clusters(self) -> HandfulRow:
        found, numbers = self._of_clusters
        passing, reason = None, ""
        if self._pair.over_seeds:
            reason = _OVER_SEEDS
        elif self._weights is not None:
            reason = _WEIGHTED
        else:
            units = self._pair.units[self._order]
            passing = passing_clusters(self._differences, units, self._alpha)

        def named(units: NDArray[np.intp]) -> tuple[str, ...]:
            chosen = numbers[units].tolist()
            names = cluster_names(self._store, chosen)
            return tuple(names[number] for number in chosen)

        return self._row(CLUSTERS, found, passing, named, reason)

    def _seeds(self) -> HandfulRow:
        """Seeds, by the mean of each over the common questions."""
        pair = self._pair
        sides = ((pair.scores_a, pair.of_a), (pair.scores_b, pair.of_b))
        means = []
        for scores, places in sides:
            cells = cells_of_seeds(scores, places, pair.metric.link)
            weights = scores.weights[places]
            means.append(self._sign * np.average(cells, axis=1, weights=weights))
        row = self._row(QUESTIONS, self._of_questions, None, self._prompt_names, "")
        if any(np.isnan(own).any() for own in means):
            found = HandfulOfSeeds(None, 0, 0, self._first_leads)
            reason = "seeds were asked different questions"
        else:
            found, reason = handful_of_seeds(*means), ""
        return replace(
            row,
            unit=SEEDS,
            n_units=sum(map(len, means)),
            n_for=None,
            count=found.count,
            tie_at=None,
            fewest_possible=None,
            first_left_out=_seeds_in_words(found),
            reason=reason,
        )

    def _row(
        self,
        unit: str,
        found: Found,
        passing: HandfulP | None,
        named: Callable[[NDArray[np.intp]], tuple[str, ...]],
        reason: str,
    ) -> HandfulRow:
        """A row, without what is of verdicts.

        Args:
            named: names of units by their numbers.
        """
        pair = self._pair
        if passing is None:
            passing = _NO_P
        return HandfulRow(
            benchmark=pair.benchmark,
            split=pair.split,
            metric=pair.metric.label,
            model_a=pair.a.model,
            condition_a=pair.labels[0],
            model_b=pair.b.model,
            condition_b=pair.labels[1],
            unit=unit,
            leads=self._leads,
            difference=self._difference,
            n_prompts=pair.n,
            n_differ=int(np.count_nonzero(self._differences)),
            is_single=self._is_single,
            n_units=found.n_units,
            n_for=found.n_for,
            count=found.count,
            tie_at=found.tie_at,
            fewest_possible=found.fewest_possible,
            p_value=passing.p_value,
            p_method=passing.method,
            p_count=passing.count,
            p_at_least=passing.at_least,
            exact=None if passing.count is None else passing.exact,
            left_out_for_p=named(passing.left_out[:MOST_NAMES]),
            verdicts_to_turn=None,
            verdicts_to_pass=None,
            keys_to_turn=None,
            level=self._level,
            first_left_out=named(found.left_out[:MOST_NAMES]),
            reason=found.reason or reason,
        )

    @property
    def _difference(self) -> float:
        values = self._sign * self._differences
        return float(np.average(values, weights=self._weights))

    @property
    def items(self) -> list[HandfulItem]:
        """Questions and clusters in the order of leaving out."""
        found = self._of_questions
        places = self._order[found.left_out[:MOST_ITEMS]]
        ids = self._pair.prompts[places].tolist()
        (texts,) = read_texts(self._store, [(self._pair, ids)], _TEXT)
        listed = []
        for place, index in enumerate(places.tolist(), 1):
            unit = int(found.left_out[place - 1])
            total = float(found.totals[unit])
            listed.append(self._question_item(place, index, total, texts))
        if self._pair.clusters is not None:
            listed += self._cluster_items()
        return listed

    def _question_item(
        self, place: int, index: int, contribution: float, texts: PairTexts
    ) -> HandfulItem:
        pair = self._pair
        prompt = int(pair.prompts[index])
        others = float(self._others[index])
        values_a, values_b = (values for values, _ in pair.sides)
        return HandfulItem(
            benchmark=pair.benchmark,
            split=pair.split,
            metric=pair.metric.label,
            unit=QUESTIONS,
            place=place,
            prompt_id=prompt,
            tool_id=texts.prompts[prompt]["tool_id"],
            name="",
            contribution=contribution,
            score_a=float(values_a[index]),
            score_b=float(values_b[index]),
            others=None if np.isnan(others) else others,
            text=texts.prompts[prompt]["text"],
        )

    def _cluster_items(self) -> list[HandfulItem]:
        found, numbers = self._of_clusters
        left_out = found.left_out[:MOST_ITEMS].tolist()
        names = cluster_names(self._store, numbers[left_out].tolist())
        listed = []
        for place, unit in enumerate(left_out, 1):
            item = HandfulItem(
                benchmark=self._pair.benchmark,
                split=self._pair.split,
                metric=self._pair.metric.label,
                unit=CLUSTERS,
                place=place,
                prompt_id=None,
                tool_id=None,
                name=names[int(numbers[unit])],
                contribution=float(found.totals[unit]),
                score_a=None,
                score_b=None,
                others=None,
                text=None,
            )
            listed.append(item)
        return listed


def _seeds_in_words(found: HandfulOfSeeds) -> tuple[str, ...]:
    words = []
    if found.best_left_out:
        words.append(f"{found.best_left_out} of the one that leads")
    if found.worst_left_out:
        words.append(f"{found.worst_left_out} of the other")
    return tuple(words)
