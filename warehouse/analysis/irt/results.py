"""Answers of the item response models: frozen, named fields, made of what JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import Row, StoredResult
from warehouse.stats.items.dimension_choice import DimensionError


@dataclass(frozen=True)
class FormRow(Row):
    """A benchmark as one harness asks it."""

    label: str  #: the benchmark, with what tells it from other forms.
    metric: str  #: name of the metric, with its filter.
    n_items: int  #: prompts in the model.
    n_models: int  #: models with an answer to one of them.


@dataclass(frozen=True)
class BlockRow(Row):
    """Models that answered largely the same prompts."""

    block: int  #: its number, from 1.
    n_models: int  #: its models.
    n_items: int  #: prompts that one of them answered.
    n_links: int | None  #: of these the prompts that a model of another block answered too; None for one block.
    prior_mean: float  #: mean ability of the block, in the frame of the fit.
    models: tuple[str, ...]  #: names of the first few.


@dataclass(frozen=True)
class FittedItemRow(Row):
    """One prompt in a fitted item response model."""

    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    benchmark: str  #: its benchmark, with the harness where a prompt was asked by several.
    n_models: int  #: models that answered it.
    mean_score: float  #: share of right draws, mean over models.
    discrimination: float  #: a of P(right) = σ(aθ + d).
    se_discrimination: float | None  #: its standard error, the models a sample.
    difficulty: float  #: −d/a in standard deviations of the models' abilities.
    se_difficulty: float | None  #: its standard error.
    infit: float | None  #: ΣE²/ΣV, 1 where the model fits: a ranking, no test.
    outfit: float | None  #: mean E²/V, led by single surprises.
    z_infit: float | None  #: infit as a normal figure; above 0: noisier than the model.
    constant: bool  #: all answers are right, or all wrong.
    #: slope on the abilities that may be negative, as with a wrong key, where a may not; logits per standard deviation
    #: of the models; None where all answers are alike.
    free_discrimination: float | None
    reversed: bool  #: it is significantly below 0 (false discovery rate .05).
    bridge: bool  #: the scale hangs on this prompt alone.
    dif_family: str | None  #: family of models for which it is most unlike its place; None where not tested.
    dif_effect: float | None  #: logits by which it is easier for that family than abilities tell.
    dif_q: float | None  #: chance of such an effect if there were none, after Benjamini and Hochberg.
    dif: bool  #: dif_q is at most the false discovery rate.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class FamilyRow(Row):
    """A family of models held against the others."""

    family: str  #: its name.
    n_models: int  #: its models.
    n_others: int  #: models that it is compared with.
    n_flagged: int  #: prompts that are easier or harder for it than abilities tell.


@dataclass(frozen=True)
class IrtResult(StoredResult):
    """What all answers say of the model behind them.

    Attributes:
        rows: the answer.
    """

    benchmarks: tuple[str, ...]  #: names.
    model: str  #: ``1pl`` or ``2pl``.
    model_reason: str  #: why this one.
    n_models: int  #: models in it.
    n_items: int  #: prompts in it; one that several harnesses ask counts for each.
    n_cells: int  #: answered pairs of model and prompt.
    n_testlets: int | None  #: clusters of prompts that errors allow for; None: prompts are independent given ability.
    input_fingerprint: str  #: sha256 of models, prompts and answers.
    computed_at: str  #: when, ISO 8601 in UTC.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        share = self.n_cells / (self.n_models * self.n_items)
        missing = "" if share == 1 else f", {100 * (1 - share):.3g} % of the cells missing"
        listed = ", ".join(self.benchmarks[:4]) + (", ..." if len(self.benchmarks) > 4 else "")
        return f"{self.model.upper()} of {self.n_models} models x {self.n_items} prompts of {listed}{missing}"


@dataclass(frozen=True)
class IrtReport(IrtResult):
    """A fitted item response model; prompts that fit worst first."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *("prompt", "benchmark", "mean_score", "discrimination", "difficulty", "infit", "outfit", "text"),
    )
    rows: tuple[FittedItemRow, ...]  #: one for each prompt.
    forms: tuple[FormRow, ...]  #: benchmarks by harness.
    blocks: tuple[BlockRow, ...]  #: models by the prompts that they answered.
    families: tuple[FamilyRow, ...]  #: of the test for differential item functioning.
    dif_reason: str  #: why there is none; empty if there is.
    loss_1pl: float | None  #: mean −ln chance of held-out draws, nats per draw; None with a note.
    loss_2pl: float | None  #: of the 2PL.
    loss_items: float | None  #: of the prompts' mean scores alone, every model alike.
    loss_difference: float | None  #: loss_2pl − loss_1pl; below 0: 2PL predicts better.
    loss_se: float | None  #: its standard error over models.
    n_held_out: int  #: draws held out.
    converged: bool  #: the fit reached its tolerance.
    bridge_models: tuple[str, ...]  #: models without which the others fall apart.


