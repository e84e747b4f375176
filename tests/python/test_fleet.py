"""One run on a cluster of Ray: real ones, of this machine and in namespaces."""

import collections
import json
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
from drawn_cluster import DrawnCluster, idle_share
from fleet_chaos import digest
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.cluster_utils import Cluster
from tara import fleet as fleet_module

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent.parent / "configs/tiny.textproto"
MODEL = HERE.parent.parent / "models/tara.tara"
TOWER = HERE.parent.parent / "models/tower.tara"
FAST = ["--set", "evaluation.opponent=random", "--set",
        "inference.backend=tara"]


def fleet(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "tara.fleet", *map(str, arguments)],
        capture_output=True, text=True, check=False, **options)


def alone(config, run_dir, *arguments):
    subprocess.run([os.environ["TARA_BINARY"], "train", config, "--set",
                    f"run_dir={run_dir}", *FAST, *arguments],
                   check=True, capture_output=True)


def patched(folder, lines):
    """Returns an environment in which workers play games in another way."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "from tara import _tara\nPlayer = _tara._JobPlayer\n" + lines)
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(folder), *([path] if path else [])])}


def metrics(run_dir, event):
    lines = (run_dir / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == event]


def test_a_run_on_this_machine_is_the_run_of_train(tmp_path):
    # With a warm start, games of gates and evaluations, of a network among the
    # opponents, and of one whose games are not the same elsewhere.
    config = tmp_path / "config.textproto"
    config.write_text(TINY.read_text().replace(
        'opponent: "greedy"',
        f'opponent: "net:{MODEL},sims=2" opponent: "alphabeta:ms=1"').replace(
            "self_play {",
            "self_play { warm_start { generations: 1 simulations: 20 }") +
        'variant: "high_kings_l1" gate { games: 40 simulations: 2 }\n'
        'inference { backend: "tara" }\n')
    subprocess.run([os.environ["TARA_BINARY"], "train", config, "--set",
                    f"run_dir={tmp_path / 'alone'}"], check=True,
                   capture_output=True)
    run = fleet("train", config, "--set", f"run_dir={tmp_path / 'fleet'}")
    assert run.returncode == 0, run.stderr
    assert re.search(r"1 nodes, \d+ cores", run.stderr)
    assert "ckpt-000002 at 8 simulations" in run.stdout
    # Games and checkpoints; the results are below.
    assert digest(tmp_path / "fleet")[:3] == digest(tmp_path / "alone")[:3]
    gates = metrics(tmp_path / "fleet", "gate")
    assert len(gates) == 4  # of both checkpoints in both variants
    assert gates == metrics(tmp_path / "alone", "gate")
    timed, strength = [], []
    for line in metrics(tmp_path / "fleet", "strength"):
        (timed if ":ms=" in line["opponent"] else strength).append(line)
    assert len(timed) == 4  # after both generations in both variants
    assert strength == [line for line in metrics(tmp_path / "alone", "strength")
                        if ":ms=" not in line["opponent"]]
    played = metrics(tmp_path / "fleet", "self_play")
    by_node = metrics(tmp_path / "fleet", "fleet")
    assert ([line["games"] for line in by_node] ==
            [line["games"] for line in played])
    # Random games are not kept.
    assert [line["cached_share"] > 0 for line in played] == [False, True]


@pytest.mark.skipif(
    shutil.which("ip") is None or subprocess.run(
        ["unshare", "--map-root-user", "--net", "--mount", "sh", "-ec", """
            ip link add hills type bridge
            ip link add v1 type veth peer name v2
            mount -t tmpfs t /tmp
            nsenter --net=/proc/self/ns/net true
            """], check=False, capture_output=True).returncode != 0,
    reason="no network namespaces, or no `ip`")
def test_a_cluster_that_is_broken_all_the_time_makes_the_same_run(tmp_path):
    """Nodes with addresses of their own; kill -9, freezes, cut links."""
    run = subprocess.run(
        [sys.executable, HERE / "fleet_chaos.py", "--seconds", "20",
         "--generations", "15", "--nodes", "2", "--seed", "2", "--folder",
         tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the same run" in run.stdout


def test_ctrl_c_stops_a_run_and_the_same_command_goes_on(tmp_path):
    command = [sys.executable, "-m", "tara.fleet", "train", TINY, "--set",
               f"run_dir={tmp_path / 'fleet'}", *FAST]
    with subprocess.Popen([*command, "--set", "generations=1000000"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stderr:
            if "learning" in line:
                process.send_signal(signal.SIGINT)
                break
        errors = process.stderr.read()
        assert process.wait() == 130, errors
    assert "the same command resumes" in errors
    done = len(metrics(tmp_path / "fleet", "learning"))
    run = fleet(*command[3:], "--set", f"generations={done + 2}")
    assert run.returncode == 0, run.stderr
    assert len(metrics(tmp_path / "fleet", "learning")) == done + 2


def test_a_game_that_kills_its_worker_is_named_with_what_replays_it(tmp_path):
    run_dir = tmp_path / "run"
    env = patched(tmp_path / "patch", f"""
