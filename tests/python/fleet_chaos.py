"""A run on a cluster of Ray that is broken all the time, and is the same run.

    python tests/python/fleet_chaos.py [--seconds 600] [--seed 1] [--nodes 3]

Each node is `ray start` in a network namespace of its own, with an address of
its own, in a namespace of this process, so that nothing is left behind and no
rights are needed. First the run is made by `tara train` alone; then by
`tara fleet train`, while the seed draws what happens to it: kill -9 of
workers, nodes, the driver and the head, nodes that freeze, links that are
down. Ends with the digests of both, and status 0 where they are the same.
Needs TARA_BINARY.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tara

PORT = 6379
RAY = [sys.executable, "-m", "ray.scripts.scripts", "start",
       "--disable-usage-stats", "--object-store-memory=80000000", "--block"]
CONFIG = """
variant: "four_treasures"
variant: "sacred_hill_l1"
network { channels: 8 blocks: 1 }
self_play {
  games_per_generation: 60
  games_per_thread: 8
  search { simulations: 16 }
  resignation { threshold: 0.8 }
  opening { share: 0.2 }
}
learner { batch_size: 32 steps_per_generation: 8 window_games: 100 threads: 1 }
inference { backend: "tara" precision: "float32" }
gate { games: 12 simulations: 2 }
evaluation { every: 5 games: 8 final_games: 8 simulations: 4 opponent: "random" }
"""


def say(*words):
    print(f"{time.monotonic() - BEGIN:6.1f} s", *words, flush=True)


BEGIN = time.monotonic()


def digest(run_dir):
    """Returns the number of games of a run, and digests of them, of its
    checkpoints, and of what gates and evaluations came to."""
    games, checkpoints = hashlib.sha256(), hashlib.sha256()
    lines = (run_dir / "metrics.jsonl").read_text().splitlines()
    results = "\n".join(line for line in lines if json.loads(line)["event"] in
                        ("gate", "strength"))
    with tara.GameStore(run_dir) as store:
        for game in store.games():
            games.update(bytes(game))
        count = len(store)
    for path in sorted((run_dir / "checkpoints").glob("ckpt-*.pt")):
        checkpoints.update(path.read_bytes())
    return (count, *(each.hexdigest()[:16] for each in (
        games, checkpoints, hashlib.sha256(results.encode()))))


class Node:
    """A network namespace with an address, and what runs in it."""

    def __init__(self, place, cores, log):
        self.place = place
        self.log = log
        self.cores = cores
        self.address = f"10.77.0.{place + 1}"
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        self.ray = None
        while not self._is_apart():
            time.sleep(0.01)
        run("ip", "link", "add", f"v{place}", "type", "veth", "peer", "name",
            "eth0", "netns", str(self.holder.pid))
        run("ip", "link", "set", f"v{place}", "master", "hills", "up")
        self.run("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "link", "set", "lo", "up")

    def _is_apart(self):
        return (os.readlink(f"/proc/{self.holder.pid}/ns/net") !=
                os.readlink("/proc/self/ns/net"))

    def inside(self, *command):
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *command]

    def run(self, *command):
        run(*self.inside(*command))

    def start(self):
        where = (["--head", f"--port={PORT}", "--include-dashboard=false"]
                 if self.place == 0 else [f"--address=10.77.0.1:{PORT}"])
        self.ray = subprocess.Popen(
            self.inside(*RAY, *where, f"--node-ip-address={self.address}",
                        f"--num-cpus={self.cores}"),
            stdout=self.log, stderr=self.log, start_new_session=True)

    def processes(self, name=""):
        """Returns the ids of Ray's processes in the namespace, by their line."""
        here = os.readlink(f"/proc/{self.holder.pid}/ns/net")
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(path / "ns/net") != here:
                    continue
                line = (path / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "ray" in line and "tara.fleet" not in line and name in line:
                found.append(int(path.name))
        return found

    def signal(self, number, name=""):
        for process in self.processes(name):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        if self.ray is not None:
            self.ray.kill()  # first: it may have just begun, outside
            self.ray.wait()
            self.ray = None
        self.signal(signal.SIGKILL)

    def link(self, state):
        run("ip", "link", "set", f"v{self.place}", state)


def run(*command):
    subprocess.run(command, check=True)


class World:
    """The cluster, the driver, and what befalls them."""

    def __init__(self, folder, nodes, seed):
        self.folder = folder
        self.random = random.Random(seed)
        run("ip", "link", "add", "hills", "type", "bridge")
        run("ip", "link", "set", "hills", "up")
        self.log = open(folder / "ray.log", "ab")
        self.head = Node(0, 0, self.log)
        self.nodes = [Node(place, 1, self.log)
                      for place in range(1, nodes + 1)]
        self.driver = None
        self.drivers = 0
        self.later = []  # (time, what ends then)

    def start(self):
        self.head.start()
        time.sleep(4)
        for node in self.nodes:
            node.start()

    def restart(self):
        for node in [self.head, *self.nodes]:
            node.kill()
        self.start()

    def drive(self):
        self.drivers += 1
        log = open(self.folder / f"driver{self.drivers}.log", "wb")
        # Each time on another machine, which has the run's folder.
        machine = self.random.choice(
            [self.head] + [node for node in self.nodes
                           if node.ray is not None and node.ray.poll() is None])
        say(f"a driver on {machine.address}")
        self.driver = subprocess.Popen(
            machine.inside(
                sys.executable, "-m", "tara.fleet", "train",
                self.folder / "config.textproto", "--address",
                f"10.77.0.1:{PORT}", "--set", f"run_dir={self.folder / 'fleet'}"),
            stdout=log, stderr=log)

    def harm(self):
        node = self.random.choice(self.nodes)
        what = self.random.choices(
            ["worker", "node", "freeze", "link", "driver", "head"],
            [6, 3, 2, 2, 2, 1])[0]
        seconds = self.random.uniform(3, 20)
        if what == "worker":
            say(f"kill -9 the workers of {node.address}")
            node.signal(signal.SIGKILL, "ray::")
        elif what == "node":
            say(f"kill -9 all of {node.address}, for {seconds:.0f} s")
            node.kill()
            self.after(seconds, node.start)
        elif what == "freeze":
            say(f"{node.address} freezes for {seconds:.0f} s")
            node.signal(signal.SIGSTOP)
            self.after(seconds, lambda: node.signal(signal.SIGCONT))
        elif what == "link":
            say(f"the link of {node.address} is down for {seconds:.0f} s")
            node.link("down")
            self.after(seconds, lambda: node.link("up"))
        elif what == "driver":
            say("kill -9 the driver")
            self.driver.kill()
        else:
            say("kill -9 the head")
            self.head.kill()

    def after(self, seconds, end):
        self.later.append((time.monotonic() + seconds, end))

    def mend(self, everything=False):
        """Ends what is over; starts what has died, of a cluster that goes."""
        now = time.monotonic()
        over = [end for until, end in self.later if everything or until <= now]
        self.later = [each for each in self.later
                      if not everything and each[0] > now]
        for end in over:
            end()
        waiting = {id(end) for _, end in self.later}
        if self.head.ray is None or self.head.ray.poll() is not None:
            say("the cluster starts again")
            self.mend_all()
        elif not waiting:
            for node in self.nodes:  # that have left a cluster that lost them
                if node.ray is None or node.ray.poll() is not None:
                    node.kill()
                    node.start()

    def mend_all(self):
        for _, end in self.later:
            end()
        self.later = []
        self.restart()

    def close(self):
        if self.driver is not None and self.driver.poll() is None:
            self.driver.kill()
        for node in [self.head, *self.nodes]:
            node.signal(signal.SIGCONT)
            node.kill()
            node.holder.kill()
        self.log.close()


def chaos(options, folder):
    config = folder / "config.textproto"
    config.write_text(CONFIG + f"generations: {options.generations}\n")
    binary = os.environ["TARA_BINARY"]
    say("the run alone")
    subprocess.run([binary, "train", config, "--set",
                    f"run_dir={folder / 'alone'}"],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    want = digest(folder / "alone")
    say("games, digests of games, checkpoints and results:", *want)

    world = World(folder, options.nodes, options.seed)
    harms = 0
    try:
        world.start()
        world.drive()
        until = time.monotonic() + options.seconds
        next_harm = time.monotonic() + 5
        while (status := world.driver.poll()) != 0:
            time.sleep(0.1)
            world.mend(everything=time.monotonic() > until)
            if status is not None:
                say(f"the driver has ended with status {status}; once more")
                world.drive()
            if next_harm < time.monotonic() < until:
                world.harm()
                harms += 1
                next_harm = time.monotonic() + world.random.uniform(2, 8)
        got = digest(folder / "fleet")
    finally:
        world.close()
    say("games, digests of games, checkpoints and results:", *got)
    say(f"{harms} harms, {world.drivers} drivers:",
        "the same run" if got == want else "ANOTHER RUN")
    return 0 if got == want else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600,
                        help="of harms; then the run ends in peace")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--folder", type=pathlib.Path,
                        help="where runs and logs are kept; else none are")
    parser.add_argument("--inside", action="store_true",
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        os.execvp("unshare", ["unshare", "--map-root-user", "--net", "--mount",
                              "--fork", "--kill-child", sys.executable,
                              *sys.argv, "--inside"])
    run("ip", "link", "set", "lo", "up")
    # Where Ray keeps what it finds its clusters by: other clusters of this
    # machine stay out.
    os.makedirs("/tmp/ray", exist_ok=True)
    run("mount", "-t", "tmpfs", "ray", "/tmp/ray")
    # As clusters should be: only who has the token is let in.
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    folder = options.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return chaos(options, folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
