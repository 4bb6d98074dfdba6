"""A log in an ``.eval`` archive."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.json_fields import items_of
from warehouse.importers.common.zip_archive import Archive, EntryError
from warehouse.importers.inspect.sample import Sample, as_sample
from warehouse.records import Rejection, parse_json

_SAMPLE = re.compile(r"samples/.*_epoch_\d+\.json", re.DOTALL)
_SHELL = re.compile(r"samples/.*_epoch_\d+/sample\.json", re.DOTALL)
_CHUNK = re.compile(r"(samples/.*_epoch_\d+/(?:messages|attachments)/)(\d{1,12})\.json", re.DOTALL)
_ATTACHMENT = re.compile(r"attachment://(\d{1,9})")

#: Messages that one sample may have.
MAX_MESSAGES = 1_000_000


class EvalLog:
    """A log in an ``.eval`` archive; without header (interrupted) what its journal says."""

    def __init__(self, path: Path) -> None:
        self.rejections: list[Rejection] = []
        self.notes: list[str] = []
        self._path = path
        self._archive = Archive(path)
        try:
            self.header = self._header()
        except InputError:
            self.close()
            raise
        names = self._archive.entries
        if self._archive.n_doubled:
            self.notes.append(f"{self._archive.n_doubled} entries stand twice; the last counts")
        self._whole = [name for name in names if _SAMPLE.fullmatch(name)]
        self._shells = [name for name in names if _SHELL.fullmatch(name)]

    @property
    def n_samples(self) -> int:
        return len(self._whole) + len(self._shells)

    def samples(self) -> Iterator[Sample]:
        for name, data in self._archive.read_all(self._whole):
            sample = self._checked(name, data)
            if sample is not None:
                yield sample
        for name in self._shells:
            sample = self._assembled(name)
            if sample is not None:
                yield sample

    def close(self) -> None:
        self._archive.close()

    def first(self, count: int) -> list[Sample]:
        probe = copy(self)
        probe.rejections, probe.notes = [], []
        whole = (probe._checked(name, self._archive.try_read(name)) for name in self._whole[:count])
        chunked = (probe._assembled(name) for name in self._shells[: max(0, count - len(self._whole))])
        return [sample for sample in (*whole, *chunked) if sample is not None]

    def reductions(self) -> list[Any]:
        return items_of(self._document("reductions.json"))

    def _header(self) -> Mapping[str, Any]:
        for name in ("header.json", "_journal/start.json"):
            header = self._document(name)
            if isinstance(header, dict) and isinstance(header.get("eval"), dict):
                if name != "header.json":
                    self.notes.append("the log was not finished: it has no header, only a journal")
                return {"status": "started", **header}
        raise InputError(
            "neither header.json nor _journal/start.json is there", path=str(self._path), expected="an .eval log"
        )

    def _document(self, name: str) -> Any:
        """An entry that is no sample.

        Raises:
            InputError: it is damaged.
        """
        if name not in self._archive.entries:
            return None
        try:
            return parse_json(self._archive.read(name))
        except (EntryError, ValueError, RecursionError) as error:
            raise InputError(str(error), path=str(self._path), place=f"entry {name}", expected="JSON") from None

    def _checked(self, name: str, data: bytes | EntryError) -> Sample | None:
        try:
            if isinstance(data, EntryError):
                raise data
            return as_sample(parse_json(data, keep_infinite=True))
        except (EntryError, ValueError, RecursionError) as error:
            self.rejections.append(Rejection(f"entry {name[:200]}", str(error)[:300], "a sample"))
            return None

    def _assembled(self, shell: str) -> Sample | None:
        """A sample that stands in chunks: shell, metadata, messages, texts put elsewhere."""
        folder = shell.removesuffix("sample.json")
        try:
            sample = as_sample(parse_json(self._archive.read(shell), keep_infinite=True))
            if f"{folder}metadata.json" in self._archive.entries:
                sample["metadata"] = parse_json(self._archive.read(f"{folder}metadata.json"))
            texts = self._sequence(f"{folder}attachments/")
            pool = self._sequence(f"{folder}messages/")
            sample["messages"] = _picked(pool, sample.get("message_refs"))
            return _Resolver(texts).of(sample) if texts else sample
        except (EntryError, ValueError, RecursionError) as error:
            self.rejections.append(Rejection(f"entry {shell[:200]}", str(error)[:300], "a sample"))
            return None

    @cached_property
    def _chunks(self) -> dict[str, list[tuple[int, str]]]:
        """Number of the first item and name of each chunk, by the folder of its sequence."""
        chunks_by_folder = defaultdict[str, list[tuple[int, str]]](list)
        for name in self._archive.entries:
            if match := _CHUNK.fullmatch(name):
                chunks_by_folder[match[1]].append((int(match[2]), name))
        return {folder: sorted(chunks) for folder, chunks in chunks_by_folder.items()}

    def _sequence(self, folder: str) -> list[Any]:
        """The items of a chunked sequence; a chunk is named by the number of its first item."""
        chunks = self._chunks.get(folder, [])
        if sum(self._archive.entries[name].file_size for _, name in chunks) > bounds.MAX_ENTRY_BYTES:
            raise EntryError(f"{folder} holds more than {bounds.MAX_ENTRY_BYTES} bytes")
        items: list[Any] = []
        for start, name in chunks:
            part = parse_json(self._archive.read(name))
            if not isinstance(part, list) or start != len(items):
                raise EntryError(f"{name} does not begin with item {len(items)} of a list")
            items += part
        return items


def _picked(pool: Sequence[Any], references: Any) -> list[Any]:
    """Messages of a pool by their half-open ranges."""
    if not isinstance(references, list):
        return list(pool)
    messages: list[Any] = []
    for item in references:
        if not (isinstance(item, list) and len(item) == 2 and all(type(n) is int for n in item)):
            raise ValueError("message_refs are not pairs of numbers")
        start, end = item
        if not 0 <= start <= end <= len(pool):
            raise ValueError(f"message_refs name messages {start} to {end} of {len(pool)}")
        messages += pool[start:end]
        if len(messages) > MAX_MESSAGES:
            raise ValueError(f"message_refs name more than {MAX_MESSAGES} messages")
    return messages


class _Resolver:
    """Puts texts that stand elsewhere in their places.

    Raises:
        ValueError: together they would be longer than an entry may be.
    """

    def __init__(self, texts: Sequence[Any]) -> None:
        self.texts = texts
        self.left = bounds.MAX_ENTRY_BYTES

    def of(self, value: Any) -> Any:
        """The value with its references resolved, at any depth."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        return value

    def _text(self, value: str) -> str:
        match = _ATTACHMENT.fullmatch(value)
        place = int(match[1]) if match else len(self.texts)
        if place >= len(self.texts) or not isinstance(self.texts[place], str):
            return value
        text: str = self.texts[place]
        self.left -= len(text)
        if self.left < 0:
            raise ValueError(f"attachments add up to more than {bounds.MAX_ENTRY_BYTES} characters")
        return text
