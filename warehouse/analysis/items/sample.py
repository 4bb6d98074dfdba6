"""One prompt of a run as a reader wants it: what `show` gives, how every model did on it, and what is asked alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.show import PromptView
from warehouse.analysis.text.similar import SimilarRow, similar
from warehouse.errors import MisuseError
from warehouse.questions.items import Show
from warehouse.store.computed.prompt_vectors import embedders
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Neighbours that are shown.
NEIGHBOURS = 5


@dataclass(frozen=True)
class Sample:
    """A prompt of a run, and what stands around it.

    Attributes:
        view: everything that is stored about it.
        models: rows of ``models_on_prompt``.
        neighbours: prompts that ask nearly the same; empty without vectors.
    """

    view: PromptView
    models: tuple[Mapping[str, Any], ...]
    neighbours: tuple[SimilarRow, ...]


def read_sample(store: Store, run: str, prompt: str) -> Sample:
    """One prompt of a run, both named as `show` takes them.

    Raises:
        MisuseError: unknown or ambiguous.
    """
    view = Show(run, prompt).ask(store)
    assert isinstance(view, PromptView)
    named = {"prompt": int(view.prompt["id"])}
    models = store.rows(query_text("analysis", "models_on_prompt"), named)
    return Sample(view, tuple(models), _neighbours(store, named["prompt"]))


def _neighbours(store: Store, prompt: int) -> tuple[SimilarRow, ...]:
    known = embedders(store)
    try:
        return similar(store, f"prompt:{prompt}", top=NEIGHBOURS, embedder=known[0].label).rows if known else ()
    except MisuseError:  # the prompt has no vector
        return ()
