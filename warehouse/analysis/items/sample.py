"""One prompt of a run as a reader wants it: what `show` gives, how every model did on it, and what is asked alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.show import PromptRunRow, PromptRuns, PromptView
from warehouse.analysis.results import Row
from warehouse.analysis.text.similar import SimilarRow, similar
from warehouse.errors import MisuseError
from warehouse.questions.items import Show
from warehouse.store.computed.prompt_vectors import embedders
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Neighbours that are shown.
NEIGHBOURS = 5


@dataclass(frozen=True)
class ModelOnPrompt(Row):
    """How one run did on the prompt by one metric, in headline form.

    Attributes:
        run_id: id of the run.
        model: name of its model.
        metric: name of the metric, with its filter.
        value: mean over draws; None if no sample was scored. Of a metric that is right or wrong it is P(correct).
        low: lower end of its Wilson interval over the draws; None where the metric is none of right and wrong.
        high: upper end.
        n_draws: generations behind it.
        n_unscored: samples without a score.
    """

    run_id: int
    model: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n_draws: int
    n_unscored: int


@dataclass(frozen=True)
class Sample:
    """A prompt of a run, and what stands around it.

    Attributes:
        view: everything that is stored about it.
        models: how all current runs did on it.
        neighbours: prompts that ask nearly the same; empty without vectors.
    """

    view: PromptView
    models: tuple[ModelOnPrompt, ...]
    neighbours: tuple[SimilarRow, ...]


def read_sample(store: Store, run: str, prompt: str) -> Sample:
    """One prompt of a run.

    Args:
        run: reference of the run, as `show` takes it.
        prompt: ``prompt:ID``, the tool's own id, or the key.

    Raises:
        MisuseError: unknown or ambiguous.
    """
    view = Show(run, prompt).ask(store)
    assert isinstance(view, PromptView)
    prompt_id = int(view.prompt["id"])
    return Sample(view, _models(store, prompt_id), _neighbours(store, prompt_id))


def _models(store: Store, prompt: int) -> tuple[ModelOnPrompt, ...]:
    runs = Show(f"prompt:{prompt}").ask(store)
    assert isinstance(runs, PromptRuns)
    rates = {
        (row["run_id"], row["metric"], row["metric_filter"]): row
        for row in store.rows(query_text("analysis", "p_correct_of_prompt"), {"prompt": prompt})
    }
    return tuple(
        _row(row, rates.get((row.run_id, row.metric, row.metric_filter), {}))
        for row in runs.rows
        if not row.perturbation
    )


def _row(row: PromptRunRow, rate: Mapping[str, Any]) -> ModelOnPrompt:
    label = ",".join(filter(None, (row.metric, row.metric_filter)))
    low, high = rate.get("wilson_low"), rate.get("wilson_high")
    return ModelOnPrompt(row.run_id, row.model, label, row.value, low, high, row.n_draws, row.n_unscored)


def _neighbours(store: Store, prompt: int) -> tuple[SimilarRow, ...]:
    """Prompts that ask nearly the same by the vectors that are stored; none without."""
    known = embedders(store)
    if not known:
        return ()
    try:
        return similar(store, f"prompt:{prompt}", top=NEIGHBOURS, embedder=known[0].label).rows
    except MisuseError:  # the prompt has no vector
        return ()
