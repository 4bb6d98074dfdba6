"""All that can be asked of an item response model over benchmarks and harnesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from warehouse.analysis.irt.ability_view import AbilityReport
from warehouse.analysis.irt.dimensions_view import DimensionRow, DimensionsReport
from warehouse.analysis.irt.fit_view import IrtReport
from warehouse.analysis.irt.fitting import (
    Fitted,
    excerpt_of,
    families_of,
    fit_pool,
    report_of,
)
from warehouse.analysis.irt.next_view import NextReport, NextRow
from warehouse.analysis.irt.pool import Pool, read_pool
from warehouse.analysis.irt.question import (
    Abilities,
    Dimensions,
    FitItems,
    ItemResponse,
    NextItems,
)
from warehouse.analysis.irt.results import IrtResult
from warehouse.analysis.irt.scale import scale_of
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.tree import benchmarks_named
from warehouse.errors import MisuseError, StatisticsError, did_you_mean
from warehouse.questions.methods import Gives, with_keywords
from warehouse.questions.question import answers, options
from warehouse.records.canonical_json import fingerprint
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.adaptive import Replay, next_items, replay
from warehouse.stats.items.dimension_choice import dimension_errors
from warehouse.stats.items.irt import as_model
from warehouse.stats.items.links import blocks_by_items
from warehouse.store.computed.result_cache import StoredQuestion, answer
from warehouse.store.open import StoreOpener

#: Raised when what is computed changes, so that stored answers count as absent.
METHOD_VERSION = "3"

#: Options under which no answer is stored: names are those that were found, and the
#: others change none.
_NOT_KEPT = ("benchmarks", "fresh", "store_result")

#: Models below which a second dimension is often not found.
FEW_MODELS = 40

Found = TypeVar("Found", bound=IrtResult)


class Irt:
    """An item response model of the answers of all models to prompts of some
    benchmarks.

    Every method answers from the store where it was asked before and nothing has
    changed, and stores what it computes; the store is open only while it is read or
    written.
    """

    def __init__(self, opener: StoreOpener, question: ItemResponse) -> None:
        """Nothing is read yet."""
        self.opener, self.question, self.selection = (
            opener,
            question,
            selection_of(question),
        )
        if question.model is None:
            self.model = None
        else:
            self.model = as_model(question.model, 0)

    def __repr__(self) -> str:
        return (
            f"Irt of {', '.join(self.question.benchmarks)}: ask it by fit(), "
            "abilities(), next_items() or dimensions()"
        )

    @cached_property
    def data(self) -> Pool:
        """The answers.

        Raises:
            MisuseError: unknown names; a model with several conditions on a benchmark;
                fewer than two models, or than two prompts that two of them answered.
        """
        with self.opener.reading() as store:
            return read_pool(
                store, benchmarks_named(store, self.question.benchmarks), self.selection
            )

    @with_keywords(FitItems, Gives[IrtReport])
    def fit(self, question: FitItems) -> IrtReport:
        family, seed = question.family, question.seed
        families = families_of(self.data, family)
        return self._ask(
            "fit",
            IrtReport,
            {"family": _plain(family)},
            seed,
            lambda: report_of(
                self.data, model=self.model, families=families, seed=seed
            ),
            families,
        )

    @with_keywords(Abilities, Gives[AbilityReport])
    def abilities(self, question: Abilities) -> AbilityReport:
        level = question.level
        seed = question.seed
        is_wide = question.sensitivity
        families = None
        if is_wide:
            families = families_of(self.data, question.family)
        family = None
        if is_wide:
            family = _plain(question.family)
        return self._ask(
            "ability",
            AbilityReport,
            {
                "level": level,
                "sensitivity": is_wide,
                "family": family,
            },
            seed,
            lambda: scale_of(
                self.data, model=self.model, level=level, families=families, seed=seed
            ),
            families,
        )

    @with_keywords(NextItems, Gives[NextReport])
    def next_items(self, question: NextItems) -> NextReport:
        asked = {
            name: getattr(question, name) for name in ("asked", "n", "new", "level")
        }
        seed = question.seed
        return self._ask(
            "next",
            NextReport,
            asked,
            seed,
            lambda: plan_next(self.data, **asked, model=self.model, seed=seed),
        )

    @with_keywords(Dimensions, Gives[DimensionsReport])
    def dimensions(self, question: Dimensions) -> DimensionsReport:
        seed = question.seed
        requested = {"tries": question.tries, "sizes": question.sizes}
        settings = {
            name: None if numbers is None else sorted(set(numbers))
            for name, numbers in requested.items()
        }
        return self._ask(
            "dimensions",
            DimensionsReport,
            settings,
            seed,
            lambda: dimensions_of(self.data, **settings, seed=seed),
        )

    def _ask(
        self,
        kind: str,
        result: type[Found],
        settings: Mapping[str, Any],
        seed: int,
        compute: Callable[[], Found],
        families: Sequence[str | None] | None = None,
    ) -> Found:
        own = {
            name: getattr(self.question, name)
            for name in options(ItemResponse)
            if name not in _NOT_KEPT
        }
        own |= {"model": self.model, "where": sorted(self.question.where)}
        question = StoredQuestion(
            f"irt_{kind}",
            ", ".join(self.data.benchmarks),
            METHOD_VERSION,
            fingerprint(
                self.data.fingerprint, *(family or "" for family in families or ())
            ),
            seed,
            {**own, **settings},
        )
        answered = answer(
            self.opener,
            question,
            result,
            lambda now: replace(
                compute(), computed_at=now.isoformat(timespec="seconds")
            ),
            fresh=self.question.fresh,
            store_result=self.question.store_result,
        )
        notes = [
            f"read back: computed on {answered.computed_on}, and nothing has changed "
            "since"
        ] * answered.read_back
        if answered.replaces is not None:
            when = answered.replaces.isoformat(sep=" ", timespec="seconds")
            notes.append(
                f"the stored answer of {when} UTC was stale (other inputs or another "
                "method): computed anew"
            )
        notes += [f"not stored: {answered.not_stored}"] if answered.not_stored else []
        return replace(answered.result, notes=(*answered.result.notes, *notes))


irt = answers(ItemResponse)(Irt)


def _plain(family: str | Mapping[str, str] | None) -> Any:
    if family is None or isinstance(family, str):
        return family
    return dict(family)


def dimensions_of(
    pool: Pool, *, tries: Sequence[int] | None, sizes: Sequence[int] | None, seed: int
) -> DimensionsReport:
    """`Irt.dimensions` of a pool.

    Raises:
        MisuseError: blocks of models that answered different prompts, or models that
            answered all alike.
    """
    responses = pool.responses
    if blocks_by_items(responses).max() > 0:
        raise MisuseError(
            "models answered different prompts in blocks, and several dimensions need "
            "one set: name fewer benchmarks, or choose runs with --where"
        )
    if not responses.minority().any():
        raise MisuseError(
            "every prompt has one answer of all models: nothing tells abilities apart"
        )
    found = dimension_errors(responses, tries, sizes, groups=pool.names, seed=seed)
    slow = dict.fromkeys(str(fit.n_dimensions) for fit in found if not fit.converged)
    notes = []
    if slow:
        notes.append(
            f"{', '.join(slow)} dimensions: fits stopped after their last step"
        )
    if responses.n_models < FEW_MODELS:
        notes.append(
            f"{responses.n_models} models: simulated, fewer than {FEW_MODELS} often "
            "show too few dimensions"
        )
    return DimensionsReport(
        benchmarks=pool.benchmarks,
        model="2pl",
        model_reason="several dimensions, by penalised joint likelihood",
        n_models=responses.n_models,
        n_items=responses.n_items,
        n_cells=int(responses.cells(0).sum()),
        n_testlets=None,
        input_fingerprint=pool.fingerprint,
        computed_at="",
        notes=(*pool.notes, *notes),
        n_groups=len(set(pool.names)),
        chosen=next(fit.n_dimensions for fit in found if fit.chosen),
        rows=tuple(DimensionRow(**vars(fit)) for fit in found),
    )


def plan_next(
    pool: Pool,
    asked: str,
    *,
    n: int,
    new: bool,
    model: str | None,
    level: float,
    seed: int,
) -> NextReport:
    """The most informative prompts for a model at what it has answered so far, by a fit
    of the others of a pool.

    Arguments and errors are those of :meth:`Irt.next_items`, and models that answered
    different prompts are one.
    """
    row = None if new else _row(pool, asked)
    if new and asked in {*pool.names, *pool.responses.models}:
        raise MisuseError(f"{asked} has answers on these prompts: leave --new out")
    others = np.ones(pool.responses.n_models, bool)
    if row is not None:
        others[row] = False
    rest = pool.part(others, np.ones(pool.responses.n_items, bool))
    if rest is None:
        raise MisuseError(
            f"without {asked} no two models answered the same prompts: nothing to "
            "calibrate them on"
        )
    fitted = fit_pool(rest, model)
    if fitted.links is not None:
        raise MisuseError(
            f"the other models form {len(fitted.fit.block_means)} blocks that answered "
            "different prompts; prompts are chosen within one: name fewer benchmarks, "
            "or choose runs with --where"
        )
    successes, trials = _answers(pool, rest, row)
    if not np.isnan(successes).any():
        raise MisuseError(
            f"{asked} has answered all {len(successes)} prompts: there is none to ask "
            "next"
        )
    chosen = next_items(fitted.fit, successes, trials, n=n)
    again, reason = _replay(
        rest, chosen.n_asked + len(chosen.items), fitted.fit.model, level, seed
    )
    head = fitted.head
    notes = [f"no interval of the plan: {reason}"] if reason else []
    return NextReport(
        **head
        | {"notes": (*head["notes"], *notes), "input_fingerprint": pool.fingerprint},
        rows=_rows(fitted, chosen.items.tolist(), chosen.information, chosen.ability),
        asked=asked if row is None else pool.responses.models[row],
        n_asked=chosen.n_asked,
        ability=chosen.ability,
        sd=chosen.sd,
        **part_fields(again, "factor", "mean_error", "mean_error_random"),
        n_replayed=again.n_models if again else 0,
        level=level,
    )


def _row(pool: Pool, model: str) -> int:
    names = pool.responses.models
    if model in names:
        return names.index(model)
    fitting = [row for row, name in enumerate(pool.names) if name == model]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        listed = "; ".join(names[row] for row in fitting[:5])
        raise MisuseError(
            f"{model} has several conditions: {listed}; name one, or choose with "
            "--where or --latest"
        )
    hint = did_you_mean(model, names, "--new plans for a model that has no answers yet")
    raise MisuseError(f"no answers of {model!r} on these prompts; {hint}")


def _answers(pool: Pool, rest: Pool, row: int | None) -> tuple[FloatArray, FloatArray]:
    """Successes (NaN where not asked) and draws of the model on the calibrated items."""
    empty = np.full(rest.responses.n_items, np.nan)
    if row is None:
        return empty, np.zeros(len(empty))
    index_of = {name: j for j, name in enumerate(pool.responses.items)}
    columns = [index_of[name] for name in rest.responses.items]
    own = pool.responses.part(np.array([row]), np.array(columns, dtype=np.intp))
    if own.trials is None:
        trials = np.ones(len(empty))
    else:
        trials = own.trials[0].astype(np.float64)
    successes = own.successes[0].astype(np.float64)
    return np.where(trials > 0, successes, np.nan), trials


def _replay(
    rest: Pool, n_items: int, model: str, level: float, seed: int
) -> tuple[Replay | None, str]:
    """The replay on models that have as many answers, and why there is none or no
    interval."""
    enough = rest.responses.cells(1) >= n_items
    part = None
    if enough.sum() >= 2:
        part = rest.part(enough, np.ones(rest.responses.n_items, bool))
    if part is None:
        return None, f"fewer than 2 models have {n_items} answers"
    try:
        replayed = replay(part.responses, n_items, seed=seed, model=model, level=level)
    except StatisticsError as error:
        return None, str(error)
    return replayed, replayed.reason


def _rows(
    fitted: Fitted, items: list[int], information: FloatArray, ability: float
) -> tuple[NextRow, ...]:
    pool, fit = fitted.pool, fitted.fit
    return tuple(
        NextRow(
            order=order,
            prompt=f"prompt:{pool.prompts[j]}",
            key=pool.keys[j],
            benchmark=pool.forms[pool.form[j]].label,
            information=float(value),
            chance=float(special.expit(fit.a[j] * ability + fit.d[j])),
            difficulty=float(fit.difficulty[j]),
            text=excerpt_of(pool.texts[j]),
        )
        for order, (j, value) in enumerate(zip(items, information, strict=True), 1)
    )
