"""What a user installs: the same files from a checkout, a wheel and a source archive."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from packaging.requirements import Requirement

from tests.support.pages import blocks

ROOT = Path(__file__).resolve().parents[1]
SETTINGS: dict[str, Any] = tomllib.loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8")
)
SETUPTOOLS = SETTINGS["tool"]["setuptools"]
FOLDERS = {name: ROOT / folder for name, folder in SETUPTOOLS["package-dir"].items()}
PLUGINS = SETTINGS["project"]["entry-points"]["warehouse.importers"]


def shipped_files() -> set[str]:
    """Every file of the mapped folders, under the name it has once installed."""
    return {
        "/".join([*package.split("."), *path.relative_to(folder).parts])
        for package, folder in FOLDERS.items()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__" and path.name[0] != "."
    }


def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def contents(wheel: Path) -> dict[str, int]:
    """Every file with its checksum: also what is declared, on which an installation
    goes."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist()}


def test_each_package_of_the_base_is_on_the_page_of_sizes_and_no_other() -> None:
    """A plain install does not grow unnoticed: what it costs and gives is said there."""
    page = (ROOT / "docs/reference/size.md").read_text(encoding="utf-8")
    told = {
        name.lower()
        for line in page.splitlines()
        if line.startswith("| ")
        for name in re.split(r", (?:with )?| and ", line.split(" | ")[0].strip("| "))
    }
    wanted = {
        Requirement(text).name.lower() for text in SETTINGS["project"]["dependencies"]
    }
    assert wanted <= told
    brought = {"pygments", "markdown-it-py", "mdurl", "mako", "markupsafe"}
    brought |= {"anyio", "h11", "idna", "psycopg-binary"}
    assert told - wanted == brought | {"package", "---", "eval-warehouse", "**all**"}


def run(command: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path, out: Path) -> Path:
    """Call the build backend as an installer does, in `source`; the archive it makes."""
    out.mkdir()
    code = f"from setuptools import build_meta as b; b.build_{kind}({str(out)!r})"
    run([sys.executable, "-c", code], source)
    return next(out.iterdir())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the build reads: a build leaves folders behind, which the next one
    ships."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in FOLDERS.values():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, copy / folder.relative_to(ROOT), ignore=ignored)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", source, tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", source, tmp_path_factory.mktemp("sdist") / "dist")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked, which is what installing a pure one does."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def packages_on_disk() -> Iterator[str]:
    for package, folder in FOLDERS.items():
        for init in folder.rglob("__init__.py"):
            yield ".".join([package, *init.parent.relative_to(folder).parts])


def test_every_folder_of_code_is_listed() -> None:
    assert sorted(packages_on_disk()) == sorted(SETUPTOOLS["packages"])


def test_wheel_holds_every_file_and_nothing_else(wheel: Path) -> None:
    assert wheel_files(wheel) == shipped_files()


def test_wheel_installs_one_name(wheel: Path) -> None:
    assert {name.split("/")[0] for name in wheel_files(wheel)} == {"warehouse"}


