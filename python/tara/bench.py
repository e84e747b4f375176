"""Speed of games and searches on this machine.

    python -m tara.bench --variant four_treasures --seconds 2

The program measures random games in lockstep, with one action per game and
step, in actions per second: alone, by tara.draw and tara.play on arrays of
positions ("batch"), with masks of legal actions, and with features. With --peers it also measures games of pgx (jit) and OpenSpiel, if
they are installed.

It also measures self-play in games per second and compares it with the C++
program: with the ready-made network against the same games of `tara selfplay`,
and with a callable that returns zeros against `tara bench selfplay` with the
smallest network, without that network's own time. Times are processor time, or
wall time with several threads. Without --variant, self-play uses the first
variant.

Measurements that are compared alternate, so that all get the same share of the
machine. Rates and ratios are medians over these rounds.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import tara
from tara import _train

__all__ = ["main"]

GAMES = 4096  # in lockstep
OBSERVED = 256  # with features, which then stay in the caches
ROUNDS = 5
IN_STEP = 32  # games of self-play for each thread, as of `tara selfplay`
SIMULATIONS = 50  # of an action of self-play
TURNS = 9  # of self-play


def _steps(variant: str, threads: int, what: str = "") -> Callable[[], int]:
    """Returns a step of games, with masks or features if `what` is one."""
    n = OBSERVED if what == "features" else GAMES
    games = tara.Games(variant, n, threads=threads)
    actions = np.empty(n, np.uint16)
    mask = np.empty((n, tara.NUM_ACTIONS), np.uint8)
    out = games.observe()

    def run() -> int:
        if what == "mask":
            games.legal_mask(mask)
        elif what == "features":
            games.observe(out)
        games.step(games.sample(actions))
        return n

    return run


def _batches(variant: str, threads: int) -> Callable[[], int]:
    start = np.frombuffer(bytes(tara.State(variant)) * GAMES, tara.STATE)
    actions = np.empty(GAMES, np.uint16)
    states, ply = start, 0

    def run() -> int:
        nonlocal states, ply
        tara.draw(states, seed=ply, out=actions, threads=threads)
        states = tara.play(states, actions, threads=threads)
        ply += 1
        if tara.finished(states).any():
            states = start
        return GAMES

    return run


def _pgx(name: str) -> Callable[[], int]:
    import jax  # type: ignore[import-not-found,unused-ignore]
    import pgx  # type: ignore[import-not-found,unused-ignore]
    from pgx.experimental import auto_reset  # type: ignore[import-not-found,unused-ignore]

    env = pgx.make(name)
    step = auto_reset(env.step, env.init)

    def advance(state, key):  # type: ignore[no-untyped-def]
        draws, resets = jax.random.split(key)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
        actions = jax.random.categorical(draws, logits, axis=-1)
        return jax.vmap(step)(state, actions,
                              jax.random.split(resets, GAMES))

    compiled = jax.jit(advance)
    state = jax.jit(jax.vmap(env.init))(
        jax.random.split(jax.random.PRNGKey(0), GAMES))
    key = jax.random.PRNGKey(1)

    def run() -> int:
        nonlocal state, key
        key, use = jax.random.split(key)
        state = jax.block_until_ready(compiled(state, use))  # type: ignore[no-untyped-call,unused-ignore]
        return GAMES

    return run


def _open_spiel(name: str) -> Callable[[], int]:
    import random

    import pyspiel  # type: ignore[import-not-found,unused-ignore]

    game = pyspiel.load_game(name)

    def run() -> int:
        state = game.new_initial_state()
        actions = 0
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
            actions += 1
        return actions

    return run


def _rates(runs: Dict[str, Callable[[], int]],
           seconds: float) -> Dict[str, float]:
    """Returns the median rate of each, measured in turns."""
    rates: Dict[str, List[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # compiles, fills caches
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begin = time.perf_counter()
            done = 0
            while (passed := time.perf_counter() - begin) < seconds / ROUNDS:
                done += run()
            rates[name].append(done / passed)
    return {name: statistics.median(of) for name, of in rates.items()}


def _zeros(planes: "np.ndarray[Any, Any]", globals_: "np.ndarray[Any, Any]",
           mask: "np.ndarray[Any, Any]") -> Tuple[object, object]:
    return (np.zeros(mask.shape, np.float32),
            np.zeros((len(mask), 3), np.float32))


def _now(threads: int) -> float:
    """Returns the processor time of this program and its child processes; with
    several threads, which may wait for each other, the wall time."""
    if threads > 1:
        return time.perf_counter()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _rate_of_python(evaluator: tara.Evaluator, variant: str, games: int,
                    threads: int) -> float:
    begin = _now(threads)
    with tempfile.TemporaryDirectory() as folder:
        with tara.GameStore(f"{folder}/games.db", "w") as store:
            store.add(tara.selfplay(evaluator, variant, games, threads=threads,
                                    options=f"sims={SIMULATIONS}",
                                    in_step=IN_STEP))
    return games / (_now(threads) - begin)


def _run(*command: str) -> str:
    """Returns the output of a program; SystemExit if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status "
                         f"{done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _rate_of_program(program: str, network: tara.Network, variant: str,
                     games: int, threads: int) -> float:
    """Returns the time of the same games by `tara selfplay`."""
    model = "{path},precision={precision}".format(**network.info)
    times = [_now(threads)]
    with tempfile.TemporaryDirectory() as folder:
        # Once more, it starts and finds that all games have been played.
        for _ in range(2):
            _run(program, "selfplay", "--variant", variant, "--model", model,
                 "--games", str(games), "--threads", str(threads), "--sims",
                 str(SIMULATIONS), "--output", f"{folder}/games.db")
            times.append(_now(threads))
    return games / ((times[1] - times[0]) - (times[2] - times[1]))


