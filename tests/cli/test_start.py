"""How the program begins: Ctrl-C while it is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Presses Ctrl-C when a module is first asked for, then runs the program.
_PRESSED = """\
import os, runpy, signal, sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed())
from warehouse.cli.start import main
sys.exit(main(["--help"]))
"""


@pytest.mark.parametrize(
    "module", ["click", "warehouse.cli.main", "warehouse.cli.state"]
)
def test_ctrl_c_while_the_program_is_loaded_ends_it_with_a_line(module: str) -> None:
    """It had printed where in which import it was."""
    ended = subprocess.run(
        [sys.executable, "-c", _PRESSED, module],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "Error: interrupted\n"
