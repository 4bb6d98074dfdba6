"""The commands that ask what training seeds leave open: `seeds`, `decide` and `recipes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.questions.training import Decide, Recipes, Seeds

from ..lazy_group import command
from ..state import State
from ..ui.options import draw, drawable, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.training.decide_report import Decisions
    from warehouse.analysis.training.recipes_report import RecipesReport
    from warehouse.analysis.training.seeds_report import SeedsReport


@command("seeds")
@options_of(Seeds)
@drawable
@output_options
def seeds(state: State, /, output: Output, **options: Any) -> None:
    report: SeedsReport = state.ask(Seeds(**options))
    draw(report)
    state.give(output, report, report.view)


@command("decide")
@options_of(Decide)
@output_options
def decide(state: State, /, output: Output, **options: Any) -> None:
    decisions: Decisions = state.ask(Decide(**options))
    state.give(output, decisions, decisions.view)


@command("recipes")
@options_of(Recipes)
@output_options
def recipes(state: State, /, output: Output, **options: Any) -> None:
    question = Recipes.from_command(options, typed(options))
    report: RecipesReport = state.ask(question)
    state.give(output, report, report.view)
