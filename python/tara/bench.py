"""How fast games go in step.

    python -m tara.bench --variant four_treasures --seconds 2

Random games, an action of each a step, in actions a second: alone, with masks
of legal actions, and with features. With --peers also games of pgx (jit) and
OpenSpiel where they are installed, by turns with ours, so that all have the
same share of the machine.
"""

import argparse
import statistics
import time
from typing import Callable, Dict, List

import numpy as np

import tara

__all__ = ["main"]

GAMES = 4096  # in step
OBSERVED = 256  # with features, which then stay in the caches
ROUNDS = 5


def _steps(variant: str, threads: int) -> Callable[[], int]:
    games = tara.Games(variant, GAMES, threads=threads)
    actions = np.empty(GAMES, np.uint16)

    def run() -> int:
        games.step(games.sample(actions))
        return GAMES

    return run


def _masks(variant: str, threads: int) -> Callable[[], int]:
    games = tara.Games(variant, GAMES, threads=threads)
    actions = np.empty(GAMES, np.uint16)
    mask = np.empty((GAMES, tara.NUM_ACTIONS), np.uint8)

    def run() -> int:
        games.legal_mask(mask)
        games.step(games.sample(actions))
        return GAMES

    return run


def _features(variant: str, threads: int) -> Callable[[], int]:
    games = tara.Games(variant, OBSERVED, threads=threads)
    actions = np.empty(OBSERVED, np.uint16)
    out = games.observe()

    def run() -> int:
        games.observe(out)
        games.step(games.sample(actions))
        return OBSERVED

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
        state = jax.block_until_ready(compiled(state, use))
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
    """Returns the median rate of each, measured by turns."""
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


def main() -> None:
    """Runs the program with the arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tara.bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", choices=tara.VARIANTS,
                        help="may be given again (default: all)")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="of each measurement (default: 1)")
    parser.add_argument("--threads", type=int, default=1,
                        help="of our games (default: 1)")
    parser.add_argument("--peers", action="store_true",
                        help="games of pgx and OpenSpiel, too")
    arguments = parser.parse_args()
    runs: Dict[str, Callable[[], int]] = {}
    for variant in arguments.variant or tara.VARIANTS:
        runs[f"{variant}: step"] = _steps(variant, arguments.threads)
        runs[f"{variant}: step, mask"] = _masks(variant, arguments.threads)
        runs[f"{variant}: step, features"] = _features(variant,
                                                       arguments.threads)
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
    width = max(len(name) for name in runs)
    print(f"{'random games':{width}}  million actions/s")
    for name, rate in _rates(runs, arguments.seconds).items():
        print(f"{name:{width}}  {rate / 1e6:17.4g}")


if __name__ == "__main__":
    main()
