"""Answers of the item response models: frozen, named fields, made of what JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import Row, StoredResult
from warehouse.stats.items.dimension_choice import DimensionError


@dataclass(frozen=True)
class FormRow(Row):
    """A benchmark as one harness asks it.

    Attributes:
        label: the benchmark, with what tells it from other forms.
        metric: name of the metric, with its filter.
        n_items: prompts in the model.
        n_models: models with an answer to one of them.
    """

    label: str
    metric: str
    n_items: int
    n_models: int


@dataclass(frozen=True)
class BlockRow(Row):
    """Models that answered largely the same prompts.

    Attributes:
        block: its number, from 1.
        n_models: its models.
        n_items: prompts that one of them answered.
        n_links: of these the prompts that a model of another block answered too; None for one block.
        prior_mean: mean ability of the block, in the frame of the fit.
        models: names of the first few.
    """

    block: int
    n_models: int
    n_items: int
    n_links: int | None
    prior_mean: float
    models: tuple[str, ...]


@dataclass(frozen=True)
class FittedItemRow(Row):
    """One prompt in a fitted item response model.

    Attributes:
        prompt: ``prompt:ID``, as `show` takes it.
        key: its id in the dump, else its key.
        benchmark: its benchmark, with the harness where a prompt was asked by several.
        n_models: models that answered it.
        mean_score: share of right draws, mean over models.
        discrimination: a of P(right) = σ(aθ + d).
        se_discrimination: its standard error, the models a sample.
        difficulty: −d/a in standard deviations of the models' abilities.
        se_difficulty: its standard error.
        infit: ΣE²/ΣV, 1 where the model fits: a ranking, no test.
        outfit: mean E²/V, led by single surprises.
        z_infit: infit as a normal figure; above 0: noisier than the model.
        constant: all answers are right, or all wrong.
        free_discrimination: slope on the abilities that may be negative, as with a wrong key, where a may
            not; logits per standard deviation of the models; None where all answers are alike.
        reversed: it is significantly below 0 (false discovery rate .05).
        bridge: the scale hangs on this prompt alone.
        dif_family: family of models for which it is most unlike its place; None where not tested.
        dif_effect: logits by which it is easier for that family than abilities tell.
        dif_q: chance of such an effect if there were none, after Benjamini and Hochberg.
        dif: dif_q is at most the false discovery rate.
        text: beginning of the prompt.
    """

    prompt: str
    key: str
    benchmark: str
    n_models: int
    mean_score: float
    discrimination: float
    se_discrimination: float | None
    difficulty: float
    se_difficulty: float | None
    infit: float | None
    outfit: float | None
    z_infit: float | None
    constant: bool
    free_discrimination: float | None
    reversed: bool
    bridge: bool
    dif_family: str | None
    dif_effect: float | None
    dif_q: float | None
    dif: bool
    text: str


@dataclass(frozen=True)
class FamilyRow(Row):
    """A family of models held against the others.

    Attributes:
        family: its name.
        n_models: its models.
        n_others: models that it is compared with.
        n_flagged: prompts that are easier or harder for it than abilities tell.
    """

    family: str
    n_models: int
    n_others: int
    n_flagged: int


@dataclass(frozen=True)
class IrtResult(StoredResult):
    """What all answers say of the model behind them.

    Attributes:
        benchmarks: names.
        model: ``1pl`` or ``2pl``.
        model_reason: why this one.
        n_models: models in it.
        n_items: prompts in it; one that several harnesses ask counts for each.
        n_cells: answered pairs of model and prompt.
        n_testlets: clusters of prompts that errors allow for; None: prompts are independent given ability.
        input_fingerprint: sha256 of models, prompts and answers.
        computed_at: when, ISO 8601 in UTC.
        notes: what a reader should know.
        rows: the answer.
    """

    benchmarks: tuple[str, ...]
    model: str
    model_reason: str
    n_models: int
    n_items: int
    n_cells: int
    n_testlets: int | None
    input_fingerprint: str
    computed_at: str
    notes: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        share = self.n_cells / (self.n_models * self.n_items)
        missing = "" if share == 1 else f", {100 * (1 - share):.3g} % of the cells missing"
        listed = ", ".join(self.benchmarks[:4]) + (", ..." if len(self.benchmarks) > 4 else "")
        return f"{self.model.upper()} of {self.n_models} models x {self.n_items} prompts of {listed}{missing}"


@dataclass(frozen=True)
class IrtReport(IrtResult):
    """A fitted item response model; prompts that fit worst first.

    Attributes:
        forms: benchmarks by harness.
        blocks: models by the prompts that they answered.
        families: of the test for differential item functioning.
        dif_reason: why there is none; empty if there is.
        loss_1pl: mean −ln chance of held-out draws, nats per draw; None with a note.
        loss_2pl: of the 2PL.
        loss_items: of the prompts' mean scores alone, every model alike.
        loss_difference: loss_2pl − loss_1pl; below 0: 2PL predicts better.
        loss_se: its standard error over models.
        n_held_out: draws held out.
        converged: the fit reached its tolerance.
        bridge_models: models without which the others fall apart.
        rows: one for each prompt.
    """

    ROWS: ClassVar[Mapping[str, type[Row]]] = {
        "rows": FittedItemRow,
        "forms": FormRow,
        "blocks": BlockRow,
        "families": FamilyRow,
    }
    notebook_columns: ClassVar[tuple[str, ...]] = (
        "prompt",
        "benchmark",
        "mean_score",
        "discrimination",
        "difficulty",
        "infit",
        "outfit",
        "text",
    )
    rows: tuple[FittedItemRow, ...]
    forms: tuple[FormRow, ...]
    blocks: tuple[BlockRow, ...]
    families: tuple[FamilyRow, ...]
    dif_reason: str
    loss_1pl: float | None
    loss_2pl: float | None
    loss_items: float | None
    loss_difference: float | None
    loss_se: float | None
    n_held_out: int
    converged: bool
    bridge_models: tuple[str, ...]


@dataclass(frozen=True)
class AbilityRow(Row):
    """One model on the common scale.

    Attributes:
        rank: place by ability.
        rank_low, rank_high: set of ranks that the data leave it.
        model: its name, with what tells its conditions apart.
        ability: in standard deviations of the models' abilities, mean 0.
        standard_error: of it in this pool.
        ci_low, ci_high: its interval.
        behind_leader: ability of the first model less its own.
        behind_low, behind_high: interval of that difference.
        p_leader: chance of such a difference if there were none.
        n_items: prompts that it answered.
        block: number of its block, from 1.
        bridge: without it others fall apart.
    """

    rank: int
    rank_low: int | None
    rank_high: int | None
    model: str
    ability: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    behind_leader: float | None
    behind_low: float | None
    behind_high: float | None
    p_leader: float | None
    n_items: int
    block: int
    bridge: bool


@dataclass(frozen=True)
class SensitivityRow(Row):
    """The scale without one benchmark or family of models.

    Attributes:
        kind: ``benchmark`` or ``family``.
        left_out: its name.
        n_models, n_items: that are left.
        tau: Kendall's τ-b of the abilities with those of the full scale, over the models left.
        leader: first model of what is left.
        most_moved: model whose ability moves the most, both scales standardised over the models left.
        shift: by how much, in standard deviations of abilities.
        most_places: largest change of a place among the models left.
        reason: why nothing can be said; empty otherwise.
    """

    kind: str
    left_out: str
    n_models: int
    n_items: int
    tau: float | None
    leader: str | None
    most_moved: str | None
    shift: float | None
    most_places: int | None
    reason: str


@dataclass(frozen=True)
class AbilityReport(IrtResult):
    """All models on one scale, the most able first.

    Attributes:
        level: of the intervals and rank sets.
        blocks: models by the prompts that they answered.
        bridge_items: prompts without which models fall apart.
        sensitivity: the scale without single benchmarks and families; empty unless asked for.
        rows: one for each model.
    """

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": AbilityRow, "blocks": BlockRow, "sensitivity": SensitivityRow}
    rows: tuple[AbilityRow, ...]
    level: float
    blocks: tuple[BlockRow, ...]
    bridge_items: tuple[str, ...]
    sensitivity: tuple[SensitivityRow, ...]


@dataclass(frozen=True)
class NextRow(Row):
    """A prompt to ask.

    Attributes:
        order: its place in the plan, from 1.
        prompt: ``prompt:ID``, as `show` takes it.
        key: its id in the dump, else its key.
        benchmark: its benchmark, with the harness where several asked.
        information: a²P(1−P) at the ability so far.
        chance: P(right) at the ability so far.
        difficulty: −d/a in standard deviations of abilities.
        text: beginning of the prompt.
    """

    order: int
    prompt: str
    key: str
    benchmark: str
    information: float
    chance: float
    difficulty: float
    text: str


@dataclass(frozen=True)
class NextReport(IrtResult):
    """The prompts to ask a model next: for its ability and rank, not for a score.

    Attributes:
        asked: the model that is to be asked.
        n_asked: prompts of the pool that it has answered.
        ability: its ability so far, on the scale of the fit.
        sd: posterior standard deviation of it.
        factor: after all prompts of the plan, the ability that all prompts would give lies within
            ±factor·sd with the level's chance; None with a note.
        mean_error: mean error of the replay on stored models, in standard deviations of abilities.
        mean_error_random: the same with as many prompts at random.
        n_replayed: models replayed.
        level: of the interval.
        rows: the plan, the first prompt first.
    """

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": NextRow}
    rows: tuple[NextRow, ...]
    asked: str
    n_asked: int
    ability: float
    sd: float
    factor: float | None
    mean_error: float | None
    mean_error_random: float | None
    n_replayed: int
    level: float


@dataclass(frozen=True)
class DimensionRow(Row, DimensionError):
    """A number of dimensions and of prompts, on models left out; its columns are the fields of
    :class:`~warehouse.stats.items.dimension_choice.DimensionError`."""


@dataclass(frozen=True)
class DimensionsReport(IrtResult):
    """How many dimensions the answers have, and what estimates of scores by them are worth.

    Attributes:
        n_groups: models, all settings of one being one.
        chosen: the fewest dimensions within one standard error of the least loss.
        rows: one for each number of dimensions and of prompts.
    """

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": DimensionRow}
    n_groups: int
    chosen: int
    rows: tuple[DimensionRow, ...]