import os, ray, tara, time
def kept():
    with tara.GameStore({str(run_dir)!r}) as store:
        return set(store.indices())
class Poisoned(Player):
    def play(self, pieces, node):
        if 4 in dict(pieces) and ray.is_initialized():
            # Alone in its block at last, it waits for the others.
            while len(pieces) == 1 and not {{0, 1, 2, 3}} <= kept():
                time.sleep(0.01)
            os.kill(os.getpid(), 9)
        return super().play(pieces, node)
_tara._JobPlayer = Poisoned
""")
    run = fleet("train", TINY, "--set", f"run_dir={run_dir}", *FAST, env=env)
    assert run.returncode == 1, run.stderr
    assert "game 4 of generation 0 has killed its worker 3 times" in run.stderr
    command = re.search(r"tara fleet (replay .*)", run.stderr)[1].split()
    with tara.GameStore(run_dir) as store:
        # The last one may not have ended by then.
        assert list(store.indices()) in ([0, 1, 2, 3, 5], [0, 1, 2, 3])
    again = fleet(*command)
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("game 4: ")
    pathlib.Path(command[1]).write_text("{}")
    run = fleet(*command)
    assert run.returncode == 1 and f"{command[1]}: damaged" in run.stderr


@pytest.fixture(scope="module", name="cluster")
def cluster_of_all_tests():
    """A function that starts a node in each environment, of one cluster, and
    returns its address. Nodes of before end, if they are not the same ones."""
    head, nodes, there = Cluster(), [], None

    def add(**arguments):
        for left in reversed(range(20)):  # as a fleet starts Ray
            try:
                return head.add_node(**arguments)
            except Exception:  # after half a minute
                if left == 0:
                    raise

    def start(*environments, num_cpus=1, **resources):
        nonlocal there
        wanted = environments, num_cpus, resources
        if wanted != there:
            while nodes:
                head.remove_node(nodes.pop())
            nodes.extend(add(num_cpus=num_cpus, env_vars=each, **resources)
                         for each in environments)
            there = wanted
        return head.address

    add(num_cpus=0, include_dashboard=False)
    yield start
    head.shutdown()


def test_a_node_that_falsifies_games_is_caught(tmp_path, cluster):
    """It plays one game of a block by another network, and denies it."""
    liar = patched(tmp_path / "patch", f"tower = {str(TOWER)!r}" + """
class Liar(Player):
    def __init__(self, request, files):
        super().__init__(request, files)
        self.other = Player(request, [tower])
    def play(self, pieces, node):
        false = self.other.play(pieces[:1], node)
        # Messages one after another are one of all games.
        return false + (super().play(pieces[1:], node) if pieces[1:] else b"")
