"""`check_importer` finds settings that an importer drops, and takes dumps of votes and
of scans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from warehouse.importers import importers
from warehouse.ingest.discover import discover
from warehouse.testing import check_importer
from warehouse.testing.findings import Checked, Findings
from warehouse.testing.importer_settings import SettingsProof

pytestmark = [pytest.mark.engine]

#: An importer of a document that says how a run was made, with a file of answers.
DIALS = """
import json
import tomllib
from pathlib import Path

import pyarrow as pa
import yaml

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.records import Dump, MetricSpec, RunHeader, SourceFiles
from warehouse.records.dump import SCAN_SCHEMA, VOTE_SCHEMA, Scan

READERS = {".json": json.loads, ".toml": tomllib.loads, ".yaml": yaml.safe_load}
FAULTS = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
RIGHT = MetricSpec("right", kind="binary", higher_is_better=True)


class Dials:
    name = "dials"
    version = "1"

    def claim(self, candidates):
        files = [file.path for file in candidates]
        for path in files:
            if path.stem == "run":
                others = [other for other in files if other.stem == "answers"]
                yield SourceFiles(str(path), path.parent, (path, *others))

    def read(self, source, settings):
        try:
            return dump_of(*source.files)
        except (*FAULTS, yaml.YAMLError) as error:
            raise InputError(str(error), path=source.name) from error


def dump_of(path, *answers):
    said = READERS[path.suffix](path.read_text())
    header = RunHeader(
        "dials", said["model"], "quiz", configuration=taken(said), metrics=(RIGHT,)
    )
    lines = [line for file in answers for line in file.read_text().splitlines()]
    rows = [row_of(place, json.loads(line)) for place, line in enumerate(lines)]
    return Dump((header,), [batch_of(rows)])


def row_of(place, answer):
    score = {"metric": "right", "value": float(answer["right"])}
    return {
        "run": 0,
        "position": place,
        "prompt_id": answer["id"],
        "response": answer["said"],
        "scores": [score],
    }


def taken(said):
    return said


IMPORTER = Dials()
"""
#: What says how the run was made; what does not matter stands in the table.
RUN = {
    "model": "ada",
    "decoder": {"beam": 4, "greedy": True, "stop": ["a", "b", "c"]},
    "api_key": "k",
    "seconds": 3.5,
}
ANSWER = {"id": "q1", "said": "yes", "right": 1}


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes an importer of code the only one that there is."""

    def put(code: str) -> None:
        module = ModuleType("of_a_stranger")
        exec(compile(code, "of_a_stranger.py", "exec"), module.__dict__)
        only = {"dials": module.IMPORTER}
        monkeypatch.setattr("warehouse.ingest.discover.importers", lambda: only)

    assert "dials" not in importers()
    return put


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(RUN))
    (folder / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n")
    return folder


def tried(dump: Path, *configuration: str, outcomes: str = "") -> Checked:
    """What comes of the trial of settings alone."""
    findings = Findings("importer of dump")
    SettingsProof(
        findings, dump, lambda: discover([dump]), configuration, outcomes
    ).try_all()
    return findings.result()


def dropping(*names: str) -> str:
    """The importer without some settings."""
    return DIALS.replace(
        "    return said\n", f"    return pruned(said, {set(names)!r})\n"
    ).replace(
        "IMPORTER =",
        """
def pruned(value, names):
    if not isinstance(value, dict):
        return value
    return {key: pruned(item, names) for key, item in value.items() if key not in names}


IMPORTER =""",
    )


def test_an_importer_that_takes_all_is_proven(install: Any, dump: Path) -> None:
    before = {path.name: path.read_text() for path in dump.iterdir()}
    install(DIALS)
    checked = tried(dump)
    # model, beam, greedy, two of three stops and seconds; not the key
    assert checked.tried == {"settings": 6}
    assert [text.partition(":")[0] for text in checked.left_out] == [
        "settings in answers.jsonl"
    ]
    assert {path.name: path.read_text() for path in dump.iterdir()} == before


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", json.dumps(RUN)),
        (".yaml", "model: ada\ndecoder: {beam: 4, greedy: true}\nday: 2026-01-02\n"),
        (".toml", 'model = "ada"\n[decoder]\nbeam = 4\n"odd é key" = [1, {a = 2}]\n'),
    ],
)
def test_a_setting_that_is_dropped_is_named(
    install: Any, dump: Path, suffix: str, text: str
) -> None:
    (dump / "run.json").unlink()
    (dump / f"run{suffix}").write_text(text)
    install(DIALS)
    assert tried(dump).tried["settings"] >= 4
    install(dropping("beam"))
    said = rf"1 wrong\n- settings: run{suffix}: nothing changes with decoder.beam = 4: "
    with pytest.raises(AssertionError, match=said):
        tried(dump)


def test_an_outcome_is_none_where_the_caller_says_so(install: Any, dump: Path) -> None:
    install(dropping("seconds", "stop"))
    wrong = r"with decoder.stop.0 = 'a', decoder.stop.1 = 'b', seconds = 3.5: "
    with pytest.raises(AssertionError, match=wrong):
        tried(dump)
    assert tried(dump, outcomes=r"seconds|^decoder\.stop").tried == {"settings": 3}


