"""The special functions are those of scipy itself, whichever way they were loaded."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from subprocess import run

import scipy.special

import warehouse.stats
from warehouse.stats.core import special

STATS = Path(warehouse.stats.__file__).parent
NAMES = sorted(
    {
        name
        for file in STATS.rglob("*.py")
        for name in re.findall(r"\bspecial\.([a-z]\w*)\(", file.read_text())
    }
)

ALONE = """
import sys
from warehouse.stats.core import special
first = {name: getattr(special, name) for name in sys.argv[1:]}
assert "scipy.special._ufuncs" in sys.modules and "scipy.special" not in sys.modules and "numpy.f2py" not in sys.modules
import scipy.special
import scipy.stats
assert all(getattr(scipy.special, name) is function for name, function in first.items())
assert scipy.stats.norm.ppf(0.975) == special.ndtri(0.975)
special.logsumexp([0.0, 1.0])
"""
BESIDE_A_THREAD = """
import sys, threading
from warehouse.stats.core import special
wait = threading.Event()
threading.Thread(target=wait.wait).start()
try:
    special.ndtri(0.975)
    assert "scipy.special" in sys.modules
finally:
    wait.set()
"""
ELSEWHERE = """
import sys
from warehouse.stats.core import special
special._COMPILED = "scipy.special._nothing"
assert special.ndtri(0.975) > 1.9
assert sys.modules["scipy.special"].ndtri is special.ndtri
"""


def test_the_functions_are_scipys() -> None:
    assert {"ndtri", "stdtrit", "betaincinv"} <= set(NAMES)
    for name in NAMES:
        assert getattr(special, name) is getattr(scipy.special, name)


def test_they_load_without_the_package_and_it_loads_after_them() -> None:
    of_package = {"logsumexp", "zeta"}
    assert of_package <= set(NAMES)
    run(
        [sys.executable, "-W", "error", "-c", ALONE, *sorted(set(NAMES) - of_package)],
        check=True,
    )


def test_another_thread_never_sees_half_a_package() -> None:
    run([sys.executable, "-c", BESIDE_A_THREAD], check=True)


def test_a_scipy_whose_parts_lie_elsewhere_is_loaded_as_a_whole() -> None:
    run([sys.executable, "-c", ELSEWHERE], check=True)