_tara._JobPlayer = Liar
""")
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *FAST,
                "--set", "self_play.games_per_generation=40", "--audit", "1",
                # Not over before the liar has begun, however late.
                "--set", "generations=1000",
                "--address", cluster(None, liar))
    assert run.returncode == 1, run.stderr
    assert re.search("was played differently on .* and on ", run.stderr)


def test_a_node_that_computes_otherwise_waits(tmp_path, cluster):
    other = patched(tmp_path / "patch",
                    "class Other(Player):\n"
                    "    def numeric_class(self):\n"
                    "        return 'other-numbers'\n"
                    "_tara._JobPlayer = Other\n")
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *FAST,
                "--address", cluster(other))
    assert run.returncode == 1, run.stderr
    assert re.search("no node can play generation 0: .* computes .*, the driver "
                     "other-numbers|no node can play generation 0: .* computes "
                     "other-numbers, the driver", run.stderr)


CONTESTS = {
    "arena": ["arena", "--variant", "all", f"net:{MODEL},sims=4", "mcts:sims=8",
              "--games", "8"],
    "matches": ["arena", "--variant", "sacred_hill_doubles_l2", "--by-match",
                "mcts:sims=8,utility=match", "greedy+random", "--games", "16",
                "--openings", "balanced:mcts:sims=16"],
    "sprt": ["arena", "--variant", "four_treasures", "greedy", "random",
             "--sprt", "elo0=0,elo1=100"],
    "crossplay": ["crossplay", "--variant", "all", "mcts:sims=4", "greedy",
                  f"net:{MODEL},sims=2", "--games", "8"],
    "rate": ["rate", "--variant", "high_kings_l1", "random", "greedy",
             "mcts:sims=8", f"net:{MODEL},sims=2", "--games", "24"],
    "balance": ["balance", "--variant", "poisoned_chalice", "--player",
                "mcts:sims=8", "--games", "16", "--first-games", "1",
                "--fair"],
    "studies": ["balance", "--variant", "all", "--player",
                f"net:{MODEL},sims=2", "--games", "8", "--first-games", "0",
                "--sims", "1,2", "--what-if", "link_all_at_end=false",
                "--untrained"],
}


@pytest.mark.parametrize("name", CONTESTS)
def test_a_contest_on_a_cluster_has_the_same_result(tmp_path, cluster, name):
    """And a store that goes on with nothing left to play."""
    store = ["--format=json", "--store", tmp_path / "games.db"]
    there = fleet(*CONTESTS[name], *store, "--address", cluster(None, None),
                  "--audit", "0.3")
    assert there.returncode == 0, there.stderr
    here = subprocess.run(
        [os.environ["TARA_BINARY"], *CONTESTS[name], "--format=json"],
        capture_output=True, text=True, check=True)
    assert there.stdout == here.stdout
    again = subprocess.run(
        [os.environ["TARA_BINARY"], *CONTESTS[name], *map(str, store)],
        capture_output=True, text=True, check=True)
    assert again.stdout == here.stdout


@pytest.mark.parametrize("arguments, status, words", [
    (["arena", "--variant", "nonsense", "greedy", "random"], 2, "nonsense"),
    (["arena", "--variant", "four_treasures", "greedy", "alphabeta:ms=20"], 1,
     "alphabeta:ms=20.*searches for a fixed time"),
    (["rate", "--variant", "four_treasures", "greedy", "mcts:threads=2"], 1,
     "mcts:threads=2.*several threads"),
    (["balance", "--variant", "four_treasures", "--player", "mcts:ms=5"], 1,
     "mcts:ms=5.*searches for a fixed time"),
    (["train", TINY, "--set", "nonsense=1"], 2, "nonsense"),
    (["train", TINY, "--set", "inference.backend=torch"], 1, "torch"),
])
def test_what_the_program_refuses_is_an_error(tmp_path, cluster, arguments,
                                              status, words):
    run = fleet(*arguments, "--address", cluster(None, None), cwd=tmp_path)
    assert run.returncode == status, run.stderr
    assert re.search(words, run.stderr), run.stderr
    assert "Traceback" not in run.stderr


def test_a_block_whose_worker_hangs_is_played_again(tmp_path, cluster):
    hangs = patched(tmp_path / "hangs", f"""
import os, time
class Hangs(Player):
    def play(self, pieces, node):
        try:
            os.mkdir({str(tmp_path / "once")!r})
        except FileExistsError:
            return super().play(pieces, node)
        time.sleep(1e6)
_tara._JobPlayer = Hangs
""")
    soon = patched(tmp_path / "soon",
                   "from tara import fleet\nfleet._LOST_SECONDS = 5.0\n")
    # Long enough for a display after the second in which it is repeated.
    longer = ["--set", "generations=10"]
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *FAST,
                *longer, "--address", cluster(hangs), env=soon)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "once").is_dir()  # a worker has hung
    assert "blocks repeated" in run.stderr
    alone(TINY, tmp_path / "alone", *longer)
    assert digest(tmp_path / "run") == digest(tmp_path / "alone")


def test_nodes_of_two_kinds_play_a_run_that_says_so(tmp_path, cluster):
    # This machine's kind plays nothing before the other one, however late.
    begun = repr(str(tmp_path / "begun"))
    waits = patched(tmp_path / "waits", f"""
