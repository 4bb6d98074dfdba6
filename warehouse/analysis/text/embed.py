"""Vectors for the text of prompts, without what all begin and end with; which stored embedder is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.items.excerpts import shared_words
from warehouse.analysis.results import Result, Row
from warehouse.analysis.suites.tree import ids_named
from warehouse.embeddings import BATCH, Embedder, encode, find_folder, folder_revision, load_embedder, refuse_for_own
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.store.computed import prompt_vectors
from warehouse.store.computed.prompt_vectors import EmbedderRow, embedders
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

#: Texts that are embedded, and then stored for good, at a time.
CHUNK = 512

_PLACES = "select id, benchmark_id from prompt where id in (:ids)"


class Progress(Protocol):
    """Told how far the work is."""

    def start(self, label: str, total: int) -> None:
        """``total`` steps are to be done."""
        ...

    def advance(self, steps: int) -> None:
        """So many more are done."""
        ...


@dataclass(frozen=True)
class EmbedRow(Row):
    """One embedder on one benchmark.

    Attributes:
        embedder: its name.
        revision: its revision; empty where unknown.
        dimension: length of a vector.
        benchmark: name of the benchmark.
        n_prompts: prompts of the benchmark.
        n_without_text: prompts without a question, which cannot be embedded.
        n_unchanged: prompts that had the vector of their text already.
        n_new: prompts that got one.
        n_truncated: of the texts that were embedded now, those of which the model read only the
            beginning.
        n_without_vector: of them those for which the model gave no direction (zeros); not stored.
        n_template_words: words that all prompts begin or end with, which were taken off.
    """

    embedder: str
    revision: str
    dimension: int
    benchmark: str
    n_prompts: int
    n_without_text: int
    n_unchanged: int
    n_new: int
    n_truncated: int
    n_without_vector: int
    n_template_words: int = 0


@dataclass(frozen=True)
class Embedding(Result):
    """What was embedded, one row per embedder and benchmark."""

    rows: tuple[EmbedRow, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        new, unchanged = (sum(getattr(row, name) for row in self.rows) for name in ("n_new", "n_unchanged"))
        return f"{new} prompts embedded, {unchanged} unchanged"


def embed(
    opener: StoreOpener,
    embedders: Sequence[str | Embedder],
    *,
    benchmarks: Sequence[str] = (),
    device: str | None = None,
    batch_size: int = BATCH,
    chunk: int = CHUNK,
    whole: bool = False,
    progress: Progress | None = None,
) -> Embedding:
    """Embed the questions of prompts that have no vector yet, or the vector of another text.

    Every chunk is stored in a transaction of its own, and the store is let go of while the model
    works: what a kill interrupts goes on from there, and others can read and write meanwhile.

    Arguments and errors are those of :meth:`warehouse.api.Warehouse.embed`.
    """
    if not embedders:
        raise MisuseError("which embedder? --embedder NAME or FOLDER, such as a model folder")
    with opener.reading() as store:
        ids = ids_named(store, benchmarks)
        names = _names(store, ids)
        templates = {} if whole else _templates(store, names)
    rows: list[EmbedRow] = []
    for wanted in embedders:
        rows += _Session(opener, _loaded(wanted, device, batch_size), ids, chunk, progress, templates).run(names)
    return Embedding(tuple(rows))


def _loaded(wanted: str | Embedder, device: str | None, batch_size: int) -> Embedder:
    if isinstance(wanted, str):
        return load_embedder(wanted, device=device, batch_size=batch_size)
    refuse_for_own(device, batch_size)
    return wanted


@dataclass
class _Session:
    """One embedder at work."""

    opener: StoreOpener
    model: Embedder
    ids: Sequence[int] | None
    chunk: int
    progress: Progress | None
    templates: dict[int, Template]

    def run(self, names: dict[int, str]) -> list[EmbedRow]:
        model = self.model
        with self.opener.writing() as store:
            key = prompt_vectors.declare_embedder(store, model.name, model.revision, model.dimension)
            before = prompt_vectors.count_embedded(store, key, self.ids, self._keys)
            missing = prompt_vectors.missing_texts(store, key, self.ids, self._keys)
        if not any(texts for _, texts, _ in before.values()):
            what = ", ".join(names[one] for one in before) or "the store"
            raise MisuseError(f"{what}: no prompt has text; nothing can be embedded")
        if self.progress:
            self.progress.start(f"embedding with {model.name}", len(missing.prompts))
        truncated: dict[int, int] = {}
        without: dict[int, int] = {}
        for start in range(0, len(missing.prompts), self.chunk):
            self._embed(key, missing.prompts[start : start + self.chunk], truncated, without)
        with self.opener.reading() as store:
            after = prompt_vectors.count_embedded(store, key, self.ids, self._keys)
        return [
            EmbedRow(
                embedder=model.name,
                revision=model.revision,
                dimension=model.dimension,
                benchmark=names[one],
                n_prompts=n,
                n_without_text=n - texts,
                n_unchanged=unchanged,
                n_new=after[one][2] - unchanged,
                n_truncated=truncated.get(one, 0),
                n_without_vector=without.get(one, 0),
                n_template_words=self.templates[one].n_words if one in self.templates else 0,
            )
            for one, (n, texts, unchanged) in sorted(before.items(), key=lambda item: names[item[0]])
        ]

    def _embed(self, key: int, prompts: NDArray[np.int64], truncated: dict[int, int], without: dict[int, int]) -> None:
        """One chunk: read its texts, let go of the store, embed, store."""
        with self.opener.reading() as store:
            texts = prompt_vectors.texts_of(store, prompts.tolist())
            places = _places(store, prompts)
        known = [one for one in prompts.tolist() if one in texts]
        read = [self._own(texts[one], places[one]) for one in known]
        vectors = encode(self.model, read)
        has_direction = np.asarray(vectors.any(axis=1), np.bool_)
        _count(truncated, known, places, self.model.too_long(read))
        _count(without, known, places, ~has_direction)
        kept = [one for one, usable in zip(known, has_direction, strict=True) if usable]
        with self.opener.writing() as store:
            prompt_vectors.write_vectors(store, key, kept, vectors[has_direction], self._keys)
        if self.progress:
            self.progress.advance(len(prompts))

    @property
    def _keys(self) -> dict[int, str]:
        return {one: template.key for one, template in self.templates.items()}

    def _own(self, text: str, benchmark: int) -> str:
        template = self.templates.get(benchmark)
        return template.own(text) if template else text


def _templates(store: Store, benchmarks: Iterable[int]) -> dict[int, Template]:
    """Of each benchmark the words that all its prompts share, where there are any."""
    templates = {one: find_template(prompt_vectors.texts_of_benchmark(store, one)) for one in benchmarks}
    return {one: template for one, template in templates.items() if template.n_words}


def _count(counts: dict[int, int], prompts: Sequence[int], places: dict[int, int], holds: NDArray[np.bool_]) -> None:
    for one, counted in zip(prompts, holds, strict=True):
        if counted:
            counts[places[one]] = counts.get(places[one], 0) + 1


def _names(store: Store, ids: Sequence[int] | None) -> dict[int, str]:
    condition = "1 = 1" if ids is None else "benchmark.id in (:ids)"
    query = query_text("analysis", "benchmarks_shown_as").format(condition=condition)
    return {row["id"]: row["name"] for row in store.rows(query, {"ids": ids or ()})}


def _places(store: Store, prompts: NDArray[np.int64]) -> dict[int, int]:
    return {row["id"]: row["benchmark_id"] for row in store.rows(_PLACES, {"ids": prompts})}


_NONE = "no prompt has a vector yet; run: warehouse embed --embedder FOLDER"


def choose_embedder(store: Store, wanted: str | None) -> EmbedderRow:
    """The embedder called ``wanted``; without a name the only one there is.

    Args:
        wanted: ``NAME``, ``NAME@REVISION``, ``NAME=FOLDER`` or the folder of the model.

    Raises:
        MisuseError: none, or several; names what there is.
    """
    known = [row for row in embedders(store) if row.n_prompts]
    if not known:
        raise MisuseError(_NONE)
    fitting = known if wanted is None else _called(wanted, known)
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{row.label} ({row.n_prompts} prompts)" for row in fitting or known)
    if wanted is None:
        raise MisuseError(f"several embedders have vectors; choose one with --embedder: {names}")
    problem = "several embedders fit" if fitting else "no embedder with vectors is called"
    raise MisuseError(f"{problem} {wanted!r}; there are: {names}")


def _called(wanted: str, known: Sequence[EmbedderRow]) -> list[EmbedderRow]:
    fitting = [row for row in known if wanted in (row.name, row.label)]
    if fitting:
        return fitting
    label, equals, place = wanted.partition("=")
    if equals and not Path(wanted).exists():
        return _called(label, known)
    folder = find_folder(wanted) if Path(wanted).expanduser().is_dir() else None
    if folder is None:
        return []
    revision = folder_revision(folder)
    return [row for row in known if row.revision == revision]


@dataclass(frozen=True)
class Template:
    """Words around what each prompt asks; none where the prompts share none.

    Attributes:
        begin: words that every prompt begins with.
        end: words that every prompt ends with.
    """

    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells this template from others; empty for none."""
        return fingerprint(" ".join(self.begin), " ".join(self.end)) if self.n_words else ""

    @property
    def n_words(self) -> int:
        """Words in all."""
        return len(self.begin) + len(self.end)

    def own(self, text: str) -> str:
        """A text without the template; unchanged where it does not have it."""
        words = text.split()
        n = len(words)
        begins = tuple(words[: len(self.begin)]) == self.begin
        if not begins or tuple(words[n - len(self.end) :]) != self.end or n <= self.n_words:
            return text
        rest = text.split(maxsplit=len(self.begin))[-1]
        return rest.rsplit(maxsplit=len(self.end))[0] if self.end else rest


def find_template(texts: Iterable[str]) -> Template:
    """The template of some prompts: at least six words that all begin or end with.

    Each prompt keeps a word of its own at least. Fewer than three texts have none.

    Args:
        texts: of all prompts of a benchmark.
    """
    known = {tuple(text.split()) for text in texts}
    known.discard(())
    begin, end = shared_words(known, kept=1)
    words = next(iter(known), ())
    return Template(words[:begin], words[len(words) - end :])
