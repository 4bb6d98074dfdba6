"""What people are shown of texts that match: a sentence, a row for each model and
benchmark, lines with their match in the middle."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from warehouse.analysis.groups import grouped
from warehouse.analysis.results import Result, Row
from warehouse.tables.text import WIDTH
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, Verbatim, View, legend
from warehouse.tables.words import (
    counted,
    excerpt,
    level_column,
    listed,
    some_of,
    visible,
)

#: Rows up to which those without a match are shown too, and models of the sentence.
MOST, NAMED = 20, 3
#: Characters before a line of a sample, and of a pattern in the sentence.
_INDENT, _PATTERN = "    ", 40
_UNIT = Unit(1, in_percent=True)
#: A tool's id that a command line takes as one.
_SHORT = re.compile(r"\w[\w./-]{0,39}", re.ASCII)


@dataclass(frozen=True)
class GrepRow(Row):
    """Samples of a model under one condition, on a benchmark, that match."""

    model: str  #: name of the model.
    condition: (
        str  #: settings that tell it from others of the model; empty where none do.
    )
    benchmark: str  #: name of the benchmark.
    split: str  #: of the benchmark; empty where there is none.
    n_matches: int  #: samples with a text that matches.
    n_samples: int  #: samples with a text that was looked at.
    n_prompts: int  #: prompts of these samples.
    n_prompts_matching: int  #: of which at least one sample matches.
    share: float  #: mean over prompts of the share of their samples that match, 0 to 1.
    #: lower end of the interval of the share, prompts sampled; None: not defined.
    ci_low: float | None
    ci_high: float | None  #: upper end.
    method: str  #: of the interval: ``wilson`` where each prompt has one sample.


@dataclass(frozen=True)
class GrepSample(Row):
    """A sample that matches, and where first."""

    model: str  #: name of the model.
    benchmark: str  #: name of the benchmark.
    run_id: int  #: id of the run; ``show run:ID prompt:ID`` shows the sample.
    prompt_id: int  #: id of the prompt in the store.
    tool_id: str | None  #: the tool's own id of the prompt.
    draw: int  #: which of several generations, from 0.
    place: str  #: prompt, response, message, tool_call, tool_result or error.
    role: str  #: who said it; empty for an error of the harness.
    tool: str  #: of a call, or a result; else empty.
    line: int  #: of the text, from 1.
    before: str  #: what stands before the match on its line.
    match: str  #: the match, control characters spelled out.
    after: str  #: what stands behind it.

    @property
    def command(self) -> str:
        """The command that shows the sample: by the tool's id of the prompt, where that
        is short and nothing else."""
        prompt = f"prompt:{self.prompt_id}"
        if self.tool_id and _SHORT.fullmatch(self.tool_id):
            prompt = shlex.quote(self.tool_id)
        return f"warehouse show run:{self.run_id} {prompt}"

    @property
    def said_by(self) -> str:
        """Where it stands, in words: ``response``, ``tool-result of bash``."""
        told = self.place.replace("_", "-")
        if self.tool:
            told += f" of {self.tool}"
        elif self.role and self.place in ("prompt", "message"):
            told += f" of {self.role}"
        if self.draw:
            told += f", draw {self.draw}"
        return told


@dataclass(frozen=True)
class GrepReport(Result):
    """Samples whose texts match a pattern."""

    pattern: str  #: as it was asked for.
    places: tuple[str, ...]  #: texts that were looked at.
    level: float  #: of the intervals.
    #: one for each condition and benchmark with samples, the largest share first.
    rows: tuple[GrepRow, ...]
    #: the first of each model, by run and prompt; empty where only counts were asked for.
    samples: tuple[GrepSample, ...] = ()

    @property
    def n_matches(self) -> int:
        """Samples that match."""
        return sum(row.n_matches for row in self.rows)

    @property
    def n_samples(self) -> int:
        """Samples that were looked at."""
        return sum(row.n_samples for row in self.rows)

    @property
    def one_line(self) -> str:
        pattern = excerpt(self.pattern, _PATTERN)
        if not self.n_matches:
            samples = counted(self.n_samples, "sample")
            where = listed([place.replace("_", "-") for place in self.places])
            return f"none of {samples} matches '{pattern}' (looked at: {where}; --in: others)"
        verb = "match"
        if self.n_matches == 1:
            verb = "matches"
        said = f"{self.n_matches} of {counted(self.n_samples, 'sample')} {verb}"
        return f"{said} '{pattern}': {self._by_model()}"

    def _by_model(self) -> str:
        """Matches of the models with the largest shares."""
        by_model = grouped(self.rows, lambda row: row.model)
        sums: list[tuple[float, str, int, int]] = []
        for model, rows in by_model.items():
            n_matches = sum(row.n_matches for row in rows)
            n_samples = sum(row.n_samples for row in rows)
            if n_matches:
                sums.append((-n_matches / n_samples, model, n_matches, n_samples))
        said = [
            f"{visible(model)} {n_matches} of {n_samples}"
            for _, model, n_matches, n_samples in sorted(sums)
        ]
        return some_of(said, NAMED)

    def view(self, *, verbose: bool = False) -> View:
        """The counts by model and benchmark, and the samples.

        Args:
            verbose: rows without a match too, how many prompts there are, and what
                intervals are.
        """
        parts: list[Part] = [self.one_line]
        if self.n_matches:
            parts += ["", *self._table(verbose)]
        if self.samples:
            parts += ["", *self._lines()]
        return View(tuple(parts))

    def samples_view(self) -> View:
        """The samples alone."""
        return View((self.one_line, "", *self._lines()))

    def _table(self, verbose: bool) -> list[Part]:
        is_whole = verbose or len(self.rows) <= MOST
        shown = [row for row in self.rows if row.n_matches or is_whole]
        interval = level_column(self.level)
        cells = [
            {
                "model": row.model,
                "settings": row.condition,
                "benchmark": row.benchmark,
                "split": row.split,
                "matches": row.n_matches,
                "of": row.n_samples,
                "prompts": row.n_prompts,
                "share": _UNIT.figure(row.share),
                interval: _UNIT.ends(row.ci_low, row.ci_high, row.share),
            }
            for row in shown
        ]
        several = any(row.n_samples > row.n_prompts for row in self.rows)
        one_split = len({row.split for row in self.rows}) == 1
        for cell in cells:
            if not several or not verbose:
                del cell["prompts"]
            if one_split:
                del cell["split"]
        parts: list[Part] = [
            Table.of(cells, hide_empty=("settings",), minor=("prompts",))
        ]
        if several:
            meaning = "mean over prompts of the share of their samples that match"
            parts += legend({"share": meaning}, are_terms=False)
        n_without = len(self.rows) - len(shown)
        if n_without:
            parts.append(
                f"{counted(n_without, 'other row')} without a match: --explain"
            )
        return parts

    def _lines(self) -> list[Part]:
        """Two lines for each sample: the command that shows it, and what matches."""
        parts: list[Part] = []
        for sample in self.samples:
            told = visible(f"{sample.model}, {sample.said_by}")
            parts.append(Verbatim(f"{sample.command}  # {told}"))
            parts.append(
                Verbatim(_INDENT + in_the_middle(sample, WIDTH - len(_INDENT)))
            )
        return parts


def in_the_middle(sample: GrepSample, width: int) -> str:
    """The line of a match, which stands in the middle where the line is longer.

    Args:
        width: characters that there are.
    """
    match = _cut(sample.match, width)
    left = width - len(match)
    n_after = min(len(sample.after), max(left // 2, left - len(sample.before)))
    n_before = left - n_after
    before, after = sample.before, sample.after
    if len(before) > n_before:
        before = "..." + before[len(before) - max(0, n_before - 3) :]
    return f"{before}{match}{_cut(after, n_after)}"


def _cut(text: str, width: int) -> str:
    """The beginning of a text, which says that there is more."""
    if len(text) <= width:
        return text
    return text[: max(0, width - 3)] + "..."
