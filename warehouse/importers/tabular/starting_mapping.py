"""A starting mapping for a table, written from the table itself, with comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.mapping import RECORD_FIELDS
from warehouse.importers.tabular.matrix_reader import ORIENTATIONS
from warehouse.importers.tabular.plain_tables import OF_TRUTH, RUN_NAMES, Guess, guess, plain_name
from warehouse.importers.tabular.profile import ColumnProfile, TableProfile, profile
from warehouse.importers.tabular.starting_published import figures_of
from warehouse.importers.tabular.toml import inline_table, safe, short, texts, toml_key, toml_text
from warehouse.records import parse_json
from warehouse.records.credentials import MASK, without_credentials

# --- what the shape of a table tells --------------------------------------------------------------


def cells_of(table: TableProfile, guessed: Guess) -> list[ColumnProfile]:
    """The columns of models, where a table is a matrix of prompts by models; else none."""
    if table.format not in ("CSV", "TSV", "Parquet") or guessed.scores or "model" in guessed.run:
        return []
    if {"response", "target"} <= {*guessed.sample}:
        return []
    numbers = [c for c in table.columns if c.name in guessed.unused and _is_score(c, table)]
    truths = [column for column in numbers if column.scores.is_truth]
    chosen = truths if len(truths) > 1 else numbers
    label = guessed.sample.get("prompt_id") or guessed.sample.get("text") or table.columns[0].name
    chosen = [column for column in chosen if column.name != label]
    return chosen if len(chosen) > 1 else []


def _is_score(column: ColumnProfile, table: TableProfile) -> bool:
    if column.is_number or column.scores.is_truth:
        return not (column.is_unique and column.rows > 2 and are_numbered(column))
    return bool(column.scores.reading(table.delimiter)[0])


def are_numbered(column: ColumnProfile) -> bool:
    """Whether the values are whole numbers one after the other, as ids are."""
    texts = [str(value) for value in column.values]
    if not all(text.isascii() and text.isdigit() for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def lone_score(table: TableProfile, guessed: Guess) -> ColumnProfile | None:
    """The only column of 0 and 1, where none has a usual name of scores."""
    truths = [c for c in table.columns if c.name in guessed.unused and c.scores.is_truth]
    chosen = [c for c in truths if len(c.values) > 1]
    return chosen[0] if len(chosen) == 1 and not guessed.scores else None


def of_document(table: TableProfile, guessed: Guess) -> dict[str, str]:
    """Fields of a run that the document around the records holds: field -> path."""
    paths: dict[str, str] = {}
    for path in table.document:
        paths.setdefault(plain_name(path.rpartition(".")[2].strip('"')), path)
    wanted = ("model", "benchmark", "temperature", "top_p", "max_tokens", "split", "revision")
    chosen: dict[str, str] = {}
    for name in wanted:
        words = (name, *RUN_NAMES.get(name, ()), *(("name",) if name == "benchmark" else ()))
        known = next((word for word in words if word in paths), None)
        if known is not None and name not in guessed.run:
            chosen[name] = paths[known]
    return chosen


# --- the mapping ----------------------------------------------------------------------------------

#: Columns that are described, characters of what may be a name, words in names of metrics.
_LISTED, _NAME = 40, 60
_METRIC = re.compile(r"score|reward|metric|f1|bleu|rouge|ppl|perplexity|loss|pass_?\d|rating")
#: Ids as programs draw them: many hexadecimal digits, with a word before them or not.
_DRAWN = re.compile(r"(?:\w{1,20}[-_])?(?:[0-9a-f]{20,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


def starting_mapping(path: Path | str) -> str:
    """A mapping (TOML) for a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip.

    Columns are taken by their usual names and by their values; what was guessed, and what else a
    column may be, stands in comments. Where the guesses suffice it can be used as it stands.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    table = profile(Path(path))
    return "\n".join(_Writer(table).lines()) + "\n"