def test_a_note_keeps_no_two_runs_apart(install: Any, dump: Path) -> None:
    code = dropping("beam").replace('"quiz",', '"quiz", note=str(said["decoder"]),')
    install(code)
    with pytest.raises(AssertionError, match="nothing changes with decoder.beam = 4"):
        tried(dump)


def test_a_setting_of_a_row_alone_is_dropped(install: Any, dump: Path) -> None:
    """Rows of another prompt text are no other condition: where the file is named it is
    a fault, else it holds samples, for all one can see."""
    code = dropping("beam").replace(
        "rows = [", "beam = said['decoder']['beam']\n    rows = ["
    )
    code = code.replace("json.loads(line))", "json.loads(line), beam)")
    code = code.replace("(place, answer)", "(place, answer, beam)")
    install(code.replace('"run": 0,', '"run": 0, "text": str(beam),'))
    with pytest.raises(AssertionError, match="nothing changes with decoder.beam = 4"):
        tried(dump, "run.json")
    checked = tried(dump)
    assert "settings" not in checked.tried
    (left_out,) = checked.left_out
    assert left_out.startswith("settings in answers.jsonl, run.json: ")


def test_an_importer_that_breaks_of_another_value(install: Any, dump: Path) -> None:
    check = "    assert said['decoder']['beam'] == 4\n    return said\n"
    install(DIALS.replace("    return said\n", check))
    said = "- settings: run.json: decoder.beam = 4, changed: AssertionError: "
    with pytest.raises(AssertionError, match=said):
        tried(dump)


def test_files_that_are_named_must_be_there(install: Any, dump: Path) -> None:
    install(DIALS)
    with pytest.raises(AssertionError, match="no file of the dump is called \\*.toml"):
        tried(dump, "*.toml")
    assert tried(dump, "r*.json").left_out == ()


def test_what_is_read_otherwise_when_written_anew_is_not_tried(
    install: Any, dump: Path
) -> None:
    (dump / "run.json").write_text(json.dumps(RUN, indent=1))
    install(DIALS.replace("taken(said),", "{'n': path.stat().st_size},"))
    (first, _) = tried(dump).left_out
    assert first == "settings in run.json: written anew, it is read otherwise"


@pytest.mark.rare
def test_the_whole_proof_tries_settings(install: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("model: ada\ndecoder: {beam: 4}\n")
    install(dropping("beam"))
    with pytest.raises(
        AssertionError, match="settings: run.yaml: nothing changes with"
    ):
        check_importer(path)
    checked = check_importer(path, configuration="*.yaml", outcomes=r"\bbeam")
    assert checked.tried["settings"] == 1


# --- votes and scans ---------------------------------------------------------------------------

#: What makes of the lines of a file votes, and what makes of them a scan.
VOTES = """
def dump_of(path, *answers):
    lines = path.read_text().splitlines()
    votes = [vote_of(place, json.loads(line)) for place, line in enumerate(lines)]
    return Dump((), (), votes=[pa.RecordBatch.from_pylist(votes, schema=VOTE_SCHEMA)])


def vote_of(place, said):
    won = said["won"]
    return {
        "benchmark": "arena", "prompt_id": said["id"], "model_a": said["a"],
        "model_b": said["b"], "outcome": won, "scorer": "people",
    }


IMPORTER ="""
SCAN = """
def dump_of(path, *answers):
    values = [value_of(*line.split(" ")) for line in path.read_text().splitlines()]
    batch = pa.RecordBatch.from_pylist(values, schema=SCAN_SCHEMA)
    return Dump((), (), scan=Scan("s1", (RIGHT,), [batch]))


def value_of(uuid, value):
    told = {"metric": 0, "uuid": uuid, "position": 0, "status": "scored"}
    return {**told, "value": float(value)}


IMPORTER ="""


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    vote = {"id": "q1", "a": "ada", "b": "bob", "won": "a"}
    votes = [vote, vote | {"id": "q2", "won": "b"}, vote | {"id": "q3", "won": "b"}]
    path.write_text("".join(f"{json.dumps(item)}\n" for item in votes))
    return path


@pytest.mark.rare
def test_a_dump_of_votes_is_proven(install: Any, votes: Path) -> None:
    install(DIALS.replace("\nIMPORTER =", VOTES))
    checked = check_importer(votes.rename(votes.with_suffix(".txt")))
    assert checked.tried["known again"] == 2 and checked.tried["forgotten"] == 1


@pytest.mark.rare
def test_votes_that_hang_on_the_order_of_lines(install: Any, votes: Path) -> None:
    by_place = VOTES.replace('said["won"]\n', '"a" if place == 0 else said["won"]\n')
    install(DIALS.replace("\nIMPORTER =", by_place))
    with pytest.raises(
        AssertionError, match="1 wrong\n- lines in another order: other"
    ):
        check_importer(votes)


@pytest.mark.rare
def test_a_dump_of_a_scan_is_proven(install: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("u1 1\nu2 0\n")
    install(DIALS.replace("\nIMPORTER =", SCAN))
    assert check_importer(path).tried["known again"] == 2
    install(
        DIALS.replace("\nIMPORTER =", SCAN.replace("[value_of", "[][:0] and [value_of"))
    )
    said = "1 wrong\n- read: it holds no run, no vote and nothing that a scanner found"
    with pytest.raises(AssertionError, match=said):
        check_importer(path)
