"""A starting mapping for a table, written from the table itself, with comments.

What is sure is written as it is used; what is guessed is marked; where two readings are
possible both stand there, and ``[[choose]]`` says what is to be decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.common.streams import members
from warehouse.importers.tabular.column_names import (
    OF_TRUTH,
    Grade,
    guess_votes,
    says_good,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile, column_of_values
from warehouse.importers.tabular.drafts.answers import ScoreColumn, ScoreColumns
from warehouse.importers.tabular.drafts.charts import chart_in
from warehouse.importers.tabular.drafts.choices import (
    of_files,
    of_record_paths,
    of_rows,
)
from warehouse.importers.tabular.drafts.columns import POSITIONS, Fields
from warehouse.importers.tabular.drafts.fields import fields_of
from warehouse.importers.tabular.drafts.matrix import cells_of, is_signed
from warehouse.importers.tabular.drafts.nested import nested_figures
from warehouse.importers.tabular.drafts.other_scores import range_of
from warehouse.importers.tabular.drafts.paths import (
    NamedByPaths,
    asked_for_path,
    glob_line,
    models_in_paths,
    scorers_in_paths,
)
from warehouse.importers.tabular.drafts.profile import TableProfile, profile
from warehouse.importers.tabular.drafts.prompts import other_ids
from warehouse.importers.tabular.drafts.scorers import of_these_scores
from warehouse.importers.tabular.drafts.scores import scores_of
from warehouse.importers.tabular.drafts.settings import settings_in
from warehouse.importers.tabular.drafts.tables import figures_of
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    safe,
    short,
    texts,
    toml_key,
    toml_text,
)
from warehouse.importers.tabular.evidence import Standing
from warehouse.importers.tabular.mapping_variants import RECORD_FIELDS
from warehouse.importers.tabular.plain_tables import vote_mapping
from warehouse.records import SourceFiles, parse_json
from warehouse.records.credentials import MASK, without_credentials

#: Columns that are described, and that are offered as metadata; characters of what may
#: be a name.
_LISTED, _OFFERED, _NAME = 40, 60, 60
#: So many rows with one number in all say that it is no score.
_TELLING = 20


def starting_mapping(path: Path | str, importer: str = "", ready: str = "") -> str:
    """A mapping (TOML) for a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip.

    Columns are taken by their usual names and by their values; what was guessed, and
    what else a column may be, stands in comments. Where the guesses suffice it can be
    used as it stands; where two readings are possible ``ingest`` refuses it until one
    is chosen.

    Args:
        importer: the one that reads the file without a mapping, if there is one.
        ready: option of the mappings that come with this program and fit the file, if
            there are some.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    table = profile(Path(path))
    return "\n".join(_Writer(table, importer, ready).lines()) + "\n"


def _votes_in(table: TableProfile) -> dict[str, Any]:
    """The mapping that a table of votes amounts to without one; empty where it is
    none."""
    names = [column.name for column in table.columns if not column.parents]
    if table.location.at or table.path.suffix == ".zip" or not guess_votes(names):
        return {}
    source = SourceFiles(table.path.name, table.path.parent, (table.path,))
    return (vote_mapping(source, {"benchmark": ""}) or ({}, []))[0]


