"""What functions of the package return: named tuples of NumPy arrays."""

import os
import typing
from typing import Any, Dict, Optional, Tuple

import numpy as np
from numpy.typing import NDArray


class DataLoss(ValueError):
    """A file is damaged: a network, a store, a game in it."""


def path(name: str, given: Any) -> str:
    """Returns an argument that is a path; raises errors that name it."""
    try:
        text = os.fsdecode(given)
        os.fsencode(text)
    except TypeError:
        raise TypeError(f"{name}: {given!r}; expected a path") from None
    except UnicodeError:
        raise ValueError(f"{name}: {given!r}; expected a path") from None
    if "\0" in text:
        raise ValueError(f"{name}: {text!r}; expected a path without NUL "
                         "characters")
    return text


def text(name: str, given: Any) -> str:
    """Returns an argument that is a text; raises an error that names it."""
    if not isinstance(given, str):
        raise TypeError(f"{name}: {given!r}; expected a text")
    if not given.isprintable():
        raise ValueError(f"{name}: {given!r}; expected a text that can be "
                         "printed")
    return given


class Features(typing.NamedTuple):
    """What a network sees of positions, as Tara's own networks do.

    Every position is turned so that the seat to move is seat 0
    (docs/reference/bundle.md has the names of planes and globals).
    """

    planes: NDArray[np.float32]
    """[n, NUM_PLANES, 7, 7]: plane, rank (1 first), file (A first); with layout
    "NHWC" [n, 7, 7, NUM_PLANES]."""
    globals: NDArray[np.float32]
    """[n, NUM_GLOBALS]: numbers about the whole position."""

    def as_planes(self) -> NDArray[np.float32]:
        """Returns both in one array, each global as a plane of its own.

        [n, NUM_PLANES + NUM_GLOBALS, 7, 7], or without n for one position.
        Raises ValueError for planes of a layout other than "NCHW".
        """
        from tara import _tara  # here, as it needs this module
        shape = list(self.planes.shape)
        if shape[-3:] != [_tara.NUM_PLANES, 7, 7]:
            raise ValueError(f"planes: {shape}; expected [n, "
                             f"{_tara.NUM_PLANES}, 7, 7], of layout 'NCHW'")
        planes = shape[-3]
        shape[-3] += self.globals.shape[-1]
        both = np.empty(shape, np.float32)
        both[..., :planes, :, :] = self.planes
        both[..., planes:, :, :] = self.globals[..., None, None]
        return both


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
    """By the rules: "out", "double_capture", "passed", "board_full" or
    "no_progress". Of records also "resigned", "time" or "fault" (forfeits),
    "proof" or "agreement" (adjudicated), "unknown"."""


class Step(typing.NamedTuple):
    """What Games.step did, an entry for each game.

    A finished game has begun anew: what it was is in `margin` and `final`.
    """

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
    """The improved policy, a target to learn; sums to 1. As [NUM_ACTIONS], for
    State.svg: `row = np.zeros(NUM_ACTIONS); row[actions] = policy`."""
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


class Batch(typing.NamedTuple):
    """Samples to learn from, as Tara's own learner has them.

    Every position is turned so that the seat to move is seat 0, by one of the
    symmetries that do so; planes, actions and hills are as seen then, values
    for the side to move. A weight is 1 where a sample has the target, else 0:
    a loss is the sum of the samples' losses times weights, by the sum of
    weights.
    """

    states: NDArray[np.void]
    """[n], of dtype STATE: the positions, before they are turned."""
    planes: NDArray[np.float32]
    """[n, NUM_PLANES, 7, 7], as of Features."""
    globals: NDArray[np.float32]
    """[n, NUM_GLOBALS]."""
    mask: NDArray[np.uint8]
    """[n, NUM_ACTIONS]: 1 for legal actions."""
    policy: NDArray[np.float32]
    """[n, NUM_ACTIONS]: the search's policy; sums to 1, or zeros."""
    policy_weight: NDArray[np.float32]
    """[n]: 0 where there was no full search."""
    result: NDArray[np.float32]
    """[n, 3]: win, draw, loss; sums to 1."""
    margin: NDArray[np.float32]
    """[n]: own points minus the opponent's at the end, as scored."""
    margin_weight: NDArray[np.float32]
    """[n]: 0 where the game was resigned."""
    reply: NDArray[np.float32]
    """[n, NUM_ACTIONS]: the policy of the opponent's next turn, in the actions
    of that position, seen by the same symmetry; or zeros."""
    reply_weight: NDArray[np.float32]
    """[n]: 0 where there is no such policy."""
    owner: NDArray[np.int64]
    """[n, 7, 7]: whose ringfort a hill has at the end: 0 own, 1 the
    opponent's, 2 none, or no hill."""
    kingdoms: NDArray[np.int64]
    """[n, 2]: own and the opponent's kingdoms at the end."""
    final_weight: NDArray[np.float32]
    """[n], of owner and kingdoms: 0 where the game ended early."""


class ArenaResult(typing.NamedTuple):
    """What a match of A against B came to; its text is a table.

    Intervals are at 95 %, over pairs of games; with a sequential test they are
    naive, as the table notes.
    """

    games: int
    """Games of the match."""
    wins: int
    """Games that A won."""
    draws: int
    """Games that nobody won."""
    losses: int
    """Games that B won."""
    score: float
    """Of A: mean of 1 for a win, 1/2 for a draw, 0 for a loss."""
    score_interval: Tuple[float, float]
    """Of `score`, at 95 %."""
    elo: float
    """A's Elo minus B's; infinite at scores of 0 and 1."""
    elo_interval: Tuple[float, float]
    """Of `elo`, at 95 %."""
    margin: float
    """Mean of A's points minus B's, with compensation."""
    margin_interval: Tuple[float, float]
    """Of `margin`, at 95 %."""
    decision: Optional[str]
    """Of a sequential test: "H0", "H1" or "undecided"; None without one."""
    report: Dict[str, Any]
    """All figures by name, as `tara arena --format=json` has them."""
    table: str
    """The table that `tara arena` prints."""

    def __str__(self) -> str:
        return self.table
