"""Charts that trackers of experiments export as tables (Weights & Biases): a row for
each step, and for each run a column with its figures, called ``RUN - METRIC``, beside
the least and the largest value that were drawn there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warehouse.importers.tabular.column_names import plain_name
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import inline_table, toml_text

#: Fields of a run by what the first column of such a table may be called.
_POSITIONS = {
    "step": "step",
    "_step": "step",
    "global_step": "step",
    "trainer/global_step": "step",
    "epoch": "epoch",
}
_FIGURE = re.compile(r"(?P<run>.+?) - (?P<metric>.+?)(?P<end>__MIN|__MAX)?")
#: Columns of figures themselves, not of their ends.
_CELLS = r"(?!.*__(?:MIN|MAX)$).+ - .+"


@dataclass(frozen=True)
class Chart:
    """A table of figures by step and run."""

    label: str  #: column that says where in the training the figures of a row are.
    position: str  #: field of the run that it is.
    runs: tuple[str, ...]
    metrics: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The sections of its mapping."""
        yield (
            "# A chart of a tracker of experiments: a column for each run, a row for "
            "each step. These are figures"
        )
        yield (
            "# measured on the way; __MIN and __MAX, the ends of what was drawn there, "
            "are left out."
        )
        yield from (
            "[matrix]",
            f"label = {toml_text(self.label)}",
            f"cells = {toml_text(_CELLS)}",
            "",
        )
        yield "[run]  # what was evaluated, on what, how"
        yield (
            f"model = {inline_table({'path': '@column', 'pattern': '^(.+?) - '})}  # "
            f"{len(self.runs)} runs"
        )
        yield "# where these are seeds of one model, say so, as in"
        yield "#   model = { path = \"@column\", pattern = '^(.+)-s\\d+ - ' }"
        yield "#   training_seed = { path = \"@column\", pattern = '-s(\\d+) - ' }"
        yield f'{self.position} = "@row"'
        yield (
            '# benchmark = { const = "NAME" }  # not known: fill in, or say --set '
            "benchmark=NAME"
        )
        yield from ("", "[[published]]")
        yield f"metric = {inline_table({'path': '@column', 'pattern': ' - (.+)$'})}"
        yield from ('value = "@cell"', "")
        for metric in self.metrics:
            yield f"[metrics.{toml_text(metric)}]"
            yield from ("# higher_is_better = true  # or false", "")


def chart_in(table: TableProfile) -> Chart | None:
    """The chart that a table is; ``None`` if it is none."""
    if not table.is_flat or len(table.columns) < 2:
        return None
    first, *others = table.columns
    position = _POSITIONS.get(plain_name(first.name))
    found = [_FIGURE.fullmatch(column.name) for column in others]
    if (
        position is None
        or not first.is_number
        or not all(column.is_number for column in others)
    ):
        return None
    matches = [match for match in found if match is not None]
    if len(matches) < len(found):
        return None
    runs = dict.fromkeys(match["run"] for match in matches)
    metrics = dict.fromkeys(match["metric"] for match in matches)
    return Chart(first.name, position, tuple(runs), tuple(metrics))
