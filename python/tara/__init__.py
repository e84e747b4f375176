"""Tara: ten board games on one board of 45 hills, for learning and search.

    import numpy as np, tara

    games = tara.Games("sacred_hill_l1", 4096, seed=1)
    score = np.zeros(2)
    for _ in range(100):
        step = games.step(games.sample())
        score += step.reward.sum(axis=0)
    print("Red minus Blue, random play:", score[0])

Conventions: seats are numbered 0 to 3, and the side of a seat is seat % 2 (0
Red, 1 Blue). Actions are indices 0 to NUM_ACTIONS - 1 with the same meaning in
all variants. They refer to the position as it is; with `seen=True`, to the
position as `encode` and `observe` show it, in which the seat to move is seat 0.
An evaluator, the environments of Gymnasium, PettingZoo and OpenSpiel, and Batch
use the second way; to_seen and from_seen convert. Text such as "D4" or "D4-E6"
is accepted where a single action is expected. Arrays are C-contiguous NumPy arrays and are never copied on the way
to C++. Invalid arguments raise ValueError or TypeError, with the argument, the
value and the expected values. An illegal action raises ValueError and changes
nothing.
"""

from tara import _processor

_processor.check()

from tara._types import (
    Analysis,
    ArenaResult,
    Batch,
    DataLoss,
    Evaluation,
    Features,
    Input,
    Leaves,
    Node,
    Outcome,
    Outcomes,
    Step,
    Symmetries,
    Symmetry,
)
from tara._tara import (
    NUM_ACTIONS,
    NUM_GLOBALS,
    NUM_PLANES,
    STATE,
    VARIANTS,
    GameRecord,
    Games,
    Network,
    Search,
    State,
    __version__,
    draw,
    encode,
    finished,
    from_seen,
    legal,
    legal_mask,
    outcome,
    play,
    search,
    symmetries,
    to_seen,
    transform,
)
from tara._inputs import GLOBALS, PLANES, SYMMETRIES
from tara._network import Evaluator, load
from tara._play import Player, arena, selfplay
from tara._reports import (
    Report,
    balance,
    crossplay,
    explore,
    rate,
    review,
    solve,
)
from tara._store import GameStore, Sampler
from tara._train import Event, train

__all__ = [
    "Analysis", "ArenaResult", "Batch", "DataLoss", "Evaluation", "Evaluator",
    "Event", "Features", "GLOBALS", "GameRecord", "GameStore", "Games", "Input",
    "Leaves", "NUM_ACTIONS", "NUM_GLOBALS", "NUM_PLANES", "Network", "Node",
    "Outcome", "Outcomes", "PLANES", "Player", "Report", "STATE", "SYMMETRIES",
    "Sampler", "Search", "State", "Step", "Symmetries", "Symmetry", "VARIANTS",
    "__version__", "arena", "balance", "crossplay", "draw", "encode", "explore",
    "finished", "from_seen", "legal", "legal_mask", "load", "outcome", "play",
    "rate", "review", "search", "selfplay", "solve", "symmetries",
    "to_seen", "train", "transform",
]
