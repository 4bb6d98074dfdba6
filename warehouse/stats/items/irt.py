"""Item response models: chances of success from one ability per model (1PL and 2PL).

Definitions: statistics.md §13. P = σ(aθ + d), difficulty −d/a; 1PL has one a. A cell's
successes are binomial given θ. Models are a pool: θ has mean 0 and standard deviation 1
in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.items.em import SD_D, SD_LOG_A, Maximum, Penalty, maximise
from warehouse.stats.items.item_errors import ItemErrors, item_errors
from warehouse.stats.items.links import (
    Links,
    as_blocks,
    blocks_by_items,
    check_connected,
    linking_items,
)
from warehouse.stats.items.responses import Responses

#: With fewer models the default is 1PL.
MODELS_FOR_2PL = 20
#: Parameters move by less than this in the last round.
TOLERANCE = 1e-6
_MAX_ROUNDS = 2000
_MINORITY = 8
#: Blocks of models that fewer items link are put on one scale by 1PL alone.
LINKS_FOR_2PL = 100


@dataclass(frozen=True, eq=False)
class IrtFit(NamedFigures):
    """An item response model, fitted."""

    model: str  #: ``1pl`` or ``2pl``.
    items: tuple[str, ...]  #: names, shape (J,).
    models: tuple[str, ...]  #: names, shape (M,).
    a: FloatArray  #: discrimination of each item, above 0 (one value for all in 1PL), shape (J,).
    d: FloatArray  #: intercept: logit of success at θ = 0, shape (J,).
    difficulty: FloatArray  #: −d/a: the ability with even chances, shape (J,).
    #: se_a, se_d, se_difficulty: standard errors, the models a sample; NaN where not
    #: defined.
    se_a: FloatArray
    se_d: FloatArray
    se_difficulty: FloatArray
    se_a_pool: FloatArray  #: for comparing items among these models.
    theta: FloatArray  #: posterior mean (EAP) of each model's ability, shape (M,).
    theta_sd: FloatArray  #: posterior standard deviation; no error of a comparison (see `abilities`).
    block: NDArray[np.intp]  #: number of each model's block, shape (M,).
    block_means: FloatArray  #: prior mean of each block, shape (G,).
    prior_sd: float  #: common prior standard deviation within blocks.
    log_likelihood: float  #: marginal, without binomial constants and penalties.
    penalty: float  #: what the priors took off.
    is_penalised: bool  #: whether there were any.
    n_cells: int  #: cells that are not missing.
    rounds: int  #: EM rounds.
    converged: bool  #: no parameter moved by more than the tolerance in the last round.
    #: bridge_items, bridge_models: the scale hangs on each of these alone.
    bridge_items: tuple[str, ...]
    bridge_models: tuple[str, ...]
    #: ``not_converged``, ``bridges``, ``few_models`` (2PL below 20),
    #: ``different_item_sets`` (one block, though models answered different items: the
    #: gap between them shrinks).
    flags: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return (
            f"{self.model.upper()} of {len(self.models)} models x {len(self.items)} "
            f"items: log likelihood {self.log_likelihood:.6g}"
        )

    def check_same(self, responses: Responses) -> None:
        """Refuse responses of other models or items (StatisticsError)."""
        if self.models != responses.models or self.items != responses.items:
            raise StatisticsError(
                "`fit` and `responses` must be of the same models and items"
            )

    @property
    def precisions(self) -> Penalty:
        """Precisions of the priors that the fit had."""
        return penalty_of(self.model, self.is_penalised)

    @property
    def prior_mean(self) -> FloatArray:
        """Prior mean of each model's ability, shape (M,)."""
        means: FloatArray = self.block_means[self.block]
        return means


def fit_irt(
    responses: Responses,
    model: str | None = None,
    *,
    blocks: ArrayLike | None = None,
    penalised: bool = True,
    tolerance: float = TOLERANCE,
) -> IrtFit:
    """Fit 1PL or 2PL by the maximum of the penalised marginal likelihood.

    Args:
        responses: the answers (`as_responses`).
        model: ``1pl`` or ``2pl``; None: 2PL from 20 models on, else 1PL.
        blocks: label of each model's block, shape (M,): models with different item
            sets, each block with its own prior mean (`blocks_by_items` finds them);
            None: one block.
        penalised: whether ln a has the prior N(0, .5²) (2PL) and d the prior N(0, 3²).
        tolerance: largest move of a parameter in the last round, above 0.

    Raises:
        StatisticsError: another model, models without a common scale, several blocks in
            a 2PL linked by fewer than 100 items, no penalty although an item has fewer
            than 8 of the rarer answer.

    Examples:
        >>> from warehouse.stats.items.responses import as_responses
        >>> print(fit_irt(as_responses([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]])))
        1PL of 4 models x 3 items: log likelihood -6.71424
    """
    name = as_model(model, responses.n_models)
    links = check_connected(responses)
    groups = as_blocks(blocks, responses.n_models)
    _check_blocks(responses, groups, name)
    if not penalised:
        _check_minority(responses)
    if not tolerance > 0:
        raise StatisticsError(f"`tolerance` must be above 0, found {tolerance}")
    precisions = penalty_of(name, penalised)
    common_a = name == "1pl"
    with one_blas_thread():
        maximum = maximise(
            responses,
            common_a=common_a,
            penalty=precisions,
            blocks=groups,
            tolerance=tolerance,
            max_rounds=_MAX_ROUNDS,
        )
        errors = item_errors(responses, maximum, common_a=common_a, penalty=precisions)
    return _fit(responses, name, maximum, errors, groups, links, penalised)


