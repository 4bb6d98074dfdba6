"""Importer of Inspect logs, one log one run: ``.eval`` archives and ``.json`` files,
samples as rows."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of, source_of
from warehouse.importers.common.json_fields import (
    as_text_or_none,
    compact,
    compact_or_none,
    items_of,
    mapping_of,
    no_objects,
    number_or_none,
    objects_of,
    part_of,
    text_or_none,
)
from warehouse.importers.common.jsonl import BATCH_ROWS
from warehouse.importers.common.messages import listed
from warehouse.importers.common.transcripts import content_of, question_of
from warehouse.importers.common.unread_verdicts import UnreadVerdicts
from warehouse.importers.inspect.header import run_header, settings_changed
from warehouse.importers.inspect.log import (
    InspectLog,
    Sample,
    attempt_in,
    eval_id_of,
    open_log,
    times_in,
)
from warehouse.importers.inspect.sample_fields import (
    Score,
    answer_of,
    as_score,
    error_of,
    explanation_of,
    finish_of,
    identity_of,
    input_tokens,
    is_other_letter,
    letters_of,
    output_tokens,
    prompt_sent,
    response_of,
    scores_of,
    state_of,
    target_of,
    transcript,
    usage_of,
    values_of,
)
from warehouse.importers.inspect.scoring import Scoring, role_models
from warehouse.records import Candidate, Dump, ImportSettings, Rejection, SourceFiles

#: Samples that are looked at for the metrics which the header does not name.
FIRST_SAMPLES = 8

#: What the first keys of a log look like, as Inspect writes it.
_JSON_LOG = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,'
    rb'\s*"eval"\s*:\s*\{'
)
#: Keys of a log which another program may have put first, and what its object ``eval``
#: then holds.
_KEYS = {
    *(
        "version",
        "status",
        "eval",
        "plan",
        "results",
        "stats",
        "error",
        "invalidated",
        "tags",
        "metadata",
        "samples",
    ),
    *("reductions", "location", "etag", "log_updates", "config_updates"),
}
_OF_EVAL = (b'"created"', b'"run_id"', b'"task_id"')
#: First keys with values so long that the file may have to be searched for ``eval``.
_LONG_KEYS = {"samples", "reductions", "plan", "stats", "metadata", "config_updates"}
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]')
#: Folders next to a log that hold its unfinished parts.
_NO_LOGS = (".checkpoints", ".shards")


class Inspect:
    """Logs of Inspect AI. Retries of a task keep its id, so that they supersede each
    other."""

    name = "inspect"
    version = "6"  # 4: reasoning not in the output; 5: figures of whole objects; 6: all settings, as they took effect
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each log is a source; by file name, which begins with the time: retries come
        last."""
        logs = [item.path for item in candidates if _is_log(item)]
        for path in sorted(logs, key=lambda item: (item.name, str(item))):
            yield source_of(path)

    def in_time(self, sources: Sequence[SourceFiles]) -> Sequence[SourceFiles]:
        """Logs of one attempt by the times that their samples state: one that was
        edited or scored anew comes later."""
        copies = defaultdict[bytes | None, list[int]](list)
        for index, source in enumerate(sources):
            copies[attempt_in(source.files[0])].append(index)
        copies.pop(None, None)
        ordered = list(sources)
        for indices in copies.values():
            if len(indices) > 1:
                logs = sorted(
                    (sources[index] for index in indices),
                    key=lambda log: times_in(log.files[0]),
                )
                for index, log in zip(indices, logs, strict=True):
                    ordered[index] = log
        return ordered

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one log.

        Raises:
            InputError: it is no log, not whole, or hostile.
        """
        (path,) = source.files
        log = open_log(path)
        try:
            return self._dump(log, source, settings)
        except BaseException:
            log.close()
            raise

    def _dump(
        self, log: InspectLog, source: SourceFiles, settings: ImportSettings
    ) -> Dump:
        scoring = Scoring(log.header, log.first(FIRST_SAMPLES))
        chosen = settings.user_values
        header = run_header(
            log.header,
            scoring,
            log.n_samples,
            source.files[0].name,
            text_or_none(chosen.get("model")),
        )
        if not (header.benchmark or chosen.get("benchmark")):
            raise InputError(
                "nothing here names the task",
                path=source.name,
                expected="eval.task in the header",
                advice="give the name with --default benchmark=NAME",
            )
        scores = mapping_of(log.header, "results").get("scores")
        log.notes += no_objects(scores, f"{source.name}: results.scores")
        return Dump(
            (header,),
            InspectReader(log, scoring).batches(),
            rejections=log.rejections,
            notes=log.notes,
            close=log.close,
        )


IMPORTER = Inspect()


def _is_log(candidate: Candidate) -> bool:
    path: Path = candidate.path
    if path.parent.name.endswith(_NO_LOGS):
        return False
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    return _JSON_LOG.match(candidate.head) is not None or _is_reordered(candidate)


def _is_reordered(candidate: Candidate) -> bool:
    """True if this is a log whose keys stand in another order than Inspect's."""
    head = candidate.head.removeprefix(BOM_UTF8).lstrip()
    if not head.startswith(b"{"):
        return False
    keys = list(_members(head))
    if not keys or not {key for key, _ in keys} <= _KEYS:
        return False
    if ("eval", b"{") in keys:
        return all(name in head for name in _OF_EVAL)
    return keys[-1][0] in _LONG_KEYS and _holds_eval(candidate.path)


