"""The examples run as they stand, as a user would run them."""

import pathlib
import re
import subprocess
import sys

import pytest
import tara

EXAMPLES = (pathlib.Path(__file__).resolve().parent.parent.parent /
            "examples/python")


def run_example(name, *arguments):
    # Debian 12's PyTorch warns of NumPy 2.
    return subprocess.run(
        [sys.executable, "-W", "ignore", EXAMPLES / name, *arguments],
        capture_output=True, text=True, check=False)


def score_of(output):
    """Returns the score and the lower end of its interval, of a table."""
    numbers = re.search(r"(\d+\.\d)  \[(\d+\.\d), ", output)
    return float(numbers[1]), float(numbers[2])


def test_a_network_of_ones_own_learns_to_beat_greedy():
    run = run_example("own_network.py", "--generations", "4", "--games", "60")
    assert run.returncode == 0, run.stderr
    assert score_of(run.stdout)[1] > 50, run.stdout


def test_a_player_of_ones_own_plays_a_match():
    run = run_example("my_player.py", "--games", "20")
    assert run.returncode == 0, run.stderr
    assert "A: one action ahead" in run.stdout
    assert score_of(run.stdout)[1] > 50


def test_games_are_looked_at(tmp_path):
    with tara.GameStore(tmp_path / "games.db", "w") as store:
        store.add(tara.selfplay("playouts", "high_kings_l1", 12,
                                options="sims=8"))
    run = run_example("look_at_games.py", tmp_path)
    assert run.returncode == 0, run.stderr
    assert "high_kings_l1" in run.stdout and "manoeuvres" in run.stdout


@pytest.mark.parametrize("name", sorted(
    each.name for each in EXAMPLES.glob("*.py")))
def test_help_tells_what_an_example_does(name):
    run = run_example(name, "--help")
    assert run.returncode == 0 and "usage" in run.stdout
