"""Names of judges where those of models are expected."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.importers.tabular.column_names import words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text

#: Words in names of those who judge, and names that a question shows.
_JUDGES = frozenset("judge judges grader evaluator rater annotator".split())
_SHOWN = 3
#: Words in names of objects that hold a score by key.
_SCORES = frozenset("scores score ratings rating grades grade rubric criteria".split())


def is_of_judges(name: str) -> bool:
    """True if a name says that it is that of a judge, or of what judges say."""
    return bool({*words_of(name)} & _JUDGES)


def of_judges(label: ColumnProfile) -> Iterator[Choice]:
    """The question whether rows are models, where each name of a row says that it is
    that of a judge."""
    if not all(is_of_judges(str(value)) for value in label.values):
        return
    path = toml_text(label.path)
    shown = ", ".join(map(str, label.values[:_SHOWN]))
    yield Choice(
        f"what {path} names ({shown}), by their names judges",
        (
            "models, which were evaluated as judges",
            "who judged others, whose names stand elsewhere",
        ),
        (
            "leave [run] as it is",
            f'[scorer] scorer = {path}, and [run] model = {{ const = "NAME" }}',
        ),
    )


def scores_by_key(table: TableProfile) -> tuple[tuple[str, str], ...]:
    """The readings that keys of records are those who judged, or what was judged, where
    the object of them is called so (``judge_scores{}``), with the lines of each."""
    above, _, own = table.location.at.rpartition(".")
    is_of_scores = bool({*words_of(own)} & _SCORES)
    if not own.endswith("{}") or not (is_of_judges(own) or is_of_scores):
        return ()
    ids = [c.path for c in table.columns if c.path.startswith("^.")]
    ids = [path for path in ids if words_of(path)[-1:] == ["id"]]
    further = (*ids, "COLUMN")[0]
    if "{}" in above:
        steps_up = above[above.rindex("{}") + 2 :].count("[]") + 1
        further = f"{'^' * steps_up}@key"
    prompts = f"[sample] prompt_id = {toml_text(further)}"
    if is_of_scores and not is_of_judges(own):
        reading = "metrics, each a score of what the record above names"
        return ((reading, f'leave metric = {{ path = "@key" }}, and {prompts}'),)
    return (
        (
            "those who judged, each a score of the prompts above",
            f'[scorer] judge_model = "@key", and {prompts}',
        ),
        (
            "metrics, each a score of the prompts above",
            f'metric = {{ path = "@key" }} in [[scores]], and {prompts}',
        ),
    )