@dataclass(frozen=True)
class AbilityRow(Row):
    """One model on the common scale."""

    rank: int  #: place by ability.
    #: rank_low, rank_high: set of ranks that the data leave it.
    rank_low: int | None
    rank_high: int | None
    model: str  #: its name, with what tells its conditions apart.
    ability: float  #: in standard deviations of the models' abilities, mean 0.
    standard_error: float | None  #: of it in this pool.
    #: ci_low, ci_high: its interval.
    ci_low: float | None
    ci_high: float | None
    behind_leader: float | None  #: ability of the first model less its own.
    #: behind_low, behind_high: interval of that difference.
    behind_low: float | None
    behind_high: float | None
    p_leader: float | None  #: chance of such a difference if there were none.
    n_items: int  #: prompts that it answered.
    block: int  #: number of its block, from 1.
    bridge: bool  #: without it others fall apart.


@dataclass(frozen=True)
class SensitivityRow(Row):
    """The scale without one benchmark or family of models."""

    kind: str  #: ``benchmark`` or ``family``.
    left_out: str  #: its name.
    #: n_models, n_items: that are left.
    n_models: int
    n_items: int
    tau: float | None  #: Kendall's τ-b of the abilities with those of the full scale, over the models left.
    leader: str | None  #: first model of what is left.
    most_moved: str | None  #: model whose ability moves the most, both scales standardised over the models left.
    shift: float | None  #: by how much, in standard deviations of abilities.
    most_places: int | None  #: largest change of a place among the models left.
    reason: str  #: why nothing can be said; empty otherwise.


@dataclass(frozen=True)
class AbilityReport(IrtResult):
    """All models on one scale, the most able first."""

    rows: tuple[AbilityRow, ...]  #: one for each model.
    level: float  #: of the intervals and rank sets.
    blocks: tuple[BlockRow, ...]  #: models by the prompts that they answered.
    bridge_items: tuple[str, ...]  #: prompts without which models fall apart.
    #: the scale without single benchmarks and families; empty unless asked for.
    sensitivity: tuple[SensitivityRow, ...]


@dataclass(frozen=True)
class NextRow(Row):
    """A prompt to ask."""

    order: int  #: its place in the plan, from 1.
    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    benchmark: str  #: its benchmark, with the harness where several asked.
    information: float  #: a²P(1−P) at the ability so far.
    chance: float  #: P(right) at the ability so far.
    difficulty: float  #: −d/a in standard deviations of abilities.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class NextReport(IrtResult):
    """The prompts to ask a model next: for its ability and rank, not for a score."""

    rows: tuple[NextRow, ...]  #: the plan, the first prompt first.
    asked: str  #: the model that is to be asked.
    n_asked: int  #: prompts of the pool that it has answered.
    ability: float  #: its ability so far, on the scale of the fit.
    sd: float  #: posterior standard deviation of it.
    #: after all prompts of the plan, the ability that all prompts would give lies within ±factor·sd with the level's
    #: chance; None with a note.
    factor: float | None
    mean_error: float | None  #: mean error of the replay on stored models, in standard deviations of abilities.
    mean_error_random: float | None  #: the same with as many prompts at random.
    n_replayed: int  #: models replayed.
    level: float  #: of the interval.


@dataclass(frozen=True)
class DimensionRow(Row, DimensionError):
    """A number of dimensions and of prompts, on models left out; its columns are the fields of
    :class:`~warehouse.stats.items.dimension_choice.DimensionError`."""


@dataclass(frozen=True)
class DimensionsReport(IrtResult):
    """How many dimensions the answers have, and what estimates of scores by them are worth."""

    n_groups: int  #: models, all settings of one being one.
    chosen: int  #: the fewest dimensions within one standard error of the least loss.
    rows: tuple[DimensionRow, ...]  #: one for each number of dimensions and of prompts.
