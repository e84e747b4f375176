"""The results of functions: named tuples of NumPy arrays."""

import collections.abc
import dataclasses
import os
import typing
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

if typing.TYPE_CHECKING:
    import tara


_Options = Union[str, Dict[str, Union[str, int, float]]]


class DataLoss(ValueError):
    """A damaged file: a network, a store, or a game in a store."""


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


def _array(name: str, given: Any) -> Any:
    """Returns an array of an array, or of a tensor by DLPack."""
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return np.asarray(given)
    try:
        return np.from_dlpack(given)
    except Exception as error:  # of a library, for reasons of its own
        # From another device, with a gradient, or of a type that NumPy lacks.
        try:
            if hasattr(given, "detach"):  # of PyTorch
                return np.from_dlpack(
                    given.detach().cpu().float().contiguous())
            return np.asarray(given).astype(np.float32)  # of JAX: bfloat16
        except (AttributeError, TypeError, ValueError, RuntimeError,
                BufferError):
            raise TypeError(
                f"evaluator: {name} is a tensor of "
                f"{getattr(given, 'dtype', 'unknown type')} that NumPy does "
                f"not take ({error}); expected one of real numbers, such as "
                "float32") from error


def answer(given: Any, shape: Tuple[int, int]) -> List[Any]:
    """Returns what an evaluator has returned as three float32 arrays.

    shape: [n, NUM_ACTIONS]. The last array, of margins, may be empty.
    """
    if not isinstance(given, collections.abc.Sequence) or (
            len(given) not in (2, 3)):
        shown = repr(given)
        raise ValueError(
            f"evaluator: {shown[:100] + '...' * (len(shown) > 100)}; expected "
            "(logits, result_logits) or (logits, result_logits, margin) as its "
            "answer")
    arrays: List[Any] = [np.empty(0, np.float32)] * 3
    for place, (name, expected) in enumerate((
            ("logits", shape), ("result_logits", (shape[0], 3)),
            ("margin", shape[:1]))[:len(given)]):
        array = _array(name, given[place])
        what = (f"evaluator: {name}: an array of {array.dtype} and shape "
                f"{list(array.shape)}; expected")
        if array.dtype.kind in "USOcmM":
            raise TypeError(f"{what} an array of real numbers")
        if array.shape != expected:
            raise ValueError(f"{what} shape {list(expected)}")
        arrays[place] = np.ascontiguousarray(array, np.float32)
    return arrays


def text(name: str, given: Any) -> str:
    """Returns an argument that is a text; raises an error that names it."""
    if not isinstance(given, str):
        raise TypeError(f"{name}: {given!r}; expected a text")
    if not given.isprintable():
        raise ValueError(f"{name}: {given!r}; expected a text that can be "
                         "printed")
    return given


class Features(typing.NamedTuple):
    """Network inputs of positions, the same as for Tara's own networks.

    Every position is transformed so that the seat to move is seat 0
    (docs/reference/bundle.md lists the planes and globals).
    """

    planes: NDArray[np.float32]
    """[n, NUM_PLANES, 7, 7]: plane, rank (1 first), file (A first); with layout
    "NHWC" [n, 7, 7, NUM_PLANES]."""
    globals: NDArray[np.float32]
    """[n, NUM_GLOBALS]: numbers about the whole position."""

    def as_planes(self) -> NDArray[np.float32]:
        """Returns planes and globals in one array, with each global as a
        plane.

        The shape is [n, NUM_PLANES + NUM_GLOBALS, 7, 7], or without n for one
        position. Raises ValueError for planes of a layout other than "NCHW".
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
    """Points of Red's and Blue's sides, as scored: without compensation."""
    compensation: float
    """Points that the rule option gives to Blue's side."""
    margin: int
    """Red's points minus Blue's, as scored."""
    winner: Optional[int]
    """0 Red, 1 Blue, None for a draw; with compensation."""
    ended_by: str
    """By the rules: "out", "double_capture", "passed", "board_full" or
    "no_progress". Records can also have "resigned", "time" or "fault"
    (forfeits), "proof" or "agreement" (adjudicated), and "unknown"."""


