"""The examples run as they stand, as a user would run them."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import tara

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples/python"
NOTEBOOK = EXAMPLES / "tour.ipynb"
# Examples that use libraries of tests/python/recipes.txt.
RECIPES = {"maskable_ppo.py", "rllib_ppo.py", "tensorboard_curves.py",
           "torchrl_ppo.py"}


def run_python(of_recipes, *arguments):
    """Returns what it prints."""
    python = sys.executable
    if of_recipes:
        python = os.environ.get("TARA_RECIPES_PYTHON")
        if not python:
            pytest.skip("TARA_RECIPES_PYTHON is not set: see bin/test")
    # Debian 12's PyTorch warns of NumPy 2.
    run = subprocess.run([python, "-W", "ignore", *arguments],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def run_example(name, *arguments):
    return run_python(name in RECIPES, EXAMPLES / name, *arguments)


def score_of(output):
    """Returns the score and the lower end of its interval, of a table."""
    numbers = re.search(r"(\d+\.\d)  \[(\d+\.\d), ", output)
    return float(numbers[1]), float(numbers[2])


def test_a_network_of_ones_own_learns_to_beat_greedy():
    printed = run_example("own_network.py", "--variant", "four_treasures",
                          "--generations", "2", "--games", "60")
    assert score_of(printed)[1] > 50, printed


def test_ppo_learns_to_beat_random():
    printed = run_example("ppo.py", "--updates", "10", "--games", "100")
    assert score_of(printed)[1] > 70, printed


@pytest.mark.parametrize("name, arguments", [
    ("maskable_ppo.py", ["--steps", "4096"]),
    ("torchrl_ppo.py", ["--steps", "4096"]),
    ("rllib_ppo.py", ["--iterations", "4", "--games", "200"]),
])
def test_ppo_of_a_library_learns_to_beat_random(name, arguments):
    printed = run_example(name, "--games", "50", *arguments)
    score = re.search(r"score of \d+ games: (\S+)", printed)[1]
    assert float(score) > 0.65


def test_a_player_of_ones_own_plays_a_match():
    printed = run_example("my_player.py", "--games", "20")
    assert "A: one action ahead" in printed
    assert score_of(printed)[1] > 50


def test_a_search_by_mctx_beats_greedy():
    pytest.importorskip("mctx")
    printed = run_example("gumbel_search.py", "--games", "20", "--sims", "8")
    assert score_of(printed)[1] > 50, printed


def test_games_are_looked_at(tmp_path):
    with tara.GameStore(tmp_path / "games.db", "w") as store:
        store.add(tara.selfplay("playouts", "high_kings_l1", 12,
                                options="sims=8"))
    printed = run_example("look_at_games.py", tmp_path)
    assert "high_kings_l1" in printed and "manoeuvres" in printed


def test_metrics_of_a_run_are_curves_of_tensorboard(tmp_path):
    (tmp_path / "metrics.jsonl").write_text(
        '{"event":"learning","generation":1,"loss":2.5,"policy_loss":null}\n'
        '{"event":"strength","generation":1,"variant":"high_kings_l1",'
        '"opponent":"greedy","score":0.75}\n{"event":"torn')
    run_example("tensorboard_curves.py", tmp_path)
    [curves] = (tmp_path / "tensorboard").iterdir()
    written = curves.read_bytes()
    assert b"learning/loss" in written and b"policy_loss" not in written
    assert b"strength/high_kings_l1/greedy/score" in written


HELP = """
import contextlib, io, runpy, sys
for path in sys.argv[1:]:
    sys.argv = [path, "--help"]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        assert end.code == 0, path
    assert "usage" in printed.getvalue(), path
"""


@pytest.mark.parametrize("of_recipes", [False, True])
def test_help_tells_what_an_example_does(of_recipes):
    """In one process each, which loads the libraries once."""
    names = {each.name for each in EXAMPLES.glob("*.py")} - {"gumbel_search.py"}
    names = names & RECIPES if of_recipes else names - RECIPES
    run_python(of_recipes, "-c", HELP,
               *(EXAMPLES / name for name in sorted(names)))


def test_help_tells_what_a_search_by_mctx_does():
    pytest.importorskip("mctx")
    assert "usage" in run_example("gumbel_search.py", "--help")


def execute_notebook(path, *arguments):
    return subprocess.run(
        [sys.executable, ROOT / "tools/execute_notebook.py", path, *arguments],
        capture_output=True, text=True, check=False)


def test_the_notebook_runs_in_a_fresh_kernel():
    run = execute_notebook(NOTEBOOK, "--check")
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_notebook_is_stored_with_its_pictures_and_small():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    pictures = [output for cell in cells for output in cell.get("outputs", [])
                if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) >= 5
    assert NOTEBOOK.stat().st_size < 400_000


def write_notebook(path, *sources):
    path.write_text(json.dumps({
        "cells": [{"cell_type": "code", "execution_count": None, "id": f"c{i}",
                   "metadata": {}, "outputs": [], "source": source}
                  for i, source in enumerate(sources)],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def test_a_cell_that_fails_is_named(tmp_path):
    notebook = tmp_path / "a.ipynb"
    write_notebook(notebook, "a = 1", "a / 0", "a")
    before = notebook.read_text()
    run = execute_notebook(notebook)
    assert run.returncode == 1
    assert f"{notebook}: cell 2 of 3 failed" in run.stderr
    assert "ZeroDivisionError" in run.stderr
    assert notebook.read_text() == before


def test_what_is_no_notebook_is_named(tmp_path):
    (tmp_path / "text.ipynb").write_text("a text")
    for path in (tmp_path / "none.ipynb", tmp_path / "text.ipynb"):
        run = execute_notebook(path)
        assert run.returncode == 1
        assert f"{path}: " in run.stderr and "Traceback" not in run.stderr


def test_outputs_are_renewed_and_compared_by_their_kinds(tmp_path):
    notebook = tmp_path / "a.ipynb"
    write_notebook(notebook, "print(1)\nprint(2)", "3")
    run = execute_notebook(notebook, "--check")
    assert run.returncode == 1 and "cell 1" in run.stderr
    assert execute_notebook(notebook).returncode == 0
    outputs = [cell["outputs"]
               for cell in json.loads(notebook.read_text())["cells"]]
    assert [output["text"] for output in outputs[0]] == [["1\n", "2\n"]]
    assert outputs[1][0]["data"] == {"text/plain": ["3"]}
    assert execute_notebook(notebook, "--check").returncode == 0