def _members(head: bytes) -> Iterator[tuple[str, bytes]]:
    """Keys of an object of which the beginning is given, and how the value of each
    begins: with a bracket, or otherwise (empty)."""
    depth, key, is_key = 0, "", True
    for match in _TOKEN.finditer(head):
        token = match.group()
        if depth == 1 and token == b"," or depth == 0:
            is_key = True
        elif depth == 1 and token == b":":
            is_key = False
            yield key, _first_of_value(head, match.end())
        elif depth == 1 and is_key and token[:1] == b'"':
            key = token[1:-1].decode("utf-8", "replace")
        depth += (token in b"{[") - (token in b"}]")


def _first_of_value(head: bytes, start: int) -> bytes:
    first = head[start:].lstrip()[:1]
    if first in (b"{", b"["):
        return first
    return b""


def _holds_eval(path: Path) -> bool:
    """True if a file has the object that every log has, behind what is too long for its
    head."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return re.search(rb'"eval"\s*:\s*\{', text) is not None and all(
        name in text for name in _OF_EVAL
    )


_NO_GRADE = "Grade not found in model output"
#: A batch ends at so many rows or so many characters of text.
BATCH_CHARACTERS = 8 << 20
_LONG_COLUMNS = ("identity", "metadata", "prompt_sent", "response", "explanation")


class InspectReader:
    """Turns the samples of one log into rows of one run."""

    def __init__(self, log: InspectLog, scoring: Scoring) -> None:
        self.log, self.scoring = log, scoring
        self._prompts: dict[str, dict[str, Any]] = {}
        self._n_edited = self._n_invalid = self._n_fallen = 0
        self._stand_ins: set[str] = set()
        self._odd_letters: dict[str, set[str]] = {}
        self._unread = UnreadVerdicts("Inspect")
        spec = mapping_of(log.header, "eval")
        listed = items_of(mapping_of(spec, "dataset").get("sample_ids"))
        hashable = [item for item in listed if isinstance(item, (str, int))]
        self._positions: dict[Any, int] = {
            item: index for index, item in enumerate(hashable)
        }
        self._metrics = scoring.metrics
        self._objects = {name.rpartition(".")[0] for name in self._metrics} - set(
            self._metrics
        )
        self._reduces = bool(scoring.reducers)
        self._model = text_or_none(spec.get("model")) or ""
        self._judges = role_models(log.header).get("grader") == self._model
        self._eval_id = eval_id_of(spec)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows: one for each sample, then those of all epochs of a prompt
        together."""
        try:
            yield from self._sample_batches()
            reduced = list(self._reduced())
            if reduced:
                yield batch_of(reduced)
        finally:
            self.log.close()
        self._note()

    def _sample_batches(self) -> Iterator[pa.RecordBatch]:
        pending: list[dict[str, Any]] = []
        size = 0
        for sample in self.log.samples():
            row = self._row_or_none(sample)
            if row is None:
                continue
            pending.append(row)
            size += sum(len(row[name] or "") for name in _LONG_COLUMNS)
            if len(pending) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
                yield batch_of(pending)
                pending, size = [], 0
        if pending:
            yield batch_of(pending)

    def _row_or_none(self, sample: Sample) -> dict[str, Any] | None:
        try:
            return self.row(sample)
        except (TypeError, ValueError, RecursionError) as error:
            name = str(sample["id"])[:200]
            location = f"sample {name}, epoch {sample.get('epoch')}"
            expected = "values that JSON can hold"
            self.log.rejections.append(Rejection(location, str(error)[:300], expected))
            return None

    def row(self, sample: Sample) -> dict[str, Any]:
        """The row of one sample.

        Raises:
            ValueError, TypeError: a value that JSON cannot hold, or no epoch.
        """
        usage, latency = usage_of(sample, self._model, judges=self._judges)
        scores = scores_of(sample)
        letters = letters_of(sample)
        stand_ins = [
            str(item.get("fallback_model"))
            for item in objects_of(sample.get("model_fallbacks"))
        ]
        self._n_fallen += bool(stand_ins)
        self._stand_ins.update(stand_ins)
        return {
            **self._prompt(sample, letters),
            "draw": _draw(sample),
            "prompt_sent": prompt_sent(sample),
            "response": response_of(sample),
            "extracted_answer": answer_of(scores.values(), letters),
            "finish_reason": finish_of(sample),
            "input_tokens": input_tokens(usage),
            "output_tokens": output_tokens(usage),
            "latency": latency,
            "cost": number_or_none(usage.get("total_cost")),
            "error": error_of(sample),
            "explanation": explanation_of(scores),
            "scores": self._scores(sample, scores),
            "transcript": transcript(sample, usage, self._eval_id),
        }

    def _prompt(self, sample: Sample, letters: Mapping[str, str]) -> dict[str, Any]:
        target = target_of(sample.get("target"), letters)
        content = content_of(sample.get("input"))
        metadata = part_of(sample, "metadata")
        number = sample["id"]
        if isinstance(target, str):
            target_text = target
        else:
            target_text = compact(target)
        choices = None
        if letters:
            choices = compact(list(letters.values()))
        prompt = {
            "run": 0,
            "position": self._positions.setdefault(number, len(self._positions)),
            "prompt_id": str(number),
            "identity": identity_of(sample, letters),
            "text": question_of(content),
            "target": target_text,
            "choices": choices,
            "metadata": compact_or_none(metadata),
        }
        if self._reduces:
            names = ("run", "position", "prompt_id", "identity")
            counted = {"n": 0, **{key: prompt[key] for key in names}}
            self._prompts.setdefault(_key(number), counted)["n"] += 1
        return prompt

    def _scores(
        self, sample: Sample, scores: Mapping[str, Mapping[str, Any]]
    ) -> list[Score]:
        """Scores of a sample; a metric of the log that it lacks is unscored."""
        state = state_of(sample)
        values = self._values(scores)
        if sample.get("invalidation") is not None:
            self._n_invalid += 1
            return [_void(name, value) for name, value in values]
        self._n_edited += sum(bool(score.get("history")) for score in scores.values())
        answers = self.scoring.answers
        rows = [
            as_score(name, value, state, is_text=name in answers)
            for name, value in values
        ]
        for row in rows:
            if row["metric"] not in answers and is_other_letter(row["raw"]):
                self._odd_letters.setdefault(row["metric"], set()).add(row["raw"])
        unread = set(
            chain.from_iterable(
                _unread_of(scorer, score) for scorer, score in scores.items()
            )
        )
        for row in rows:
            self._unread.add(row["metric"], row["value"], row["metric"] in unread)
        return rows

    def _values(self, scores: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Any]]:
        pairs = list(values_of(scores, self.scoring.unnamed))
        by_scorer = dict(pairs)
        if len(by_scorer) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two of its scores would be called {twice}")
        for name in self._metrics:
            if name not in by_scorer and not any(
                other.startswith(f"{name}.") for other in by_scorer
            ):
                by_scorer[name] = None
        # an object that is unscored as a whole stands for each of its keys
        return [
            (name, value)
            for name, value in by_scorer.items()
            if value is not None or name not in self._objects
        ]

    def _reduced(self) -> Iterator[dict[str, Any]]:
        """Values of all epochs of a prompt together, one row for each prompt and
        reducer."""
        if not self._prompts:
            return
        for entry in objects_of(self.log.reductions()):
            reducer = self.scoring.reducer(entry.get("reducer"))
            if reducer:
                yield from self._reduced_rows(entry, reducer)

    def _reduced_rows(
        self, entry: Mapping[str, Any], reducer: str
    ) -> Iterator[dict[str, Any]]:
        scorer = str(entry.get("scorer"))
        for item in objects_of(entry.get("samples")):
            prompt = self._prompts.get(_key(item.get("sample_id")))
            if prompt is None:
                continue
            values = values_of({scorer: item}, self.scoring.unnamed)
            yield {
                **{key: value for key, value in prompt.items() if key != "n"},
                "draw": -1,
                "scores": [
                    as_score(
                        name,
                        value,
                        filter=reducer,
                        is_text=name in self.scoring.answers,
                    )
                    | {"n_draws": prompt["n"]}
                    for name, value in values
                ],
            }

    def _note(self) -> None:
        self.log.notes += self._unread.notes()
        for metric, texts in self._odd_letters.items():
            self.log.notes.append(
                f"{metric}: {listed(sorted(texts), 5)} beside Inspect's grades C, P, I "
                "and N: these are unscored; if all are answers of the model, the "
                "figures of this metric are none"
            )
        if self.scoring.answers:
            self.log.notes.append(
                f"{listed(sorted(self.scoring.answers))}: the values are texts; "
                "letters among them are no grades"
            )
        if self._n_edited:
            self.log.notes.append(f"{self._n_edited} scores were edited after the run")
        if self._n_invalid:
            self.log.notes.append(
                f"{self._n_invalid} samples were invalidated: not scored"
            )
        if self._n_fallen:
            models = listed(sorted(self._stand_ins))
            self.log.notes.append(
                f"{self._n_fallen} samples have responses of another model than was "
                f"asked: {models}"
            )
        if changed := settings_changed(self.log.header):
            self.log.notes.append(
                f"settings were changed during the run: {listed(changed)}"
            )


def _unread_of(scorer: str, score: Mapping[str, Any]) -> Iterator[str]:
    """The metrics of a scorer whose judge gave no verdict that could be read: Inspect
    says so in its explanation."""
    if str(score.get("explanation")).startswith(_NO_GRADE):
        yield from (metric for metric, _ in values_of({scorer: score}, scorer))


def _key(number: Any) -> str:
    """A sample id as a key: 1 and "1" are two."""
    return compact(number)


def _void(metric: str, value: Any) -> Score:
    """A score that does not count any more."""
    return as_score(metric, None, "error") | {"raw": as_text_or_none(value)}


def _draw(sample: Sample) -> int:
    """The number of the epoch, from 0.

    Raises:
        ValueError: it has none.
    """
    epoch = sample.get("epoch", 1)
    if type(epoch) is not int or not 0 < epoch < 1 << 31:
        raise ValueError(f"epoch {str(epoch)[:60]} is no number from 1 on")
    return epoch - 1
