"""Files of one evaluation of simple-evals, read: figures, and parallel lists of samples."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.documents import read_document
from warehouse.importers.common.json_fields import (
    Row,
    compact,
    items_of,
    number_or_none,
    objects_of,
    part_of,
    text_or_none,
)
from warehouse.records import Rejection, canonical_json
from warehouse.records.hashing import sha256_of

WHOLE = "_allresults"
SYSTEM = ("system", "developer")

_DEBUG = "_DEBUG"
_STAMP = re.compile(r"(.+)_(\d{8}_\d{4}(?:\d{2})?)")
#: Evaluations whose name has a ``_`` of its own; other names end at the first.
_LONG_NAMES = ("healthbench_hard", "healthbench_consensus", "healthbench_meta")
_HEADING = "<h3>Results</h3>"
# The end of a sample's page. Texts in it are escaped: none can hold a tag.
_RESULT = re.compile(
    r"<h3>Results</h3>\s*(?:<p>Correct Answer: (?P<target>[^<]*)</p>\s*)?"
    r"<p>Extracted Answer: (?P<answer>[^<]*)</p>\s*<p>Score: (?P<score>[^<]*)</p>"
)


@dataclass(frozen=True)
class Sample:
    """One entry of the lists: messages, what is known of the sample, what its page says."""

    messages: list[Row]
    known: Row
    page: dict[str, str | None]

    @property
    def prompt(self) -> list[Row]:
        """All messages before the answer."""
        return self.messages[:-1] if self.is_answered else self.messages

    @property
    def is_answered(self) -> bool:
        """Whether the last message is the model's."""
        return bool(self.messages) and self.messages[-1].get("role") == "assistant"

    @property
    def system(self) -> list[Row]:
        """Messages of the system, which belong to how was asked, not to what."""
        return [item for item in self.prompt if item.get("role") in SYSTEM]

    @property
    def key(self) -> str:
        """What makes the prompt this prompt: its id, else what was asked."""
        stated = text_or_none(self.known.get("prompt_id"))
        asked = [item for item in self.prompt if item.get("role") not in SYSTEM]
        return stated or compact([[item.get("role"), item.get("content")] for item in asked])

    @property
    def score(self) -> float | None:
        """The score: of the sample's own record, else of its page."""
        if "score" in self.known:
            return number_or_none(self.known["score"])
        return _number(self.page.get("score"))


@dataclass
class Results:
    """The files of one evaluation.

    Raises:
        InputError: a file is damaged, or its lists have different lengths.
    """

    files: Sequence[Path]
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def document(self) -> Row:
        """The file with samples; empty where there is none."""
        document: Row = read_document(self.files[0])
        return document if isinstance(document.get("metrics"), dict) else {}

    @cached_property
    def figures(self) -> Row:
        """Published figures by name."""
        if self.document:
            return {**part_of(self.document, "metrics"), "score": self.document.get("score")}
        figures: Row = read_document(self.files[0])
        return figures

    @cached_property
    def _named(self) -> tuple[str, str, str]:
        """Evaluation, model and time, out of the file's name."""
        stem = self.files[0].stem.removesuffix(WHOLE).removesuffix(_DEBUG)
        stamped = _STAMP.fullmatch(stem)
        stem, stamp = (stamped[1], stamped[2]) if stamped else (stem, "")
        long = next((name for name in _LONG_NAMES if stem.startswith(f"{name}_")), None)
        name, _, model = (long, "", stem[len(long) + 1 :]) if long else stem.partition("_")
        return name, model, stamp

    @property
    def evaluation(self) -> str:
        """Name of the evaluation."""
        return self._named[0]

    @property
    def model(self) -> str | None:
        """Name of the model, with what was done to it (``gpt-4o_assistant``)."""
        return self._named[1] or None

    @property
    def stamp(self) -> str:
        """Time of the run, local; empty where the name has none."""
        return self._named[2]

    @property
    def is_debug(self) -> bool:
        """Whether the run was of a few examples, to try it."""
        return self.files[0].stem.removesuffix(WHOLE).endswith(_DEBUG)

    @cached_property
    def samples(self) -> list[Sample]:
        """All samples, in order."""
        metadata = part_of(self.document, "metadata").get("example_level_metadata")
        lists = [items_of(self.document.get("convos")), items_of(metadata), items_of(self.document.get("htmls"))]
        sizes = {len(values) for values in lists if values}
        if len(sizes) > 1:
            counts = ", ".join(str(len(values)) for values in lists)
            raise InputError(
                f"messages, metadata and pages have {counts} entries",
                path=str(self.files[0]),
                expected="lists of the same samples",
            )
        size = max(sizes, default=0)
        full = [values or [None] * size for values in lists]
        return [_sample(*parts) for parts in zip(*full, strict=True)]

    @cached_property
    def size(self) -> int:
        """Samples of one repeat: repeats are further entries, in the order of the first ones."""
        keys = [sample.key for sample in self.samples]
        count = len(keys)
        for size in range(1, count // 2 + 1):
            if count % size == 0 and keys == keys[:size] * (count // size):
                return size
        return count

    @cached_property
    def is_scored(self) -> bool:
        """Whether any sample has a score."""
        return any(sample.score is not None for sample in self.samples)

    @cached_property
    def system_hash(self) -> str | None:
        """Hash of the system's messages, where all samples have the same."""
        system_messages = {compact(sample.system) for sample in self.samples}
        only = system_messages.pop() if len(system_messages) == 1 else "[]"
        return None if only == "[]" else sha256_of(canonical_json(only))


def _sample(convo: Any, known: Any, page: Any) -> Sample:
    record = known if isinstance(known, dict) else {}
    messages = _messages(convo)
    if not messages:
        messages = _messages(record.get("prompt")) + _messages(record.get("completion"))
    return Sample(messages, record, _page(page))


def _messages(value: Any) -> list[Row]:
    return objects_of(value)


def _page(text: Any) -> dict[str, str | None]:
    """What the end of a sample's page says; nothing where it is not what the package writes."""
    match = _RESULT.search(text) if isinstance(text, str) else None
    if match is None or text.count(_HEADING) != 1:
        return {}
    return {name: None if value is None else html.unescape(value) for name, value in match.groupdict().items()}


def _number(text: str | None) -> float | None:
    if text in ("True", "False"):
        return float(text == "True")
    try:
        return number_or_none(float(text)) if text is not None else None
    except ValueError:
        return None