class _Writer:
    """The lines of a mapping, section by section."""

    def __init__(self, table: TableProfile, importer: str, ready: str) -> None:
        self.table = table
        self.importer = importer
        self.ready = ready
        self.votes = _votes_in(table)
        self.chart = chart_in(table)
        if self.votes:
            self.fields = Fields(key=self.votes.get("key", ()))
        else:
            self.fields = fields_of(table)
        self.nested = nested_figures(table, self.fields)
        if not self.votes:
            self.figures = figures_of(table, self.fields)
        else:
            self.figures = None
        if self.figures is None and not self.votes:
            self.cells = cells_of(table, self.fields)
        else:
            self.cells = None
        is_scored = self.figures is None and self.cells is None and not self.votes
        if is_scored:
            self.scores = scores_of(table, self.fields)
        else:
            self.scores = ScoreColumns()
        self._ask_whose_scores()
        if not self.votes and self.chart is None and self.nested is None:
            self.choices = list(self._choices())
        else:
            self.choices = []
        may_be_scores = table.rows < _TELLING
        offered = {
            candidate.column.path for candidate in self.scores.offered if may_be_scores
        }
        free = []
        if is_scored:
            free = [column for column in self._unused() if column.path not in offered]
        if is_scored:
            self.settings = settings_in(table, self.fields, free)
        else:
            self.settings = {}

    def _choices(self) -> Iterator[Choice]:
        """Choices that are to be made."""
        yield from of_record_paths(self.table)
        files = list(of_files(self.table, self.fields))
        if files:
            yield from files
            return
        if self.figures is not None:
            yield from self.fields.questions
            yield from self.figures.choices
            yield from self.fields.scorers.choices
            return
        yield from self.fields.questions
        yield from self.fields.choices
        yield from self.fields.scorers.choices
        if self.cells is not None:
            yield from self.cells.choices
            return
        yield from self.scores.choices
        if self.scores.chosen or self.scores.is_compared:
            yield from of_rows(self.table, self.fields, self.scores)

    def _ask_whose_scores(self) -> None:
        """Ask which scores those gave who are named, where some are rather of a program
        or of others."""
        chosen = {
            candidate.column.path: candidate.metric for candidate in self.scores.chosen
        }
        others = [
            candidate.column.path
            for candidate in self.scores.offered
            if candidate.grade >= Grade.LIKELY
        ]
        choice = None
        if chosen:
            choice = of_these_scores(self.fields.scorers, chosen, others)
        if choice is not None:
            self.fields.scorers.questions.append(choice)

    def lines(self) -> Iterator[str]:
        yield from self._head()
        if self.chart is not None:
            yield from self.chart.lines()
            return
        if self.nested is not None:
            yield from self.nested.lines()
            return
        if self.votes:
            yield from self._of_votes()
            return
        yield from self._rows()
        yield from self._run()
        yield from self.fields.scorers.lines()
        if self.figures is None:
            yield from self._sample()
        yield from self._metadata()
        yield from self._scores()

    def _of_votes(self) -> Iterator[str]:
        yield (
            "# Votes between two models. Without a mapping ingest takes them in the "
            "same way."
        )
        for part in ("run", "sample", "votes"):
            yield f"[{part}]"
            if part == "run" and "benchmark" not in self.votes[part]:
                yield (
                    '# benchmark = { const = "NAME" }  # not known: fill in, or say '
                    "--set benchmark=NAME"
                )
            yield from (
                f"{name} = {inline_table(values)}"
                for name, values in self.votes[part].items()
            )
            if part == "votes" and "const" in self.votes[part]["first"]:
                yield (
                    "# taken for the one that was shown first; without this line that "
                    "is not known"
                )
            yield ""

    def _head(self) -> Iterator[str]:
        name = self.table.path.name
        kind = self.table.format
        if self.table.delimiter not in ("", ",", "\t"):
            kind += f" with {self.table.delimiter!r}"
        yield (
            f"# A starting mapping for {safe(name)} ({kind}), by {self.table.rows} "
            "rows."
        )
        people = " --on-duplicate draws" if self.fields.scorers.are_draws else ""
        yield f"#   warehouse ingest {safe(name)} --map THIS_FILE{people}"
        yield from self._other_ways(safe(name))
        yield (
            "# Check every line: it was guessed from names and values. "
            "docs/mappings.md explains."
        )
        yield "#"
        yield "# column: what it holds, distinct values, an example = what it is taken for"
        for column in self.table.columns[:_LISTED]:
            yield f"#   {safe(column.path)}: {_described(column)}{self._role(column)}"
        if len(self.table.columns) > _LISTED:
            yield f"#   … {len(self.table.columns)} columns in all"
        yield ""
        named = self._named_models() or self._named_scorers()
        yield glob_line(named.glob if named else re.sub(r"[*?\[]", "?", name))
        if self.fields.key and self.cells is None and self.figures is None:
            yield f"key = {texts(self.fields.key)}  # the content tells prompts apart"
        yield ""
        for choice in self.choices:
            yield from choice.lines()
        if named is not None:
            yield from named.lines()
        elif not self._knows_models():
            inside = name
            if name.endswith(".zip"):
                inside = members(self.table.path, name)[0].name
            yield from asked_for_path(inside)

    def _other_ways(self, name: str) -> Iterator[str]:
        """What reads the file without this mapping."""
        if self.importer:
            yield (
                f"# The importer {self.importer} reads this file without a mapping, "
                "and knows more of it:"
            )
            yield f"#   warehouse ingest {name}"
        if self.ready:
            yield (
                "# A mapping that comes with this program fits the file by its shape, "
                "and knows more of it:"
            )
            yield f"#   warehouse ingest {name} {self.ready}"

    def _knows_models(self) -> bool:
        """True if columns or the document name the models."""
        has_names = bool({"model"} & {*self.fields.run, *self.fields.document})
        is_table = self.figures is not None or self.cells is not None
        return has_names or is_table or bool(self.votes)

    def _named_scorers(self) -> NamedByPaths | None:
        """Where the names of files tell who scored the same answers."""
        if not self.fields.same_answers:
            return None
        return scorers_in_paths(self.table.path, self.fields.evidence.rows.others)

    def _named_models(self) -> NamedByPaths | None:
        """Where the names of files tell the models."""
        if self._knows_models() or self.fields.same_answers:
            return None
        return models_in_paths(self.table.path, self.fields.evidence.rows.others)

    def _role(self, column: ColumnProfile) -> str:
        """What a column is taken for, or why it is not, and by which test."""
        reason = self.fields.reasons.get(column.path)
        if reason is not None:
            return f" = {safe(reason)}"
        role = ""
        for part in (self.fields.run, self.fields.sample, self.fields.metadata):
            names = [name for name, own in part.items() if own is column]
            role = role or ", ".join(names)
        if column.path in {score.column.path for score in self.scores.chosen}:
            role = "score"
        if column.path in self.settings.values():
            return f" = setting: {Standing.CONSTANT.value} of a run"
        standing = self.fields.evidence.standing_at(column.path)
        is_of_run = column.path in {own.path for own in self.fields.run.values()}
        if role and standing is not Standing.UNKNOWN and not is_of_run:
            return f" = {role}: {standing.value}"
        if role:
            return f" = {role}, by its name"
        if standing is Standing.OF_PROMPT:
            return f" = property of the prompt: {standing.value}"
        why = self.fields.why_not.get(column.path)
        return f" = no {safe(why)}" if why else ""

    def _rows(self) -> Iterator[str]:
        if self.table.location.at or self.table.location.draws:
            yield "[rows]"
            if self.table.location.at:
                yield (
                    f"at = {toml_text(self.table.location.at)}  # where the records are"
                )
            if self.table.location.draws:
                yield (
                    f"draws = {toml_text(self.table.location.draws)}  # several "
                    "generations per prompt"
                )
            yield ""
        if self.table.location.skipped:
            yield from ("[[rows.skip]]  # what lies beside them", 'path = "@key"')
            yield from (f"equal_to = {texts(self.table.location.skipped)}", "")
        if self.table.parent:
            yield from (
                "[[rows.skip]]  # parts of other rows, such as spans of a trace",
                f"path = {toml_text(self.table.parent)}",
            )
            yield from ("matching = '.'", "")
        if self.figures is not None:
            yield from self.figures.rows()
        if self.cells is not None:
            yield from self.cells.section()

    def _run(self) -> Iterator[str]:
        yield "[run]  # what was evaluated, on what, how"
        taken = {
            name: column.path
            for name, column in self.fields.run.items()
            if name not in RECORD_FIELDS
        }
        taken = self.fields.document | taken
        if self.figures is not None:
            taken |= self.figures.run()
        by_column = self.cells is not None and self.cells.orientation != ""
        is_named = self._named_models() is not None
        for name in ("model", "benchmark"):
            if name == "model" and is_named:
                continue
            if name not in taken and not (by_column and name == "model"):
                why = self._why_not(name)
                yield (
                    f'# {name} = {{ const = "NAME" }}  # not known{why}: fill in, or '
                    "say "
                    "--set "
                    f"{name}=NAME{', or [path] above' if name == 'model' else ''}{self._perhaps()}"
                )
        for name, path in taken.items():
            hint = "  # or sampling_seed" if name == "training_seed" else ""
            column = self.fields.run.get(name)
            in_text = name in POSITIONS and column is not None and not column.is_number
            value = (
                inline_table({"path": path, "pattern": r"\d+"})
                if in_text
                else toml_text(path)
            )
            yield f"{name} = {value}{hint}"
        yield ""
        if self.settings:
            yield (
                "[run.configuration]  # one value in all rows of a run: settings, "
                "which keep runs apart"
            )
            for name, path in self.settings.items():
                yield (
                    f"{toml_key(name)} = "
                    f"{inline_table({'path': path, 'optional': True})}"
                )
            yield ""

    def _why_not(self, name: str) -> str:
        reasons = [
            f"{toml_text(path)} is none: {why.removeprefix(f'{name}: ')}"
            for path, why in self.fields.why_not.items()
            if why.startswith(f"{name}: ")
        ]
        if reasons:
            return safe(f" ({'; '.join(reasons)})")
        return ""

    def _perhaps(self) -> str:
        """Columns of few different texts, which may name models or benchmarks."""
        few = [column.path for column in self._unused() if _may_hold_names(column)]
        if not few:
            return ""
        return f"; perhaps {listed(map(toml_text, map(safe, few)), 4)}"

    def _sample(self) -> Iterator[str]:
        yield "[sample]  # each row"
        scores = {
            candidate.column.path
            for candidate in (*self.scores.chosen, *self.scores.offered)
        }
        others = [
            column.path
            for column in other_ids(self.table, self.fields)
            if column.path not in scores
        ]
        sample = self.fields.sample
        if "prompt_id" not in sample and self.cells is None:
            without_id = "the row's number counts"
            if self.fields.key:
                without_id = "the content is the key"
            column = safe(toml_text(others[0] if others else "ID"))
            yield (
                f"# prompt_id = {column}  # without it "
                f"{without_id}{self._why_not('prompt_id')}"
            )
        for name, taken in sample.items():
            if (
                self.cells is not None
                and taken.path == self.cells.label.path
                and name == "prompt_id"
            ):
                continue  # the label of the matrix
            if self.fields.turn is not None and name == "prompt_id":
                yield (
                    f"prompt_id = {{ template = "
                    f"{toml_text(f'{{{taken.path}}} turn {{{self.fields.turn.path}}}')} "
                    f"}}"
                )
                continue
            also = [other for other in others if name == "prompt_id"]
            hint = f"  # or {listed(map(toml_text, also), 3)}" if also else ""
            yield f"{name} = {toml_text(taken.path)}{hint}"
        if self.fields.draw:
            yield f"draw = {self.fields.draw}"
        choices = next(
            (column for column in self.table.columns if column.name == "choices"), None
        )
        if choices is not None and "choices" not in sample and _is_json(choices):
            yield f"choices = {{ path = {toml_text(choices.path)}, json = true }}"
        yield ""

    def _metadata(self) -> Iterator[str]:
        yield "[metadata]  # properties of the prompt, to filter or cluster by"
        if self.figures is None:
            for name, column_of_field in self.fields.metadata.items():
                path = inline_table({"path": column_of_field.path, "optional": True})
                yield f"{name} = {path}"
            if self.fields.turn is not None:
                yield (
                    "conversation = "
                    f"{toml_text(self.fields.sample['prompt_id'].path)}  # to cluster "
                    "by"
                )
        seen: set[str] = {*self.fields.metadata}
        free = [
            column
            for column in self._unused()
            if column.path not in self.settings.values()
        ]
        for column in [c for c in free if not c.path.lstrip("^").startswith("@")][
            :_OFFERED
        ]:
            name = column.name
            if column.name in seen:
                name = "_".join((*column.parents, column.name))
            seen.add(name)
            key = safe(toml_key(name))
            path = safe(toml_text(column.path))
            yield f"# {key} = {path}  # not used: {column.kind}"
        yield ""

    def _unused(self) -> list[ColumnProfile]:
        """Columns that nothing takes."""
        paths = {
            candidate.column.path for candidate in self.scores.chosen
        } | self.fields.taken
        if self.figures is not None:
            paths = {column.path for column in self.figures.columns} | {
                c.path for c in self.fields.run.values()
            }
            paths |= self.fields.scorers.paths
        if self.cells is not None:
            paths |= {column.path for column in (*self.cells.columns, self.cells.label)}
        return [column for column in self.table.columns if column.path not in paths]

    def _scores(self) -> Iterator[str]:
        if self.figures is not None:
            yield from self.figures.published()
            if self.figures.metric_path:
                return
            if self.figures.is_wide:
                first = self.figures.values
            else:
                first = self.figures.values[:1]
            seen = column_of_values(
                chain.from_iterable(column.values for column in first)
            )
            yield from _metric(self.figures.metric, False, range_of(seen))
            return
        if self.cells is not None:
            yield from self._cell_scores()
            return
        named: set[str] = set()
        for candidate in self.scores.chosen:
            yield from self._score(candidate, named)
        if self.scores.is_compared:
            yield from self._compared()
        if self.scores.offered:
            yield "# Also columns of numbers; uncomment what are scores:"
        for candidate in self.scores.offered:
            yield from (
                f"# {line}" if line else "" for line in self._score(candidate, named)
            )

    def _score(self, candidate: ScoreColumn, named: set[str]) -> Iterator[str]:
        column = candidate.column
        guess = ""
        if self.scores.is_guess and candidate.grade < Grade.USUAL:
            guess = "guessed from its name; "
        meaning = ""
        if candidate.meaning:
            meaning = f"; {candidate.meaning}"
        yield f"[[scores]]  # {guess}{column.kind}{meaning}"
        metric = candidate.metric
        if metric in named:
            metric = ".".join((*column.parents, column.name)) or metric
        if metric:
            named.add(metric)
            yield f"metric = {toml_text(metric)}"
        elif self.fields.metric is not None:
            yield f"metric = {{ path = {toml_text(self.fields.metric.path)} }}"
        if self.fields.filter is not None:
            yield f"filter = {{ path = {toml_text(self.fields.filter.path)} }}"
        yield f"value = {candidate.value}"
        yield from self._if_null(candidate.missing)
        yield ""
        if metric:
            yield from _metric(
                metric, candidate.is_truth, range_of(column), candidate.are_grades
            )

    def _if_null(self, missing: int) -> Iterator[str]:
        if missing and self.fields.metric is None:
            yield '# if_null = "omit"  # rows without a value are left out of the mean'
            yield (
                '# if_null = { value = 0, status = "no_answer" }  # or they count as 0'
            )

    def _cell_scores(self) -> Iterator[str]:
        assert self.cells is not None
        together = self.cells.together
        keys, meaning = together.reading(self.table.delimiter)
        signed = not keys and is_signed(together) and -1.0 in together.numbers
        if signed:
            keys = {"scale": 0.5, "add": 0.5}
            meaning = "taken for 1 = right and -1 = wrong: check that -1 is not missing"
        about = together.kind
        if meaning:
            about = f"{about}; {meaning}"
        yield f"[[scores]]  # of the cells: {about}"
        yield 'metric = "score"'
        cell = toml_text("@cell")
        if keys:
            cell = inline_table({"path": "@cell"} | keys)
        yield f"value = {cell}"
        yield ""
        yield from _metric(
            "score", signed or together.scores.is_truth, range_of(together)
        )

    def _compared(self) -> Iterator[str]:
        target = self.fields.sample["target"]
        response = self.fields.sample["response"]
        way = "normalise"
        if target.is_number:
            way = "numeric"
        yield (
            "# No column of scores: guessed that a response is right if it equals the "
            "target."
        )
        yield "[[scores]]"
        yield 'metric = "exact_match"'
        yield (
            f"value = {{ equals = [{toml_text(response.path)}, "
            f"{toml_text(target.path)}], {way} = true }}"
        )
        yield from self._if_null(response.nulls + ("" in response.values))
        yield ""
        yield from _metric("exact_match", True, "0 and 1")


