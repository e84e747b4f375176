"""The cost of a fleet's driver, and how evenly it keeps a cluster busy."""

import base64
import collections
import concurrent.futures
import dataclasses
import heapq
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

from tara import _tara, fleet

__all__ = ["run"]

_BLOCK = 64

# A generation of self-play as the quickstart's, its games played by so few
# simulations that there are soon enough of them.
_CONFIG = """
variant: "sacred_hill_l1"
run_dir: "{run_dir}"
generations: 1
network {{ channels: 8 blocks: 1 }}
self_play {{
  games_per_generation: {games}
  search {{ simulations: 16 }}
}}
inference {{ backend: "tara" precision: "float32" }}
evaluation {{ every: 0 }}
"""

_player: Optional[_tara._JobPlayer] = None


def _begin(request: bytes, files: List[str]) -> None:
    global _player
    _player = _tara._JobPlayer(request, files)


def _play(games: List[int]) -> bytes:
    assert _player is not None
    return _player.play([(game, b"") for game in games], "node")


def _cpu_seconds(pid: int) -> float:
    """Of a process, by the clock that clock_getcpuclockid(3) names: that of
    /proc/PID/stat has ticks of 10 ms, longer than 128 games take."""
    return time.clock_gettime((~pid << 3) | 2)


def _feed(games: int) -> Tuple[float, float]:
    """Feeds stored games to a run. Returns its processor time per game, in
    seconds, and a game's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "bench.textproto")
        with open(config, "w", encoding="utf-8") as file:
            file.write(_CONFIG.format(run_dir=os.path.join(folder, "run"),
                                      games=games))
        from_here, to_run = os.pipe()
        from_run, to_here = os.pipe()
        process = subprocess.Popen(
            [*fleet._program(), "train", config,
             f"--fleet={from_here},{to_here}"],
            pass_fds=(from_here, to_here), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_here)
        os.close(to_here)
        try:
            with open(from_run, encoding="utf-8") as lines:
                line = lines.readline()
                if not line:
                    raise fleet.FleetError(f"--games {games}: the run has "
                                           "ended before its first game")
                job = json.loads(line)
                wanted = fleet._indices(json.loads(lines.readline())["games"])
                blocks = [wanted[i:i + _BLOCK]
                          for i in range(0, len(wanted), _BLOCK)]
                with concurrent.futures.ProcessPoolExecutor(
                        initializer=_begin, initargs=(
                            base64.b64decode(job["request"]),
                            job["files"])) as pool:
                    played = list(pool.map(_play, blocks))
                begun = _cpu_seconds(process.pid)
                for message in played:
                    fleet._tell(to_run, 1, message)
                assert json.loads(lines.readline())["event"] == "end"
                seconds = _cpu_seconds(process.pid) - begun
        finally:
            process.kill()
            process.wait()
            os.close(to_run)
    return seconds / games, sum(map(len, played)) / games


# --- A simulated cluster -----------------------------------------------------


@dataclasses.dataclass
class _Cores:
    """Of a node: each plays a block at a time, the others wait."""

    cores: int
    speed: float
    waiting: Deque[int] = dataclasses.field(default_factory=collections.deque)
    playing: int = 0


class _DrawnCluster:
    """Simulates the functions of Ray that _Fleet uses, with random times on its
    own clock."""

    def __init__(self, nodes: int, game_seconds: float, seed: int) -> None:
        self._random = random.Random(seed)
        self._game_seconds = game_seconds
        self._nodes = {
            f"{i:056x}": _Cores(cores=self._random.choice([4, 8, 16, 32]),
                               speed=self._random.uniform(0.5, 2))
            for i in range(nodes)}
        self._seconds: List[float] = []  # by task
        self._ends: List[Tuple[float, int, str]] = []
        self._done: set[int] = set()
        self.now = 0.0
        self.busy = 0.0  # seconds of all cores

    def cores(self) -> int:
        return sum(node.cores for node in self._nodes.values())

    def nodes(self) -> List[Dict[str, Any]]:
        return [{"NodeID": name, "NodeName": name, "Alive": True,
                 "Resources": {"CPU": node.cores}}
                for name, node in self._nodes.items()]

    def remote(self, **_: Any) -> Any:
        return lambda function: self

    def options(self, scheduling_strategy: Any) -> Any:
        name = scheduling_strategy.node_id
        return _Caller(lambda games: self._begin(name, games))

    def _begin(self, name: str, games: int) -> int:
        task = len(self._seconds)
        # Durations differ; games of a block are played concurrently.
        work = sum(self._random.lognormvariate(0, 0.4) for _ in range(games))
        self._seconds.append(
            work * self._game_seconds / self._nodes[name].speed)
        self._nodes[name].waiting.append(task)
        self._start(name)
        return task

    def _start(self, name: str) -> None:
        node = self._nodes[name]
        while node.waiting and node.playing < node.cores:
            task = node.waiting.popleft()
            node.playing += 1
            self.busy += self._seconds[task]
            heapq.heappush(self._ends,
                           (self.now + self._seconds[task], task, name))

    def wait(self, tasks: Sequence[int], num_returns: int, timeout: float,
             **_: Any) -> Tuple[List[int], List[int]]:
        until = self.now + timeout
        while self._ends and self._ends[0][0] <= until and (
                num_returns > len(self._done.intersection(tasks))):
            self.now, task, name = heapq.heappop(self._ends)
            self._done.add(task)
            self._nodes[name].playing -= 1
            self._start(name)
        ready = [task for task in tasks if task in self._done]
        if not ready:
            self.now = until
        return ready[:num_returns], []

    def get(self, task: int) -> Tuple[bytes, float, str]:
        self._done.discard(task)
        return b"", self._seconds[task], "drawn"


@dataclasses.dataclass
class _Caller:
    begin: Any

    def remote(self, key: str, inputs: Any, numeric_class: str,
               pieces: Sequence[Tuple[int, bytes]], *_: Any) -> Any:
        return self.begin(len(pieces))


def idle_share(nodes: int, games_a_core: int, game_seconds: float, seed: int
               ) -> Tuple[float, int]:
    """Returns the idle share of a generation's time on a random cluster, from
    its first game to its last, and the number of cores.
    game_seconds: of a core of speed 1; nodes have 0.5 to 2."""
    cluster = _DrawnCluster(nodes, game_seconds, seed)
    players = fleet._Fleet(0, False, seed, cluster, lambda: cluster.now)
    games = games_a_core * cluster.cores()
    job = fleet._Job(number=1, name="generation 1", request=b"", files=[],
                     folder="", key="1", inputs=[], numeric_class="drawn")
    players._jobs[1] = job
    players.add(1, range(games), [])
    while job.open:
        for _ in players.turn():
            pass
    return (1 - cluster.busy / (cluster.now * cluster.cores()),
            cluster.cores())


def run(games: int, nodes: int, seed: int) -> int:
    """Prints the tables of the benchmark; returns the status of the process."""
    print(f"Feeding {games} stored games to a run ...",
          file=sys.stderr, flush=True)
    try:
        cost, size = _feed(games)
    except (fleet.FleetError, OSError) as error:
        print(f"tara fleet: {error}", file=sys.stderr)
        return 1
    fed = (f"a core of it feeds on {1 / cost:.0f} games/s, "
           f"{1 / cost / _BLOCK:.0f} blocks/s" if cost > 0
           else "too few games for this machine's clock")
    print(f"A game takes {1e6 * cost:.0f} us of the driver's processor time "
          f"({size:.0f} bytes): {fed}.\n")
    begun = time.monotonic()
    print("games/core  seconds/game  idle")
    for games_a_core in (16, 64, 256):
        for seconds in (0.1, 1.0, 5.0):
            idle, cores = idle_share(nodes, games_a_core, seconds, seed)
            print(f"{games_a_core:12}  {seconds:14}  {100 * idle:4.1f} %")
    print(f"\nOf a generation's time, on {nodes} nodes with {cores} cores "
          f"that are up to four times as fast as each other ({seed=}; a clock "
          f"of its own, {time.monotonic() - begun:.1f} s of this one).")
    return 0
