"""Importer of annotations of AlpacaEval: a judge's preferences between two models'
answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    Row,
    as_text_or_none,
    compact,
    compact_or_none,
    number_in_text,
    number_or_none,
    require_model,
    required_text,
    text_or_none,
)
from warehouse.importers.common.jsonl import RowSource, batches_of, has_keys, head_of
from warehouse.importers.common.model_names import disagreement, same_model
from warehouse.importers.common.run_settings import SameInAll
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = BENCHMARK = "alpaca_eval"
METRIC = "win_rate"
CONTROLLED = "length_controlled_winrate"
LEADERBOARD = "leaderboard.csv"
#: A model's answers, in the folder that has its name.
_OUTPUTS = "model_outputs.json"

#: Fields of an annotation that are no property of the instruction.
_ANNOTATION = (
    *(
        "instruction",
        "output_1",
        "output_2",
        "generator_1",
        "generator_2",
        "annotator",
        "preference",
    ),
    *(
        "price_per_example",
        "time_per_example",
        "raw_completion",
        "referenced_models",
        "output",
        "original_output",
    ),
    "generator",
)
#: Fields that are read as something else than settings; the first two say of which part
#: of the data an instruction is.
_NOT_OF_RUN = frozenset(
    (
        *("dataset", "datasplit", "preference_version", "preference_date"),
        *_ANNOTATION,
        *(f"preference_{name}" for name in _ANNOTATION),
    )
)
_DRAW_IN_OLD_FILES, _FAILED = 0, -1

Pair = tuple[str, str, str]


class AlpacaEval:
    """One run for each model, opponent and judge."""

    name = "alpaca_eval"
    version = "2"  # 2: fields of one value in all annotations of a run are settings
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file of annotations is a source, with the ``leaderboard.csv`` beside it."""
        boards = {item.path for item in candidates if item.path.name == LEADERBOARD}
        for item in candidates:
            head = head_of(item)
            if head.startswith("[") and has_keys(
                head, "preference", "output_1", "output_2"
            ):
                board = item.path.with_name(LEADERBOARD)
                others = (board,) if board in boards else ()
                yield source_of(item.path, *others)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: the file is damaged, or no annotation names a
        model)."""
        path = source.files[0]
        seen: dict[Pair, Row] = {}
        same = SameInAll(_NOT_OF_RUN)
        for _, row in RowSource(path, path.name, ("instruction",)).numbered():
            pair = _pair(row)
            first = seen.setdefault(pair, {"cost": None, **_circumstances(row)})
            same.add(pair, row)
            price = number_or_none(_either(row, "price_per_example"))
            if price is not None:
                first["cost"] = (first["cost"] or 0.0) + price
        if not seen:
            raise InputError(
                "holds no annotation", path=str(path), expected="a list of them"
            )
        board = _board(source.files[1:])
        seen = {pair: {**first, "same": same.of(pair)} for pair, first in seen.items()}
        runs = tuple(
            _header(pair, first, board, settings.model, source.name)
            for pair, first in seen.items()
        )
        dump = Dump(runs, ())
        dump.notes += _other_names(path, seen)
        lines = RowSource(
            path, path.name, ("instruction",), dump.rejections, dump.notes
        )
        items = (
            (location, (index, row))
            for index, (location, row) in enumerate(lines.located())
        )
        numbers = {pair: number for number, pair in enumerate(seen)}
        rows_of = partial(_rows, numbers)
        dump.batches = batches_of(
            items, rows_of, dump.rejections, "an annotation as AlpacaEval writes it"
        )
        return dump


def _pair(row: Row) -> Pair:
    """Model, opponent and judge; empty where one is not named."""
    named = (row.get("generator_2"), row.get("generator_1"), row.get("annotator"))
    model, opponent, judge = (text_or_none(name) or "" for name in named)
    return model, opponent, judge


def _other_names(path: Path, seen: Iterable[Pair]) -> Iterator[str]:
    """A note where the folder, ``MODEL/JUDGE/annotations.json``, names another model."""
    folder = path.absolute().parent
    for model, _, judge in seen:
        holders = (
            candidate
            for candidate in (folder, folder.parent)
            if (candidate / _OUTPUTS).exists()
        )
        named = folder.parent if judge == folder.name else next(holders, None)
        if model and named is not None and not same_model(named.name, model):
            yield disagreement(model, "the folder", named.name)


def _either(row: Row, key: str) -> Any:
    """A field that newer files prefix."""
    return row.get(f"preference_{key}", row.get(key))


def _circumstances(row: Row) -> Row:
    return {
        "version": text_or_none(row.get("preference_version")),
        "date": moment(row.get("preference_date")),
    }


def _header(
    pair: Pair, first: Row, board: dict[str, Row], model_setting: str | None, file: str
) -> RunHeader:
    model, opponent, judge = pair
    require_model(model_setting or model or None, file)
    judged: dict[str, Any] = {
        "scorer": judge,
        "scorer_kind": "model",
        "judge_model": judge,
    }
    published = tuple(_published(board.get(model, {})))
    metrics = [
        MetricSpec(
            METRIC,
            kind="bounded",
            low=0,
            high=1,
            higher_is_better=True,
            chance_level=0.5,
            is_default=True,
            **judged,
        )
    ]
    if any(item.metric == CONTROLLED for item in published):
        metrics.append(
            MetricSpec(
                CONTROLLED,
                link="none",
                kind="bounded",
                low=0,
                high=1,
                higher_is_better=True,
                is_default=False,
                **judged,
            )
        )
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=BENCHMARK,
        opponent=opponent or None,
        metrics=tuple(metrics),
        harness_version=first["version"],
        started_at=first["date"],
        cost=first["cost"],
        configuration=first["same"],
        published=published,
        place=f"{model} against {opponent}",
    )


def _published(figures: Row) -> Iterator[PublishedScore]:
    """A line of the leaderboard; its figures are in percent."""
    for metric, error, statistic in (
        (METRIC, "standard_error", "mean"),
        (CONTROLLED, "lc_standard_error", "fitted"),
    ):
        value = _percent(figures.get(metric))
        if value is not None:
            total = _percent(figures.get("n_total"))
            n = None
            if total is not None:
                n = round(100 * total)
            yield PublishedScore(
                metric,
                value,
                statistic=statistic,
                standard_error=_percent(figures.get(error)),
                n=n,
                raw=figures[metric],
            )


def _percent(text: Any) -> float | None:
    number = number_in_text(text)
    if number is None:
        return None
    return number / 100


def _board(files: Sequence[Path]) -> dict[str, Row]:
    """Lines of ``leaderboard.csv`` by the model in their first column."""
    rows_by_model: dict[str, Row] = {}
    for path in files:
        try:
            lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
            for row in lines:
                columns = lines.fieldnames or [""]
                model = str(row.get(columns[0]))
                rows_by_model[model] = dict(row)
        except (OSError, ValueError, csv.Error) as error:
            raise InputError(
                f"cannot be read: {error}",
                path=str(path),
                expected="a table with commas",
            ) from None
    return rows_by_model


def _rows(numbers: dict[Pair, int], item: tuple[int, Row]) -> Iterator[Row]:
    index, row = item
    instruction = required_text(row, "instruction")
    output = row.get("output_2")
    written = _either(row, "raw_completion")
    own = {
        key: value
        for key, value in row.items()
        if key not in _ANNOTATION and not key.startswith("preference_")
    }
    yield {
        "run": numbers[_pair(row)],
        "position": index,  # instructions may be asked twice
        "identity": compact({"instruction": instruction}),
        "text": instruction,
        "metadata": compact_or_none(own),
        "response": as_text_or_none(output),
        "explanation": as_text_or_none(written),
        "scores": [_score(row.get("preference"))],
    }


def _score(preference: Any) -> Row:
    """1 = the opponent wins, 2 = the model wins, between them the judge's weight; 0 was
    a draw."""
    if preference is None or (
        preference == _FAILED and not isinstance(preference, bool)
    ):
        if preference is None:
            raw = None
        else:
            raw = compact(preference)
        return {"metric": METRIC, "value": None, "status": "error", "raw": raw}
    value = number_or_none(preference)
    if (
        value is None
        or isinstance(preference, bool)
        or not (value == _DRAW_IN_OLD_FILES or 1 <= value <= 2)
    ):
        raise ValueError(
            f"preference is {compact(preference)[:60]}, not between 1 and 2"
        )
    if value == _DRAW_IN_OLD_FILES:
        won = 0.5
    else:
        won = value - 1
    return {"metric": METRIC, "value": won, "raw": compact(preference)}


IMPORTER = AlpacaEval()
