"""All that the sections on one benchmark rest on, read at once: they ask the store nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from warehouse.analysis.audit.read import StoredAnswers, read_answers
from warehouse.analysis.items.datamap import datamap_of
from warehouse.analysis.items.datamap_report import DataMap
from warehouse.analysis.leaderboard.leaderboard import Leaderboard, board_of
from warehouse.analysis.matrix.cached import StoredMatrix, stored_matrix
from warehouse.analysis.selection.benchmarks import BenchmarkFacts, BenchmarkNames, read_facts
from warehouse.analysis.selection.conditions import group_runs
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.selection.select import select_among
from warehouse.analysis.selection.selection import Selection, row_rules
from warehouse.analysis.selection.targets import Targets, targets_of
from warehouse.analysis.training.read import read_curves, read_recipes
from warehouse.analysis.training.trajectories import Curve, RecipeScores
from warehouse.errors import MisuseError
from warehouse.questions.leaderboard import Ranking
from warehouse.questions.text import MapPrompts
from warehouse.stats.labels.wrong_keys import FEWEST_MODELS
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.shared_reads import in_blocks

#: Conditions whose data maps a report shows for one benchmark.
MOST_MAPS = 12
#: Prompts times models beyond which a page does not wait for an audit.
MOST_VOTES = 150_000

Found = TypeVar("Found")


@dataclass(frozen=True)
class Maps:
    """Data maps of the conditions with several generations of a prompt, best first."""

    maps: tuple[DataMap, ...]  #: one per model.
    left_out: tuple[str, ...]  #: models whose generations allow none, with the reason.
    more: tuple[str, ...]  #: models beyond the most that are shown.


@dataclass(frozen=True)
class BenchmarkReads:
    """One benchmark as the store has it."""

    name: str  #: of the benchmark.
    facts: BenchmarkFacts  #: its runs and metrics.
    scores: BenchmarkScores | None  #: by the headline metric, in rows; None with ``why_no_scores``.
    each: BenchmarkScores | None  #: the same with a row for each condition.
    why_no_scores: str
    board: Leaderboard | None  #: made of them, which says what else is worth a look.
    by_other_metrics: tuple[BenchmarkScores, ...]  #: by other metrics, scores of the conditions that ``board`` lacks.
    recipes: tuple[RecipeScores, ...]  #: figures of trained models along training.
    curves: tuple[Curve, ...]  #: those with two places in training, by prompt.
    answers: StoredAnswers | None  #: of models; None where too few have some, or too many for a page.
    maps: Maps | None  #: P(correct) against S(consistency); None where no prompt has several generations.
    matrix: StoredMatrix  #: the analyses of its performance matrix that the store holds.

    @cached_property
    def targets(self) -> tuple[Targets | None, str]:
        """Its conditions as statistics of draws and seeds take them, or why they do not."""
        scores = self.each or self.scores
        if scores is None:
            return None, self.why_no_scores
        return or_why(lambda: targets_of(scores))


def benchmarks_with_votes(store: Store, names: BenchmarkNames) -> list[str]:
    """Names of the benchmarks whose answers were held against each other."""
    rows = store.rows("select distinct benchmark_id as id from preference")
    by_id = {row["id"]: name for name, own in names.joined.items() for row in own}
    return sorted({by_id[row["id"]] for row in rows})


def read_benchmarks(
    store: Store,
    names: BenchmarkNames,
    runs: Mapping[str, Sequence[Mapping[str, Any]]],
    ranks: Ranking,
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[BenchmarkReads]:
    """Read benchmarks one after the other, a block of them with shared reads.

    Args:
        names: of all benchmarks.
        runs: id and number of scores of the runs, by benchmark that is wanted.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
        progress: gets name, number done and number of all before each.
    """
    for done, (name, shared) in enumerate(in_blocks(store, runs)):
        if progress is not None:
            progress(name, done, len(runs))
        yield read_parts(shared, names, name, ranks)


def read_parts(store: Store, names: BenchmarkNames, name: str, ranks: Ranking) -> BenchmarkReads:
    """Read a benchmark; a mistake in the request becomes a message instead of an error.

    Args:
        names: of all benchmarks.
        name: of a benchmark with current runs.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
    """
    benchmark = names.benchmark(name)
    with_facts = benchmark, facts = benchmark, read_facts(store, benchmark.ids)
    rows = row_rules(ranks)
    scores, why_not = or_why(lambda: select_among(store, with_facts, Selection(name, rows=rows)))
    each = scores
    if scores and len(scores.entries) != len(facts.runs):  # several runs or conditions may make one row
        each = select_among(store, with_facts, Selection(name))
    board = board_of(scores, ranks) if scores else None
    is_trained = any(run["training_seed"] or run["position"] is not None for run in facts.runs)
    recipes = read_recipes(store, benchmark.ids) if is_trained else []
    elsewhere = [other.metric for other in board.others if other.n_elsewhere] if board else []
    others = [Selection(name, metric, rows=rows) for metric in elsewhere]
    answers = None
    if board and scores and _has_votes(board, scores):
        answers, _ = or_why(lambda: read_answers(store, each or scores))
    return BenchmarkReads(
        name,
        facts,
        scores,
        each,
        why_not,
        board,
        by_other_metrics=tuple(select_among(store, with_facts, selection) for selection in others),
        recipes=tuple(recipes),
        curves=tuple(read_curves(store, benchmark, facts.metrics, recipes)),
        answers=answers,
        maps=_maps(store, board, facts, ranks.level) if board else None,
        matrix=stored_matrix(store, with_facts),
    )


def _has_votes(board: Leaderboard, scores: BenchmarkScores) -> bool:
    """Whether three models have answers, and not more than `MOST_VOTES`."""
    models = {run["model"] for run in scores.runs if run["n_generations"] or run["n_choices"]}
    most = max((row.n_prompts for row in board.rows), default=0)
    return len(models) >= FEWEST_MODELS and most * len(models) <= MOST_VOTES


def _maps(store: Store, board: Leaderboard, facts: BenchmarkFacts, level: float) -> Maps | None:
    """Generations are read and grouped some prompts at a time: their texts are more than memory takes."""
    models = list(dict.fromkeys(row.model for row in board.rows if row.n_draws > row.n_prompts))
    maps: list[DataMap] = []
    left_out: list[str] = []
    prompts: dict[int, dict[str, Any]] = {}
    for index, model in enumerate(models):
        if sum(len(map_.distribution) for map_ in maps) >= MOST_MAPS:
            return Maps(tuple(maps), tuple(left_out), tuple(models[index:]))
        own = group_runs(run for run in facts.runs if run["model"] == model)
        try:
            opener = StoreOpener.of(store)
            maps.append(datamap_of(opener, MapPrompts(model, level=level), own, facts, prompts=prompts))
            left_out += maps[-1].left_out
        except MisuseError as error:
            left_out.append(str(error))
    return Maps(tuple(maps), tuple(left_out), ()) if maps else None


def or_why(compute: Callable[[], Found]) -> tuple[Found | None, str]:
    """What is computed, else why it is refused."""
    try:
        return compute(), ""
    except MisuseError as error:
        return None, str(error)
