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
