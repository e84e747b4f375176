"""One run on many machines, by Ray.

    python -m tara.fleet train CONFIG [--address HOST:PORT] [OPTIONS OF TRAIN]

is `tara train CONFIG`, but that the games of self-play are played on a cluster
of Ray: this machine's alone, or the one at the address. A game is decided by
the config, the checkpoint and its index, so that the games, and with them the
checkpoints, are those of one machine, bit for bit, whatever joins, leaves or
dies. Learning, gates and evaluations are the work of the driver, the process
that this starts: it alone writes to the run's folder, and the same command
goes on where it was stopped. Needs the package ray, and the same version of
Tara on every machine.
"""

import argparse
import base64
import collections
import dataclasses
import itertools
import json
import logging
import math
import os
import pathlib
import queue
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Tuple

import tara
from tara import _tara, _train

try:
    import ray
    from ray.exceptions import (OutOfMemoryError, RayError, RayTaskError,
                                WorkerCrashedError)
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as missing:
    raise ImportError("tara.fleet needs the package ray: pip install ray"
                      ) from missing

__all__ = ["FleetError", "main"]

_MOST_GAMES = 64
"""Of a block: some seconds of a core."""
_QUEUED = 2
"""Blocks for each core of a node, the one that is played included."""
_TRIES = 3
"""That a block, and then each of its games, has to kill its worker."""
_STARTS = 3
"""Of Ray on this machine: it gives its processes half a minute each time,
which is too short beside much other work."""
_STATUS_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 10.0
"""With nodes of which none can play."""


class FleetError(RuntimeError):
    """What ends a fleet, in words for people."""


# --- On the workers ----------------------------------------------------------

_players: Dict[str, Tuple[_tara._BlockPlayer, str]] = {}


def _player(key: str, inputs: Sequence[Any]) -> Tuple[_tara._BlockPlayer, str]:
    """Returns the player of a generation, and its numeric class."""
    if key not in _players:
        version, name, checkpoint, request = ray.get(inputs[0])
        if version != tara.__version__:
            raise FleetError(f"tara {tara.__version__}; expected {version}, "
                             "as the driver has it")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_bytes(checkpoint)
            player = _tara._BlockPlayer(str(path), request)
        _players.clear()
        _players[key] = player, player.numeric_class()
    return _players[key]


def _probe(key: str, inputs: Sequence[Any]) -> str:
    return _player(key, inputs)[1]


def _play(key: str, inputs: Sequence[Any], games: Sequence[int], node: str
          ) -> bytes:
    return _player(key, inputs)[0].play(games, node)


# --- The driver --------------------------------------------------------------


@dataclasses.dataclass
class _Block:
    """Games that a worker plays in one call."""

    games: List[int]
    deaths: int = 0
    node: str = ""  # where it is played
    is_copy: bool = False  # of one that is played already
    begun: float = 0.0


@dataclasses.dataclass
class _Node:
    """A machine of the cluster."""

    id: str
    name: str
    cores: int
    numeric_class: Optional[str] = None  # None: not known yet
    probe: Any = None  # the reference of the task that finds it out
    fault: str = ""  # why it plays nothing
    is_banned: bool = False  # for the rest of the run
    queued: int = 0  # blocks
    games: int = 0  # that it has played, of the run


@dataclasses.dataclass
class _Generation:
    """What is played now."""

    number: int
    checkpoint: pathlib.Path
    request: bytes
    key: str
    inputs: List[Any]  # the reference of what workers load
    numeric_class: str
    waiting: Deque[_Block]
    left: Deque[int]  # games that are in no block yet
    open: set[int]  # games that the driver does not have yet


