"""The Python code of the documents runs as it stands."""

import itertools
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest
import tara
from tara import bench

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ["TARA_BINARY"]


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_page(page, capsys):
    """Runs a page's blocks of Python as one session in this folder.

    A block of text must be what was printed since the one before. What differs
    between processors stands in blocks without a language.
    """
    names, printed, shown = {}, "", ""
    for language, text in BLOCK.findall(
            (ROOT / page).read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(text, page, "exec"), names)  # pylint: disable=exec-used
            shown = capsys.readouterr().out
            printed += shown
        elif language == "text":
            assert shown.strip("\n") == text.strip("\n"), page
    assert printed


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/use_python.md"])
def test_the_code_runs(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TARA", str(ROOT))
    run_page(page, capsys)


def test_the_tutorial_prints_and_draws_what_it_shows(capsys, monkeypatch,
                                                     tmp_path):
    monkeypatch.chdir(tmp_path)
    run_page("docs/tutorial/python.md", capsys)
    # Numbers of the network's policy may differ between processors.
    drawn, stored = (re.sub(r"[\d.]+", "0", path.read_text()) for path in (
        tmp_path / "policy.svg", ROOT / "docs/tutorial/python.svg"))
    assert drawn == stored


def run_benchmark(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tara.bench", *arguments], capture_output=True,
        text=True, check=False, env={**os.environ, **environment})


def test_the_benchmark_runs():
    run = run_benchmark("--seconds", "0.05", "--variant", "four_treasures",
                        "--threads", "2", PATH="/nowhere", TARA_BINARY="")
    assert run.returncode == 0, run.stderr
    *rows, last = run.stdout.splitlines()
    assert rows[0].split() == ["random", "games", "million", "actions/s"]
    assert len(rows) == 5
    assert all(float(row.split()[-1]) > 0 for row in rows[1:])
    assert last.startswith("no self-play next to the C++ program")


def test_self_play_is_measured_beside_the_program(monkeypatch):
    assert bench._now(threads=1) > 0 and bench._now(threads=2) > 0
    # Games so few take less time than a program's start may differ by: by this
    # clock each call takes less than the one before.
    clock = itertools.count()
    monkeypatch.setattr(bench, "_now", lambda threads: math.sqrt(next(clock)))
    monkeypatch.setattr(bench, "SIMULATIONS", 2)
    monkeypatch.setattr(bench, "IN_STEP", 4)
    network = tara.load()
    variant = "four_treasures"
    assert bench._rate_of_program(
        PROGRAM, network, variant, 8, threads=2) == pytest.approx(
            8 / (1 - (math.sqrt(2) - 1)))
    monkeypatch.setattr(tara, "load", lambda: network)
    monkeypatch.setattr(bench, "TURNS", 1)
    rows = bench._self_play(PROGRAM, variant, threads=1, seconds=0.01)
    assert list(rows) == [f"{variant}: network", f"{variant}: zeros"]
    for ours, its, ratio in rows.values():
        assert ours > 0 and its > 0
        assert ratio == ours / its


@pytest.mark.parametrize("arguments, environment, message", [
    (["--program", "/nowhere/tara"], {}, "--program: /nowhere/tara; expected"),
    ([], {"TARA_BINARY": "/no/tara"}, "TARA_BINARY: /no/tara; expected"),
])
def test_a_program_that_is_none_is_an_error(arguments, environment, message):
    run = run_benchmark(*arguments, **environment)
    assert run.returncode == 2
    assert message in run.stderr


def test_the_benchmark_says_which_library_is_missing():
    run = run_benchmark("--peers")
    assert run.returncode == 1
    assert "pgx" in run.stderr and "pip install" in run.stderr
