"""Which prompts to ask a model next, and how far its ability can then be off."""

from __future__ import annotations

import numpy as np

from warehouse.analysis.irt.fitting import Fitted, excerpt_of, fit_pool
from warehouse.analysis.irt.pool import Pool
from warehouse.analysis.irt.results import NextReport, NextRow
from warehouse.errors import MisuseError, StatisticsError, did_you_mean
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.adaptive import Replay, next_items, replay


def plan_next(pool: Pool, asked: str, *, n: int, new: bool, model: str | None, level: float, seed: int) -> NextReport:
    """The most informative prompts for a model at what it has answered so far.

    Prompts are calibrated on the other models of the pool.

    Args:
        pool: the answers.
        asked: name of a model of the pool, or with ``new`` of one that has no answers.
        n: prompts to name, at least 1.
        new: the model has no answers yet.
        model: ``1pl`` or ``2pl``; None: see `fit_pool`.
        level: of the interval after the plan.
        seed: of the replay's folds.

    Raises:
        MisuseError: an unknown model, or one of several conditions; nothing left to ask; blocks of
            models that answered different prompts.
    """
    row = None if new else _row(pool, asked)
    if new and asked in {*pool.names, *pool.responses.models}:
        raise MisuseError(f"{asked} has answers on these prompts: leave --new out")
    others = np.ones(pool.responses.n_models, bool)
    if row is not None:
        others[row] = False
    rest = pool.part(others, np.ones(pool.responses.n_items, bool))
    if rest is None:
        raise MisuseError(f"without {asked} no two models answered the same prompts: nothing to calibrate them on")
    fitted = fit_pool(rest, model)
    if fitted.links is not None:
        raise MisuseError(
            f"the other models form {len(fitted.fit.block_means)} blocks that answered different prompts; prompts"
            " are chosen within one: name fewer benchmarks, or choose runs with --where"
        )
    successes, trials = _answers(pool, rest, row)
    if not np.isnan(successes).any():
        raise MisuseError(f"{asked} has answered all {len(successes)} prompts: there is none to ask next")
    chosen = next_items(fitted.fit, successes, trials, n=n)
    again, reason = _replay(rest, chosen.n_asked + len(chosen.items), fitted.fit.model, level, seed)
    head = fitted.head
    notes = [f"no interval of the plan: {reason}"] if reason else []
    return NextReport(
        **head | {"notes": (*head["notes"], *notes), "input_fingerprint": pool.fingerprint},
        rows=_rows(fitted, chosen.items.tolist(), chosen.information, chosen.ability),
        asked=asked if row is None else pool.responses.models[row],
        n_asked=chosen.n_asked,
        ability=chosen.ability,
        sd=chosen.sd,
        factor=again.factor if again else None,
        mean_error=again.mean_error if again else None,
        mean_error_random=again.mean_error_random if again else None,
        n_replayed=again.n_models if again else 0,
        level=level,
    )


def _row(pool: Pool, asked: str) -> int:
    names = pool.responses.models
    if asked in names:
        return names.index(asked)
    fitting = [place for place, name in enumerate(pool.names) if name == asked]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        listed = "; ".join(names[place] for place in fitting[:5])
        raise MisuseError(f"{asked} has several conditions: {listed}; name one, or choose with --where or --latest")
    hint = did_you_mean(asked, names, "--new plans for a model that has no answers yet")
    raise MisuseError(f"no answers of {asked!r} on these prompts; {hint}")


def _answers(pool: Pool, rest: Pool, row: int | None) -> tuple[FloatArray, FloatArray]:
    """Successes (NaN where not asked) and draws of the model on the calibrated items."""
    empty = np.full(rest.responses.n_items, np.nan)
    if row is None:
        return empty, np.zeros(len(empty))
    place = {name: j for j, name in enumerate(pool.responses.items)}
    columns = [place[name] for name in rest.responses.items]
    own = pool.responses.part(np.array([row]), np.array(columns, dtype=np.intp))
    trials = np.ones(len(empty)) if own.trials is None else own.trials[0].astype(np.float64)
    return np.where(trials > 0, own.successes[0].astype(np.float64), np.nan), trials


def _replay(rest: Pool, n_items: int, model: str, level: float, seed: int) -> tuple[Replay | None, str]:
    """The replay on models that have as many answers, and why there is none or no interval."""
    enough = rest.responses.cells(1) >= n_items
    part = rest.part(enough, np.ones(rest.responses.n_items, bool)) if enough.sum() >= 2 else None
    if part is None:
        return None, f"fewer than 2 models have {n_items} answers"
    try:
        replayed = replay(part.responses, n_items, seed=seed, model=model, level=level)
    except StatisticsError as error:
        return None, str(error)
    return replayed, replayed.reason


def _rows(fitted: Fitted, items: list[int], information: FloatArray, ability: float) -> tuple[NextRow, ...]:
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
