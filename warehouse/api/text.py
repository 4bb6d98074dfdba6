"""What prompts ask: vectors of their texts, and what is near to what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.text.duplicates import Duplicates
    from warehouse.analysis.text.embed import Embedding, Progress
    from warehouse.analysis.text.semantic_clusters import SemanticClusters
    from warehouse.analysis.text.similar import Similar
    from warehouse.embeddings import Embedder


class TextMethods(Connection):
    """Embed prompts; find similar ones, near-duplicates and clusters."""

    def embed(
        self,
        *benchmarks: str,
        embedder: str | Embedder,
        device: str | None = None,
        batch_size: int = 32,
        chunk: int | None = None,
        whole: bool = False,
        part: str = "prompt",
        progress: Progress | None = None,
    ) -> Embedding:
        """Embed the texts of a part of prompts that have no vector yet, or the vector of another text.

        Every chunk is stored in a transaction of its own, and the store is let go of while the model
        works: what a kill interrupts goes on from there, and others can read and write meanwhile.

        Args:
            benchmarks: names, also of suites; none means all.
            embedder: as :func:`warehouse.embeddings.load_embedder` takes it, or one of your own.
            device: of a model that is loaded by folder or name: ``cpu``, ``cuda``, …; None: the fastest there is.
            batch_size: texts that such a model reads at a time.
            chunk: texts that are stored at a time; default: 512, more where the model takes less than two seconds.
            whole: keep the words that all prompts of a benchmark begin or end with; else they are taken
                off first, if they are six or more. Vectors made the other way are made anew.
            part: what is embedded: ``prompt`` (the question), ``target``, ``choices`` or ``metadata.FIELD``; prompts
                without it are counted, not embedded.
            progress: called as texts go by.

        Raises:
            MisuseError: an unknown benchmark or part, no text at all, or a package that is not installed; a device or
                a size of batches for a model of your own.
            InputError: no model in this place, or vectors of another length than it promises.
            StoreError: the embedder is stored with vectors of another length.
        """
        from warehouse.analysis.text.embed import embed

        return embed(
            self._opener,
            [embedder],
            benchmarks=benchmarks,
            device=device,
            batch_size=batch_size,
            chunk=chunk,
            whole=whole,
            parts=[part],
            progress=progress,
        )

    def similar(
        self,
        wanted: str | int,
        *,
        benchmark: str | None = None,
        top: int = 10,
        embedder: str | Embedder | None = None,
        device: str | None = None,
        part: str = "prompt",
    ) -> Similar:
        """The prompts whose text is nearest to that of a prompt, or to a text.

        Args:
            wanted: a prompt (its id in the store, ``prompt:ID``, the tool's own id, a key), else a
                text, which is embedded with the model.
            benchmark: look among its prompts only.
            top: how many prompts.
            embedder: whose vectors: name, ``name@revision`` or the model's folder; None: the only
                one. For a text also what the model is loaded from, where that is not its name.
            device: of the model that is loaded, for a text.
            part: what of the prompts is compared, as in :meth:`embed`.

        Raises:
            MisuseError: unknown names, nothing embedded, or a model other than that of the vectors; a device where
                no model is loaded.
            InputError: the model of the vectors cannot be loaded.
        """
        from warehouse.analysis.text.similar import similar

        name = f"prompt:{wanted}" if isinstance(wanted, int) else wanted
        with self._reading() as store:
            return similar(store, name, benchmark=benchmark, top=top, embedder=embedder, device=device, part=part)

    def duplicates(
        self,
        *benchmarks: str,
        threshold: float = 0.95,
        embedder: str | None = None,
        keep: int = 10_000,
        fresh: bool = False,
        store_result: bool = True,
        part: str = "prompt",
        progress: Callable[[float], None] | None = None,
    ) -> Duplicates:
        """Pairs of prompts whose texts are nearly the same, within and across benchmarks.

        All pairs of n prompts are compared, in blocks: O(n²) time, O(n) memory; the store is let go
        of meanwhile. The pairs of many prompts are stored, and read back while their texts stay.

        Args:
            benchmarks: names, also of suites; none means all.
            threshold: smallest cosine similarity, in (-1, 1].
            embedder: whose vectors, as in :meth:`similar`.
            keep: pairs that come back at most, the most similar ones; all are counted.
            fresh: compare even where the pairs are stored.
            store_result: False for a trial: new pairs are not stored.
            part: what of the prompts is compared, as in :meth:`embed`.
            progress: called with the share that is done, in (0, 1].

        Raises:
            MisuseError: an unknown benchmark or embedder, fewer than two prompts with vectors.
            StatisticsError: ``threshold`` out of range.
        """
        from warehouse.analysis.text.duplicates import duplicates

        return duplicates(
            self._opener,
            benchmarks,
            threshold=threshold,
            embedder=embedder,
            keep=keep,
            fresh=fresh,
            store_result=store_result,
            part=part,
            progress=progress,
        )

    def cluster_semantic(
        self,
        benchmark: str,
        *,
        threshold: float = 0.8,
        embedder: str | None = None,
        name: str | None = None,
        default: bool = False,
        replace: bool = False,
        store_result: bool = True,
        part: str = "prompt",
        progress: Callable[[float], None] | None = None,
    ) -> SemanticClusters:
        """Cluster the prompts of a benchmark by the similarity of their texts, and store that.

        Clusters are the connected components of the graph that joins prompts with a cosine
        similarity of at least ``threshold`` (single linkage). The clustering takes the place of one
        with the same name that was made with the same settings.

        Args:
            benchmark: name of a benchmark.
            threshold: smallest cosine similarity, in (-1, 1].
            embedder: whose vectors, as in :meth:`similar`.
            name: of the clustering; None: ``semantic``, with the part behind it where that is not the question.
            default: use it for error bars from now on.
            replace: also in place of a clustering that was made with other settings.
            store_result: False for a trial: the standard errors are shown, nothing is stored.
            part: what of the prompts is compared, as in :meth:`embed`.
            progress: called with the share that is done, in (0, 1].

        Raises:
            MisuseError: an unknown benchmark or embedder, no vectors, or a name that is taken, also
                by a clustering made with other settings unless ``replace``; a default without a
                store.
            StatisticsError: ``threshold`` out of range.
        """
        from warehouse.analysis.text.semantic_clusters import cluster_semantic

        with self._writing() if store_result else self._reading() as store:
            return cluster_semantic(
                store,
                benchmark,
                threshold=threshold,
                embedder=embedder,
                name=name,
                default=default,
                replace=replace,
                store_result=store_result,
                part=part,
                progress=progress,
            )
