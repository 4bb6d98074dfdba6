"""The prompts to ask a model next: rows, the sentences and the table."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.irt.results import IrtResult, prompt_cells
from warehouse.analysis.results import Row
from warehouse.tables.view import Table, View
from warehouse.tables.words import number


@dataclass(frozen=True)
class NextRow(Row):
    """A prompt to ask."""

    order: int  #: its place in the plan, from 1.
    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    benchmark: str  #: its benchmark, with the harness where several asked.
    information: float  #: a²P(1−P) at the ability so far.
    chance: float  #: P(right) at the ability so far.
    difficulty: float  #: −d/a in standard deviations of abilities.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class NextReport(IrtResult):
    """The prompts to ask a model next: for its ability and rank, not for a score."""

    rows: tuple[NextRow, ...]  #: the plan, the first prompt first.
    asked: str  #: the model that is to be asked.
    n_asked: int  #: prompts of the pool that it has answered.
    ability: float  #: its ability so far, on the scale of the fit.
    sd: float  #: posterior standard deviation of it.
    #: after all prompts of the plan, the ability that all prompts would give lies
    #: within ±factor·sd with the level's chance; None with a note.
    factor: float | None
    #: mean error of the replay on stored models, in standard deviations of abilities.
    mean_error: float | None
    mean_error_random: float | None  #: the same with as many prompts at random.
    n_replayed: int  #: models replayed.
    level: float  #: of the interval.

    def view(self, *, verbose: bool = False) -> View:
        """What to ask next, and how far the ability can then be off.

        Args:
            verbose: with what each prompt tells, and the interval of the plan.
        """
        several = len({row.benchmark for row in self.rows}) > 1
        cells = [
            {
                "order": row.order,
                **prompt_cells(row.prompt, row.key, row.benchmark, several=several),
                "information": number(row.information, 3),
                "chance": number(row.chance, 2),
                "difficulty": number(row.difficulty, 2),
                "text": row.text,
            }
            for row in self.rows
        ]
        table = Table.of(cells, hide_empty=("text",), minor=("text",))
        notes = (
            *self.notes,
            "for ability and rank only: answers to chosen prompts give no score",
        )
        if verbose:
            return View((*_sentences(self), "", table), notes)
        hidden = ["information"]
        if several:
            hidden.append("id")
        return View((*_brief(self), "", table.without(hidden)), notes)


def _brief(report: NextReport) -> list[str]:
    """Which prompt comes first, and what the plan is worth."""
    found = [f"{report.asked} has answered all prompts that tell of it."]
    if report.rows:
        first = report.rows[0]
        found = [
            f"Ask {report.asked} {first.prompt} ({first.key}) next: of the "
            f"{report.n_items - report.n_asked} that it has not answered it tells most "
            "of its ability."
        ]
    if report.n_asked:
        found.append(
            f"So far {report.n_asked} answers put it at {report.ability:+.2f} (sd "
            f"{report.sd:.2f}) among {report.n_models} models, their average 0."
        )
    if report.mean_error is None or report.mean_error_random is None:
        return found
    after = report.n_asked + len(report.rows)
    return [
        *found,
        f"{after} prompts, each chosen by the answers before, place a model within "
        f"{report.mean_error:.2f} sd of where all prompts do, on average; as many at "
        f"random within {report.mean_error_random:.2f} ({report.n_replayed} stored "
        "models tried).",
    ]


def _sentences(report: NextReport) -> list[str]:
    """The ability so far, and the error of that after the plan."""
    found = [
        f"{report.asked} has answered {report.n_asked} of {report.n_items} prompts: "
        f"ability {report.ability:.2f} (sd {report.sd:.2f}) among {report.n_models} "
        "models."
    ]
    if report.mean_error is None or report.mean_error_random is None:
        return found
    after = report.n_asked + len(report.rows)
    sentence = (
        f"Asked one by one, {after} prompts give the ability of all prompts with a "
        f"mean error of {report.mean_error:.2f} sd of abilities (at random "
        f"{report.mean_error_random:.2f}; {report.n_replayed} models replayed)."
    )
    if report.factor is not None:
        sentence += (
            f" {100 * report.level:g} % of models lie within {report.factor:.2f} "
            "posterior sd of it."
        )
    return [*found, sentence]
