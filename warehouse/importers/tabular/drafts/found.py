"""What is found in a table, as a draft is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from warehouse.importers.tabular.column_names import (
    Grade,
    guess_votes,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.answers import ScoreColumns
from warehouse.importers.tabular.drafts.charts import chart_in
from warehouse.importers.tabular.drafts.choices import (
    of_files,
    of_models,
    of_record_paths,
    of_rows,
)
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.conditions import (
    conditions_of_seeds,
    what_conditions_are,
)
from warehouse.importers.tabular.drafts.fields import fields_of
from warehouse.importers.tabular.drafts.files_beside import of_same_names
from warehouse.importers.tabular.drafts.gate import of_empty, of_unexplained
from warehouse.importers.tabular.drafts.matrix import MatrixColumns, cells_of
from warehouse.importers.tabular.drafts.nested import NestedFigures, nested_figures
from warehouse.importers.tabular.drafts.paths import (
    NamedByPaths,
    models_in_paths,
    scorers_in_paths,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.published_columns import PublishedColumns
from warehouse.importers.tabular.drafts.run_fields import stands_for_a_model
from warehouse.importers.tabular.drafts.run_tables import run_table_in
from warehouse.importers.tabular.drafts.scorers import of_these_scores
from warehouse.importers.tabular.drafts.scores import scores_of
from warehouse.importers.tabular.drafts.settings import settings_in
from warehouse.importers.tabular.drafts.tables import figures_of
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    toml_text,
)
from warehouse.importers.tabular.drafts.two_heads import (
    of_joined_cells,
    of_no_head,
    of_two_heads,
)
from warehouse.importers.tabular.drafts.unexplained_figures import of_other_places
from warehouse.importers.tabular.drafts.unnamed_files import (
    UnnamedFiles,
    unnamed_files,
)
from warehouse.importers.tabular.drafts.vote_questions import of_votes
from warehouse.importers.tabular.plain_tables import vote_mapping
from warehouse.records import SourceFiles

#: So many rows with one number in all say that it is no score.
_TELLING = 20
#: Columns that a message names.
_LISTED = 4


def _votes_in(table: TableProfile) -> dict[str, Any]:
    """The mapping that a table of votes amounts to without one; empty where it is
    none."""
    names = [column.name for column in table.columns if not column.parents]
    if table.location.at or table.path.suffix == ".zip" or not guess_votes(names):
        return {}
    source = SourceFiles(table.path.name, table.path.parent, (table.path,))
    return (vote_mapping(source, {"benchmark": ""}) or ({}, []))[0]


class Found:
    """What columns of a table are, and what is to be decided."""

    def __init__(
        self, table: TableProfile, importer: str = "", ready: str = ""
    ) -> None:
        self.table = table
        self.importer = importer
        self.ready = ready
        self.votes = _votes_in(table)
        self.chart = chart_in(table)
        self.run_table = run_table_in(table)
        if self.votes:
            self.fields = Fields(key=self.votes.get("key", ()))
        else:
            self.fields = fields_of(table)
        self.nested = self._nested()
        self.figures: PublishedColumns | None = None
        self.cells: MatrixColumns | None = None
        self.scores = ScoreColumns()
        if not self.votes:
            self._take_values()
        self._ask_whose_scores()
        self.choices = self._asked()
        self.choices = [*of_empty(table), *self.choices, *self._unexplained()]
        self.settings = self._settings()

    def _nested(self) -> NestedFigures | None:
        """Figures inside the objects of entries; None where rows are anything else."""
        if self.votes or self.run_table is not None or self.chart is not None:
            return None
        return nested_figures(self.table, self.fields)

    def _take_values(self) -> None:
        """Take columns for figures, cells of a matrix, or scores of prompts."""
        self.figures = figures_of(self.table, self.fields)
        if self.figures is None:
            self.cells = cells_of(self.table, self.fields)
        if self._is_scored:
            self.scores = scores_of(self.table, self.fields)

    @property
    def _is_scored(self) -> bool:
        """True if rows are prompts, with columns of scores."""
        return self.figures is None and self.cells is None and not self.votes

    def _asked(self) -> list[Choice]:
        """Choices that are to be made, in the form that the rows have."""
        if self.run_table is not None:
            return self.run_table.choices
        if self.nested is not None:
            return list(self.nested.choices)
        if self.votes or self.chart is not None:
            return []
        return list(self._choices())

    def _unexplained(self) -> list[Choice]:
        """Choices on what neither fields, scores and figures nor other choices
        explain."""
        if self.nested is not None:
            return list(of_other_places(self.table))
        is_other = self.votes or self.chart or self.run_table
        if is_other or self.cells is not None:
            return []
        knows_models = self.knows_models() or self.named_models() is not None
        said = "\n".join(chain.from_iterable(own.said for own in self.choices))
        asked = [own for own in self.table.columns if toml_text(own.path) in said]
        free = [own for own in self.unused() if own not in asked]
        scores = [candidate.column for candidate in self.scores.chosen]
        if not scores:
            offered = [candidate.column for candidate in self.scores.offered]
            scores = [own for own in offered if own in asked]
        found = of_unexplained(
            self.table,
            self.fields,
            self.figures,
            scores,
            free,
            asked=asked,
            knows_models=knows_models,
        )
        return [choice for choice in found if choice not in self.choices]

    def _settings(self) -> dict[str, str]:
        """Columns that hold one value in all rows of a run, by the name of the
        setting."""
        if not self._is_scored:
            return {}
        offered: set[str] = set()
        if self.table.rows < _TELLING:
            offered = {candidate.column.path for candidate in self.scores.offered}
        free = [column for column in self.unused() if column.path not in offered]
        return settings_in(self.table, self.fields, free)

    def _choices(self) -> Iterator[Choice]:
        """Choices that are to be made."""
        heads = [*of_two_heads(self.table), *of_no_head(self.table)]
        heads += of_joined_cells(self.table)
        votes = list(of_votes(self.table)) or heads
        if votes:
            yield from votes
            return
        if self._holds_no_scores():
            yield from self.scores.choices
            return
        yield from of_models(self.table, self.fields)
        yield from of_record_paths(self.table, self.fields)
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
        yield from self._of_seeds()
        if self.scores.chosen or self.scores.is_compared:
            yield from of_rows(self.table, self.fields, self.scores)
        yield from self.scores.choices

    def _holds_no_scores(self) -> bool:
        """True if nothing that may be scores differs between rows, of which there are
        many: what else they are is of no use then."""
        scores = self.scores
        if not self._is_scored or scores.chosen or scores.is_compared:
            return False
        named = [own.column for own in scores.offered if own.grade >= Grade.LIKELY]
        are_many = self.table.rows >= _TELLING and bool(named)
        return are_many and all(len(own.values) < 2 for own in named)

    def _of_seeds(self) -> Iterator[Choice]:
        """What tells apart rows of one model and seed, where rows are no prompts."""
        columns = conditions_of_seeds(self.table, self.fields)
        scores = [*self.scores.chosen, *self.scores.offered]
        if columns and scores:
            values = [candidate.column for candidate in scores]
            yield what_conditions_are(columns, values, self.table, self.fields)

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

    def unused(self) -> list[ColumnProfile]:
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

    def knows_models(self) -> bool:
        """True if columns or the document name the models."""
        has_names = bool({"model"} & {*self.fields.run, *self.fields.document})
        is_table = self.figures is not None or self.cells is not None
        return has_names or is_table or bool(self.votes or self.run_table)

    def named_scorers(self) -> NamedByPaths | None:
        """Where the names of files tell who scored the same answers."""
        if not self.fields.same_answers:
            return None
        return scorers_in_paths(self.table.path, self.fields.evidence.rows.others)

    def named_models(self) -> NamedByPaths | None:
        """Where the names of files tell the models."""
        if self.knows_models() or self.fields.same_answers:
            return None
        return models_in_paths(self.table.path, self.fields.evidence.rows.others)

    def unnamed_files(self) -> UnnamedFiles | None:
        """Files that hold the same prompts as this one, or figures of the same models,
        where nothing in them or in their names tells what each of them is."""
        path = self.table.path
        label = self._label_of_board()
        if label is not None:
            others = of_same_names(self.table, label)
            return unnamed_files("benchmark", path, others)
        model = self.fields.run.get("model")
        if model is not None and self._is_scored and self.fields.names_prompts:
            others = of_same_names(self.table, model)
            names = models_in_paths(path, others)
            is_judged = names is not None and {*names.names}.isdisjoint(model.values)
            return unnamed_files("judged model", path, others) if is_judged else None
        is_told = self.knows_models() or self.fields.same_answers
        if is_told or self.named_models() is not None:
            return None
        others = list(self.fields.evidence.rows.others)
        return unnamed_files("model", path, others)

    def _label_of_board(self) -> ColumnProfile | None:
        """What names the models of a board of one benchmark that nothing names."""
        is_named = "benchmark" not in self.unnamed()
        if self.figures is None or self.figures.is_turned or is_named:
            return None
        return self.figures.label

    @property
    def is_sure(self) -> bool:
        """True if a draft takes scores of prompts that an id or a text names, or votes,
        or published figures; and nothing is to be decided."""
        if self.choices or self.cells is not None or self.chart is not None:
            return False
        if self.votes or self.nested is not None or self.run_table is not None:
            return True
        if self.figures is not None:
            return self.figures.label is not None
        names_prompts = bool(self.fields.key or self.fields.parts)
        names_prompts |= "prompt_id" in self.fields.sample
        has_scores = bool(self.scores.chosen) or self.scores.are_labels
        return names_prompts and has_scores

    @property
    def comparison(self) -> str:
        """How answers could be scored, in words, where no column holds scores and these
        are no labels."""
        return self.scores.comparison

    def unnamed(self) -> list[str]:
        """Fields of a run that a mapping needs and nothing tells."""
        if self.run_table is not None:
            return self.run_table.unnamed()
        named = {*self.fields.run, *self.fields.document}
        if self.votes:
            named |= {"model", *self.votes["run"]}
        if self.nested is not None:
            named |= {"model", "benchmark"}
        if self.figures is not None:
            named |= {*self.figures.run()}
        if self.named_models() is not None:
            named.add("model")
        return [name for name in ("model", "benchmark") if name not in named]

    def roles(self) -> str:
        """What columns were taken for, in a few words."""
        if self.run_table is not None:
            return self.run_table.roles()
        if self.nested is not None:
            return self.nested.roles()
        return ", ".join([*self._said_of_fields(), *self._said_of_values()])

    def _said_of_fields(self) -> Iterator[str]:
        """Which column each field of runs and rows is."""
        fields = {**self.fields.run}
        if self.figures is None:
            fields |= self.fields.sample
        for name in ("model", "benchmark", "prompt_id", "text", "target", "response"):
            if name in fields:
                stands_in = name == "model" and stands_for_a_model(fields[name])
                said = f' ("{fields[name].values[0]}" in all rows)' if stands_in else ""
                yield f"{name} = {fields[name].path}{said}"
        if self.fields.parts:
            yield f"prompt_id = {' and '.join(own.path for own in self.fields.parts)}"
        if self.fields.metric is not None:
            yield f"metric = {self.fields.metric.path}"
        if self.named_models() is not None:
            yield "model by the name of the file"

    def _said_of_values(self) -> Iterator[str]:
        """Which columns are scores, or figures."""
        scores = [candidate.column.path for candidate in self.scores.chosen]
        if scores:
            yield f"score = {' and '.join(scores)}"
        if self.scores.is_compared:
            yield self.scores.comparison
        if self.figures is None:
            return
        label = self.figures.label
        is_named = "model" in self.fields.run or self.figures.is_turned
        if label is not None and not is_named:
            yield f"model = {label.path}"
        yield f"published figures = {_listed(self.figures.read)}"
        if without := [*self.figures.left_out, *self._unnamed_shares(self.figures)]:
            yield f"not taken: {_listed(without)}"

    def _unnamed_shares(self, figures: PublishedColumns) -> list[ColumnProfile]:
        """Columns of shares beside figures, of which no name says that they are some."""
        known = {column.path for column in [*figures.columns, *figures.left_out]}
        taken = known - {column.path for column in figures.values}
        taken |= {column.path for column in figures.read} | self.fields.taken
        return [
            column
            for column in self.table.columns
            if column.path not in taken and _are_shares(column)
        ]


def _are_shares(column: ColumnProfile) -> bool:
    """True if a column holds several shares, as figures are."""
    numbers = column.numbers if column.is_number else []
    is_broken = any(not number.is_integer() for number in numbers)
    return is_broken and all(-1 <= number <= 1 for number in numbers)


def _listed(columns: Sequence[ColumnProfile]) -> str:
    """The first of some columns, and how many there are."""
    more = f", … ({len(columns)} in all)" if len(columns) > _LISTED else ""
    return ", ".join(column.path for column in columns[:_LISTED]) + more