def as_model(model: str | None, n_models: int) -> str:
    """The name of a model that is fitted here (StatisticsError: another one, with the
    reason)."""
    if model is None:
        if n_models >= MODELS_FOR_2PL:
            return "2pl"
        return "1pl"
    name = model.lower()
    if name in ("3pl", "4pl"):
        raise StatisticsError(
            f"{name.upper()} is not fitted: guessing and slipping cannot be told from "
            "difficulty with fewer than 1,000 models, and little with more; use 2pl"
        )
    if name.startswith("m") and name.endswith("pl"):
        raise StatisticsError(
            "models of several dimensions are not fitted here (irt dimensions and "
            "anchors --dimensions N do); use 2pl"
        )
    if name not in ("1pl", "2pl"):
        raise StatisticsError(f"`model` must be '1pl' or '2pl', found {model!r}")
    return name


def penalty_of(model: str, penalised: bool) -> Penalty:
    """Precisions of the priors of a model."""
    if not penalised:
        return Penalty(0.0, 0.0)
    return Penalty(0.0 if model == "1pl" else SD_LOG_A**-2, SD_D**-2)


def _fit(
    responses: Responses,
    name: str,
    maximum: Maximum,
    errors: ItemErrors,
    blocks: NDArray[np.intp],
    links: Links,
    penalised: bool,
) -> IrtFit:
    a, d, posterior = maximum.slopes(), maximum.d, maximum.posterior
    difficulty = -d / a
    variance_a, variance_d = (
        errors.variance_a + errors.pool_a,
        errors.variance_d + errors.pool_d,
    )
    variance_b = (
        variance_d + difficulty**2 * variance_a + 2 * difficulty * errors.covariance
    ) / a**2
    log_likelihood = float(posterior.log_marginal.sum())
    return IrtFit(
        model=name,
        items=responses.items,
        models=responses.models,
        a=a,
        d=d,
        difficulty=difficulty,
        se_a=np.sqrt(variance_a),
        se_d=np.sqrt(variance_d),
        se_difficulty=np.sqrt(np.maximum(variance_b, 0)),
        se_a_pool=np.sqrt(errors.variance_a),
        theta=posterior.mean,
        theta_sd=posterior.sd,
        block=blocks,
        block_means=maximum.block_means,
        prior_sd=maximum.prior.sd,
        log_likelihood=log_likelihood,
        penalty=log_likelihood - maximum.objective,
        is_penalised=penalised,
        n_cells=int(responses.cells(0).sum()),
        rounds=maximum.rounds,
        converged=maximum.converged,
        bridge_items=links.bridge_items,
        bridge_models=links.bridge_models,
        flags=flags_of(
            not_converged=not maximum.converged,
            bridges=links.bridge_items or links.bridge_models,
            few_models=name == "2pl" and responses.n_models < MODELS_FOR_2PL,
            different_item_sets=blocks.max() == 0
            and blocks_by_items(responses).max() > 0,
        ),
    )


def _check_blocks(responses: Responses, blocks: NDArray[np.intp], name: str) -> None:
    if blocks.max() == 0 or name == "1pl":
        return
    fewest = int(linking_items(responses, blocks).min())
    if fewest < LINKS_FOR_2PL:
        raise StatisticsError(
            f"2PL across blocks needs {LINKS_FOR_2PL} items that link each block to "
            f"the others, found {fewest}; use 1pl"
        )


def _check_minority(responses: Responses) -> None:
    minority = responses.minority()
    worst = int(np.argmin(minority))
    if minority[worst] < _MINORITY:
        raise StatisticsError(
            f"without a penalty every item needs {_MINORITY} of its rarer answer, "
            f"found {int(minority[worst])} for {responses.items[worst]} "
            f"({int((minority < _MINORITY).sum())} such items); keep the penalty"
        )
