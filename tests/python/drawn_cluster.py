"""A simulated cluster, on which cores of a fleet wait for the driver or not.

Run as a program, it prints the idle shares of docs/how-to/use_a_fleet.md.
"""

import collections
import dataclasses
import heapq
import random
from typing import Any, Deque, Dict, List, Sequence, Tuple

from tara import fleet


@dataclasses.dataclass
class _Cores:
    """Of a node: each plays a block at a time, the others wait."""

    cores: int
    speed: float
    waiting: Deque[int] = dataclasses.field(default_factory=collections.deque)
    playing: int = 0


class DrawnCluster:
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
    cluster = DrawnCluster(nodes, game_seconds, seed)
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


def main():
    print("games/core  seconds/game  idle")
    for games_a_core in (16, 64, 256):
        for seconds in (0.1, 1.0, 5.0):
            idle, _ = idle_share(16, games_a_core, seconds, seed=1)
            print(f"{games_a_core:10}  {seconds:12}  {100 * idle:4.1f} %")


if __name__ == "__main__":
    main()
