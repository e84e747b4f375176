"""What functions of the package return: named tuples of NumPy arrays."""

import typing
from typing import Optional, Tuple

import numpy as np
from numpy.typing import NDArray


class Features(typing.NamedTuple):
    """What a network sees of positions, as Tara's own networks do.

    Every position is turned so that the seat to move is seat 0
    (docs/reference/bundle.md has the names of planes and globals).
    """

    planes: NDArray[np.float32]
    """[n, NUM_PLANES, 7, 7], or [n, 7, 7, NUM_PLANES] with layout "NHWC"."""
    globals: NDArray[np.float32]
    """[n, NUM_GLOBALS]."""


class Outcome(typing.NamedTuple):
    """The result of a finished game."""

    points: Tuple[int, int]
    """Of Red's and of Blue's side, as scored: without compensation."""
    compensation: float
    """Points that Blue's side is given by the rule option."""
    margin: int
    """Red's points minus Blue's, as scored."""
    winner: Optional[int]
    """0 Red, 1 Blue, None a draw; with the compensation."""
    ended_by: str
    """"out", "double_capture", "passed", "board_full" or "no_progress"."""


class Step(typing.NamedTuple):
    """What Games.step did, an entry a game."""

    reward: NDArray[np.float32]
    """[n, 2] by side: 1 won, -1 lost, 0 drawn or not yet over."""
    done: NDArray[np.uint8]
    """[n]: 1 where the game ended; it is at its start again."""
    margin: NDArray[np.int8]
    """[n]: Red's points minus Blue's where it ended, else 0."""
    final: NDArray[np.void]
    """The positions, of dtype STATE, in which games ended: one for each 1 in
    `done`, in their order."""


class Evaluation(typing.NamedTuple):
    """What a network says of positions, for the seat to move."""

    policy: NDArray[np.float32]
    """[n, NUM_ACTIONS]: probabilities; 0 for illegal actions."""
    result: NDArray[np.float32]
    """[n, 3]: probabilities of win, draw and loss."""
    margin: NDArray[np.float32]
    """[n]: expected points, minus the opponent's, as scored."""


class Analysis(typing.NamedTuple):
    """What a search found in a position, for the seat to move.

    The arrays have an entry for each legal action, in the order of `actions`.
    """

    action: int
    """The best action: what a player would play."""
    value: float
    """Win minus loss, -1 to 1."""
    margin: float
    """Expected points, minus the opponent's, as scored."""
    actions: NDArray[np.uint16]
    """The legal actions, ascending."""
    visits: NDArray[np.int32]
    """Simulations through each."""
    policy: NDArray[np.float32]
    """The improved policy, a target to learn; sums to 1."""
    priors: NDArray[np.float32]
    """The judge's probabilities."""
    values: NDArray[np.float32]
    """The mean value of each, -1 to 1; 0 where it was not visited."""
    line: NDArray[np.uint16]
    """The line that begins with `action` and is visited most."""
    simulations: int
    """Of the position: all visits of its actions."""
    proved_margin: Tuple[int, int]
    """Proved bounds of the final margin, least and greatest."""
