"""Methods that say what runs score, how they differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    from warehouse.analysis.leaderboard.answer import Leaderboard  # noqa: F401
    from warehouse.analysis.leaderboard.every import Leaderboards  # noqa: F401
    from warehouse.analysis.pairs.answer import Pairs  # noqa: F401
    from warehouse.analysis.power.costs import CostPlan  # noqa: F401
    from warehouse.analysis.power.view import PowerPlan
    from warehouse.analysis.prefer.view import PreferenceReport  # noqa: F401
    from warehouse.analysis.recipes.view import RecipesReport  # noqa: F401
    from warehouse.analysis.reliability.view import ReliabilityReport  # noqa: F401
    from warehouse.analysis.seeds.view import SeedsReport  # noqa: F401
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