@pytest.mark.rare
def test_source_archive_gives_the_same_wheel(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    run(
        [sys.executable, "-m", "tarfile", "--extract", str(sdist), "unpacked"], tmp_path
    )
    unpacked = next((tmp_path / "unpacked").iterdir())
    assert contents(build("wheel", unpacked, tmp_path / "wheel")) == contents(wheel)


@pytest.mark.rare
def test_wheel_declares_command_and_plugins(installed: Path) -> None:
    declared = configparser.ConfigParser()
    declared.read(next(installed.glob("*.dist-info")) / "entry_points.txt")
    assert dict(declared["console_scripts"]) == {
        "warehouse": "warehouse.cli.start:main"
    }
    assert dict(declared["warehouse.importers"]) == PLUGINS


def test_installed_wheel_finds_its_parts(installed: Path, tmp_path: Path) -> None:
    """Run from an empty folder: command, SQL and migrations come from the wheel's own
    files."""
    code = """
        from importlib.resources import files
        import warehouse.cli.main
        print(warehouse.cli.main.__file__)
        for part in ("queries/views", "migrations/versions"):
            package, folder = part.split("/")
            for file in files(f"warehouse.{package}").joinpath(folder).iterdir():
                print(file)
    """
    lines = code.strip().replace("\n        ", "\n")
    shown = run(
        [sys.executable, "-P", "-c", lines], tmp_path, PYTHONPATH=str(installed)
    )
    places = [Path(line) for line in shown.splitlines()]
    assert all(place.is_relative_to(installed) for place in places)
    assert {".py", ".sql"} <= {place.suffix for place in places}


def test_an_index_would_take_both_archives(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    """What it checks of them, the page of the project (the README) too."""
    checked = run(
        [
            sys.executable,
            "-m",
            "twine",
            "--no-color",
            "check",
            "--strict",
            str(sdist),
            str(wheel),
        ],
        tmp_path,
    )
    assert checked.count("PASSED") == 2, checked


#: Asked of what was installed after the rows of the README: SQL, migrations, importers,
#: words, cards.
ASKED = """
warehouse report
warehouse compare model-a model-b --benchmark quiz
warehouse query hardest_prompts -p benchmark=quiz
warehouse card model-a
warehouse store check
warehouse help rank-set
warehouse help output
python -c "import warehouse; print(warehouse.__file__)"
"""


def link_what_it_needs(needs: Iterator[Requirement], packages: Path) -> None:
    """What is declared, and what that declares in turn: here already, and pip would
    unpack all of it again."""
    for need in needs:
        found = distribution(need.name)
        for top in {file.parts[0] for file in found.files or ()} - {
            "..",
            "__pycache__",
        }:
            if not (packages / top).exists():
                (packages / top).symlink_to(found.locate_file(top))
        link_what_it_needs(needed_by(found.requires or [], need.extras), packages)


def needed_by(declared: list[str], extras: set[str]) -> Iterator[Requirement]:
    """Of what a distribution declares, what is wanted with these extras of it."""
    for need in map(Requirement, declared):
        if need.marker is None or any(
            need.marker.evaluate({"extra": extra}) for extra in extras or {""}
        ):
            yield need


@pytest.mark.parametrize(  # the archive gives the same wheel: see above
    "kind",
    [
        pytest.param("wheel", marks=pytest.mark.rare),
        pytest.param("sdist", marks=pytest.mark.slow),
    ],
)
def test_an_archive_alone_answers_in_a_bare_environment(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Only what it declares is there, no variable and an empty home: the rows of the
    README go in, answers, a page and a server come out. In place of a container, which
    cannot be had everywhere."""
    archive, bare = request.getfixturevalue(kind), tmp_path / "bare"
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    run([sys.executable, "-m", "venv", "--without-pip", str(bare)], tmp_path)
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(bare / "bin" / "python"),
        "install",
        "--quiet",
    ]
    if kind == "wheel":  # the other has them from the index, at night
        needs = needed_by(SETTINGS["project"]["dependencies"], set())
        link_what_it_needs(needs, next(bare.glob("lib/*/site-packages")))
        install.append("--no-deps")
    run(
        [*install, "--no-compile", "--disable-pip-version-check", str(archive)],
        tmp_path,
    )
    environment = {"PATH": f"{bare / 'bin'}{os.pathsep}{os.defpath}", "HOME": str(home)}
    (pasted,) = blocks(
        (ROOT / "README.md").read_text(encoding="utf-8"), "sh", mark="four rows"
    )
    command = ["sh", "-ec", f"{pasted}{ASKED}"]
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "model-a and model-b cannot be told apart" in done.stdout
        and "rank-set: The places" in done.stdout
    )
    assert Path(done.stdout.splitlines()[-1]).is_relative_to(bare)
    assert "model-a" in (work / "report.html").read_text(encoding="utf-8")
    serve = [str(bare / "bin" / "warehouse"), "serve", "--port", "0"]
    with subprocess.Popen(
        serve, cwd=work, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = re.findall(r"http://[^/\s]+", server.stdout.readline())[0]
            for path, words in (
                ("/", "model-a"),
                ("/static/style.css", ".heat"),
                ("/static/script.js", "fetch"),
            ):
                with urlopen(f"{address}{path}", timeout=60) as answer:
                    assert words in answer.read().decode()
        finally:
            server.terminate()


@pytest.mark.parametrize("name", PLUGINS)
def test_own_importers_load_like_those_of_others(name: str) -> None:
    importer = EntryPoint(name, PLUGINS[name], "warehouse.importers").load()
    assert importer.name == name
