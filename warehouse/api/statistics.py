"""Methods that say what runs score, how they differ, and how sure that is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.analysis.anchors.question import Anchors
from warehouse.analysis.compare.question import Compare, CompareUnpaired
from warehouse.analysis.curves.question import Curves
from warehouse.analysis.decide.question import Decide
from warehouse.analysis.flash.question import Flash
from warehouse.analysis.formulations.question import Formulations
from warehouse.analysis.frontier.question import Frontier
from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.horizon.question import TimeHorizon
from warehouse.analysis.judge.question import (
    CorrectedComparison,
    CorrectedGate,
    CorrectedLeaderboard,
    HeldAgainstPeople,
    NextLabels,
    PlanLabels,
)
from warehouse.analysis.leaderboard.question import EveryLeaderboard, OneLeaderboard
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.power.question import CostPower, PowerPilot
from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.recipes.question import Recipes
from warehouse.analysis.reliability.question import Reliability
from warehouse.analysis.seeds.question import Seeds
from warehouse.analysis.sequential.question import (
    SequentialReleaseGate,
    SequentialSettings,
)
from warehouse.analysis.suites.question import AnyLeaderboard, SuiteLeaderboard
from warehouse.analysis.templates.question import Templates
from warehouse.analysis.variance.question import PassRates, SeedVariance, Variance
from warehouse.api.connection import Connection
from warehouse.errors import MisuseError
from warehouse.questions.methods import Gives, method, method_by_kind
from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING
from warehouse.questions.question import options

if TYPE_CHECKING:
    from warehouse.analysis.anchors.answer import AnchorReport  # noqa: F401
    from warehouse.analysis.compare.answer import Comparison  # noqa: F401
    from warehouse.analysis.compare.unpaired import UnpairedComparison  # noqa: F401
    from warehouse.analysis.curves.view import CurvesReport  # noqa: F401
    from warehouse.analysis.decide.view import Decisions  # noqa: F401
    from warehouse.analysis.flash.answer import FlashReport  # noqa: F401
    from warehouse.analysis.formulations.view import FormulationsReport  # noqa: F401
    from warehouse.analysis.frontier.view import FrontierReport  # noqa: F401
    from warehouse.analysis.gate.view import Gate  # noqa: F401
    from warehouse.analysis.horizon.view import HorizonReport  # noqa: F401
    from warehouse.analysis.judge.corrected_figures import (
        CorrectedBoard,  # noqa: F401
        CorrectedFigures,  # noqa: F401
    )
    from warehouse.analysis.judge.next import LabelWave  # noqa: F401
    from warehouse.analysis.judge.plan import LabelPlans  # noqa: F401
    from warehouse.analysis.judge.view import JudgeReport  # noqa: F401
    from warehouse.analysis.leaderboard.answer import Leaderboard, Leaderboards  # noqa: F401
    from warehouse.analysis.pairs.answer import Pairs  # noqa: F401
    from warehouse.analysis.power.costs import CostPlan  # noqa: F401
    from warehouse.analysis.power.view import PowerPlan
    from warehouse.analysis.prefer.view import PreferenceReport  # noqa: F401
    from warehouse.analysis.recipes.view import RecipesReport  # noqa: F401
    from warehouse.analysis.reliability.view import ReliabilityReport  # noqa: F401
    from warehouse.analysis.seeds.view import SeedsReport  # noqa: F401
    from warehouse.analysis.sequential.view import SequentialGate, SequentialRow  # noqa: F401
    from warehouse.analysis.suites.answer import SuiteBoard  # noqa: F401
    from warehouse.analysis.templates.view import TemplatesReport  # noqa: F401
    from warehouse.analysis.variance.answer import VarianceReport  # noqa: F401
    from warehouse.analysis.variance.pass_view import PassReport  # noqa: F401
    from warehouse.analysis.variance.seed_view import SeedReport  # noqa: F401
    from warehouse.stats import Cost, VarianceParts


class LeaderboardMethods(Connection):
    """Rank models."""

    leaderboard = method_by_kind(
        AnyLeaderboard,
        (OneLeaderboard, Gives["Leaderboard"]),
        (SuiteLeaderboard, Gives["SuiteBoard"]),
        (EveryLeaderboard, Gives["Leaderboards"]),
    )


class ComparisonMethods(Connection):
    """Compare models, pair by pair, and decide whether one may replace another.

    A reference of a model is ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
    """

    compare = method(Compare, Gives["Comparison"])
    compare_unpaired = method(CompareUnpaired, Gives["UnpairedComparison"])
    pairs = method(AllPairs, Gives["Pairs"])
    prefer = method(Prefer, Gives["PreferenceReport"])
    formulations = method(Formulations, Gives["FormulationsReport"])
    frontier = method(Frontier, Gives["FrontierReport"])
    gate = method(ReleaseGate, Gives["Gate"])


class LabelMethods(Connection):
    """A judge held against people: agreement, labels of which answers, and what they
    correct (`docs/judges.md`)."""

    judge = method(HeldAgainstPeople, Gives["JudgeReport"])
    judge_plan = method(PlanLabels, Gives["LabelPlans"])
    judge_next = method(NextLabels, Gives["LabelWave"])
    leaderboard_corrected = method(CorrectedLeaderboard, Gives["CorrectedBoard"])
    compare_corrected = method(CorrectedComparison, Gives["CorrectedFigures"])
    gate_corrected = method(CorrectedGate, Gives["CorrectedFigures"])


class SequentialMethods(Connection):
    """Decide as soon as the answer is settled (`docs/stopping.md`)."""

    sequential_gate = method(SequentialReleaseGate, Gives["SequentialGate"])

    def follow_gate(
        self,
        log: str | Path,
        candidate: str,
        baseline: str,
        margin: float,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        n_max: int | None = None,
        alpha: float = 0.05,
        seed: int = 0,
        looks: int | None = None,
        use_history: bool = True,
        latest: bool = False,
        force: bool = False,
        format: str | None = None,
        values: Mapping[str, Any] | None = None,
        mapping: str | Path | None = None,
        pause: Callable[[], bool] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> Iterator[SequentialRow]:
        """Follow a log that is being written until the verdict is there; the store
        stays as it is.

        Args:
            log: file of any format that `ingest` reads; it need not be there yet.
            candidate: reference of the model in the log.
            baseline: reference of a model of the store that has all scores of the
                benchmark.
            margin: loss that is tolerated, from 0, in the unit of the metric.
            benchmark: its name in the store; None: as the log calls it.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs of the baseline.
            n_max: the most prompts that are used; None: all.
            alpha: chance of a wrong verdict, both sides together, in (0, 1).
            seed: of the order of the prompts.
            looks: None: after every prompt; a number: O'Brien and Fleming's bounds at
                so many looks.
            use_history: predict scores by other models of the store, besides the
                baseline.
            latest: where the baseline means several conditions, take the one that ran
                last.
            force: compare what differs in judge, metric scale or task version.
            format: importer of the log; None: found by content.
            values: header fields that hold whatever the log says.
            mapping: mapping file of a tabular log.
            pause: waits between two looks, and says whether to go on; None: two
                seconds, for ever.
            say: told why the log cannot be judged yet, when that changes.

        Yields:
            the row at each change, the last with the verdict or with ``n_max`` prompts.

        Raises:
            MisuseError: a baseline that lacks scores or that the log must not be
                compared with.
            StatisticsError: a number out of range.
        """
        from warehouse.analysis.selection.selection import Selection, as_conditions
        from warehouse.analysis.sequential.answer import Follower

        settings = SequentialSettings(
            margin,
            n_max=n_max,
            alpha=alpha,
            seed=seed,
            looks=looks,
            use_history=use_history,
        )
        selection = Selection(benchmark, metric, as_conditions(where), latest=latest)
        follower = Follower(
            self._opener, candidate, baseline, settings, selection, force
        )
        reading = {"format": format, "values": values, "mapping": mapping}
        before, announced = None, ""
        for _ in _changes(Path(log), pause or _two_seconds):
            row, why = _read(follower, Path(log), reading)
            if row is None:
                if say is not None and why != announced:
                    say(why)
                announced = why
                continue
            if before is None or row.state != before:
                yield row
            before = row.state
            if not row.is_open:
                return


def _two_seconds() -> bool:
    time.sleep(2)
    return True


def _changes(log: Path, go_on: Callable[[], bool]) -> Iterator[None]:
    """Comes back whenever the file is another than before."""
    last_stamp: tuple[int, int] | None = None
    while True:
        try:
            status = log.stat()
            stamp = status.st_size, status.st_mtime_ns
        except OSError:
            stamp = None
        if stamp is not None and stamp != last_stamp:
            last_stamp = stamp
            yield
        if not go_on():
            return


def _read(
    follower: Any, log: Path, reading: Mapping[str, Any]
) -> tuple[SequentialRow | None, str]:
    """The row of the log as it is now, or why there is none yet."""
    from warehouse.analysis.sequential.answer import NothingYet
    from warehouse.errors import InputError
    from warehouse.ingest.pipeline import ingest
    from warehouse.store.load.state import LoadOptions
    from warehouse.store.open import open_store
    from warehouse.store.temporary import temporary_folder

    options = LoadOptions(
        max_rejected=1, text="none"
    )  # the last row may be half written
    with (
        temporary_folder() as folder,
        open_store(str(folder / "log.db"), create=True) as store,
    ):
        try:
            report = ingest(store, [log], options=options, **reading)
        except InputError as error:
            return None, str(error)
        if not any(item.state == "loaded" for item in report.sources):
            reasons = [item.error for item in report.refused] or [
                str(item) for item in report.unread
            ]
            return None, "; ".join(reasons) or f"nothing can be read from {log} yet"
        if not store.arrow("select run_id from run_current limit 1").num_rows:
            return None, f"nothing can be read from {log} yet"
        try:
            return follower.row(store), ""
        except NothingYet as error:
            return None, str(error)


class VarianceMethods(Connection):
    """Split variance between prompts, draws and seeds; pass@k; plan a comparison."""

    variance = method(Variance, Gives["VarianceReport"])
    pass_rates = method(PassRates, Gives["PassReport"])
    templates = method(Templates, Gives["TemplatesReport"])
    seed_variance = method(SeedVariance, Gives["SeedReport"])
    cost_power = method(CostPower, Gives["CostPlan"])

    def power(
        self,
        *references: str,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        latest: bool = False,
        each: str | None = None,
        repeats: str = REPEATS_AUTO,
        seeds_are: str = SEEDS_TRAINING,
        correlation: float | None = None,
        parts: VarianceParts | None = None,
        delta: float | None = None,
        n: int | None = None,
        power: float | None = None,
        alpha: float = 0.05,
        k: tuple[int, ...] | None = None,
        k_b: int | None = None,
        n_values: tuple[int, ...] | None = None,
        budget: float | None = None,
        available: int | None = None,
        cost: Cost | None = None,
    ) -> PowerPlan:
        """Plan a comparison from one or two stored runs, or from variances.

        Of ``delta`` and ``n``, what is left out is worked out.

        Args:
            references: of one or two stored runs: ``MODEL[@REVISION|@step=N][+AGENT]``
                or ``run:ID``.
            benchmark: its name; None where only one fits.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            cluster: clustering: None for the benchmark's default, ``"none"``, or a
                name.
            latest: where a reference means several conditions, take the one that ran
                last.
            each: ``"seed"`` or ``"checkpoint"``: these stand apart, so that a reference
                means one of them; None: one row a model.
            repeats: what becomes of runs of one condition: ``"auto"`` (by their test),
                ``"pool"``, ``"as_seeds"`` or ``"split"``.
            seeds_are: what a seed of a run is of: ``"training"`` or ``"sampling"``.
            correlation: for one run only: of the two models over prompts; None: 0.
            parts: variances, instead of references.
            delta: true mean difference, above 0, on the scale of the metric.
            n: prompts.
            power: chance to find the difference; None: 0.8 where it is not what is
                asked.
            alpha: two-sided significance level.
            k: draws per prompt, the first for the answer and all for the table; None:
                1, 2, 5, 10.
            k_b: draws of the second model where they are there already: fixed and not
                counted.
            n_values: prompts of the table; None: around the answer.
            budget: what may be spent, in generations (or in the unit of ``cost``).
            available: prompts there are; None: no limit, or the pilot's.
            cost: of prompts and generations; None: a generation costs 1, a prompt
                nothing.

        Raises:
            MisuseError: both or neither of references and variances; unknown or
                ambiguous references; contradictory questions.
            StatisticsError: numbers out of range, variances that are all 0, a single
                prompt.
        """
        from warehouse.analysis.power.answer import PowerQuestion, plan_power
        from warehouse.stats import Cost

        if (parts is None) == (not references):
            raise MisuseError(
                "plan from stored runs or from variances: give one of them"
            )
        question = PowerQuestion(
            delta=delta,
            n=n,
            power=power,
            alpha=alpha,
            k=k,
            k_b=k_b,
            n_values=n_values,
            budget=budget,
            available=available,
            cost=Cost() if cost is None else cost,
        )
        source = PowerPilot(
            references,
            benchmark=benchmark,
            metric=metric,
            where=where,
            cluster=cluster,
            latest=latest,
            each=each,
            repeats=repeats,
            seeds_are=seeds_are,
            correlation=correlation,
        )
        if parts is not None:
            why = "is for stored runs, and variances are given"
            source.refuse(
                why, *(name for name in options(PowerPilot) if name != "references")
            )
            return plan_power(question, parts)
        with self._reading() as store:
            pilot = source.ask(store)
        return plan_power(question, pilot)


class TrainingMethods(Connection):
    """Seeds and checkpoints of recipes, and decisions between them.

    A reference of a model is ``MODEL[@REVISION|@step=N]`` or ``run:ID``.
    """

    seeds = method(Seeds, Gives["SeedsReport"])
    curves = method(Curves, Gives["CurvesReport"])
    decide = method(Decide, Gives["Decisions"])
    recipes = method(Recipes, Gives["RecipesReport"])


class ReliabilityMethods(Connection):
    """Say how far verdicts hold, and what a cheaper one costs."""

    reliability = method(Reliability, Gives["ReliabilityReport"])
    flash = method(Flash, Gives["FlashReport"])
    horizon = method(TimeHorizon, Gives["HorizonReport"])
    anchors = method(Anchors, Gives["AnchorReport"])
