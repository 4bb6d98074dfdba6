"""Fields of a draft held against what the rows say: those that were taken by their names
and that the rows contradict are given up."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    are_models,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.files_beside import rows_beside
from warehouse.importers.tabular.drafts.looks import (
    are_codes,
    is_long,
    is_verdict,
    names_several_models,
)
from warehouse.importers.tabular.drafts.model_evidence import (
    take_model_of_files,
    take_models,
    take_tasks,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompt_evidence import evidence_on, take_prompts
from warehouse.importers.tabular.drafts.prompts import named_as
from warehouse.importers.tabular.evidence import Evidence, Rows, Standing

#: Words of names of texts that give reasons for a score.
_REASONS = frozenset(
    "reason reasons reasoning rationale justification explanation feedback critique "
    "comment comments".split()
)
#: Distinct responses, as a share of the rows, from which on a text is no verdict.
_RESPONSES = 0.2


def heed_rows(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """Correct fields that were taken by the names of columns by what the rows say.

    Args:
        columns: those that say something, the highest first.
        fields: what their names say, which is changed.
    """
    rows = _rows(table, fields)
    take_models(table, rows, columns, fields)
    _forget_ids_of_models(columns, fields)
    take_tasks(table, rows, fields)
    take_model_of_files(rows, columns, fields)
    fields.evidence = evidence_on(rows, columns, fields)
    _forget_names_of_models(fields)
    if not fields.evidence.compares:
        return
    take_prompts(fields.evidence, fields)
    response = fields.sample.get("response")
    if response is not None and _are_same_answers(response, columns, fields):
        fields.same_answers = True
        return
    for name in ("target", "text", "response", *fields.metadata):
        _settle(name, columns, fields)


def _forget_ids_of_models(columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """Take ids for no prompts where all rows of a model have one, and each model
    another: they are those of the models. The keys of the records are then."""
    ids, model = fields.sample.get("prompt_id"), fields.run.get("model")
    if ids is None or model is None or len(model.values) < 2:
        return
    pairs = {*zip(model.codes.tolist(), ids.codes.tolist(), strict=True)}
    is_of_model = len(pairs) == len(model.values) == len(ids.values)
    if not is_of_model or ids.is_unique:
        return
    fields.forget(ids)
    fields.why_not[ids.path] = "prompt_id: one value in all rows of a model"
    keys = next((column for column in columns if column.path == "@key"), None)
    if keys is not None and keys.path not in fields.taken:
        fields.sample["prompt_id"] = keys


def _forget_names_of_models(fields: Fields) -> None:
    """Take no name of a model for the right answer: what is called a label may be what
    models are called."""
    target, model = fields.sample.get("target"), fields.run.get("model")
    if target is None or model is None:
        return
    pairs = {*zip(target.codes.tolist(), model.codes.tolist(), strict=True)}
    named = [str(value) for value in target.values]
    are_pairs = len(pairs) == len(named) == len(model.values)
    if are_pairs and (are_models(named) or named == list(map(str, model.values))):
        fields.forget(target)
        fields.why_not[target.path] = "target: it names the model"


def _are_same_answers(
    response: ColumnProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> bool:
    """True if files beside the table hold the same responses, and other scores: all
    texts are equal but those that explain a score."""
    evidence = fields.evidence
    explained = [
        fields.sample[name] for name in ("explanation",) if name in fields.sample
    ]
    if evidence.rows.n_files < 2:
        return False
    if evidence.standing(response) is not Standing.OF_PROMPT:
        return False
    differing = [
        column
        for column in columns
        if evidence.standing(column) is Standing.OUTCOME and column not in explained
    ]
    are_said = any(
        column.kind == "text" and len(column.values) >= _RESPONSES * column.rows
        for column in differing
    )
    are_scored = any(
        is_metric(column.name) or is_verdict(column) for column in differing
    )
    return are_scored and not are_said


def heed_turns(fields: Fields) -> None:
    """Compare rows of one turn of a conversation, where turns are prompts."""
    ids = fields.sample.get("prompt_id")
    if fields.turn is not None and ids is not None:
        evidence = fields.evidence
        fields.evidence = Evidence(evidence.rows, evidence.models, [ids, fields.turn])


def _rows(table: TableProfile, fields: Fields) -> Rows:
    """The rows of the table, and of files beside it where it holds one model."""
    model = fields.run.get("model")
    alone = Rows(
        {column.path: column.codes for column in table.columns},
        Evidence.one_file(table.rows),
    )
    if model is not None and len(model.values) > 1:
        return alone
    if any(names_several_models(column) for column in table.columns):
        return alone  # what lies beside is of the same models
    return rows_beside(table)


def _settle(name: str, columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """Give up a field that the rows contradict, and take the next that is called so."""
    evidence = fields.evidence
    taken = fields.metadata if name in fields.metadata else fields.sample
    column = taken.get(name)
    while column is not None and not _fits(name, evidence.standing(column)):
        del taken[name]
        standing = evidence.standing(column).value
        fields.why_not[column.path] = f"{name}: {standing}"
        is_outcome = evidence.standing(column) is Standing.OUTCOME
        if name in ("target", "text") and is_outcome:
            _say_response(column, fields)
        if name == "response":
            _say_target(column, fields)
        column = _next(name, columns, fields)
        if column is not None:
            taken[name] = column
    if name == "response" and column is None:
        _find_response(columns, fields)


def _fits(name: str, standing: Standing) -> bool:
    if name == "response":
        return standing is not Standing.OF_PROMPT
    if name == "target":
        return standing not in (Standing.OUTCOME, Standing.OF_MODEL)
    if name == "text":
        return standing is not Standing.OUTCOME
    return standing not in (Standing.OUTCOME, Standing.OF_MODEL)


def _next(
    name: str, columns: Sequence[ColumnProfile], fields: Fields
) -> ColumnProfile | None:
    """The next column that a field is called as and that nothing takes."""
    names = fields.names.get(name, ())
    free = [
        column
        for column in columns
        if column.path not in fields.taken and column.path not in fields.why_not
    ]
    return named_as(free, names)


def _say_response(column: ColumnProfile, fields: Fields) -> None:
    """Take what was called a target for the response, where it holds many texts."""
    if "response" in fields.sample:
        return
    if column.kind == "text" and len(column.values) >= _RESPONSES * column.rows:
        fields.sample["response"] = column
        fields.say(column, f"response: {Standing.OUTCOME.value}")


def _say_target(column: ColumnProfile, fields: Fields) -> None:
    """Take what was called a response for the target, where it is equal for all."""
    is_called = plain_name(column.name) in fields.names.get("target", ())
    if "target" not in fields.sample and is_called:
        fields.sample["target"] = column
        fields.say(column, f"target: {Standing.OF_PROMPT.value}")


def _find_response(columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """The one column of many texts that differs between rows of one prompt."""
    found = [
        column
        for column in columns
        if column.path not in fields.taken
        and column.kind == "text"
        and (is_long(column) or column.path.endswith("[@draw]"))
        and not are_codes(column)
        and fields.evidence.standing(column) is Standing.OUTCOME
        and not _is_of_score(column, fields)
    ]
    if len(found) == 1:
        fields.sample["response"] = found[0]
        fields.say(found[0], f"response: a text that {Standing.OUTCOME.value}")


def _is_of_score(column: ColumnProfile, fields: Fields) -> bool:
    """True if a text says why a score was given: by its name, where something else
    scored, or as it differs between the metrics of one answer."""
    scorers = fields.scorers.columns
    if (scorers or fields.metric) and {*words_of(column.name)[-1:]} & _REASONS:
        return True
    if fields.metric is None:
        return False
    answers = [own for own in fields.evidence.models if own is not fields.metric]
    by_answer = [*fields.evidence.prompts, *answers]
    of_answers = Evidence(fields.evidence.rows, prompts=by_answer)
    return of_answers.n_differing(column) * 2 > of_answers.n_repeated
