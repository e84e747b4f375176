"""Games on many machines, with Ray.

    python -m tara.fleet train CONFIG [--address HOST:PORT] [OPTIONS OF TRAIN]

is `tara train CONFIG` with all games, including games of gates and
evaluations, played on a Ray cluster: the one at the address, or one on this
machine alone. `tara arena`, `tara crossplay`, `tara rate` and `tara balance`
work the same way. A game depends only on the networks that play it, the
options and its number. The games, checkpoints, ratings and verdicts are
therefore identical, bit for bit, to the results of one machine, even if
machines join, leave or fail. The driver, the process that this command starts,
does everything else. It is the only process that writes to the folder of the
run or to the store. The same command resumes an interrupted one. Requires the
package ray, and the same version of Tara on every machine.
"""

import argparse
import base64
import collections
import contextlib
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
from typing import (Any, Callable, DefaultDict, Deque, Dict, Iterator, List,
                    Optional, Sequence, Set, Tuple)

import tara
from tara import _tara, _train

try:
    import ray
    from ray.exceptions import (OutOfMemoryError, RayError, RayTaskError,
                                WorkerCrashedError)
    from ray.util.metrics import Gauge
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as missing:
    raise ImportError("tara.fleet needs the package ray: pip install ray"
                      ) from missing

__all__ = ["FleetError", "main"]

_MAX_GAMES = 64
"""Maximum games of a block."""
_FIRST_GAMES = 4
"""Maximum games of a block until the duration of a game is known."""
_BLOCK_SECONDS = 5.0
"""Approximate maximum duration of a block on its core."""
_BLOCK_SHARE = 0.25
"""Maximum share of a block in the remaining time, so that all cores finish
together."""
_MIN_SECONDS = 1.0
_MIN_GAMES = 4
"""Minimum games of a block that takes less than _MIN_SECONDS, because games
of a block share batches."""
_DEVICE_GAMES = 4096
_MIN_DEVICE_GAMES = 256
"""Maximum and minimum games of a block for all cores and the device of a
node."""
_TRIES = 3
"""Attempts at a block, and then at each of its games, that end its worker."""
_PLAYERS = 4
_DEVICE_PLAYERS = 2
"""Number of jobs whose networks a worker keeps; with a device, which each of
them takes memory of, those of this generation and the next."""
_STARTS = 10
"""Attempts to start Ray on this machine. Each time it gives its processes half
a minute, which is too short under heavy load."""
_STATUS_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 10.0
"""Waiting time while no node can play."""
_LOST_SECONDS = 120.0
"""A block counts as lost after this time or after ten times the usual
duration, the next time after twice as long. Until a usual duration is known, a
block is lost when its node has sent no heartbeat for this time."""
_SIGN_SECONDS = 20.0
"""Interval of the heartbeats of a worker that plays."""
_SILENT_SECONDS = 30.0
"""Time after which a message reports a node that has sent nothing yet."""


class FleetError(RuntimeError):
    """An error that ends a fleet, with a message for users."""


class _CannotPlay(FleetError):
    """The reason why a node plays no games of a job."""


@contextlib.contextmanager
def _naming(path: pathlib.Path) -> Iterator[None]:
    """Raises FleetError if a file cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror or error}") from error


# --- On the workers ----------------------------------------------------------


class _DevicePlayer:
    """A _JobPlayer of self-play on a device and all cores of this machine: the
    program `tara`, which ends with its input, that is, with this process."""

    def __init__(self, request: bytes, checkpoint: str, device: str,
                 node: str) -> None:
        self._files = contextlib.ExitStack()
        self._messages = self._files.enter_context(tempfile.TemporaryFile())
        self._process = subprocess.Popen(
            [*_train._program(None), "fleet-worker", checkpoint,
             "--device", device, "--node", node],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._messages)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            self._files.callback(pipe.close)
        self._class = self._answer(request).decode()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):  # what cannot be flushed
            self._files.close()

    def numeric_class(self) -> str:
        return self._class

    def play(self, pieces: Sequence[Tuple[int, bytes]], _node: str) -> bytes:
        return self._answer(struct.pack(f"<{len(pieces)}Q",
                                        *(game for game, _ in pieces)))

    def _answer(self, message: bytes) -> bytes:
        """Sends a message and returns the next one; raises _CannotPlay."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(struct.pack("<I", len(message)))
            self._process.stdin.write(message)
            self._process.stdin.flush()
            size = self._process.stdout.read(4)
            answer = self._process.stdout.read(*struct.unpack("<I", size))
        except (OSError, struct.error):
            self._process.wait()
            self._messages.seek(0)
            why = self._messages.read().decode(errors="replace").strip()
            raise _CannotPlay(why or "its program has ended") from None
        return answer