import os, time
class Waits(Player):
    def play(self, pieces, node):
        while not os.path.exists({begun}):
            time.sleep(0.01)
        return super().play(pieces, node)
_tara._JobPlayer = Waits
""")
    other = patched(tmp_path / "other", f"""
class Other(Player):
    def numeric_class(self):
        return 'other-numbers'
    def play(self, pieces, node):
        open({begun}, 'w').close()
        return super().play(pieces, node)
_tara._JobPlayer = Other
""")
    run_dir = tmp_path / "run"
    run = fleet("train", TINY, "--set", f"run_dir={run_dir}", *FAST, "--set",
                "self_play.games_per_generation=40", "--numerics", "labelled",
                "--audit", "1", "--address", cluster(waits, other))
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in
             (run_dir / "fleet_games.jsonl").read_text().splitlines()]
    assert len({line["numeric_class"] for line in lines}) >= 2
    games = [game for line in lines for game in line["games"]]
    with tara.GameStore(run_dir) as store:
        assert sorted(games) == list(store.indices())


def test_a_node_with_a_device_plays_with_all_its_cores(tmp_path, cluster):
    """Here its device is the CPU, whose games are those of the run alone."""
    given = *FAST, "--set", "generations=1", "--set", "evaluation.every=0"
    run = fleet("train", TINY, "--set", f"run_dir={tmp_path / 'run'}", *given,
                "--device", "cpu", "--address",
                cluster(None, num_cpus=2, num_gpus=1))
    assert run.returncode == 0, run.stderr
    alone(TINY, tmp_path / "alone", *given)
    with tara.GameStore(tmp_path / "run") as store:
        with tara.GameStore(tmp_path / "alone") as expected:
            assert [*store] == [*expected]
    assert (tmp_path / "run" / "fleet_games.jsonl").read_text()


def test_a_device_that_does_not_play_is_a_reason_of_its_node():
    for device, reason in (("cuda", "LibTorch"), ("cpu", "fleet")):
        with pytest.raises(fleet_module._CannotPlay, match=reason):
            fleet_module._DevicePlayer(b"", "file", device, "here")


class LandedBlocks:
    """In the place of Ray: what a worker has sent is always there."""

    def remote(self, **_):
        return lambda function: None

    def get(self, _):
        return b"", 1.0, "of-this-node"


def test_games_are_labelled_once_whoever_sends_them_first(tmp_path):
    """A copy of a block may be there before the block, or without it."""
    players = tara.fleet._Fleet(0, True, 1, LandedBlocks())
    players._jobs[1] = tara.fleet._Job(
        number=1, name="generation 1", request=b"", files=[],
        folder=str(tmp_path), key="1", inputs=[], numeric_class=None)
    players.add(1, range(4), [])
    for games, is_copy in (([0, 1, 2], True), ([2, 3], False), ([3], True)):
        players._flying["block"] = tara.fleet._Block(1, games, is_copy=is_copy)
        list(players._landed("block"))
    lines = (tmp_path / "fleet_games.jsonl").read_text().splitlines()
    assert [json.loads(line)["games"] for line in lines] == [[0, 1, 2], [3]]


@pytest.mark.parametrize("text", ["{", "{}", "null", "[]", "7",
                                  '{"checkpoint": 3, "numeric_class": "a"}'])
def test_a_damaged_class_of_a_run_is_named(tmp_path, text):
    (tmp_path / "fleet.json").write_text(text)
    with pytest.raises(tara.fleet.FleetError, match="fleet.json: damaged; exp"):
        tara.fleet._check_class(str(tmp_path), b"")


def test_a_run_whose_class_cannot_be_checked_or_kept_is_named(tmp_path):
    (tmp_path / "fleet.json").write_text(
        '{"checkpoint": "1.ckpt", "numeric_class": "a"}')
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/1.ckpt").write_text("no checkpoint")
    with pytest.raises(tara.fleet.FleetError):
        tara.fleet._check_class(str(tmp_path), b"no request")
    with pytest.raises(tara.fleet.FleetError,
                       match="none/fleet.json: No such file"):
        tara.fleet._keep_class(str(tmp_path / "none"), "1.ckpt", "a")


def test_a_program_that_cannot_be_built_or_run_is_an_error(tmp_path,
                                                           monkeypatch):
    program = tmp_path / "bin/tara"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("TARA_BINARY", "/no/such/file")
    with pytest.raises(tara.fleet.FleetError, match="TARA_BINARY: /no/such"):
        tara.fleet._program()
    monkeypatch.delenv("TARA_BINARY")
    monkeypatch.setattr(tara._train, "find_program", lambda named: None)
    monkeypatch.setattr(tara._train, "_clone", lambda: str(program))
    with pytest.raises(tara.fleet.FleetError, match="bin/tara .*: status 3"):
        tara.fleet._program()


@pytest.mark.parametrize("games_a_core, seconds", [
    (64, 1.0), (64, 5.0), (256, 0.1)])
def test_cores_hardly_wait_for_the_driver(games_a_core, seconds):
    """By drawn times on a clock of its own: a busy machine changes nothing."""
    idle, cores = idle_share(16, games_a_core, seconds, seed=1)
    assert 0 < idle < 0.05 and cores == 232


def test_ray_is_started_again_where_it_is_too_slow(monkeypatch):
    """And what an attempt has started is not left behind."""
    started, left = [], []

    def init(**arguments):
        started.append(arguments["address"])
        if len(started) != 3:
            left.append(subprocess.Popen(["sleep", "1000"]))
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(tara.fleet, "_STARTS", 3)
    tara.fleet._connect(None)
    assert started == ["local"] * 3
    with pytest.raises(tara.fleet.FleetError, match="does not start.*timed"):
        tara.fleet._connect(None)
    assert len(started) == 6
    assert [process.wait() for process in left] == 5 * [-signal.SIGKILL]


@pytest.fixture(name="closed_port")
def port_that_refuses():
    with socket.socket() as bound:  # and never listens
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("arguments, status, words", [
    ([], 2, "expected|required"),
    (["train"], 2, "CONFIG"),
    (["train", TINY, "--audit", "2"], 2, "--audit 2.0: expected 0 to 1"),
    (["replay", "nothing.json"], 1, "nothing.json"),
    (["replay", "nothing.json", "more"], 2, "unrecognized arguments: more"),
    (["train", TINY, "--address", "127.0.0.1:PORT"], 1,
     "--address 127.0.0.1:[0-9]+: no cluster of Ray"),
    (["train", TINY, "--address", "nowhere"], 2,
     "--address nowhere: expected HOST:PORT or auto"),
    (["train", TINY, "--address", "here:99999"], 2, "expected HOST:PORT"),
])
def test_wrong_arguments_are_named_at_once(arguments, status, words,
                                           closed_port):
    arguments = [str(each).replace("PORT", str(closed_port))
                 for each in arguments]
    run = fleet(*arguments)
    assert run.returncode == status, run.stderr
    assert re.search(words, run.stderr), run.stderr
    assert "Traceback" not in run.stderr


def test_the_example_is_a_cluster_that_ray_up_takes():
    with open(HERE.parent.parent / "examples/fleet/cluster.yaml",
              encoding="utf-8") as file:
        config = yaml.safe_load(file)
    validate_config(prepare_config(config))


class SlowCluster(DrawnCluster):
    """One whose games take minutes, with signs of life of a given age."""

    def __init__(self, age):
        super().__init__(nodes=2, game_seconds=600, seed=1)
        self.age = self
        self.cancelled = []
        self._age = age

    def remote(self, *given, **named):
        return self._age if given else super().remote(**named)

    def get(self, task, timeout=None):
        return task if isinstance(task, float) else super().get(task)

    def cancel(self, task, force):
        self.cancelled.append(task)


@pytest.mark.parametrize("age, is_lost", [(10.0, False), (500.0, True)])
def test_long_games_of_nodes_that_live_are_not_begun_again(age, is_lost):
    cluster = SlowCluster(age)
    players = fleet_module._Fleet(0, False, 1, cluster, lambda: cluster.now,
                                  signs=cluster)
    job = fleet_module._Job(number=1, name="match", request=b"", files=[],
                            folder="", key="1", inputs=[],
                            numeric_class="drawn")
    players._jobs[1] = job
    players.add(1, range(cluster.cores()), [])
    while not job.durations and cluster.now < 1000:
        collections.deque(players.turn(), 0)
    assert bool(cluster.cancelled) == is_lost
