"""Settings: which one holds, where it came from, and what is wrong with a file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse import config
from warehouse.errors import InputError


def write(folder: Path, text: str) -> None:
    (folder / "warehouse.toml").write_text(text)


def test_the_default_holds_where_nobody_says_anything(tmp_path: Path) -> None:
    url = config.load(tmp_path, {}).url
    assert (url.value, url.origin) == ("duckdb:///warehouse.duckdb", "the default")


def test_flag_stands_above_environment_above_file(tmp_path: Path) -> None:
    write(tmp_path, '# mine\n[store]\nurl = "file.duckdb"\n')
    environment = {"WAREHOUSE_URL": "variable.duckdb"}
    found = [
        config.load(tmp_path, environment, url="flag.duckdb").url,
        config.load(tmp_path, environment).url,
        config.load(tmp_path, {"WAREHOUSE_URL": ""}).url,
    ]
    assert [(setting.value, setting.origin) for setting in found] == [
        ("flag.duckdb", "--db"),
        ("variable.duckdb", "$WAREHOUSE_URL"),
        ("file.duckdb", "warehouse.toml, line 3"),
    ]


def test_a_users_file_holds_where_the_folders_says_nothing(tmp_path: Path) -> None:
    here, mine = tmp_path / "here", tmp_path / "home" / ".config" / "warehouse"
    here.mkdir()
    mine.mkdir(parents=True)
    write(
        mine, '[store]\nurl = "mine.duckdb"\n[refresh]\nseed = 7\npermutations = 200\n'
    )
    write(here, "[refresh]\nseed = 8\n")
    elsewhere = {"XDG_CONFIG_HOME": str(tmp_path / "none")}
    found = config.load(here, {"HOME": str(tmp_path / "home")})
    assert (found.url.value, found.url.origin) == (
        "mine.duckdb",
        f"{mine / 'warehouse.toml'}, line 2",
    )
    assert (found.get("refresh.seed"), found.get("refresh.permutations")) == (8, 200)
    assert (
        config.load(here, {"XDG_CONFIG_HOME": str(mine.parent)}).get(
            "refresh.permutations"
        )
        == 200
    )
    assert (
        config.load(here, elsewhere | {"HOME": str(tmp_path / "home")}).get(
            "refresh.permutations"
        )
        is None
    )
    write(mine, "[refresh]\nsede = 7\n")
    with pytest.raises(
        InputError, match=r"home/.config/warehouse/warehouse.toml.*line 2.*refresh.sede"
    ):
        config.load(here, {"HOME": str(tmp_path / "home")})


def test_a_dotted_key_is_the_same_setting(tmp_path: Path) -> None:
    write(tmp_path, '\nstore . "url" = "file.duckdb"')
    assert config.load(tmp_path, {}).url.origin == "warehouse.toml, line 2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[store]\nurl = "a"\nurI = "b"',
            "line 3: unknown key 'store.urI'; expected one of store.url",
        ),
        (
            "# x\n\n[stroe]\nurl = 'a'",
            "line 3: unknown key 'stroe'; expected one of store",
        ),
        ("store.port = 1", "line 1: unknown key 'store.port'"),
        ("color = 1\n[store]", "line 1: unknown key 'color'"),
        ("[store]\nurl = 7", "line 2: store.url is 7; expected a text"),
        ("[store]\nurl = ''", "line 2: store.url is ''; expected a text"),
        ("store = 'a'", "line 1: store is 'a'; expected a table"),
        ("[store\nurl = 'a'", "not TOML: "),
        ("[alerts]\n\nmoved = 1", "line 3: alerts.moved is 1; expected true or false"),
        (
            "[alerts]\nalpha = true",
            "line 2: alerts.alpha is True; expected a number from 0 to 1",
        ),
        (
            "[alerts]\nmax_unscored = 5",
            "line 2: alerts.max_unscored is 5; expected a number",
        ),
        (
            "[alerts]\nmax_silence = '9'",
            "line 2: alerts.max_silence is '9'; expected an age such",
        ),
        (
            "[refresh]\nbaselines = 'a'",
            "line 2: refresh.baselines is 'a'; expected a list of texts",
        ),
        (
            "[refresh]\nseed = -1",
            "line 2: refresh.seed is -1; expected a whole number from 0",
        ),
        (
            "[refresh]\npermutations = 0",
            "line 2: refresh.permutations is 0; expected a whole",
        ),
        (
            "[refresh]\nresamples = true",
            "line 2: refresh.resamples is True; expected a whole",
        ),
        (
            "[refresh]\nbaseline = []",
            "expected one of refresh.baselines, refresh.families",
        ),
    ],
)
def test_a_fault_is_named_with_file_key_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        config.load(tmp_path, {})
    assert str(tmp_path / "warehouse.toml") in str(caught.value)
    assert message in str(caught.value)


def test_keys_have_types_and_say_where_they_stand(tmp_path: Path) -> None:
    write(
        tmp_path,
        "[refresh]\n"
        "baselines = ['a', 'b']\n"
        "[alerts]\n"
        "max_silence = '36h'\n"
        "moved = false",
    )
    found = config.load(tmp_path, {})
    assert found.get("refresh.baselines") == ["a", "b"]
    assert found.get("alerts.max_silence") == timedelta(hours=36)
    assert (
        found.get("alerts.moved") is False and found.get("alerts.worse", True) is True
    )
    assert found.tables == {"refresh", "alerts"}
    assert [(one.name, one.origin) for one in found.settings[4:]] == [
        ("refresh.baselines", "warehouse.toml, line 2"),
        ("alerts.max_silence", "warehouse.toml, line 4"),
        ("alerts.moved", "warehouse.toml, line 5"),
    ]


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_bytes(b"[store]\nurl = '\xff'")
    with pytest.raises(InputError, match="warehouse.toml: byte 15 is not UTF-8"):
        config.load(tmp_path, {})


# --- a folder may come from anybody ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[store]\nurl = 'postgresql://evals.example.org/warehouse'",
        "[store]\nurl = 'sail:?lake=s3://team/evals'",
        "[store]\nurl = '/elsewhere/evals.duckdb'",
        "[store]\nurl = 'duckdb:///../evals.duckdb'",
        "[store]\nurl = 'link.duckdb'",
        "[store]\nreader = 'warehouse_reader'",
        "[publish]\npath = '/elsewhere/copy.db'",
        "[alerts]\nwebhook = 'https://example.org/hook'",
        "[schedule]\nwatch = ['new/', '../other']",
        "[schedule]\nwatch = ['https://example.org/evals/']",
        "[schedule]\nreport = '../report.html'",
        "[schedule]\nlake = 's3://team/evals'",
        "[schedule]\nhealth = '/var/health.json'",
        "[ingest]\nmaps = { 'a/*.csv' = 'mine.toml', '*.csv' = '../other.toml' }",
    ],
)
def test_a_folders_own_file_leads_nowhere_else(tmp_path: Path, text: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "evals.duckdb").touch()
    (here / "link.duckdb").symlink_to(tmp_path / "evals.duckdb")
    write(here, text)
    (refused,) = config.load(here, {}).refused
    assert refused.startswith("warehouse.toml, line 2: ")
    assert (
        "leads out of this folder" in refused and "--config warehouse.toml" in refused
    )
    assert not config.load(here, {}, chosen="warehouse.toml").refused
    assert not config.load(here, {"WAREHOUSE_CONFIG": "warehouse.toml"}).refused


@pytest.mark.parametrize(
    "text",
    [
        "[store]\nurl = 'evals.duckdb'",
        "[store]\nurl = 'duckdb:///stores/evals.duckdb?threads=2'",
        "[publish]\npath = 'out/copy.db'",
        "[schedule]\n"
        "cron = '0 * * * *'\n"
        "watch = ['new/']\n"
        "report = 'report.html'\n"
        "health = 'health.json'",
        "[refresh]\nbaselines = ['org/a']\n[alerts]\nmax_unscored = 0.1",
        "[ingest.maps]\n'a/*.json' = 'eq_bench'\n'b.csv' = 'maps/b.toml'",
    ],
)
def test_what_lies_in_the_folder_may_be_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    assert not config.load(tmp_path, {}).refused


def test_what_stands_above_the_file_is_not_refused(tmp_path: Path) -> None:
    write(tmp_path, "[store]\nurl = 'postgresql://evals.example.org/warehouse'")
    assert not config.load(tmp_path, {}, url="mine.duckdb").refused
    assert not config.load(tmp_path, {"WAREHOUSE_URL": "mine.duckdb"}).refused


def test_the_default_store_may_not_be_a_link_to_another_one(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "warehouse.duckdb").symlink_to(tmp_path / "mine.duckdb")
    (refused,) = config.load(here, {}).refused
    assert refused.startswith("warehouse.duckdb is a link") and "--db" in refused
    assert not config.load(here, {}, url="warehouse.duckdb").refused


def test_a_chosen_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: there is no such file"):
        config.load(tmp_path, {}, chosen="none.toml")


def test_commands_obey(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    write(here, "[store]\nurl = 'evals.duckdb'\n")
    (here / "a.csv").write_text("model,benchmark,prompt_id,score\nada,quiz,q1,1\n")
    told = run("ingest", "a.csv")
    assert (
        told.code == 0
        and told.err.count("store: duckdb:///evals.duckdb (warehouse.toml, line 2)")
        == 1
    )
    assert "store:" not in run("-q", "list", "runs").err
    write(here, "[alerts]\nwebhook = 'https://example.org/secret'\n")
    refused = run("list", "runs")
    refused.fails(2, "warehouse.toml, line 2: alerts.webhook leads out of this folder")
    shown = run("config")
    assert (
        shown.code == 0
        and "refused: warehouse.toml, line 2" in shown.err
        and "secret" not in shown.err
    )
    assert (
        run("--config", "warehouse.toml", "--db", "evals.duckdb", "list", "runs").code
        == 0
    )