_Player = Tuple[Any, str]  # like a _JobPlayer, with its numeric class

_players: "collections.OrderedDict[str, _Player]" = collections.OrderedDict()


def _load(inputs: Sequence[Any], numeric_class: Optional[str], device: str,
          node: str) -> _Player:
    """Returns the player of a job, of this class; raises _CannotPlay."""
    version, request, files = ray.get(inputs[0])
    if version != tara.__version__:
        raise _CannotPlay(f"has tara {tara.__version__}, the driver {version}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, (name, contents) in enumerate(files):
                path = pathlib.Path(folder) / str(number) / name
                path.parent.mkdir()
                path.write_bytes(contents)
                paths.append(str(path))
            player = (_DevicePlayer(request, paths[0], device, node)
                      if device else _tara._JobPlayer(request, paths))
            found = player.numeric_class()
    except (OSError, RuntimeError, ValueError) as error:
        raise _CannotPlay(str(error)) from error
    if numeric_class not in (None, found):
        raise _CannotPlay(f"computes {found}, the driver {numeric_class}")
    return player, found


class _Signs:
    """When each node has last shown that it plays. An actor, of the driver."""

    def __init__(self) -> None:
        self._last: Dict[str, float] = {}

    def leave(self, node: str) -> None:
        """Notes that the node with an ID plays."""
        self._last[node] = time.monotonic()

    def age(self, node: str) -> float:
        """Returns how long ago that was, in seconds."""
        return time.monotonic() - self._last.get(node, -math.inf)


@contextlib.contextmanager
def _leaving(signs: Any, node: str) -> Iterator[None]:
    """Leaves signs of the node; signs: an actor, or None."""
    over = threading.Event()

    def leave() -> None:
        while not over.wait(_SIGN_SECONDS):
            signs.leave.remote(node)

    thread = threading.Thread(target=leave, daemon=True)
    if signs is not None:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if signs is not None:
            thread.join()


def _play(key: str, inputs: Sequence[Any], numeric_class: Optional[str],
          pieces: Sequence[Tuple[int, bytes]], node: str, node_id: str = "",
          signs: Any = None, device: str = "") -> Tuple[bytes, float, str]:
    """Returns the games as a message, the seconds that they took, and the
    class of who has played them. numeric_class: that it must have, or None.
    device: of all cores of the node; empty: one core plays."""
    with _leaving(signs, node_id):
        return _play_pieces(key, inputs, numeric_class, pieces, node, device)


def _play_pieces(key: str, inputs: Sequence[Any], numeric_class: Optional[str],
                 pieces: Sequence[Tuple[int, bytes]], node: str,
                 device: str) -> Tuple[bytes, float, str]:
    if key not in _players:
        loaded = _load(inputs, numeric_class, device, node)
        while len(_players) >= (_DEVICE_PLAYERS if device else _PLAYERS):
            _players.popitem(last=False)
        _players[key] = loaded
    _players.move_to_end(key)
    player, found = _players[key]
    begun = time.monotonic()
    played = player.play(pieces, node)
    return played, time.monotonic() - begun, found


# --- The driver --------------------------------------------------------------


@dataclasses.dataclass
class _Block:
    """Pieces of a job that a worker plays in one call: games, or matches."""

    job: int
    games: List[int]
    deaths: int = 0
    losses: int = 0
    node: str = ""  # where it is played
    cores: int = 1  # all of them with a device
    is_copy: bool = False  # of one that is played already
    begun: float = 0.0
    trusted: float = 0.0  # until then it is not looked for


@dataclasses.dataclass
class _Node:
    """A machine of the cluster."""

    id: str
    name: str
    cores: int
    devices: int = 0  # its GPUs
    fault: str = ""  # why it no longer plays
    queued: int = 0  # blocks, including those in progress
    games: int = 0  # finished

    @property
    def most_queued(self) -> int:
        """Some more than cores, so that a core never waits for a block."""
        return self.cores + max(1, self.cores // 4)


@dataclasses.dataclass
class _Job:
    """Games to play: of a generation, or of two players."""

    number: int
    name: str
    request: bytes
    files: List[str]
    folder: str  # of the run; empty: none
    key: str
    inputs: List[Any]  # the reference of the inputs of workers
    numeric_class: Optional[str]  # that nodes must have; None: any
    device: str = ""  # of nodes that have one; empty: cores play
    waiting: Deque[_Block] = dataclasses.field(
        default_factory=collections.deque)
    left: Deque[int] = dataclasses.field(default_factory=collections.deque)
    payloads: Dict[int, bytes] = dataclasses.field(default_factory=dict)
    open: Set[int] = dataclasses.field(default_factory=set)  # not here yet
    faults: Dict[str, str] = dataclasses.field(default_factory=dict)
    classes: Dict[str, str] = dataclasses.field(  # of nodes
        default_factory=dict)
    refused: Dict[int, int] = dataclasses.field(
        default_factory=collections.Counter)
    stuck_since: float = math.inf
    durations: Deque[float] = dataclasses.field(  # of blocks, waits included
        default_factory=lambda: collections.deque(maxlen=64))
    seconds: DefaultDict[str, float] = dataclasses.field(  # of games, by node
        default_factory=lambda: collections.defaultdict(float))
    played: DefaultDict[str, int] = dataclasses.field(  # by node
        default_factory=lambda: collections.defaultdict(int))

    def on_device(self, node: _Node) -> bool:
        """Whether all cores of the node play one block, with its device."""
        return bool(self.device) and node.devices > 0

    def lanes(self, node: _Node) -> int:
        """Returns how many blocks the node plays at a time."""
        return 1 if self.on_device(node) else node.cores

    def game_seconds(self, node: _Node) -> float:
        """Returns the time of a game in a block of the node; 0: unknown."""
        if node.id in self.played:
            return max(self.seconds[node.id] / self.played[node.id], 1e-6)
        games = sum(self.played.values())
        return sum(self.seconds.values()) / games if games else 0.0

    def usual_duration(self) -> float:
        """Returns how long a block takes, with its wait for a core."""
        return sorted(self.durations)[len(self.durations) // 2]

    def block_size(self, node: _Node, nodes: Sequence[_Node]) -> int:
        """Returns how many games a block for one of the nodes has."""
        game = self.game_seconds(node)
        if self.on_device(node) and node.id not in self.played:
            return _MIN_DEVICE_GAMES
        if not game:
            lanes = sum(self.lanes(each) for each in nodes)
            return max(1, min(_FIRST_GAMES, len(self.left) // (8 * lanes)))
        speed = sum(self.lanes(each) / self.game_seconds(each)
                    for each in nodes)
        seconds = min(_BLOCK_SECONDS, _BLOCK_SHARE * len(self.left) / speed)
        least = (_MIN_DEVICE_GAMES if self.on_device(node) else
                 min(_MIN_GAMES, int(_MIN_SECONDS / game)))
        return min(max(1, least, int(seconds / game)), self.most_games(node))

    def most_games(self, node: _Node) -> int:
        """Returns the maximum games of a block for the node."""
        return _DEVICE_GAMES if self.on_device(node) else _MAX_GAMES


class _Fleet:
    """Has blocks of games played on the nodes of a cluster."""

    def __init__(self, audit: float, labelled: bool, seed: int,
                 cluster: Any = ray,
                 clock: Callable[[], float] = time.monotonic,
                 signs: Any = None, device: str = "") -> None:
        self._ray = cluster
        self._signs = signs
        self._clock = clock
        self._play = cluster.remote(max_retries=0, num_cpus=1)(_play)
        self._nodes: Dict[str, _Node] = {}
        self._flying: Dict[Any, _Block] = {}
        self._jobs: Dict[int, _Job] = {}
        self._has_checked_class = False
        self._audit = audit
        self._labelled = labelled  # and of any numeric class
        self._device = device  # of self-play; empty: none
        self._random = random.Random(seed)
        self._repeated = 0
        self._metrics: Dict[str, Gauge] = {}  # Ray's
        self._speeds: Deque[Tuple[float, int]] = collections.deque()
        self._looked = -math.inf

    # Jobs.

    def begin(self, number: int, name: str, request: bytes,
              files: List[str], folder: str) -> None:
        """Begins a job, without games yet."""
        try:
            numeric_class = _tara._JobPlayer(request, files).numeric_class()
            inputs = tara.__version__, request, [
                (pathlib.Path(path).name, pathlib.Path(path).read_bytes())
                for path in files]
        except (OSError, RuntimeError, ValueError) as error:
            raise FleetError(str(error)) from error
        if folder and not self._labelled:
            if not self._has_checked_class:  # later ones are of this process
                _check_class(folder, request)
                self._has_checked_class = True
            _keep_class(folder, files[0], numeric_class)
        self._jobs[number] = _Job(
            number=number, name=name, request=request, files=files,
            folder=folder, key=f"{time.time_ns()}-{number}",
            inputs=[self._ray.put(inputs)],
            numeric_class=None if self._labelled else numeric_class,
            device=self._device if folder else "")

    def add(self, number: int, games: Sequence[int],
            payloads: Sequence[bytes]) -> None:
        """Has further games of a job played."""
        job = self._jobs[number]
        job.left.extend(games)
        job.open.update(games)
        job.payloads.update(zip(games, payloads))

    def refuse(self, number: int, game: int, node: str, why: str) -> None:
        """Has a game played again that the rules have refused."""
        job = self._jobs[number]
        job.refused[game] += 1
        if job.refused[game] >= _TRIES:
            raise FleetError(f"game {game} of {job.name}: refused {_TRIES} "
                             f"times, on {node}: {why}")
        for each in self._nodes.values():
            if each.name == node:
                each.fault = f"has sent a wrong game: {why}"
        job.open.add(game)
        job.waiting.append(_Block(number, [game]))

    def end(self, number: int) -> None:
        """Ends a job; results of its unfinished blocks are dropped."""
        del self._jobs[number]

    # One turn of the loop.

    def turn(self) -> Iterator[Tuple[int, bytes]]:
        """Waits a moment, and yields finished games with their jobs."""
        self._look_for_nodes()
        self._look_for_losses()
        self._submit()
        if not self._flying:
            time.sleep(0.05)
            return
        waiting = list(self._flying)
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=0.2,
                                  fetch_local=True)
        if ready:  # and everything else that is ready
            ready, _ = self._ray.wait(waiting, num_returns=len(waiting),
                                      timeout=0)
        for reference in ready:
            yield from self._landed(reference)

    def status(self) -> str:
        """Returns a line about the state of the fleet."""
        now = self._clock()
        self._speeds.append((now, sum(node.games
                                      for node in self._nodes.values())))
        while now - self._speeds[0][0] > 30:
            self._speeds.popleft()
        seconds = now - self._speeds[0][0]
        rate = ((self._speeds[-1][1] - self._speeds[0][1]) / seconds
                if seconds > 0 else 0.0)
        if not self._nodes:
            return "waits for nodes"
        faults = {node.name: self._fault(node)
                  for node in self._nodes.values()}
        playing = [node for node in self._nodes.values()
                   if not faults[node.name]]
        cores = sum(node.cores for node in playing)
        parts = [f"{len(playing)} nodes, {cores} cores, {rate:.1f} games/s"]
        for name, value in [("nodes", len(playing)), ("cores", cores),
                            ("games_per_second", rate),
                            ("blocks_repeated", self._repeated)]:
            if name not in self._metrics:
                self._metrics[name] = Gauge(f"tara_{name}", "of the fleet")
            self._metrics[name].set(value)
        if len(playing) > 1:
            parts.append(", ".join(f"{node.name} {node.games}"
                                   for node in playing))
        parts += [f"{name} waits: {fault}"
                  for name, fault in faults.items() if fault]
        silent = {block.node for block in self._flying.values()
                  if now - block.begun > _SILENT_SECONDS}
        parts += [f"{node.name} has sent nothing yet" for node in playing
                  if node.id in silent and not node.games]
        if self._repeated:
            parts.append(f"{self._repeated} blocks repeated")
        return "; ".join(parts)

    # Nodes.

    def _fault(self, node: _Node, job: Optional[_Job] = None) -> str:
        """Returns why the node does not play the job, or one of all."""
        jobs = self._jobs.values() if job is None else [job]
        return node.fault or next((each.faults[node.id] for each in jobs
                                   if node.id in each.faults), "")

    def _look_for_nodes(self) -> None:
        now = self._clock()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        alive = {}
        for node in self._ray.nodes():
            cores = int(node["Resources"].get("CPU", 0))
            devices = int(node["Resources"].get("GPU", 0))
            if node["Alive"] and cores > 0:
                alive[node["NodeID"]] = node["NodeName"], cores, devices
        for gone in set(self._nodes) - set(alive):
            del self._nodes[gone]
        for each, (name, cores, devices) in alive.items():
            if each not in self._nodes:
                # Two nodes of one machine get different names.
                names = {node.name for node in self._nodes.values()}
                self._nodes[each] = _Node(
                    each, f"{name}/{each[:4]}" if name in names else name,
                    cores, devices)
        nodes = list(self._nodes.values())
        for job in self._jobs.values():
            if not nodes or not all(self._fault(node, job) for node in nodes):
                job.stuck_since = math.inf  # nodes may come
            elif job.stuck_since == math.inf:
                job.stuck_since = now
            elif now - job.stuck_since > _PATIENCE_SECONDS:
                raise FleetError(f"no node can play {job.name}: " + "; ".join(
                    f"{node.name} {self._fault(node, job)}" for node in nodes))

    def _look_for_losses(self) -> None:
        """Has blocks played again that do not come: a worker that hangs, or
        that cannot reach this machine."""
        now = self._clock()
        for reference, block in list(self._flying.items()):
            if (now < block.trusted or
                    now - block.begun < _LOST_SECONDS * 2 ** block.losses):
                continue
            job = self._jobs.get(block.job)
            if job is not None and not job.durations and self._lives(block):
                block.trusted = now + _SIGN_SECONDS
                continue
            if (job is not None and job.durations and now - block.begun <
                    10 * job.usual_duration() * 2 ** block.losses):
                continue
            self._ray.cancel(reference, force=True)
            del self._flying[reference]
            if block.node in self._nodes:
                self._nodes[block.node].queued -= block.cores
            games = ([] if job is None or block.is_copy else
                     [game for game in block.games if game in job.open])
            if job is not None and games:
                self._repeated += 1
                job.waiting.append(_Block(job.number, games, block.deaths,
                                          block.losses + 1))

    def _lives(self, block: _Block) -> bool:
        """Whether the node of a block plays: this block, or one before it."""
        if self._signs is None:
            return False
        try:
            age: float = self._ray.get(self._signs.age.remote(block.node),
                                       timeout=_LOOK_SECONDS)
        except RayError:
            return False
        return age < _LOST_SECONDS

    # Blocks.

    def _submit(self) -> None:
        nodes = list(self._nodes.values())
        while nodes:  # a block for each in turn
            nodes = [node for node in nodes
                     if node.queued < node.most_queued and
                     self._submit_to(node)]

    def _submit_to(self, node: _Node) -> bool:
        block = self._next_block(node)
        if block is not None:
            self._send(block, node)
        return block is not None

    def _next_block(self, node: _Node) -> Optional[_Block]:
        jobs = [job for job in self._jobs.values()
                if not self._fault(node, job)]
        for job in jobs:  # the first one first
            if job.waiting:
                block = job.waiting.popleft()
                most = job.most_games(node)
                if len(block.games) > most:  # a device was to play it
                    job.waiting.append(dataclasses.replace(
                        block, games=block.games[most:]))
                    block.games = block.games[:most]
                return block
            if job.left:
                nodes = [each for each in self._nodes.values()
                         if not self._fault(each, job)]
                size = min(job.block_size(node, nodes), len(job.left))
                return _Block(job.number,
                              [job.left.popleft() for _ in range(size)])
        if node.queued >= node.cores:
            return None
        for job in jobs:
            copy = self._copy_of_oldest(job, node)
            if copy is not None:
                return copy
        return None

    def _copy_of_oldest(self, job: _Job, node: _Node) -> Optional[_Block]:
        """Returns a block that another node has for too long, once more."""
        if not job.durations:
            return None
        usual = job.usual_duration()
        blocks = [block for block in self._flying.values()
                  if block.job == job.number]
        copied = {game for block in blocks if block.is_copy
                  for game in block.games}
        late = [block for block in blocks
                if not block.is_copy and block.node != node.id and
                self._computes_alike(job, block.node, node.id) and
                self._clock() - block.begun > 3 * usual + 1 and
                not copied.intersection(block.games)]
        if not late:
            return None
        oldest = min(late, key=lambda block: block.begun)
        self._repeated += 1
        return _Block(job.number, list(oldest.games), is_copy=True)

    def _computes_alike(self, job: _Job, node: str, other: str) -> bool:
        """Whether games of both nodes are known to be identical."""
        return not self._labelled or (
            node in job.classes and
            job.classes[node] == job.classes.get(other))

    def _send(self, block: _Block, node: _Node) -> None:
        job = self._jobs[block.job]
        block.node = node.id
        block.begun = self._clock()
        on_node = NodeAffinitySchedulingStrategy(node.id, soft=False)
        options: Dict[str, Any] = {"scheduling_strategy": on_node}
        device = ""
        if job.on_device(node):
            device = job.device
            block.cores = node.cores
            options.update(num_cpus=node.cores, num_gpus=node.devices)
        node.queued += block.cores
        reference = self._play.options(**options).remote(
            job.key, job.inputs, job.numeric_class, self._pieces(job, block),
            node.name, node.id, self._signs, device)
        self._flying[reference] = block

    def _pieces(self, job: _Job, block: _Block) -> List[Tuple[int, bytes]]:
        return [(game, job.payloads.get(game, b"")) for game in block.games]

    def _landed(self, reference: Any) -> Iterator[Tuple[int, bytes]]:
        block = self._flying.pop(reference)
        node = self._nodes.get(block.node)
        if node is not None:
            node.queued -= block.cores
        job = self._jobs.get(block.job)
        try:
            played, seconds, job_class = self._ray.get(reference)
        except RayTaskError as error:
            if isinstance(error.cause, _CannotPlay):
                self._faulty(job, block, str(error.cause))
            elif job is not None:  # a bug, or unplayable on any worker
                raise FleetError(f"{job.name}: {error.cause}") from error
            return
        except RayError as error:
            if job is not None:
                self._fallen(job, block, error)
            return
        if node is not None:
            node.games += len(block.games)
        if job is None:
            return
        job.classes[block.node] = job_class
        new = [game for game in block.games if game in job.open]
        if self._labelled and job.folder and new:
            self._label(job, new, job_class)
        job.durations.append(self._clock() - block.begun)
        job.seconds[block.node] += seconds
        job.played[block.node] += len(block.games)
        job.open.difference_update(new)
        yield job.number, played
        if self._random.random() < self._audit * len(block.games):
            again = _Block(job.number, [self._random.choice(block.games)],
                           is_copy=True)
            others = [each for each in self._nodes.values()
                      if each.id != block.node and not self._fault(each, job)
                      and self._computes_alike(job, block.node, each.id)]
            if others:
                self._send(again, self._random.choice(others))

    def _label(self, job: _Job, games: List[int], job_class: str) -> None:
        """Records the numeric class of new games."""
        path = pathlib.Path(job.folder) / "fleet_games.jsonl"
        with _naming(path), open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"numeric_class": job_class,
                                   "games": games}) + "\n")

    def _faulty(self, job: Optional[_Job], block: _Block, why: str) -> None:
        """Has a block played elsewhere than where it cannot be."""
        if job is None:
            return
        job.faults[block.node] = why
        if not block.is_copy:
            job.waiting.appendleft(_Block(job.number, block.games,
                                          block.deaths, block.losses))

    def _fallen(self, job: _Job, block: _Block, error: RayError) -> None:
        """Has a block played again whose worker or node has died."""
        block.games = [game for game in block.games if game in job.open]
        if not block.games or block.is_copy:
            return
        self._repeated += 1
        if isinstance(error, (OutOfMemoryError, WorkerCrashedError)):
            block.deaths += 1
        if block.deaths < _TRIES:
            job.waiting.appendleft(
                _Block(job.number, block.games, block.deaths, block.losses))
        elif len(block.games) > 1:
            job.waiting.extendleft(_Block(job.number, [game])
                                   for game in block.games)
        else:
            path = pathlib.Path(job.folder) / "fleet_game.json"
            with _naming(path):
                path.write_text(json.dumps({
                    "request": base64.b64encode(job.request).decode(),
                    "files": job.files,
                    "pieces": [(game, base64.b64encode(payload).decode())
                               for game, payload in self._pieces(job, block)]}),
                    encoding="utf-8")
            raise FleetError(
                f"game {block.games[0]} of {job.name} has killed its worker "
                f"{_TRIES} times ({error}). This plays it alone: tara fleet "
                f"replay {path}")


def _class_path(folder: str) -> pathlib.Path:
    """Returns the file with the numeric class of a run's newest player."""
    return pathlib.Path(folder) / "fleet.json"


def _keep_class(folder: str, checkpoint: str, numeric_class: str) -> None:
    path = _class_path(folder)
    # In one step: a kill leaves the old one, or the new one.
    written = path.with_suffix(".json.partial")
    with _naming(path):
        with open(written, "w", encoding="utf-8") as file:
            json.dump({"checkpoint": pathlib.Path(checkpoint).name,
                       "numeric_class": numeric_class}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(written, path)


def _check_class(folder: str, request: bytes) -> None:
    """Raises FleetError where the run's games have been another machine's."""
    path = _class_path(folder)
    if not path.exists():
        return
    try:
        with _naming(path):
            before = json.loads(path.read_text(encoding="utf-8"))
        numeric_class = before["numeric_class"]
        played = pathlib.Path(folder) / "checkpoints" / before["checkpoint"]
    except (KeyError, TypeError, ValueError):
        raise FleetError(f"{path}: damaged; expected it as this command wrote "
                         "it, or no such file") from None
    if not played.exists():
        return
    try:
        here = _tara._JobPlayer(request, [str(played)]).numeric_class()
    except (OSError, RuntimeError, ValueError) as error:
        raise FleetError(str(error)) from error
    if here != numeric_class:
        raise FleetError(
            f"this machine computes {here} with {played}, the one before "
            f"{numeric_class}: its games would differ from the run's; "
            "expected a machine with the same processor, or, for a run of two "
            f"kinds, no {path}")


def _indices(ranges: Sequence[int]) -> List[int]:
    """Returns the indices of [first, end, first, end, ...]."""
    return list(itertools.chain.from_iterable(
        range(first, end) for first, end in zip(ranges[::2], ranges[1::2])))


def _handle(event: Dict[str, Any], fleet: _Fleet) -> None:
    """Executes a line of the command."""
    kind, job = event["event"], event["job"]
    if kind == "job":
        fleet.begin(job, event["name"], base64.b64decode(event["request"]),
                    event["files"], event["folder"])
    elif kind == "games":
        fleet.add(job, _indices(event["games"]),
                  [base64.b64decode(each) for each in event["payloads"]])
    elif kind == "refused":
        fleet.refuse(job, event["game"], event["node"], event["why"])
    elif kind == "end":
        fleet.end(job)


def _tell(descriptor: int, job: int, message: bytes) -> None:
    """Sends a command a message, as tara/fleet/fleet.h has it."""
    data = memoryview(struct.pack("<II", len(message), job) + message)
    while data:
        data = data[os.write(descriptor, data):]


def _run(command: List[str], fleet: _Fleet) -> int:
    """Runs a command with the fleet as its player; returns its status."""
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
    # An exception could come anywhere, and be lost in code of Ray's; the
    # command ends by itself, at once after a second signal.
    signal.signal(signal.SIGINT,
                  lambda *_: process.send_signal(signal.SIGINT))
    told = 0.0
    try:
        while True:
            while not events.empty():
                event = events.get()
                if event is None:
                    return _status_of(process)
                _handle(event, fleet)
            for job, played in fleet.turn():
                _tell(to_run, job, played)
            if time.monotonic() - told > _STATUS_SECONDS:
                told = time.monotonic()
                _tell(to_run, 0, fleet.status().encode())
    except BrokenPipeError:
        return _status_of(process)
    finally:
        os.close(to_run)  # ends a run that has not ended
        process.wait()


def _status_of(process: "subprocess.Popen[bytes]") -> int:
    """Returns the status of a process that ends, as a shell has it."""
    status = process.wait()
    return status if status >= 0 else 128 - status


def _program() -> List[str]:
    """Returns the beginning of a command line that runs `tara`."""
    try:
        return _train._program(None)
    except (OSError, RuntimeError) as error:
        raise FleetError(str(error)) from error


def _is_address(text: str) -> bool:
    """Whether a text is HOST:PORT or "auto"."""
    host, _, port = text.rpartition(":")
    return text == "auto" or (
        bool(host) and port.isdecimal() and 0 < int(port) < 65536)


def _connect(address: Optional[str]) -> None:
    """Connects to a cluster of Ray, or starts one of this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        _start()
        return
    try:
        here = None
        if address != "auto":
            # Ray would try for long; and take a wrong address for this
            # machine's where it has several, or none that leads outside.
            host, _, port = address.rpartition(":")
            head = socket.create_connection((host, int(port)), timeout=5)
            with head:
                here = head.getsockname()[0]
        if here is None or here.startswith("127."):
            _init(address)
        else:
            _init(address, _node_ip_address=here)
    except (OSError, RuntimeError, ValueError) as error:
        raise FleetError(f"--address {address}: no cluster of Ray that lets "
                         f"this process in: {error}") from error


def _children() -> Set[int]:
    """Returns the processes that this one has started."""
    children = set()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            # See proc(5): the name, in brackets, may have any characters.
            text = (path / "stat").read_text(errors="replace")
            stat = text.rpartition(")")[2].split()
            if int(stat[1]) == os.getpid():
                children.add(int(path.name))
    return children


def _start() -> None:
    """Starts a cluster of Ray of this machine alone."""
    for left in reversed(range(_STARTS)):
        before = _children()
        try:
            _init("local")
            return
        except Exception as error:  # it has no type for it
            ray.shutdown()
            # It leaves processes of a node that it has not completed.
            for child in _children() - before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            if left == 0:
                raise FleetError("Ray does not start on this machine: "
                                 f"{error}") from error


def _init(address: str, **options: Any) -> None:
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR,
             include_dashboard=None, **options)


def _new_signs() -> Any:
    """Returns a new actor _Signs, in a process of this machine's."""
    here = NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0)(_Signs).options(
        scheduling_strategy=here).remote()


def _replay(path: pathlib.Path) -> int:
    try:
        job = json.loads(path.read_text(encoding="utf-8"))
        player = _tara._JobPlayer(base64.b64decode(job["request"]),
                                  job["files"])
        for game, payload in job["pieces"]:
            played = player.play([(game, base64.b64decode(payload))], "here")
            print(f"game {game}: {len(played)} bytes")
    except (OSError, RuntimeError, ValueError) as error:
        print(f"tara fleet: {path}: {error}", file=sys.stderr)
        return 1
    except (KeyError, TypeError):
        print(f"tara fleet: {path}: damaged; expected it as a command wrote "
              "it", file=sys.stderr)
        return 1
    return 0


_COMMANDS = {
    "train": "a run, with its games played on the cluster",
    "arena": "a match of two players",
    "crossplay": "two players as partners of each other",
    "rate": "ratings of checkpoints and players",
    "balance": "the fairness of variants",
}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line, by default of the process; returns its exit
    status."""
    parser = argparse.ArgumentParser(
        prog="tara fleet", description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in _COMMANDS.items():
        command = commands.add_parser(
            name, help=about, usage=f"tara fleet {name} [--address HOST:PORT] "
            f"[--audit SHARE] [--numerics CLASSES] ARGUMENTS OF tara {name}",
            description=f"`tara {name}`, with the games played on the "
            f"cluster: {about}.", epilog="All other arguments are passed to "
            f"`tara {name}`: tara {name} --help.", allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        command.add_argument(
            "--address", metavar="HOST:PORT", help="address of the head of "
            "a cluster, or 'auto' for the cluster of this machine; without "
            "it, a cluster on this machine alone is started")
        command.add_argument(
            "--audit", type=float, default=0.01, metavar="SHARE",
            help="share of the games that another node plays again for "
            "comparison, 0 to 1")
        command.add_argument(
            "--numerics", choices=["exact", "labelled"], default="exact",
            help="exact: only nodes whose results equal the driver's, bit for "
            "bit. labelled: all nodes; the games of a run then differ from "
            "those of one machine, and its fleet_games.jsonl records the "
            "numeric class of each game")
        if name == "train":
            command.add_argument(
                "--device", default="", metavar="DEVICE",
                help="nodes with a GPU (of Ray) play games of the run with "
                "all their cores and this device, such as cuda:all, by the "
                "program `tara` in TARA_BINARY or on their PATH; implies "
                "--numerics labelled")
    replay = commands.add_parser(
        "replay", help="play a game in this process, as a worker does; a "
        "command that ends with a failed game names its file")
    replay.add_argument("file", metavar="FILE", type=pathlib.Path,
                        help="file of the game, written by the command")
    given, others = parser.parse_known_args(arguments)
    if given.command == "replay":
        if others:
            parser.error(f"unrecognized arguments: {' '.join(others)}")
        return _replay(given.file)
    if not 0 <= given.audit <= 1:
        parser.error(f"--audit {given.audit}: expected 0 to 1")
    if given.address is not None and not _is_address(given.address):
        parser.error(f"--address {given.address}: expected HOST:PORT or auto")
    try:
        program = [*_program(), given.command, *others]
        _connect(given.address)
        device = getattr(given, "device", "")
        return _run(program, _Fleet(
            given.audit, given.numerics == "labelled" or bool(device), seed=1,
            signs=_new_signs(), device=device))
    except (FleetError, OSError) as error:
        print(f"tara fleet: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    # As the module that workers import, whose functions they are sent by name.
    from tara import fleet
    sys.exit(fleet.main())