def _metric(
    name: str, truth: bool, seen: str, are_grades: bool = False
) -> Iterator[str]:
    """Lines on a metric: what is known, and what has to be filled in."""
    key = toml_key(name)
    yield f"[metrics.{key}]  # seen: {seen}"
    if truth:
        yield 'kind = "binary"'
    else:
        yield '# kind = "bounded"  # with low and high; or "continuous"'
    is_sure = truth and (name in OF_TRUTH or says_good(name)) or are_grades
    if is_sure:
        yield "higher_is_better = true"
    else:
        yield "# higher_is_better = true  # or false"
    yield ""


def _described(column: ColumnProfile) -> str:
    shown = "-"
    if column.values:
        shown = without_credentials({column.name: column.values[0]}).get(
            column.name, MASK
        )
    example = safe(short(shown))
    missing = ""
    if column.nulls:
        missing = f", {column.nulls} missing"
    return f"{column.kind}, {len(column.values)}{missing}, {example}"


def _may_hold_names(column: ColumnProfile) -> bool:
    most = min(50, max(1, column.rows // 2))
    if column.kind != "text" or not 1 <= len(column.values) <= most:
        return False
    return all(len(str(value)) <= _NAME for value in column.values)


def _is_json(column: ColumnProfile) -> bool:
    """True if the texts of a column are JSON lists."""
    if not all(isinstance(value, str) for value in column.values):
        return False
    try:
        return all(isinstance(parse_json(value), list) for value in column.values)
    except (ValueError, TypeError):
        return False