class _Writer:
    """The lines of a mapping, section by section."""

    def __init__(self, table: TableProfile) -> None:
        self.table = table
        self.by_name: dict[str, ColumnProfile] = {}
        for column in table.columns:  # what lies higher comes first
            self.by_name.setdefault(column.name, column)
        self.guess = _without_drawn_ids(
            guess(list(self.by_name), objects=table.format not in ("CSV", "TSV")), self.by_name
        )
        self.figures = figures_of(table, self.guess)
        self.cells = cells_of(table, self.guess) if self.figures is None else []
        self.of_models = not all(column.name.isdigit() for column in self.cells)
        self.lone = lone_score(table, self.guess) if not self.cells and self.figures is None else None
        self.document = of_document(table, self.guess)

    def lines(self) -> Iterator[str]:
        yield from self._head()
        yield from self._rows()
        yield from self._run()
        yield from self._sample()
        yield from self._metadata()
        yield from self._scores()

    def _head(self) -> Iterator[str]:
        name = self.table.path.name
        kind = self.table.format
        if self.table.delimiter not in ("", ",", "\t"):
            kind += f" with {self.table.delimiter!r}"
        yield f"# A starting mapping for {safe(name)} ({kind}), by {self.table.rows} rows."
        yield f"#   warehouse ingest {safe(name)} --map THIS_FILE"
        yield "# Check every line: it was guessed from names and values. docs/mappings.md explains."
        yield "#"
        yield "# column: what it holds, distinct values, an example"
        for column in self.table.columns[:_LISTED]:
            yield f"#   {safe(column.path)}: {_described(column)}"
        if len(self.table.columns) > _LISTED:
            yield f"#   … {len(self.table.columns)} columns in all"
        yield ""
        glob = re.sub(r"[*?\[]", "?", name)
        yield f"files = [{toml_text(glob)}]  # globs; further files of this shape"
        if self.guess.key and not self.cells:
            yield f"key = {texts(self.guess.key)}  # the content tells prompts apart"
        yield ""
        named = "model" in self.guess.run or "model" in self.document or self.figures is not None
        if not named and not self._by_matrix:
            stem = name.partition(".")[0]
            yield "# [path]  # fields that only a file's name or folder tells"
            yield f"# pattern = '(?P<model>[^/]+)/{re.escape(safe(stem))}.+'"
            yield ""

    @property
    def _by_matrix(self) -> bool:
        """Whether the columns are models."""
        return bool(self.cells)

    def _rows(self) -> Iterator[str]:
        if self.table.at or self.table.draws:
            yield "[rows]"
            if self.table.at:
                yield f"at = {toml_text(self.table.at)}  # where the records are"
            if self.table.draws:
                yield f"draws = {toml_text(self.table.draws)}  # several generations per prompt"
            yield ""
        if self.figures is not None:
            yield from self.figures.matrix()
        if self.cells:
            label = self._label()
            yield "# A column per model or per prompt: each cell becomes a row."
            yield "[matrix]"
            first, second = ORIENTATIONS if self.of_models else reversed(ORIENTATIONS)
            yield f'orientation = "{first}"  # or "{second}"'
            yield f"label = {toml_text(label)}  # the column that names the rows"
            if len(self.cells) + 1 < len(self.table.columns):
                names = "|".join(re.escape(column.name) for column in self.cells)
                yield f"cells = {toml_text(names)}  # the columns with scores"
            yield ""

    def _label(self) -> str:
        known = self.guess.sample.get("prompt_id") or self.guess.sample.get("text")
        return known or self.table.columns[0].name

    def _run(self) -> Iterator[str]:
        yield "[run]  # what was evaluated, on what, how"
        taken = {name: self._path(column) for name, column in self.guess.run.items() if name not in RECORD_FIELDS}
        taken = self.document | taken
        if self.figures is not None:
            taken |= self.figures.run()
        for name in ("model", "benchmark"):
            if name not in taken and not (self.cells and name == "model"):
                yield (
                    f'# {name} = {{ const = "NAME" }}  # not known: fill in, or say --set {name}=NAME{self._perhaps()}'
                )
        for name, path in taken.items():
            hint = "  # or sampling_seed" if name == "training_seed" else ""
            yield f"{name} = {toml_text(path)}{hint}"
        yield ""

    def _perhaps(self) -> str:
        """Columns of few different texts, which may name models or benchmarks."""
        few = [
            column.path
            for column in self.table.columns
            if column.name in self.guess.unused
            and column.kind == "text"
            and 1 <= len(column.values) <= min(50, max(1, column.rows // 2))
            and all(len(str(value)) <= _NAME for value in column.values)
        ]
        return f"; perhaps {listed(map(toml_text, map(safe, few)), 4)}" if few else ""

    def _path(self, name: str) -> str:
        return self.by_name[name].path

    def _sample(self) -> Iterator[str]:
        if self.figures is not None:
            return
        yield "[sample]  # each row"
        others = [column.path for column in self.table.columns if column.name in self.guess.unused and column.is_unique]
        sample = self.guess.sample
        if "prompt_id" not in sample and not self.cells:
            known = "the content is the key" if self.guess.key else "the row's number counts"
            column = safe(toml_text(others[0] if others else "ID"))
            yield f"# prompt_id = {column}  # without it {known}"
        for name, column in sample.items():
            if name == "prompt_id" and self.cells:
                continue  # the label of the matrix
            also = [other for other in others if name == "prompt_id"]
            hint = f"  # or {listed(map(toml_text, also), 3)}" if also else ""
            yield f"{name} = {toml_text(self._path(column))}{hint}"
        choices = self.by_name.get("choices")
        if choices is not None and "choices" not in sample and _is_json(choices):
            yield f"choices = {{ path = {toml_text(choices.path)}, json = true }}"
        yield ""

    def _metadata(self) -> Iterator[str]:
        yield "[metadata]  # properties of the prompt, to filter or cluster by"
        for name, known in self.guess.metadata.items():
            yield f"{name} = {toml_text(self._path(known))}"
        for column in self._unused():
            key, path = safe(toml_key(column.name)), safe(toml_text(column.path))
            yield f"# {key} = {path}  # not used: {column.kind}"
        yield ""

    def _unused(self) -> list[ColumnProfile]:
        """Columns that nothing takes."""
        paths = {column.path for column in (self.figures.columns if self.figures else self.cells)}
        paths |= {self.lone.path} if self.lone is not None else set()
        named = {self.by_name[name].path for name in self.by_name if name not in self.guess.unused}
        return [c for c in self.table.columns if c.path not in paths | named]

    def _scores(self) -> Iterator[str]:
        if self.figures is not None:
            yield from self.figures.published()
            first = self.figures.values if self.figures.is_wide else self.figures.values[:1]
            seen = ColumnProfile("", "", 0, 0, [value for column in first for value in column.values])
            yield from _metric(self.figures.metric, False, _range(seen))
            return
        if self.cells:
            yield from self._cell_scores()
        elif self.guess.scores:
            for metric, name in self.guess.scores:
                yield from self._score(metric, self.by_name[name])
        elif self.lone is not None:
            yield "# No column has a usual name of scores; this one has only 0 and 1:"
            yield from self._score(self.lone.name, self.lone)
        elif {"response", "target"} <= {*self.guess.sample} and self._response_is_plain():
            yield from self._compared()
        else:
            yield "# No column looks like scores; at least one is needed:"
            yield from ("# [[scores]]", '# metric = "score"', '# value = "COLUMN"', "")
        unused = [] if self.cells else self._unused()
        numbers = [c for c in unused if c.is_number and c.values and _may_be_scores(c)]
        for column in numbers[:5]:
            yield f"# Also a column of numbers ({_range(column)}); if they are scores:"
            yield "# [[scores]]"
            yield f"# metric = {safe(toml_text(column.name))}"
            yield f"# value = {safe(toml_text(column.path))}"
            yield ""

    def _score(self, metric: str, column: ColumnProfile) -> Iterator[str]:
        keys, meaning = column.scores.reading(self.table.delimiter)
        yield f"[[scores]]  # {column.kind}{f'; {meaning}' if meaning else ''}"
        if metric:
            yield f"metric = {toml_text(metric)}"
        else:
            yield f"metric = {{ path = {toml_text(self._path(self.guess.metric))} }}"
        if self.guess.filter:
            yield f"filter = {{ path = {toml_text(self._path(self.guess.filter))} }}"
        value = inline_table({"path": column.path} | keys) if keys else toml_text(column.path)
        yield f"value = {value}"
        yield ""
        if metric:
            yield from _metric(metric, column.scores.is_truth, _range(column))

    def _cell_scores(self) -> Iterator[str]:
        together = ColumnProfile("", "", 0, 0, [v for c in self.cells for v in c.values])
        keys, meaning = together.scores.reading(self.table.delimiter)
        signed = not keys and _is_signed(together)
        if signed:
            keys, meaning = (
                {"scale": 0.5, "add": 0.5},
                "taken for 1 = right and -1 = wrong: check that -1 is not missing",
            )
        yield f"[[scores]]  # of the cells: {together.kind}{f'; {meaning}' if meaning else ''}"
        yield 'metric = "score"'
        yield f"value = {inline_table({'path': '@cell'} | keys) if keys else toml_text('@cell')}"
        yield ""
        yield from _metric("score", signed or together.scores.is_truth, _range(together))

    def _response_is_plain(self) -> bool:
        """Messages in a list equal no target: compared, each would be wrong."""
        return self.by_name[self.guess.sample["response"]].kind not in ("list", "object")

    def _compared(self) -> Iterator[str]:
        target = self.by_name[self.guess.sample["target"]]
        response = self.by_name[self.guess.sample["response"]]
        way = "numeric" if target.is_number else "normalise"
        yield "# No column of scores: here a response is right if it equals the target."
        yield "[[scores]]"
        yield 'metric = "exact_match"'
        yield (f"value = {{ equals = [{toml_text(response.path)}, {toml_text(target.path)}], {way} = true }}")
        yield ""
        yield from _metric("exact_match", True, "0 and 1")


def _metric(name: str, truth: bool, seen: str) -> Iterator[str]:
    """What is known of a metric, and what has to be filled in."""
    key = toml_key(name)
    yield f"[metrics.{key}]  # seen: {seen}"
    if truth:
        yield 'kind = "binary"'
    else:
        yield '# kind = "bounded"  # with low and high; or "continuous"'
    known = truth and name in OF_TRUTH
    yield f"{'' if known else '# '}higher_is_better = true{'' if known else '  # or false'}"
    yield ""


def _without_drawn_ids(guessed: Guess, by_name: Mapping[str, ColumnProfile]) -> Guess:
    """Ids that look drawn by chance are those of answers: models that were asked the same would have none in common."""
    column = by_name.get(guessed.sample.get("prompt_id", ""))
    if column is None or "text" not in guessed.sample or not column.is_unique:
        return guessed
    if not all(_DRAWN.fullmatch(str(value)) for value in column.values):
        return guessed
    sample = {name: other for name, other in guessed.sample.items() if name != "prompt_id"}
    return replace(guessed, sample=sample, unused=(column.name, *guessed.unused))


def _may_be_scores(column: ColumnProfile) -> bool:
    """Whether numbers may be scores: between 0 and 1, or under a name of a metric."""
    if _METRIC.search(plain_name(column.name)):
        return True
    return all(0 <= float(value) <= 1 for value in column.values if is_plain(value))


def _described(column: ColumnProfile) -> str:
    shown = without_credentials({column.name: column.values[0]}).get(column.name, MASK) if column.values else "-"
    example = safe(short(shown))
    missing = f", {column.nulls} missing" if column.nulls else ""
    return f"{column.kind}, {len(column.values)}{missing}, {example}"


def is_plain(value: Any) -> bool:
    """Whether a value is a number or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _range(column: ColumnProfile) -> str:
    numbers = [v for v in column.values if is_plain(v)]
    if not numbers:
        return listed(map(safe, map(short, column.values)), 4) or "nothing"
    values = sorted(map(float, numbers))
    return f"{values[0]:g} to {values[-1]:g}"


def _is_signed(column: ColumnProfile) -> bool:
    """Whether the values are 1 and −1, both of them."""
    return column.is_number and {float(value) for value in column.values if is_plain(value)} == {-1.0, 1.0}


def _is_json(column: ColumnProfile) -> bool:
    """Whether the texts of a column are JSON lists."""
    try:
        return all(isinstance(parse_json(value), list) for value in column.values)
    except (ValueError, TypeError):
        return False
