"""Simulate what `audit` says of people's verdicts, of prompts with two options and of
reversed items, and write the tables of docs/reference/methods_audit.md and
docs/reference/methods_items.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import calibration.script as script
import numpy as np
from numpy.typing import NDArray
from scipy import special

from warehouse.stats.items.discrimination import discrimination
from warehouse.stats.labels.audit import score_audit
from warehouse.stats.labels.audit_sample import (
    JudgedPart,
    draw_audit_sample,
    recalibrate,
    wrong_rate,
)
from warehouse.stats.labels.votes import votes_for_options
from warehouse.stats.labels.wrong_keys import wrong_keys

Row = tuple[str, ...]
Rng = np.random.Generator
Floats = NDArray[np.float64]
CONCENTRATED, MISSING = "most in one subject", "one verdict in five is missing"


def benchmark_of(
    rng: Rng, n: int, rate: float, slope: float, concentrated: bool
) -> tuple[Floats, Floats, list[str]]:
    """Posteriors, verdicts and subjects of n keys; the log odds of a wrong key go with
    the logit of the posterior."""
    x = np.clip(rng.normal(-4.5, 1.6, n) + 1.2 * rng.standard_exponential(n), -9, 3)
    subjects = np.arange(n) % 20
    shift = 3.0 * (subjects == 0) if concentrated else np.zeros(n)
    low, high = -30.0, 30.0
    for _ in range(60):  # the intercept at which so many are wrong
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if special.expit(middle + slope * x + shift).mean() < rate
            else (low, middle)
        )
    wrong = (
        rng.random(n) < special.expit(low + slope * x + shift)
        if rate
        else np.zeros(n, bool)
    )
    return special.expit(x), wrong.astype(float), [f"subject {one}" for one in subjects]


def rates(times: int, seed: int) -> Iterator[Row]:
    """Coverage of the share of wrong keys, of all and above a threshold."""
    designs = (
        (20, 0, ""),
        (100, 0, CONCENTRATED),
        (100, 50, ""),
        (100, 50, MISSING),
        (60, 50, CONCENTRATED),
    )
    for keys in (300, 3000):
        for rate in (0.003, 0.016, 0.1):
            for size, certain, trouble in designs:
                rng = np.random.default_rng(
                    [seed, keys, int(1e4 * rate), size, certain, len(trouble)]
                )
                found = [
                    _one_rate(rng, keys, rate, size, certain, trouble)
                    for _ in range(times)
                ]
                covered, above, width = (
                    np.nanmean(column) for column in zip(*found, strict=True)
                )
                yield (
                    f"{keys}", f"{100 * rate:g} %", f"{size}", f"{certain}", trouble,
                    f"{covered:.3f}", f"{above:.3f}", f"{width:.3f}",
                )  # fmt: skip


def _one_rate(
    rng: Rng, keys: int, rate: float, size: int, certain: int, trouble: str
) -> tuple[float, float, float]:
    posterior, wrong, subjects = benchmark_of(
        rng, keys, rate, 0.7, trouble == CONCENTRATED
    )
    top = np.argsort(-posterior)[:certain]
    ids = [f"{i}" for i in range(keys)]
    sample = draw_audit_sample(
        ids, size, certain=top, strata=subjects, seed=int(rng.integers(1 << 40))
    )
    judged = sample.selected & (rng.random(keys) >= 0.2 * (trouble == MISSING))

    def rate_among(which: NDArray[np.bool_]) -> tuple[bool, float]:
        sides = [which & part for part in (sample.certain, ~sample.certain)]
        counts = [
            (int(s.sum()), int((s & judged).sum()), int(wrong[s & judged].sum()))
            for s in sides
        ]
        found = wrong_rate([JudgedPart(*count) for count in counts])
        if found.low is None or found.high is None:
            return True, np.nan
        truth = wrong[which].mean()
        return bool(
            found.low - 1e-12 <= truth <= found.high + 1e-12
        ), found.high - found.low

    covered, width = rate_among(np.ones(keys, bool))
    return covered, rate_among(posterior >= 0.1)[0], width


def slopes(times: int, seed: int) -> Iterator[Row]:
    """Coverage of the slope of the recalibration, where there is one."""
    for slope in (0.7, 1.0, 1.4):
        for rate in (0.016, 0.05, 0.15):
            for size, certain in ((200, 0), (200, 100), (600, 100)):
                rng = np.random.default_rng(
                    [seed, int(10 * slope), int(1e4 * rate), size, certain]
                )
                fits = []
                for _ in range(times):
                    posterior, wrong, subjects = benchmark_of(
                        rng, 3000, rate, slope, False
                    )
                    sample = draw_audit_sample(
                        [f"{i}" for i in range(3000)], size, certain=np.argsort(-posterior)[:certain], strata=subjects,
                        seed=int(rng.integers(1 << 40)),
                    )  # fmt: skip
                    verdicts = np.where(sample.selected, wrong, np.nan)
                    fit = recalibrate(
                        posterior,
                        verdicts,
                        1 / sample.probability,
                        certain=sample.certain,
                    )
                    if (
                        fit.coefficients is not None
                        and fit.errors is not None
                        and fit.t is not None
                    ):
                        fits.append((fit.coefficients[1], fit.t * fit.errors[1]))
                covered = (
                    np.mean([abs(one - slope) <= half for one, half in fits])
                    if fits
                    else np.nan
                )
                bias = np.median([one for one, _half in fits]) if fits else np.nan
                yield (
                    f"{slope:g}", f"{100 * rate:g} %", f"{size}", f"{certain}", f"{100 * len(fits) / times:.0f} %",
                    f"{bias:.2f}" if fits else "–", f"{covered:.3f}" if len(fits) >= 50 else "–",
                )  # fmt: skip


def two_options(times: int, seed: int) -> Iterator[Row]:
    """The posterior beside 1 − p where prompts have two options, or four."""
    for options in (2, 4):
        for misleading in (0.0, 0.05):
            for models in (5, 20):
                rng = np.random.default_rng(
                    [seed, options, int(100 * misleading), models]
                )
                found = np.mean(
                    [_one_vote(rng, options, misleading, models) for _ in range(times)],
                    axis=0,
                )
                precision, simple, listed, wrong, slope = found
                yield (
                    f"{options}", f"{100 * misleading:g} %", f"{models}", f"{precision:.2f}", f"{simple:.2f}",
                    f"{listed:.0f}", f"{100 * wrong / listed:.0f} %", f"{slope:.1f}",
                )  # fmt: skip


def _one_vote(
    rng: Rng, options: int, misleading: float, models: int
) -> tuple[float, ...]:
    """Models know or guess; on misleading prompts most that do not know are drawn to
    one wrong option."""
    n = 1500
    knows = rng.random((n, models)) < special.expit(
        rng.normal(1.2, 0.7, models) - rng.normal(0, 1.6, (n, 1))
    )
    pulled = rng.random(n) < misleading
    drawn = np.where(pulled, 0.97, rng.beta(2, 2, n))[:, None] > rng.random((n, models))
    knows &= ~(pulled[:, None] & (rng.random((n, models)) < 0.7))
    favourite = rng.integers(1, options, (n, 1))
    other = np.where(
        rng.random((n, models)) < 0.7, favourite, rng.integers(1, options, (n, models))
    )
    answers = np.where(knows | ~drawn, 0, other)
    wrong = rng.random(n) < 0.02
    keys = np.where(wrong, rng.integers(1, options, n), 0)
    estimate = wrong_keys(votes_for_options(answers, keys, options))
    verdict, listed = wrong.astype(float), estimate.posterior >= 0.1
    ours = score_audit(estimate.posterior, verdict).overall
    simple = score_audit(
        1 - estimate.votes_key / estimate.n_answered, verdict, thresholds=[]
    ).overall
    fit = recalibrate(estimate.posterior, verdict, np.ones(n))
    slope = np.nan if fit.coefficients is None else float(fit.coefficients[1])
    return (
        ours.average_precision or 0.0,
        simple.average_precision or 0.0,
        listed.sum(),
        wrong[listed].sum(),
        slope,
    )


def reversed_items(times: int, seed: int) -> Iterator[Row]:
    """Power and false flags of items against the rest: one ability, two that have
    nothing in common, none."""
    for models in (10, 29, 60, 140):
        for kind in (
            *(
                "0 %",
                "2 %",
                "10 %",
                "40 %",
                "60 %",
                "10 %, two abilities",
                "0 %, two abilities",
                "0 %, no ability",
            ),
        ):
            rng = np.random.default_rng([seed, models, *map(ord, kind)])
            share = float(kind.split(" ")[0]) / 100
            found, false = [], []
            for _ in range(times):
                y, turned = _answers(rng, models, 200, share, kind)
                flagged = discrimination(y).is_negative
                found += [flagged[turned].mean()] if turned.any() else []
                false.append(flagged[~turned].sum())
            power = f"{np.mean(found):.2f}" if found else "–"
            yield (
                f"{models}",
                kind,
                power,
                f"{np.mean(np.array(false) > 0):.2f}",
                f"{np.mean(false):.2f}",
            )


def _answers(
    rng: Rng, models: int, items: int, share: float, kind: str
) -> tuple[Floats, NDArray[np.bool_]]:
    ability = rng.normal(size=(models, 2))[
        :, np.arange(items) % 2 if "two" in kind else np.zeros(items, int)
    ]
    a = np.zeros(items) if "no " in kind else np.exp(rng.normal(0, 0.4, items))
    turned = rng.permutation(items) < round(share * items)
    p = special.expit(np.where(turned, -1, 1) * a * (ability - rng.normal(size=items)))
    return (rng.random((models, items)) < p).astype(float), turned


TABLES: tuple[tuple[str, str, Callable[[int, int], Iterator[Row]], float, Row], ...] = (
    ("audit", "rates", rates, 1.0, (
        "keys", "wrong", "sample", "for certain", "", "covers", "covers above 0.1", "width")),
    ("audit", "slopes", slopes, 0.8, (
        "slope", "wrong", "sample", "for certain", "fitted", "median slope", "covers")),
    ("audit", "two-options", two_options, 0.01, (
        "options", "misleading", "models", "average precision", "of 1 − p", "listed", "of them wrong", "slope")),
    ("items", "reversed", reversed_items, 0.2, (
        "models", "reversed", "found", "runs with a false one", "false ones a run")),
)  # fmt: skip


def main() -> None:
    times = (300, "samples of a cell; fewer where one takes longer")
    parser = script.parser_of(
        __doc__, "", {"times": times}
    )  # written are pages of the folder
    parser.add_argument("--only", choices=[name for _page, name, *_rest in TABLES])
    options = parser.parse_args()
    for page, name, make, share, header in TABLES:
        if options.only in (None, name):
            rows: list[Any] = []
            for row in make(max(3, round(share * options.times)), options.seed):
                print(*row, flush=True)
                rows.append(row)
            begin, end = (
                f"<!-- simulated {name}: {which} -->" for which in ("begin", "end")
            )
            lines = map(script.row, [header, ["---"] * len(header), *rows])
            script.write_between(
                options.output / f"methods_{page}.md", (begin, end), lines
            )


if __name__ == "__main__":
    main()
