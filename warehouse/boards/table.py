"""A table as it stands in a file, and the board that it is: which column names the
entries, and what the others are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warehouse.analysis.board.named import NamedBoard
from warehouse.stats.board.cells import is_nothing, parse_figure, without_marks
from warehouse.stats.board.shares import are_mostly_shares
from warehouse.stats.board.table import Board, make_board

#: Rows and columns of a table, at most.
MOST_ROWS, MOST_COLUMNS = 20_000, 2_000
#: Rows of a table that says anything.
FEWEST_ROWS = 3
#: Characters of a typical cell from which a column holds prompts or answers.
_LONG_TEXT = 300
#: Cells of a column by which it is told whether it holds figures.
_LOOKED_AT = 300
#: Shares of rows that are called by ids, rows by which that is told, and columns that
#: are called so.
_MOST_IDS, _MOST_ALIKE, _ENOUGH, _MOST_SAMPLES = 0.5, 0.8, 10, 20
#: Share of the figures of a column beyond which counted items are its items.
_MOSTLY = 0.8
#: Names of columns of entries, the usual ones first.
ENTRY_NAMES = (
    *(
        "model",
        "model_name",
        "model name",
        "models",
        "name",
        "entry",
        "system",
        "agent",
    ),
    *("method", "submission", "model version", "model_id", "model id", "llm", "llms"),
    *(
        "approach",
        "team",
        "checkpoint",
        "run",
        "run_name",
        "generator",
        "judge",
        "file",
    ),
    *("", "modelo", "modell", "模型"),
)
#: Names of columns of samples.
_SAMPLES = frozenset(
    ("question", "prompt", "response", "responses", "completion", "prediction")
    + ("predictions", "doc_id", "doc_hash", "prompt_hash", "sample_id", "question_id")
    + (
        "instance_id",
        "input",
        "target",
        "targets",
        "answer",
        "answers",
        "correct_answer",
    )
    + ("logprobs", "messages", "generation", "expected_output", "actual_output")
)
#: Names of columns of remarks, which may be long on a board too.
_REMARK = re.compile(
    r"note|comment|descri|detail|abstract|method|summary|remark|readme|link|command"
)
_IDS = frozenset(("id", "key", "slug", "uid"))
_MODEL = re.compile(r"(?<![a-z])(?:models?|llms?|systems?|agents?)(?![a-z])", re.I)
#: Numbers of a name but for those of parameters, such as 70m and 7B.
_NO_SIZE = re.compile(r"(?<![\d.])\d[\d.]*(?![\d.]*[bm](?![a-z]))", re.IGNORECASE)
_NO_NAME = re.compile(r"link|url|date|licen|organi|size|params|type|hash|uuid", re.I)
#: Headers of columns that name tasks, so that the entries are the other columns.
TASK_NAMES = frozenset(
    ("benchmark", "benchmarks", "task", "tasks", "dataset", "datasets", "metric")
    + ("metrics", "eval", "evals", "evaluation", "category", "capability", "domain")
    + ("test", "tests", "benchmark (metric)", "benchmark name", "subject", "subjects")
)
_SETTING = re.compile(
    r"(?:#\s*)?(?:shots?|n-shot|fewshot|version|metric|setting|category|domain|n|count|"
    r"size|type|unit|description)s?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RawTable:
    """Columns of texts, each called by the keys that lead to it."""

    name: str  #: of the file, and of the place in it.
    columns: Mapping[tuple[str, ...], Sequence[str]]
    keys: tuple[str, ...] | None = None  #: names of the rows, where keys or files are.
    is_ordered: bool = True  #: whether the order of the rows means something.
    of_tasks: bool = False  #: whether rows are tasks of one model.
    #: items of a column, by its name.
    sizes: Mapping[str, int] = field(default_factory=dict)
    #: items that the table itself says a column has, whose scores may be no 0 and 1.
    counted: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ()))


def hold_samples(records: Sequence[Mapping[tuple[str, ...], str]]) -> bool:
    """Whether records are samples, with prompts or answers, and no entries of a board."""
    return _is_of_samples(table_of_records("", records))


def table_of_records(
    name: str,
    records: Sequence[Mapping[tuple[str, ...], str]],
    *,
    is_ordered: bool = True,
) -> RawTable:
    """A table of records: a row each, the columns in the order of their first sight."""
    paths: dict[tuple[str, ...], None] = {}
    for record in records:
        paths.update(dict.fromkeys(record))
    columns: dict[tuple[str, ...], list[str]] = {}
    for path in list(paths)[:MOST_COLUMNS]:
        columns[path] = [record.get(path, "") for record in records]
    return RawTable(name, columns, is_ordered=is_ordered)


def board_of(table: RawTable) -> NamedBoard | None:
    """The board that a table is; None where it is none: too small, or texts of samples."""
    if not FEWEST_ROWS <= table.n_rows <= MOST_ROWS or _is_of_samples(table):
        return None
    kept = {
        path: texts for path, texts in table.columns.items() if not _are_long(texts)
    }
    columns = _with_short_names(kept)
    if _are_of_samples(list(columns)):
        return None
    entries = table.keys
    header = ""
    is_ordered = table.is_ordered
    if entries is None:
        turned = _turned(columns)
        if turned is not None:
            entries, columns = turned
            is_ordered = False
        else:
            header = _name_column(columns) or ""
            entries = _entries_of(columns)
    if entries is None or len(entries) < FEWEST_ROWS or not columns:
        return None
    if not table.of_tasks and (_are_ids(entries, header) or _are_groups(entries)):
        return None
    board = make_board(entries, columns, is_ordered=is_ordered, sizes=table.sizes)
    sizes = _sizes_of(board, table)
    if sizes:
        board = replace(board, sizes=sizes)
    return NamedBoard(table.name, board, table.of_tasks)


def _sizes_of(board: Board, table: RawTable) -> dict[str, int]:
    """The items that are stated, and those that are counted of columns whose figures are
    shares of so many."""
    sizes = dict(table.sizes)
    for column in board.scores:
        n = table.counted.get(column.name)
        if n is not None and are_mostly_shares(column, n, _MOSTLY):
            sizes.setdefault(column.name, n)
    return sizes


def _entries_of(columns: dict[str, Sequence[str]]) -> tuple[str, ...] | None:
    """Names of the rows, whose column is taken out; a row without one is called by its
    number. None where no column names them."""
    name = _name_column(columns)
    if name is None:
        return None
    texts = columns.pop(name)
    found = []
    for number, text in enumerate(texts, 1):
        found.append(without_marks(text) or f"row {number}")
    return tuple(found)


def _are_ids(names: Sequence[str], header: str) -> bool:
    """Whether rows are called by numbers, or by words that differ in numbers alone
    where nothing calls them models: samples, steps or seeds, and no entries. Sizes of
    models (7B) are no such numbers."""
    n_bare = sum(not re.search(r"[^\W\d_]", name) for name in names)
    if n_bare > _MOST_IDS * len(names):
        return True
    if len(names) < _ENOUGH or _MODEL.search(header):
        return False
    stems = Counter(_NO_SIZE.sub("#", name.strip()) for name in names)
    return stems.most_common(1)[0][1] > _MOST_ALIKE * len(names)


def _are_groups(names: Sequence[str]) -> bool:
    """Whether names stand so often that a row is no entry: a long table, or votes."""
    return len(names) >= 2 * _ENOUGH and 2 * len(set(names)) < len(names)


def _are_of_samples(names: Sequence[str]) -> bool:
    """Whether columns differ in numbers alone: a matrix of samples."""
    stems = Counter(re.sub(r"\d+", "#", name) for name in names)
    stem, n = stems.most_common(1)[0] if stems else ("", 0)
    return "#" in stem and n > _MOST_SAMPLES and n > _MOST_ALIKE * len(names)


def _is_of_samples(table: RawTable) -> bool:
    """Whether a column is called as prompts or answers are, or holds long texts that are
    no remarks."""
    for path, texts in table.columns.items():
        name = path[-1].strip().casefold()
        if name in _SAMPLES and (table.keys is None or len(path) == 1):
            return True
        if len(path) == 1 and not _REMARK.search(name) and _are_long(texts):
            return True
    return False


def _are_long(texts: Sequence[str]) -> bool:
    """Whether a column is of long texts, in most of the rows."""
    lengths = sorted(len(text) for text in texts if text)
    return 2 * len(lengths) > len(texts) and lengths[len(lengths) // 2] > _LONG_TEXT


def _with_short_names(
    columns: Mapping[tuple[str, ...], Sequence[str]],
) -> dict[str, Sequence[str]]:
    """Columns by names without the keys that all nested figures have in common."""
    nested = [path for path in columns if len(path) > 1 and are_figures(columns[path])]
    depth = 0
    while nested and all(len(path) > depth + 1 for path in nested):
        if len({path[depth] for path in nested}) > 1:
            break
        depth += 1
    of_figures = set(nested)
    found: dict[str, Sequence[str]] = {}
    for path, texts in columns.items():
        name = " ".join(path)
        if path in of_figures:
            short = " ".join(path[depth:])
            if (short,) not in columns:
                name = short
        while name in found:
            name = f"{name} (again)"
        found[name] = texts
    return found


def are_figures(texts: Iterable[str]) -> bool:
    """Whether most texts that say something are figures."""
    filled = [text for text in texts if text and not is_nothing(text)]
    filled = filled[:: max(1, len(filled) // _LOOKED_AT)]
    n_figures = sum(parse_figure(text) is not None for text in filled)
    return bool(filled) and 2 * n_figures > len(filled)


def _name_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    """The column that names the entries: by its name, else the first of texts that
    differ; None where there is none."""
    usual: dict[str, int] = {}
    for place, (name, texts) in enumerate(columns.items()):
        plain = without_marks(name).casefold().strip()
        if are_figures(texts) or not any(texts):
            continue
        if plain in ENTRY_NAMES:
            usual[name] = ENTRY_NAMES.index(plain)
        elif _MODEL.search(plain) and not _NO_NAME.search(plain):
            usual[name] = len(ENTRY_NAMES)
        elif place == 0 and plain in _IDS and not _are_random(texts):
            usual[name] = len(ENTRY_NAMES) + 1
    if usual:
        most = max(_n_names(columns[name]) for name in usual)
        telling = [name for name in usual if _n_names(columns[name]) >= 0.9 * most]
        return min(telling, key=lambda name: usual[name])
    for name, texts in columns.items():
        filled = [text for text in texts if text.strip()]
        if len(filled) < 0.8 * len(texts) or are_figures(texts):
            continue
        if len(set(filled)) >= 0.8 * len(filled) and not _NO_NAME.search(name):
            return name
    return None


def _n_names(texts: Sequence[str]) -> int:
    """How many different names a column has."""
    return len({text.strip() for text in texts if text.strip()})


def _are_random(texts: Sequence[str]) -> bool:
    """Whether texts are keys of a database: of one length, without any break."""
    filled = [text for text in texts if text.strip()]
    lengths = {len(text) for text in filled}
    return len(lengths) == 1 and not any(re.search(r"[\s_.-]", text) for text in filled)


def _turned(
    columns: Mapping[str, Sequence[str]],
) -> tuple[tuple[str, ...], dict[str, Sequence[str]]] | None:
    """A table whose rows are tasks and whose columns are entries, the other way round;
    None where the first column names no tasks."""
    names = list(columns)
    first = without_marks(names[0]).casefold().strip()
    if first not in TASK_NAMES or any(_MODEL.fullmatch(name.strip()) for name in names):
        return None
    entries = []
    for name in names[1:]:
        if are_figures(columns[name]) and not _SETTING.fullmatch(name.strip()):
            entries.append(name)
    if not entries:
        return None
    metric = next((name for name in names if name.strip().casefold() == "metric"), None)
    turned: dict[str, Sequence[str]] = {}
    for row, task in enumerate(columns[names[0]]):
        label = without_marks(task)
        if metric is not None and metric != names[0]:
            label = f"{label} {without_marks(columns[metric][row])}".strip()
        while label in turned:
            label = f"{label} (again)"
        turned[label] = [columns[name][row] for name in entries]
    return tuple(without_marks(name) for name in entries), turned
