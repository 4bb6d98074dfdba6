"""Ids of one benchmark that files write in several ways: models share no prompt by
them, and are told why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller

MAPPING = """
[run]
model = "model"
benchmark = "benchmark"
[sample]
prompt_id = { path = "prompt_id", pattern = '(\\d+)[.]0' }
[[scores]]
metric = "score"
value = "score"
"""


def table(path: Path, model: str, ids: list[str]) -> str:
    lines = [f"{model},sums,{name},{number % 2}" for number, name in enumerate(ids)]
    path.write_text("\n".join(["model,benchmark,prompt_id,score", *lines]))
    return str(path)


def _written(spelling: str, number: int) -> str:
    """A number as a file may have it; wide digits as some editors write them."""
    return (
        spelling.replace("{}", f"{number % 10}")
        if "\uff11" in spelling
        else spelling.format(number)
    )


@pytest.mark.parametrize("spelling", ["{}.0", "00{}", "{} ", "\uff11{}"])
def test_ids_that_differ_in_how_they_are_written_are_told(
    run: Caller, store_url: str, tmp_path: Path, spelling: str
) -> None:
    first = table(tmp_path / "a.csv", "a", [f"{number}" for number in range(11, 19)])
    second = table(
        tmp_path / "b.csv",
        "b",
        [_written(spelling, number) for number in range(12, 19)],
    )
    assert "write otherwise" not in run("ingest", first, db=store_url).err
    said = run("ingest", second, db=store_url).err
    assert (
        "sums: 7 prompts have ids that others write otherwise, such as" in said
        and "warehouse fix forget" in said
    )
    assert (
        "write otherwise"
        not in run(
            "ingest", table(tmp_path / "c.csv", "c", ["11", "12"]), db=store_url
        ).err
    )


def test_the_advice_joins_them(run: Caller, store_url: str, tmp_path: Path) -> None:
    ids = [f"{number}" for number in range(1, 9)]
    files = [
        table(tmp_path / "b.csv", "b", [f"{name}.0" for name in ids]),
        table(tmp_path / "a.csv", "a", ids),
    ]
    assert "'1' and '1.0'" in run("ingest", *files, db=store_url).err
    run("fix", "forget", files[0], db=store_url)
    (tmp_path / "alike.toml").write_text(MAPPING)
    assert (
        "otherwise"
        not in run(
            "ingest", files[0], "--map", str(tmp_path / "alike.toml"), db=store_url
        ).err
    )
    assert run("compare", "a", "b", "--json", db=store_url).rows[0]["n_prompts"] == 8


def test_ids_of_one_file_are_its_own(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    parts = (
        table(tmp_path / "a.csv", "a", ["1", "1.0", "A", "a"]),
        table(tmp_path / "b.csv", "b", ["x", "y", "1", "a"]),
    )
    assert all(
        "write otherwise" not in run("ingest", part, db=store_url).err for part in parts
    )


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("ids", ["{n}", "run-{model}-{n}"])
def test_models_that_share_no_prompt_are_told(
    run: Caller, store_url: str, tmp_path: Path, ids: str, together: bool
) -> None:
    numbers = {"b": range(20, 40), "a": range(1, 21)}  # one in common
    files = [
        table(
            tmp_path / f"{model}.csv",
            model,
            [ids.format(model=model, n=n) for n in those],
        )
        for model, those in numbers.items()
    ]
    said = [
        run("ingest", *part, db=store_url).err
        for part in ([files] if together else [[files[0]], [files[1]]])
    ]
    assert "sums: a (20 prompts) and b (20) share next to none" in said[-1]
    assert "warehouse fix forget" in said[-1] and "share next to none" not in "".join(
        said[:-1]
    )


@pytest.mark.parametrize(
    ("models", "sizes", "told"),
    [
        ("aa", (20, 20), ""),  # the rest of what one model answered
        ("ab", (20, 8), ""),  # a part, by its size
        ("ab", (20, 20), ",question"),  # other questions, by their texts
        ("ab", (20, 20), ",n_benchmark"),  # parts of what is said to be larger
    ],
)
def test_parts_that_are_apart_by_design_are_not_told(
    run: Caller,
    store_url: str,
    tmp_path: Path,
    models: str,
    sizes: tuple[int, int],
    told: str,
) -> None:
    said = ""
    for place, (model, size) in enumerate(zip(models, sizes, strict=True)):
        more = {",question": ",what is {}?", ",n_benchmark": ",400"}.get(told, "")
        rows = [
            f"{model},sums,{n},{n % 2}{more.format(n)}"
            for n in range(100 * place, 100 * place + size)
        ]
        (tmp_path / f"{place}.csv").write_text(
            "\n".join([f"model,benchmark,prompt_id,score{told}", *rows])
        )
        said += run("ingest", str(tmp_path / f"{place}.csv"), db=store_url).err
    assert "share next to none" not in said


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        ("meta-llama/Llama-3.1-8B", "llama-3_1-8b", True),
        ("GPT 4", "gpt4", True),
        ("a/m-1", "b/m-1", False),
        ("mix-1-1", "mix-11", False),
        ("judge", "judge+", False),
    ],
)
def test_names_that_differ_in_how_they_are_written_are_told(
    run: Caller, store_url: str, tmp_path: Path, first: str, second: str, is_told: bool
) -> None:
    said = [
        run("ingest", table(tmp_path / f"{at}.csv", name, ["1"]), db=store_url).err
        for at, name in enumerate((first, second))
    ]
    note = (
        f"models that differ only in how they are written: {second!r} and {first!r}; "
        "if two are one: warehouse fix alias"
    )
    assert ("differ only" not in said[0], note in said[1]) == (True, is_told)
