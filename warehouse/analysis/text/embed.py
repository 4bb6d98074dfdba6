"""Vectors for parts of prompts, without what all begin and end with; which stored
embedder is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.items.excerpts import shared_words
from warehouse.analysis.suites.tree import ids_named
from warehouse.analysis.text.embed_view import Embedding, EmbedRow
from warehouse.analysis.text.parts import (
    as_part,
    embed_command,
    missing_part,
    read_part,
    texts_of_benchmark,
    texts_of_part,
)
from warehouse.analysis.text.question import EmbedPrompts
from warehouse.embeddings import (
    Embedder,
    encode,
    find_folder,
    folder_revision,
    load_embedder,
    refuse_for_own,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.text_models import PROMPT, Steps
from warehouse.records.canonical_json import fingerprint
from warehouse.store.computed import prompt_vectors
from warehouse.store.computed.prompt_vectors import EmbedderRow, PartTexts, embedders
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

#: Texts that are embedded, and then stored for good, at first; twice as many where they
#: took less than `SECONDS`, as to open and close the store takes longer than a fast
#: device needs for them, up to `MOST`.
CHUNK, MOST, SECONDS = 512, 8192, 2.0

_PLACES = "select id, benchmark_id from prompt where id in (:ids)"


@answers(EmbedPrompts)
def embed(opener: StoreOpener, question: EmbedPrompts) -> Embedding:
    """Embed the texts of parts of prompts that have no vector yet, or the vector of
    another text."""
    if not question.embedder:
        raise MisuseError(
            "which embedder? --embedder NAME or FOLDER, such as a model folder"
        )
    with opener.reading() as store:
        ids = ids_named(store, question.benchmarks)
        names = _names(store, ids)
        parts = dict.fromkeys(question.part or (PROMPT,))
        part_texts = [_part(store, part, ids, names, question.whole) for part in parts]
    rows: list[EmbedRow] = []
    for embedder in question.embedders:
        model = _loaded(embedder, question.device, question.batch_size)
        for part in part_texts:
            rows += _Session(
                opener, model, ids, question.chunk, question.progress, part
            ).run(names)
    return Embedding(tuple(rows))


@dataclass(frozen=True)
class _Part:
    """A part of the prompts of some benchmarks: its texts unless it is the question,
    and their templates."""

    name: str
    texts: PartTexts | None
    templates: dict[int, Template]


def _part(
    store: Store,
    part: str,
    ids: Sequence[int] | None,
    names: dict[int, str],
    whole: bool,
) -> _Part:
    texts = read_part(store, part, ids)
    if texts is not None and not texts.hashes:
        there = missing_part(store, part, ids)
        raise MisuseError(
            f"{_listed(names)}: no prompt has {part}; nothing can be embedded{there}"
        )
    if whole:
        templates = {}
    else:
        templates = _templates(store, names, part)
    return _Part(part, texts, templates)


def _listed(names: dict[int, str]) -> str:
    return ", ".join(names.values()) or "the store"


def _loaded(embedder: str | Embedder, device: str | None, batch_size: int) -> Embedder:
    if isinstance(embedder, str):
        return load_embedder(embedder, device=device, batch_size=batch_size)
    refuse_for_own(device, batch_size)
    return embedder


@dataclass
class _Session:
    """One embedder at work."""

    opener: StoreOpener
    model: Embedder
    ids: Sequence[int] | None
    chunk: int | None
    progress: Steps | None
    part: _Part

    def run(self, names: dict[int, str]) -> list[EmbedRow]:
        model, texts, templates = self.model, self.part.texts, self.part.templates
        with self.opener.writing() as store:
            key = prompt_vectors.declare_embedder(
                store, model.name, model.revision, model.dimension
            )
            before = prompt_vectors.count_embedded(
                store, key, self.ids, self._keys, texts
            )
            missing = prompt_vectors.missing_texts(
                store, key, self.ids, self._keys, texts
            )
        if not any(n for _, n, _ in before.values()):
            what = _listed({benchmark: names[benchmark] for benchmark in before})
            raise MisuseError(f"{what}: no prompt has text; nothing can be embedded")
        if self.progress:
            self.progress.start(f"embedding with {model.name}", len(missing.prompts))
        truncated: dict[int, int] = {}
        without: dict[int, int] = {}
        start, size = 0, self.chunk or CHUNK
        while start < len(missing.prompts):
            seconds = self._embed(
                key, missing.prompts[start : start + size], truncated, without
            )
            start += size
            if self.chunk is None and seconds < SECONDS:
                size = min(2 * size, MOST)
        with self.opener.reading() as store:
            after = prompt_vectors.count_embedded(
                store, key, self.ids, self._keys, texts
            )
        return [
            EmbedRow(
                embedder=model.name,
                revision=model.revision,
                dimension=model.dimension,
                benchmark=names[benchmark],
                n_prompts=n,
                n_without_text=n - n_texts,
                n_unchanged=unchanged,
                n_new=after[benchmark][2] - unchanged,
                n_truncated=truncated.get(benchmark, 0),
                n_without_vector=without.get(benchmark, 0),
                n_template_words=templates[benchmark].n_words
                if benchmark in templates
                else 0,
                part=self.part.name,
            )
            for benchmark, (n, n_texts, unchanged) in sorted(
                before.items(), key=lambda item: names[item[0]]
            )
        ]

    def _embed(
        self,
        key: int,
        prompts: NDArray[np.int64],
        truncated: dict[int, int],
        without: dict[int, int],
    ) -> float:
        """One chunk: read its texts, let go of the store, embed, store; the seconds
        that the model took."""
        with self.opener.reading() as store:
            texts = texts_of_part(store, self.part.name, prompts.tolist())
            benchmark_of = {
                row["id"]: row["benchmark_id"]
                for row in store.rows(_PLACES, {"ids": prompts})
            }
        present = [prompt for prompt in prompts.tolist() if prompt in texts]
        read = [self._own(texts[prompt], benchmark_of[prompt]) for prompt in present]
        began = monotonic()
        vectors = encode(self.model, read)
        too_long = self.model.too_long(read)
        seconds = monotonic() - began
        has_direction = np.asarray(vectors.any(axis=1), np.bool_)
        _count(truncated, present, benchmark_of, too_long)
        _count(without, present, benchmark_of, ~has_direction)
        usable_ids = [
            prompt
            for prompt, usable in zip(present, has_direction, strict=True)
            if usable
        ]
        with self.opener.writing() as store:
            prompt_vectors.write_vectors(
                store,
                key,
                usable_ids,
                vectors[has_direction],
                self._keys,
                self.part.texts,
            )
        if self.progress:
            self.progress.advance(len(prompts))
        return seconds

    @property
    def _keys(self) -> dict[int, str]:
        return {
            benchmark: template.key
            for benchmark, template in self.part.templates.items()
        }

    def _own(self, text: str, benchmark: int) -> str:
        template = self.part.templates.get(benchmark)
        if template:
            return template.own(text)
        return text


def _templates(
    store: Store, benchmarks: Iterable[int], part: str
) -> dict[int, Template]:
    """The words that all texts of each benchmark share, where there are any."""
    templates = {
        benchmark: find_template(texts_of_benchmark(store, part, benchmark))
        for benchmark in benchmarks
    }
    return {
        benchmark: template
        for benchmark, template in templates.items()
        if template.n_words
    }


def _count(
    counts: dict[int, int],
    prompts: Sequence[int],
    owners: dict[int, int],
    holds: NDArray[np.bool_],
) -> None:
    for prompt, counted in zip(prompts, holds, strict=True):
        if counted:
            counts[owners[prompt]] = counts.get(owners[prompt], 0) + 1


def _names(store: Store, ids: Sequence[int] | None) -> dict[int, str]:
    condition = "benchmark.id in (:ids)"
    if ids is None:
        condition = "1 = 1"
    query = query_text("analysis/text", "benchmarks_shown_as").format(
        condition=condition
    )
    return {row["id"]: row["name"] for row in store.rows(query, {"ids": ids or ()})}


def choose_embedder(store: Store, name: str | None, part: str = PROMPT) -> EmbedderRow:
    """The embedder called ``name`` that has vectors of a part; without a name the only
    one there is.

    Args:
        name: ``NAME``, ``NAME@REVISION``, ``NAME=FOLDER`` or the folder of the model.

    Raises:
        MisuseError: none, or several; names what there is. No part is called so.
    """
    stored = [row for row in embedders(store, as_part(part)) if row.n_prompts]
    if not stored:
        of = ""
        if part != PROMPT:
            of = f" of its {part}"
        raise MisuseError(f"no prompt has a vector{of} yet; run: {embed_command(part)}")
    if name is None:
        fitting = stored
    else:
        fitting = _called(name, stored)
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(
        f"{row.label} ({row.n_prompts} prompts)" for row in fitting or stored
    )
    if name is None:
        raise MisuseError(
            f"several embedders have vectors; choose one with --embedder: {names}"
        )
    problem = "no embedder with vectors is called"
    if fitting:
        problem = "several embedders fit"
    raise MisuseError(f"{problem} {name!r}; there are: {names}")


def _called(name: str, stored: Sequence[EmbedderRow]) -> list[EmbedderRow]:
    fitting = [row for row in stored if name in (row.name, row.label)]
    if fitting:
        return fitting
    label, equals, where = name.partition("=")
    if equals and not Path(name).exists():
        return _called(label, stored)
    folder = None
    if Path(name).expanduser().is_dir():
        folder = find_folder(name)
    if folder is None:
        return []
    revision = folder_revision(folder)
    return [row for row in stored if row.revision == revision]


@dataclass(frozen=True)
class Template:
    """Words around what each prompt asks; none where the prompts share none."""

    begin: tuple[str, ...] = ()  #: words that every prompt begins with.
    end: tuple[str, ...] = ()  #: words that every prompt ends with.

    @property
    def key(self) -> str:
        """The key that tells this template from others; empty for none."""
        if self.n_words:
            return fingerprint(" ".join(self.begin), " ".join(self.end))
        return ""

    @property
    def n_words(self) -> int:
        """Words in all."""
        return len(self.begin) + len(self.end)

    def own(self, text: str) -> str:
        """A text without the template; unchanged where it does not have it."""
        words = text.split()
        n = len(words)
        begins = tuple(words[: len(self.begin)]) == self.begin
        if (
            not begins
            or tuple(words[n - len(self.end) :]) != self.end
            or n <= self.n_words
        ):
            return text
        rest = text.split(maxsplit=len(self.begin))[-1]
        if self.end:
            return rest.rsplit(maxsplit=len(self.end))[0]
        return rest


def find_template(texts: Iterable[str]) -> Template:
    """The template of some prompts: at least six words that all begin or end with.

    Each prompt keeps a word of its own at least. Fewer than three texts have none.

    Args:
        texts: of all prompts of a benchmark.
    """
    distinct = {tuple(text.split()) for text in texts}
    distinct.discard(())
    begin, end = shared_words(distinct, kept=1)
    words = next(iter(distinct), ())
    return Template(words[:begin], words[len(words) - end :])