def _rate_without_network(program: str, variant: str, games: int,
                          threads: int) -> float:
    """Returns the time of `tara bench selfplay` without its network's time."""
    report = json.loads(_run(
        program, "bench", "selfplay", "--net", "1x1", "--precision", "float32",
        "--variant", variant, "--threads", str(threads), "--sims",
        str(SIMULATIONS), "--games-per-thread", str(IN_STEP), "--games",
        str(games), "--seconds", "0.001", "--format", "json"))
    return float(report["games_per_s"] / (1 - report["shares"]["engine"]))


def _self_play(program: str, variant: str, threads: int,
               seconds: float) -> Dict[str, Tuple[float, float, float]]:
    """Returns games per second in Python and by the program, and the ratio."""
    network = tara.load()
    generation = IN_STEP * threads

    def by_turns(evaluator: tara.Evaluator, of_program: Callable[[int], float]
                 ) -> Tuple[float, float, float]:
        rate = _rate_of_python(evaluator, variant, generation, threads)
        games = generation * max(1, round(seconds * rate / generation))
        turns = [(_rate_of_python(evaluator, variant, games, threads),
                  of_program(games)) for _ in range(TURNS)]
        ratio = statistics.median(ours / its for ours, its in turns)
        ours, its = map(statistics.median, zip(*turns))
        return ours, its, ratio

    return {
        f"{variant}: network": by_turns(
            network, lambda games: _rate_of_program(program, network, variant,
                                                    games, threads)),
        f"{variant}: zeros": by_turns(
            _zeros, lambda _: _rate_without_network(program, variant,
                                                    generation, threads)),
    }


def main() -> None:
    """Runs the program with the arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tara.bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", choices=tara.VARIANTS,
                        help="variant to measure; repeat the option for "
                        "several (default: all; for self-play, the first)")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="seconds per measurement (default: 1)")
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of Tara's games and self-play "
                        "(default: 1)")
    parser.add_argument("--peers", action="store_true",
                        help="also measure games of pgx and OpenSpiel")
    parser.add_argument("--program", metavar="PATH",
                        help="the C++ program (default: the environment "
                        "variable TARA_BINARY, or `tara` on the PATH); without it, "
                        "self-play is skipped")
    arguments = parser.parse_args()
    try:
        program = _train.find_program({
            "--program": arguments.program or None,
            "TARA_BINARY": os.environ.get("TARA_BINARY") or None})
    except FileNotFoundError as error:
        parser.error(str(error))
    runs: Dict[str, Callable[[], int]] = {}
    for variant in arguments.variant or tara.VARIANTS:
        runs[f"{variant}: step"] = _steps(variant, arguments.threads)
        runs[f"{variant}: batch"] = _batches(variant, arguments.threads)
        runs[f"{variant}: step, mask"] = _steps(variant, arguments.threads,
                                               "mask")
        runs[f"{variant}: step, features"] = _steps(variant, arguments.threads,
                                                    "features")
    if arguments.peers:
        for make, names in ((_pgx, ("hex", "othello")),
                            (_open_spiel, ("hex", "quoridor"))):
            library = "pgx" if make is _pgx else "OpenSpiel"
            for name in names:
                try:
                    runs[f"{library} {name}"] = make(name)
                except ImportError as error:
                    parser.exit(1, f"{library}: {error}; expected it to be "
                                "installed: pip install jax pgx open_spiel\n")
    rates = _rates(runs, arguments.seconds)
    compared: Dict[str, Tuple[float, float, float]] = {}
    if program is not None:
        for variant in arguments.variant or tara.VARIANTS[:1]:
            compared.update(_self_play(program, variant, arguments.threads,
                                     arguments.seconds))
    width = max(len(name) for name in [*rates, *compared])
    print(f"{'random games':{width}}  million actions/s")
    for name, rate in rates.items():
        print(f"{name:{width}}  {rate / 1e6:17.4g}")
    if program is None:
        print("no self-play next to the C++ program: neither --program nor "
              "TARA_BINARY names it, and there is no `tara` on the PATH")
        return
    print(f"\n{'self-play':{width}}  games/s  of the program  ratio")
    for name, (ours, its, ratio) in compared.items():
        print(f"{name:{width}}  {ours:7.4g}  {its:14.4g}  {ratio:5.3f}")


if __name__ == "__main__":
    main()