class Outcomes(typing.NamedTuple):
    """The results of many positions, with one entry per position."""

    reward: NDArray[np.float32]
    """[n, 2] by side: 1 for a win, -1 for a loss, 0 for a draw or an
    unfinished game; with compensation."""
    winner: NDArray[np.int8]
    """[n]: 0 Red, 1 Blue, -1 for a draw or an unfinished game."""
    margin: NDArray[np.int8]
    """[n]: Red's points minus Blue's, as scored; 0 for an unfinished game."""
    points: NDArray[np.int8]
    """[n, 2]: points of Red's and Blue's sides, as scored."""


@dataclasses.dataclass(frozen=True)
class Input:
    """A plane or a scalar among the network inputs."""

    index: int
    """Its place among the planes or globals."""
    name: str
    """Its name, as in bundles."""
    meaning: str
    """Its value; planes and globals are seen from the side to move."""


class Symmetry(typing.NamedTuple):
    """A symmetry of positions that keeps the rules."""

    board: int
    """Where hills go: the index into SYMMETRIES, 0 to 7."""
    seat_shift: int
    """Pieces of seat s become those of seat s + seat_shift, modulo the number
    of seats. An odd number swaps the colours."""


class Symmetries(typing.NamedTuple):
    """The eight symmetries of the square board, as tables.

    An index has three bits, applied in this order: 4 exchanges files and
    ranks, 1 flips the files, 2 flips the ranks.
    """

    actions: NDArray[np.uint16]
    """[8, NUM_ACTIONS]: the index of the transformed action."""
    squares: NDArray[np.uint16]
    """[8, 49]: the transformed square, 7 * rank + file. A plane without
    directions turns by `turned[..., squares[i]] = plane.reshape(-1, 49)`."""


class Step(typing.NamedTuple):
    """The result of `Games.step`, with one entry per game.

    Finished games have already restarted: `margin` and `final` describe how
    they ended.
    """

    reward: NDArray[np.float32]
    """[n, 2] by side: 1 for a win, -1 for a loss, 0 for a draw or an
    unfinished game."""
    done: NDArray[np.uint8]
    """[n]: 1 if the game ended and was reset to its start."""
    margin: NDArray[np.int8]
    """[n]: Red's points minus Blue's if the game ended, else 0."""
    final: NDArray[np.void]
    """The final positions, of dtype STATE: one for each 1 in `done`, in the
    same order."""


class Evaluation(typing.NamedTuple):
    """A network's evaluation of positions, for the seat to move."""

    policy: NDArray[np.float32]
    """[n, NUM_ACTIONS]: probabilities; 0 for illegal actions."""
    result: NDArray[np.float32]
    """[n, 3]: probabilities of win, draw and loss."""
    margin: NDArray[np.float32]
    """[n]: expected points minus the opponent's, as scored."""


class Analysis(typing.NamedTuple):
    """The result of searching a position, for the seat to move.

    The arrays have one entry per legal action, in the order of `actions`.
    """

    action: int
    """The best action, which a player would play."""
    value: float
    """Win minus loss, -1 to 1."""
    margin: float
    """Expected points minus the opponent's, as scored."""
    actions: NDArray[np.uint16]
    """The legal actions, ascending."""
    visits: NDArray[np.int32]
    """Number of simulations through each action."""
    policy: NDArray[np.float32]
    """The improved policy, a training target; sums to 1. To get an array
    [NUM_ACTIONS], for State.svg: `row = np.zeros(NUM_ACTIONS); row[actions] =
    policy`."""
    priors: NDArray[np.float32]
    """The evaluator's probabilities."""
    values: NDArray[np.float32]
    """The mean value of each action, -1 to 1; 0 if not visited."""
    line: NDArray[np.uint16]
    """The most visited line, starting with `action`."""
    simulations: int
    """Number of simulations: the sum of the visits of all actions."""
    proved_margin: Tuple[int, int]
    """Proved lower and upper bounds of the final margin."""


