"""The man page: all commands and options, in a language that groff understands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from warehouse.cli.command_table import COMMANDS
from warehouse.cli.ui.man_page import man_page
from warehouse.cli.ui.reference_docs import context_of


@pytest.fixture(scope="module")
def page() -> str:
    return man_page()


def test_every_command_and_option_is_there(page: str) -> None:
    plain = page.replace("\\-", "-")
    sections = dict(
        re.findall(r"^\.SS (.+)\n((?:(?!\.S[SH] ).*\n)*)", plain, re.MULTILINE)
    )
    assert set(sections) == set(COMMANDS)
    for name, text in sections.items():
        shown = [
            one
            for one in context_of(name).command.params
            if not getattr(one, "hidden", False)
        ]
        for option in (
            word
            for one in shown
            for word in one.opts
            if word.startswith("--") and word != "--help"
        ):
            assert option in text, (name, option)
        assert COMMANDS[name].examples[0] in text


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_understands_it(page: str, tmp_path: Path) -> None:
    path = tmp_path / "warehouse.1"
    path.write_text(page)
    call = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=100n", str(path)]
    done = subprocess.run(
        call, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"}
    )
    assert done.returncode == 0 and not done.stderr
    assert "ENVIRONMENT\n" in done.stdout and "prompts × models" in done.stdout
    assert "warehouse gate candidate baseline --margin 0.01" in done.stdout