class _Fleet:
    """Has blocks of games played on the nodes of a cluster."""

    def __init__(self, audit: float, seed: int) -> None:
        self._play = ray.remote(max_retries=0, num_cpus=1)(_play)
        self._probe = ray.remote(max_retries=0, num_cpus=1)(_probe)
        self._nodes: Dict[str, _Node] = {}
        self._flying: Dict[Any, _Block] = {}
        self._generation: Optional[_Generation] = None
        self._audit = audit
        self._random = random.Random(seed)
        self._refused: Dict[int, int] = collections.Counter()
        self._repeated = 0
        self._durations: Deque[float] = collections.deque(maxlen=64)
        self._speeds: Deque[Tuple[float, int]] = collections.deque()
        self._looked = -math.inf
        self._idle_since = math.inf

    # Generations.

    def begin(self, number: int, checkpoint: str, request: bytes,
              games: Sequence[int]) -> None:
        """Begins to have the games of a generation played."""
        try:
            player = _tara._BlockPlayer(checkpoint, request)
        except ValueError as error:
            raise FleetError(str(error)) from error
        path = pathlib.Path(checkpoint)
        numeric_class = player.numeric_class()
        if self._generation is None:  # later ones are of this same process
            _check_class(path, request)
        _keep_class(path, numeric_class)
        inputs = (tara.__version__, path.name, path.read_bytes(), request)
        self._generation = _Generation(
            number=number, checkpoint=path, request=request,
            key=f"{time.time_ns()}-{number}", inputs=[ray.put(inputs)],
            numeric_class=numeric_class,
            waiting=collections.deque(), left=collections.deque(games),
            open=set(games))
        for node in self._nodes.values():
            node.numeric_class = node.probe = None
            if not node.is_banned:
                node.fault = ""

    def refuse(self, game: int, node: str, why: str) -> None:
        """Has a game played again that the rules have refused."""
        self._refused[game] += 1
        if self._refused[game] >= _TRIES:
            raise FleetError(f"game {game}: refused {_TRIES} times, on {node}: "
                             f"{why}")
        for each in self._nodes.values():
            if each.name == node:
                each.fault = f"has sent a wrong game: {why}"
                each.is_banned = True
        if self._generation is not None:
            self._generation.open.add(game)
            self._generation.waiting.append(_Block([game]))

    # One turn of the loop.

    def turn(self) -> Iterator[bytes]:
        """Yields what has been played; waits a moment for it."""
        self._look_for_nodes()
        self._submit()
        waiting = list(self._flying) + [node.probe for node in
                                        self._nodes.values()
                                        if node.probe is not None]
        if not waiting:
            time.sleep(0.05)
            return
        ready, _ = ray.wait(waiting, num_returns=1, timeout=0.2,
                            fetch_local=True)
        if ready:  # and what is ready beside it
            ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for reference in ready:
            if reference in self._flying:
                yield from self._landed(reference)
            else:
                self._probed(reference)

    def status(self) -> str:
        """Returns what the fleet does, as a line."""
        now = time.monotonic()
        self._speeds.append((now, sum(node.games
                                      for node in self._nodes.values())))
        while now - self._speeds[0][0] > 30:
            self._speeds.popleft()
        seconds = now - self._speeds[0][0]
        rate = ((self._speeds[-1][1] - self._speeds[0][1]) / seconds
                if seconds > 0 else 0.0)
        if not self._nodes:
            return "waits for nodes"
        playing = [node for node in self._nodes.values() if not node.fault]
        parts = [f"{len(playing)} nodes, "
                 f"{sum(node.cores for node in playing)} cores, "
                 f"{rate:.1f} games/s"]
        if len(playing) > 1:
            parts.append(", ".join(f"{node.name} {node.games}"
                                   for node in playing))
        parts += [f"{node.name} waits: {node.fault}"
                  for node in self._nodes.values() if node.fault]
        if self._repeated:
            parts.append(f"{self._repeated} blocks repeated")
        return "; ".join(parts)

    # Nodes.

    def _look_for_nodes(self) -> None:
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        alive = {}
        for node in ray.nodes():  # type: ignore[no-untyped-call]
            cores = int(node["Resources"].get("CPU", 0))
            if node["Alive"] and cores > 0:
                alive[node["NodeID"]] = node["NodeName"], cores
        for gone in set(self._nodes) - set(alive):
            del self._nodes[gone]
        for each, (name, cores) in alive.items():
            if each not in self._nodes:
                # Two nodes of one machine are told apart.
                names = {node.name for node in self._nodes.values()}
                self._nodes[each] = _Node(
                    each, f"{name}/{each[:4]}" if name in names else name,
                    cores)
        if not self._nodes or any(not node.fault
                                  for node in self._nodes.values()):
            self._idle_since = math.inf  # nodes may come
        elif self._idle_since == math.inf:
            self._idle_since = now
        elif now - self._idle_since > _PATIENCE_SECONDS:
            raise FleetError("no node can play: " + "; ".join(
                f"{node.name} {node.fault}" for node in self._nodes.values()))

    def _on(self, node: _Node) -> NodeAffinitySchedulingStrategy:
        return NodeAffinitySchedulingStrategy(node.id, soft=False)

    def _probed(self, reference: Any) -> None:
        node = next(node for node in self._nodes.values()
                    if node.probe == reference)
        node.probe = None
        generation = self._generation
        assert generation is not None
        try:
            node.numeric_class = ray.get(reference)
        except RayTaskError as error:
            node.numeric_class = ""
            node.fault = str(error.cause)
            return
        except RayError:
            return  # asked again, if the node is still there
        if node.numeric_class != generation.numeric_class:
            node.fault = (f"computes {node.numeric_class}, the driver "
                          f"{generation.numeric_class}")

    # Blocks.

    def _submit(self) -> None:
        generation = self._generation
        if generation is None:
            return
        for node in self._nodes.values():
            if node.numeric_class is None and node.probe is None:
                node.probe = self._probe.options(
                    scheduling_strategy=self._on(node)).remote(
                        generation.key, generation.inputs)
        # Each node in turn has a block less than it could have.
        for queued in range(max((node.cores for node in self._nodes.values()),
                                default=0) * _QUEUED):
            for node in self._nodes.values():
                if (node.numeric_class != generation.numeric_class or
                        node.fault or node.queued > queued or
                        node.queued >= node.cores * _QUEUED):
                    continue
                block = self._next_block(node)
                if block is not None:
                    self._send(block, node)

    def _next_block(self, node: _Node) -> Optional[_Block]:
        generation = self._generation
        assert generation is not None
        if generation.waiting:
            return generation.waiting.popleft()
        if generation.left:
            # Smaller ones towards the end, so that all cores end together.
            cores = sum(each.cores for each in self._nodes.values())
            size = max(1, min(_MOST_GAMES,
                              len(generation.left) // (2 * cores)))
            return _Block([generation.left.popleft() for _ in range(
                min(size, len(generation.left)))])
        if node.queued >= node.cores:
            return None
        return self._copy_of_oldest(node)

    def _copy_of_oldest(self, node: _Node) -> Optional[_Block]:
        """Returns a block that another node has for too long, once more."""
        if not self._durations:
            return None
        usual = sorted(self._durations)[len(self._durations) // 2]
        copied = {game for block in self._flying.values() if block.is_copy
                  for game in block.games}
        late = [block for block in self._flying.values()
                if not block.is_copy and block.node != node.id and
                time.monotonic() - block.begun > 3 * usual + 1 and
                not copied.intersection(block.games)]
        if not late:
            return None
        oldest = min(late, key=lambda block: block.begun)
        self._repeated += 1
        return _Block(list(oldest.games), is_copy=True)

    def _send(self, block: _Block, node: _Node) -> None:
        generation = self._generation
        assert generation is not None
        block.node = node.id
        block.begun = time.monotonic()
        node.queued += 1
        reference = self._play.options(
            scheduling_strategy=self._on(node)).remote(
                generation.key, generation.inputs, block.games, node.name)
        self._flying[reference] = block

    def _landed(self, reference: Any) -> Iterator[bytes]:
        block = self._flying.pop(reference)
        node = self._nodes.get(block.node)
        if node is not None:
            node.queued -= 1
        generation = self._generation
        assert generation is not None
        try:
            played: bytes = ray.get(reference)
        except RayTaskError as error:
            # A bug, or a request that no worker can serve.
            raise FleetError(str(error.cause)) from error
        except RayError as error:
            self._fallen(block, error)
            return
        if node is not None:
            node.games += len(block.games)
        self._durations.append(time.monotonic() - block.begun)
        generation.open.difference_update(block.games)
        yield played
        if self._random.random() < self._audit * len(block.games):
            again = _Block([self._random.choice(block.games)], is_copy=True)
            others = [each for each in self._nodes.values()
                      if each.id != block.node and not each.fault and
                      each.numeric_class == generation.numeric_class]
            if others:
                self._send(again, self._random.choice(others))

    def _fallen(self, block: _Block, error: RayError) -> None:
        """Has a block played again whose worker or node has died."""
        generation = self._generation
        assert generation is not None
        block.games = [game for game in block.games if game in generation.open]
        if not block.games or block.is_copy:
            return
        self._repeated += 1
        if isinstance(error, (OutOfMemoryError, WorkerCrashedError)):
            block.deaths += 1
        if block.deaths < _TRIES:
            generation.waiting.appendleft(
                _Block(block.games, deaths=block.deaths))
        elif len(block.games) > 1:
            generation.waiting.extendleft(_Block([game])
                                          for game in block.games)
        else:
            game = block.games[0]
            request = generation.checkpoint.parent.parent / "fleet_request"
            request.write_bytes(generation.request)
            raise FleetError(
                f"game {game} of generation {generation.number} has killed its "
                f"worker {_TRIES} times ({error}). This plays it alone: tara "
                f"fleet replay {generation.checkpoint} {request} {game}")


def _class_path(checkpoint: pathlib.Path) -> pathlib.Path:
    """Returns where a run keeps what its newest player computes."""
    return checkpoint.parent.parent / "fleet.json"


def _keep_class(checkpoint: pathlib.Path, numeric_class: str) -> None:
    _class_path(checkpoint).write_text(
        json.dumps({"checkpoint": checkpoint.name,
                    "numeric_class": numeric_class}), encoding="utf-8")


def _check_class(checkpoint: pathlib.Path, request: bytes) -> None:
    """Raises FleetError where the run's games have been another machine's."""
    path = _class_path(checkpoint)
    if not path.exists():
        return
    before = json.loads(path.read_text(encoding="utf-8"))
    played = checkpoint.with_name(before["checkpoint"])
    if not played.exists():
        return
    here = _tara._BlockPlayer(str(played), request).numeric_class()
    if here != before["numeric_class"]:
        raise FleetError(
            f"this machine computes {here} with {played}, the one before "
            f"{before['numeric_class']}: its games would not be those of the "
            "run; expected a machine with the same processor, or, for a run "
            f"of two kinds, no {path}")


def _indices(ranges: Sequence[int]) -> List[int]:
    """Returns the indices of [first, end, first, end, ...]."""
    return list(itertools.chain.from_iterable(
        range(first, end) for first, end in zip(ranges[::2], ranges[1::2])))


def _run(command: List[str], fleet: _Fleet) -> int:
    """Runs `tara train` with the fleet as its player; returns its status."""
    from_fleet, to_run = os.pipe()
    from_run, to_fleet = os.pipe()
    process = subprocess.Popen(
        [*command, f"--fleet={from_fleet},{to_fleet}"],
        pass_fds=(from_fleet, to_fleet), start_new_session=True)
    os.close(from_fleet)
    os.close(to_fleet)
    events: "queue.SimpleQueue[Optional[Dict[str, Any]]]" = queue.SimpleQueue()

    def read() -> None:
        with open(from_run, encoding="utf-8") as lines:
            for line in lines:
                events.put(json.loads(line))
        events.put(None)

    threading.Thread(target=read, daemon=True).start()
    interrupted = False
    told = 0.0

    def tell(message: bytes) -> None:
        data = memoryview(struct.pack("<I", len(message)) + message)
        while data:
            data = data[os.write(to_run, data):]

    try:
        while True:
            try:
                while not events.empty():
                    event = events.get()
                    if event is None:
                        return process.wait()
                    if event["event"] == "play":
                        fleet.begin(event["generation"], event["checkpoint"],
                                    base64.b64decode(event["request"]),
                                    _indices(event["games"]))
                    elif event["event"] == "refused":
                        fleet.refuse(event["game"], event["node"],
                                     event["why"])
                for played in fleet.turn():
                    tell(played)
                if time.monotonic() - told > _STATUS_SECONDS:
                    told = time.monotonic()
                    tell(_tara._fleet_status(fleet.status()))
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                process.send_signal(signal.SIGINT)
    except BrokenPipeError:
        return process.wait()
    finally:
        os.close(to_run)  # ends a run that has not ended
        process.wait()


def _connect(address: Optional[str]) -> None:
    """Connects to a cluster of Ray, or starts one of this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        _start()
        return
    try:
        if address != "auto":
            # Ray would try for long.
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=5).close()
        _init(address)
    except (OSError, RuntimeError, ValueError) as error:
        raise FleetError(f"--address {address}: no cluster of Ray that lets "
                         f"this process in: {error}") from error


def _start() -> None:
    """Starts a cluster of Ray of this machine alone."""
    for left in reversed(range(_STARTS)):
        try:
            _init("local")
            return
        except Exception as error:  # it has no type for it
            ray.shutdown()
            if left == 0:
                raise FleetError("Ray does not start on this machine: "
                                 f"{error}") from error


def _init(address: str) -> None:
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR,
             include_dashboard=None)


def _replay(given: argparse.Namespace) -> int:
    try:
        player = _tara._BlockPlayer(given.checkpoint,
                                    given.request.read_bytes())
        for game in given.games:
            played = player.play([game], "here")
            print(f"game {game}: {len(played)} bytes")
    except (OSError, ValueError) as error:
        print(f"tara fleet: {error}", file=sys.stderr)
        return 1
    return 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line, of the process by default; returns its status."""
    parser = argparse.ArgumentParser(
        prog="tara fleet", description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser(
        "train", help="tara train, with the games played on the cluster",
        epilog="All other options are those of `tara train`.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    train.add_argument("config", metavar="CONFIG", help="config of the run")
    train.add_argument(
        "--address", metavar="HOST:PORT", help="the head of a cluster, or "
        "'auto' for the one that this machine is part of; else one of this "
        "machine alone is started")
    train.add_argument(
        "--audit", type=float, default=0.01, metavar="SHARE", help="part of "
        "the games that are played again on another node and compared")
    replay = commands.add_parser(
        "replay", help="plays games of a generation in this process, as a "
        "worker does: what a run names that has stopped at one",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    replay.add_argument("checkpoint", metavar="CHECKPOINT",
                        help="that plays")
    replay.add_argument("request", metavar="REQUEST", type=pathlib.Path,
                        help="file that the run has written")
    replay.add_argument("games", metavar="GAME", type=int, nargs="+",
                        help="indices")
    given, others = parser.parse_known_args(arguments)
    if given.command == "replay":
        return _replay(given)
    if not 0 <= given.audit <= 1:
        parser.error(f"--audit {given.audit}: expected 0 to 1")
    try:
        command = [*_train._program(None), "train", given.config, *others]
        _connect(given.address)
        return _run(command, _Fleet(given.audit, seed=1))
    except (FleetError, FileNotFoundError) as error:
        print(f"tara fleet: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    # As the module that workers import, whose functions they are sent by name.
    from tara import fleet
    sys.exit(fleet.main())