class Leaves(typing.NamedTuple):
    """Positions of a Search that need evaluations."""

    states: NDArray[np.void]
    """[n], of dtype STATE; for tara.encode, and tara.legal_mask with
    seen=True."""
    trees: NDArray[np.int64]
    """[n]: the trees that they belong to."""


class Node(typing.NamedTuple):
    """A node of a Search, for the side to move there; for Red if the game is
    over."""

    state: "tara.State"
    """The position."""
    visits: int
    """Number of simulations through the node; 1 is its own evaluation."""
    value: float
    """Mean value, -1 to 1."""
    margin: float
    """Expected points minus the opponent's, as scored."""
    actions: NDArray[np.uint16]
    """The actions tried so far."""
    action_visits: NDArray[np.int32]
    """Number of simulations through each of them."""
    action_values: NDArray[np.float32]
    """Mean value of each of them, -1 to 1."""
    proved_margin: Tuple[int, int]
    """Proved lower and upper bounds of the final margin."""


class Batch(typing.NamedTuple):
    """Training samples, the same as for Tara's own learner.

    Every position is transformed by a symmetry so that the seat to move is
    seat 0. Planes, actions and hills are transformed too. Values are for the
    side to move. A weight is 1 if a sample has the target, else 0. A loss is
    the weighted sum of the samples' losses, divided by the sum of the weights.
    """

    states: NDArray[np.void]
    """[n], of dtype STATE: the positions, before the transformation."""
    planes: NDArray[np.float32]
    """[n, NUM_PLANES, 7, 7], as in `Features`."""
    globals: NDArray[np.float32]
    """[n, NUM_GLOBALS]."""
    mask: NDArray[np.uint8]
    """[n, NUM_ACTIONS]: 1 for legal actions."""
    policy: NDArray[np.float32]
    """[n, NUM_ACTIONS]: the policy target of the search; sums to 1, or all
    zeros."""
    policy_weight: NDArray[np.float32]
    """[n]: 0 if there was no full search."""
    result: NDArray[np.float32]
    """[n, 3]: win, draw, loss; sums to 1."""
    margin: NDArray[np.float32]
    """[n]: own points minus the opponent's at the end, as scored."""
    margin_weight: NDArray[np.float32]
    """[n]: 0 if the game was resigned."""
    reply: NDArray[np.float32]
    """[n, NUM_ACTIONS]: the policy target of the opponent's next turn, in the
    actions of that position, transformed by the same symmetry; or all zeros.
    """
    reply_weight: NDArray[np.float32]
    """[n]: 0 if there is no such policy."""
    owner: NDArray[np.int64]
    """[n, 7, 7]: owner of each hill at the end: 0 the side to move, 1 the
    opponent, 2 nobody, or no hill."""
    kingdoms: NDArray[np.int64]
    """[n, 2]: kingdoms of the side to move and of the opponent at the end."""
    final_weight: NDArray[np.float32]
    """[n], of owner and kingdoms: 0 if the game ended early."""


class ArenaResult(typing.NamedTuple):
    """The result of a match of A against B. Its text is a table.

    Intervals are 95 % intervals over pairs of games. With a sequential test
    they are naive, as noted in the table.
    """

    games: int
    """Number of games."""
    wins: int
    """Games won by A."""
    draws: int
    """Drawn games."""
    losses: int
    """Games won by B."""
    score: float
    """Score of A: the mean of 1 for a win, 1/2 for a draw and 0 for a loss."""
    score_interval: Tuple[float, float]
    """95 % interval of `score`."""
    elo: float
    """Elo of A minus Elo of B; infinite at scores of 0 and 1."""
    elo_interval: Tuple[float, float]
    """95 % interval of `elo`."""
    margin: float
    """Mean of A's points minus B's, including compensation."""
    margin_interval: Tuple[float, float]
    """95 % interval of `margin`."""
    decision: Optional[str]
    """Decision of the sequential test: "H0", "H1" or "undecided"; None without
    one."""
    report: Dict[str, Any]
    """All figures by name, as in `tara arena --format=json`."""
    table: str
    """The table that `tara arena` prints."""

    def __str__(self) -> str:
        return self.table
