"""Who gave the scores of a table, as a starting mapping takes it: by the usual names of
such columns where they hold names, else asked. Scores of several are figures of their
own; taken for draws of one they are pooled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from warehouse.importers.tabular.column_names import (
    PLACEHOLDERS,
    SCORER_NAMES,
    is_of_judge,
    is_setting,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile, column_of_values
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    toml_key,
    toml_text,
)
from warehouse.importers.tabular.field_paths import PathError, parse_path

#: Words for those who score: people, and any of people, judges and programs.
_PEOPLE = frozenset(
    "annotator annotators annotated rater raters rated labeler labelers labeller "
    "labellers labeled labelled reviewer"
    " reviewers reviewed assessor assessors assessed marker expert experts worker human".split()
)
_ANY = frozenset(
    "judge judges judged grader graders graded scorer scorers scored evaluator "
    "evaluators evaluated autograder verifier"
    " critic".split()
)
#: Words that stand beside them in the name of a column that names one.
_BESIDE = frozenset("by model llm name id ids who type kind source".split())
#: Names, in an object that describes who scored, of a model, of anybody, and of what
#: anybody is.
_MODELS = ("model", "model_name", "model_id")
_NAMES = ("name", "id")
_KINDS = ("type", "kind")
#: Words of names of metrics that a program works out, whoever else scores.
_BY_PROGRAM = frozenset(
    "exact em f1 bleu sacrebleu rouge rouge1 rouge2 rougel chrf bertscore bleurt "
    "meteor loss perplexity ppl bpb bpc wer cer"
    " executed execution compiles unittest".split()
)
#: What to add where several people score one answer, by field.
OF_PEOPLE = {"annotator": ", then ingest it with --on-duplicate draws", "scorer": ""}
#: Characters of a name; distinct names up to which a few rows may have one each.
_NAME, _FEW = 100, 3


@dataclass
class Scorers:
    """Columns that say who scored."""

    #: field of ``[scorer]`` -> path.
    chosen: dict[str, str] = field(default_factory=dict)
    #: these, and those of which one is to be chosen.
    columns: list[ColumnProfile] = field(default_factory=list)
    #: columns that may be such.
    asked: list[ColumnProfile] = field(default_factory=list)
    #: what else is to be decided.
    questions: list[Choice] = field(default_factory=list)
    are_draws: bool = False  #: several people scored one answer.

    @property
    def paths(self) -> set[str]:
        """Paths of the columns, and of parts of the document."""
        return {
            *self.chosen.values(),
            *(column.path for column in (*self.columns, *self.asked)),
        }

    @property
    def choices(self) -> list[Choice]:
        """Choices that are to be made."""
        return [*self.questions, *map(_whether, self.asked)]

    @property
    def people(self) -> ColumnProfile | None:
        """The column that names people; None where none is sure to."""
        path = self.chosen.get("annotator")
        return next((column for column in self.columns if column.path == path), None)

    def lines(self) -> Iterator[str]:
        """The section of a mapping."""
        if self.chosen:
            yield (
                "[scorer]  # who gave the scores: people are one, each judge and each "
                "program a figure of its own"
            )
            for name, path in self.chosen.items():
                yield f"{name} = {toml_text(path)}"
            if self.are_draws:
                yield (
                    "# what several people say of one answer are draws: ingest it with "
                    "--on-duplicate draws"
                )
            yield ""


def scorers_in(
    table: TableProfile, columns: Sequence[ColumnProfile], taken: Collection[str]
) -> Scorers:
    """Who scored, by columns and by the document around the records.

    Args:
        columns: of the table, those that lie highest first.
        taken: paths of columns that are something else.
    """
    draws = table.location.draws
    free = [
        column
        for column in columns
        if column.path not in taken and not is_setting(column.parents)
    ]
    free = [column for column in free if not draws or not column.path.startswith(draws)]
    found = Scorers()
    for column in free:
        name = _field_of(column.name, column.parents)
        if name and name not in found.chosen and _are_names(table, name, column):
            found.chosen[name] = column.path
            found.columns.append(column)
    for column in free:
        if (
            column not in found.columns
            and _may_name(table, column)
            and not _is_said_better(column, free)
        ):
            found.asked.append(column)
    _ask_of_two(table, found)
    if not found.columns and not found.asked:
        found.chosen = _of_document(table)
    return found


def _field_of(name: str, parents: Sequence[str]) -> str:
    """The field of ``[scorer]`` that the name of a column is usual for; empty for
    another name."""
    plain = plain_name(name)
    if parents and plain in _MODELS and is_of_judge(parents[-1:]):
        return "judge_model"
    if parents:
        if plain in _NAMES and {*words_of(parents[-1])} <= _PEOPLE:
            return "annotator"
        return ""
    usual = [own for own, words in SCORER_NAMES.items() if plain in (own, *words)]
    if usual:
        return usual[0]
    return ""


def _are_names(table: TableProfile, name: str, column: ColumnProfile) -> bool:
    """True if what a column of a usual name holds names those who scored."""
    if column.is_number:
        return plain_name(column.name).endswith("_id") and all(
            number.is_integer() for number in column.numbers
        )
    return _are_texts(
        table, column, may_be_many=name == "annotator"
    ) and not _are_letters(column)


def _are_texts(
    table: TableProfile, column: ColumnProfile, *, may_be_many: bool = False
) -> bool:
    """True if values are short texts, few of them, and not what a judge says."""
    said = [str(text_of(value)).strip() for value in column.values if value != ""]
    if column.kind not in ("text", "mixed") or not said or max(map(len, said)) > _NAME:
        return False
    if column.reading(table.delimiter)[0] or column.scores.are_verdicts:
        return False
    if {text.lower() for text in said} <= PLACEHOLDERS:
        return False
    return may_be_many or len(said) <= _FEW or 2 * len(said) <= table.rows


def _are_letters(column: ColumnProfile) -> bool:
    """True if all values are single letters, which may be what was said as well as who
    said it."""
    return all(len(str(value).strip()) < 2 for value in column.values)


def _may_name(table: TableProfile, column: ColumnProfile) -> bool:
    """True if a column may name who scored, by its name, and what it holds does not
    speak against it."""
    if column.parents and plain_name(column.name) not in (*_NAMES, *_KINDS):
        return False
    words = _words_for(column)
    who = words & (_PEOPLE | _ANY)
    if not who or not words <= who | _BESIDE:
        return False
    if column.is_number:
        is_whole = all(number.is_integer() for number in column.numbers)
        return (
            is_whole
            and len(column.values) > 1
            and bool(who & _PEOPLE)
            and 2 * len(column.values) <= table.rows
        )
    return _are_texts(table, column)


def _is_said_better(column: ColumnProfile, columns: Sequence[ColumnProfile]) -> bool:
    """True if the object that says what kind somebody is names him too."""
    if not column.parents or plain_name(column.name) not in _KINDS:
        return False
    beside = (other for other in columns if other.parents == column.parents)
    return any(plain_name(other.name) in (*_MODELS, *_NAMES) for other in beside)


def _words_for(column: ColumnProfile) -> set[str]:
    """Words of the name of a column, or of the object that it lies in."""
    return {*words_of(column.parents[-1] if column.parents else column.name)}


def word_for(column: ColumnProfile) -> str:
    """The field for a column that may name who scored."""
    if _words_for(column) & _PEOPLE:
        return "annotator"
    return "scorer"


def _whether(column: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    name = ".".join((*column.parents, column.name))
    return Choice(
        f"what {path} is ({', '.join(str(value) for value in column.values[:_FEW])})",
        (
            "who gave the scores: people are one, each judge and each program a figure "
            "of its own",
            "a setting of the run",
            "a property of the prompt",
        ),
        (
            f"[scorer] {word_for(column)} = {path}",
            f"[run.configuration] {toml_key(name)} = "
            f"{inline_table({'path': column.path, 'optional': True})}",
            f"[metadata] {toml_key(name)} = {path}",
        ),
    )


def _ask_of_two(table: TableProfile, found: Scorers) -> None:
    """Ask which of two scored, where both are named in one row."""
    by_path = {column.path: column for column in found.columns}
    people = by_path.get(found.chosen.get("annotator", ""))
    judge = next(
        (
            by_path[found.chosen[name]]
            for name in ("judge_model", "scorer")
            if name in found.chosen
        ),
        None,
    )
    if people is None or judge is None:
        return
    both = zip(table.values(people), table.values(judge), strict=True)
    if all(person in (None, "") or name in (None, "") for person, name in both):
        return
    names = {path: name for name, path in found.chosen.items()}
    found.chosen = {
        name: path
        for name, path in found.chosen.items()
        if path not in (people.path, judge.path)
    }
    found.questions.append(
        Choice(
            f"who gave the scores: rows name {toml_text(people.path)} and "
            f"{toml_text(judge.path)}",
            tuple(column.path for column in (people, judge)),
            tuple(
                f"[scorer] {names[column.path]} = {toml_text(column.path)}"
                for column in (people, judge)
            ),
        )
    )


def _of_document(table: TableProfile) -> dict[str, str]:
    """The judge that the document around the records names: field -> path."""
    for path, value in table.document.items():
        try:
            steps = [str(step) for step in parse_path(path).steps]
        except PathError:
            continue
        name = _field_of(steps[-1], steps[:-1])
        if (
            name
            and isinstance(value, str)
            and _are_names(table, name, column_of_values([value]))
        ):
            return {name: path}
    return {}


def of_these_scores(
    found: Scorers, metrics: Mapping[str, str], others: Collection[str]
) -> Choice | None:
    """The question where not all scores need be of those who are named.

    Args:
        metrics: metric of each column of scores, by path.
        others: columns of numbers that may be scores.
    """
    if not found.chosen:
        return None
    words = [*map(words_of, (*metrics.values(), *others))]
    by_program = [bool({*own} & _BY_PROGRAM) for own in words]
    by_whom = [bool({*own} & (_PEOPLE | _ANY)) for own in words]
    is_all_one = len(words) < 2 or not any(by_whom) or all(by_whom)
    if not any(by_program) and is_all_one:
        return None
    shown = ", ".join(toml_text(path) for path in (*metrics, *others))
    said = []
    for name, path in found.chosen.items():
        said.append(f"{name} = {toml_text(path)}")
    by = toml_text(next(iter(found.chosen.values())))
    found.chosen = {}
    return Choice(
        f"which of the scores ({shown}) those gave whom {by} names",
        ("all of them", "some of them", "none: it is a property of the prompt"),
        (
            f"[scorer] {', '.join(said)}",
            f"filter = {{ path = {by} }} in each of the [[scores]] that they gave",
            f"[metadata] scored_by = {by}",
        ),
    )
