"""``variance``: prompts against draws, pass@k, and seeds against prompts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from warehouse.analysis.variance.question import PassRates, SeedVariance, Variance

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.variance.answer import VarianceReport
    from warehouse.analysis.variance.pass_view import PassReport
    from warehouse.analysis.variance.seed_view import SeedReport


@command("noise variance")
@options_of(PassRates)
@option("--seeds", "Training seeds crossed with prompts instead.", is_flag=True)
@options_of(Variance, only=("by",))
@output_options
def variance(
    state: State,
    /,
    output: Output,
    seeds: bool,
    by: str | None,
    **options: Any,
) -> None:
    rates = PassRates.from_command(options, typed(options))
    question: PassRates | SeedVariance | Variance = rates
    if seeds:
        question = rates.only(SeedVariance, "does not go with --seeds")
    elif not rates.at and not rates.hat:
        question = rates.only(Variance, "goes with --pass-at or --pass-hat", by=by)
    if not isinstance(question, Variance):
        refuse_typed("does not go with --seeds, --pass-at and --pass-hat", "by")
    report: VarianceReport | PassReport | SeedReport = state.ask(question)
    state.give(output, report, partial(state.view_of, report.view))
