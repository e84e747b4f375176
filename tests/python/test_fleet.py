"""One run on a cluster of Ray: real ones, of this machine and in namespaces."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest
import ray
import tara.fleet
import yaml
from fleet_chaos import digest
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.cluster_utils import Cluster

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent.parent / "configs/tiny.textproto"
FAST = ["--set", "evaluation.opponent=random", "--set",
        "inference.backend=onednn"]


def fleet(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "tara.fleet", *map(str, arguments)],
        capture_output=True, text=True, check=False, **options)


def alone(config, run_dir):
    subprocess.run([os.environ["TARA_BINARY"], "train", config, "--set",
                    f"run_dir={run_dir}", *FAST],
                   check=True, capture_output=True)


def patched(folder, lines):
    """Returns an environment in which workers play games in another way."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "from tara import _tara\nPlayer = _tara._BlockPlayer\n" + lines)
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(folder), *([path] if path else [])])}


def test_a_run_on_this_machine_is_the_run_of_train(tmp_path):
    alone(TINY, tmp_path / "alone")
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'fleet'}", *FAST)
    assert run.returncode == 0, run.stderr
    assert re.search(r"1 nodes, \d+ cores", run.stderr)
    assert "ckpt-000002 at 8 simulations" in run.stdout
    assert digest(tmp_path / "fleet") == digest(tmp_path / "alone")


@pytest.mark.skipif(
    subprocess.run(["unshare", "--map-root-user", "--net", "true"],
                   check=False, capture_output=True).returncode != 0 or
    shutil.which("ip") is None,
    reason="no network namespaces, or no `ip`")
def test_a_cluster_that_is_broken_all_the_time_makes_the_same_run(tmp_path):
    """Nodes with addresses of their own; kill -9, freezes, cut links."""
    run = subprocess.run(
        [sys.executable, HERE / "fleet_chaos.py", "--seconds", "40",
         "--generations", "30", "--nodes", "2", "--seed", "2", "--folder",
         tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the same run" in run.stdout


def test_ctrl_c_stops_a_run_and_the_same_command_goes_on(tmp_path):
    command = [sys.executable, "-m", "tara.fleet", "train", TINY, "--set",
               f"run_dir={tmp_path / 'fleet'}", "--set", "generations=4", *FAST]
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "learning" in line:
                process.send_signal(signal.SIGINT)
                break
        errors = process.stderr.read()
        assert process.wait() == 130, errors
    assert "the same command goes on" in errors
    run = fleet(*command[3:])
    assert run.returncode == 0, run.stderr


def test_a_game_that_kills_its_worker_is_named_with_what_replays_it(tmp_path):
    env = patched(tmp_path / "patch", """
import os, ray
class Poisoned(Player):
    def play(self, games, node):
        if 4 in games and ray.is_initialized():
            os.kill(os.getpid(), 9)
        return super().play(games, node)
_tara._BlockPlayer = Poisoned
""")
    run_dir = tmp_path / "run"
    run = fleet("train", TINY, "--set", f"run_dir={run_dir}", *FAST, env=env)
    assert run.returncode == 1, run.stderr
    assert "game 4 of generation 0 has killed its worker 3 times" in run.stderr
    command = re.search(r"tara fleet (replay .*)", run.stderr)[1].split()
    with tara.GameStore(run_dir) as store:
        assert list(store.indices()) == [0, 1, 2, 3, 5]  # all others
    again = fleet(*command)
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("game 4: ")
    assert fleet(*command[:-1], "99").returncode == 1


@pytest.fixture(name="cluster")
def cluster_of_ray():
    """Returns a function that starts a node in each environment."""
    nodes = Cluster()

    def add(**arguments):
        for left in reversed(range(3)):  # as a fleet starts Ray
            try:
                nodes.add_node(**arguments)
                return
            except Exception:  # after half a minute
                if left == 0:
                    raise

    add(num_cpus=0, include_dashboard=False)

    def start(*environments):
        for each in environments:
            add(num_cpus=1, env_vars=each)
        return nodes.address

    yield start
    nodes.shutdown()


def test_a_node_that_falsifies_games_is_caught(tmp_path, cluster):
    """It plays one game of a block by another network, and denies it."""
    liar = patched(tmp_path / "patch", """
import tara
class Liar(Player):
    def __init__(self, checkpoint, request):
        super().__init__(checkpoint, request)
        self.other = Player(tara.__path__[0] + "/models/tara.tara", request)
    def play(self, games, node):
        false = self.other.play(games[:1], node)
        # Messages one after another are one of all games.
        return false + (super().play(games[1:], node) if games[1:] else b"")
_tara._BlockPlayer = Liar
""")
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *FAST,
                "--set", "self_play.games_per_generation=40", "--audit", "1",
                "--address", cluster(None, liar))
    assert run.returncode == 1, run.stderr
    assert re.search("was played differently on .* and on ", run.stderr)


def test_a_node_that_computes_otherwise_waits(tmp_path, cluster):
    other = patched(tmp_path / "patch",
                    "class Other(Player):\n"
                    "    def numeric_class(self):\n"
                    "        return 'other-numbers'\n"
                    "_tara._BlockPlayer = Other\n")
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *FAST,
                "--address", cluster(other))
    assert run.returncode == 1, run.stderr
    assert re.search("no node can play: .* computes other-numbers, the driver",
                     run.stderr)


def test_ray_is_started_again_where_it_is_too_slow(monkeypatch):
    started = []

    def init(**arguments):
        started.append(arguments["address"])
        if len(started) != 3:
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    tara.fleet._connect(None)
    assert started == ["local"] * 3
    with pytest.raises(tara.fleet.FleetError, match="does not start.*timed"):
        tara.fleet._connect(None)
    assert len(started) == 6


def closed_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.parametrize("arguments, status, words", [
    ([], 2, "expected|required"),
    (["train"], 2, "CONFIG"),
    (["train", TINY, "--audit", "2"], 2, "--audit 2.0: expected 0 to 1"),
    (["train", TINY, "--address", "127.0.0.1:PORT"], 1,
     "--address 127.0.0.1:[0-9]+: no cluster of Ray"),
    (["train", TINY, "--address", "nowhere"], 1, "--address nowhere"),
])
def test_wrong_arguments_are_named_at_once(arguments, status, words):
    arguments = [str(each).replace("PORT", str(closed_port()))
                 for each in arguments]
    run = fleet(*arguments)
    assert run.returncode == status, run.stderr
    assert re.search(words, run.stderr), run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("setting, status, words", [
    ("nonsense=1", 2, "nonsense"),
    ("inference.backend=torch", 1, "torch"),
])
def test_a_config_that_cannot_be_served_is_an_error(tmp_path, setting, status,
                                                     words):
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", "--set",
                setting)
    assert run.returncode == status, run.stderr
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_the_example_is_a_cluster_that_ray_up_takes():
    with open(HERE.parent.parent / "examples/fleet/cluster.yaml",
              encoding="utf-8") as file:
        config = yaml.safe_load(file)
    validate_config(prepare_config(config))
