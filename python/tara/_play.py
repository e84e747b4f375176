"""Whole games: self-play with an evaluator, and matches of two players."""

import array
import atexit
import collections.abc
import itertools
import json
import math
import operator
import weakref
from typing import (Any, Callable, Iterable, List, Optional, Protocol,
                    Sequence, SupportsIndex, Union)

import numpy as np
from numpy.typing import NDArray

from tara import _network, _store, _tara, _types


_MAX_GAMES = 10 ** 8
"""Maximum games of a call of selfplay: 8 bytes each."""
_MAX_YIELDED = 10 ** 6
"""Maximum games from an iterator, which may be infinite."""
_Actions = Union[Sequence[Union[SupportsIndex, str]],
                 NDArray[np.integer[Any]]]


class Player(Protocol):
    """A custom player: any object with a method choose.

    Tables and stores use its attribute `name`, if it has one:

        class First:
            name = "first"

            def choose(self, states):
                return [state.legal()[0] for state in states]
    """

    def choose(self, states: List[_tara.State]) -> _Actions:
        """Returns an action, an index or text, for each position.

        The positions belong to different games, and none is finished. The
        thread that calls `arena` calls this method.
        """
        ...


_Choose = Callable[[List[_tara.State]], Any]  # as Player.choose

_playing: "weakref.WeakSet[_tara._SelfPlay]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # What the interpreter destroys at its end, no thread must still use.
    for games in list(_playing):
        games.close()


def _index(given: Any) -> int:
    """Returns a number or an index of the argument `games`."""
    try:
        index = operator.index(given)
    except TypeError:
        raise TypeError(f"games: {given!r}; expected a number or indices"
                        ) from None
    if not 0 <= index < 2 ** 63:
        raise ValueError(f"games: {index}; expected 0 or more")
    return index


def _indices(games: Union[int, Iterable[int]]) -> Sequence[int]:
    if not isinstance(games, collections.abc.Iterable):
        count = _index(games)
        if count > _MAX_GAMES:
            raise ValueError(f"games: {count}; expected {_MAX_GAMES} at most")
        return range(count)
    most = (_MAX_GAMES if isinstance(games, collections.abc.Sized)
            else _MAX_YIELDED)
    indices = array.array("Q", map(_index, itertools.islice(games, most + 1)))
    if len(indices) > most:
        raise ValueError(f"games: more than {most} indices; expected {most} "
                         "at most" + ("" if most == _MAX_GAMES else
                                      ", or a sequence that has a length"))
    ordered = np.sort(np.asarray(indices, np.uint64))
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise ValueError(f"games: has {twice[0]} twice; expected each index "
                         "once")
    return indices


def _start(variant: str, rules: _types._Options) -> _tara.State:
    if not isinstance(rules, dict):
        rules = _types.text("rules", rules)
    return _tara.State(variant, rules)


def selfplay(evaluator: _network.Evaluator, variant: str,
             games: Union[int, Iterable[int]], *, seed: int = 1,
             options: _types._Options = "sims=100",
             rules: _types._Options = "-", in_step: int = 64,
             threads: int = 1) -> _tara._SelfPlay:
    """Plays games of self-play by search; an iterator of games.

    evaluator: as in `search`. A function is called by the thread that iterates,
    while it waits for the next game. variant: one of tara.VARIANTS. games: the
    number of games, or their indices without duplicates, at most 100000000. A
    game depends only on the seed and its index, so you can play any part of a
    run, or repeat it. seed: the seed of the run.
    options: "sims=100,...": search options, as in player specs, and the fields
    of self_play in a training config by name ("temperature_plies=10",
    "playout_cap.full_share=0.25", "opening.share=0.1";
    docs/reference/config.md). rules: rule options, as in `State`. in_step:
    number of games per thread that share batches. threads: number of threads
    that play games.

    Returns an iterator of GameRecord, in the order in which games end. With a
    Network or "playouts", a bounded number of games is played ahead of the
    iteration. Leaving the loop, Ctrl-C or close() stops them. After close()
    there are no more games; after Ctrl-C or an exception of the evaluator the
    finished ones remain. The games are identical, bit for bit, to those of
    `tara selfplay` with the same seed, network and number type.

    Raises ValueError and TypeError for invalid arguments, any exception that
    the evaluator raises, and RuntimeError if the iterator is used in a fork of
    the process.
    """
    indices = _indices(games)
    playing = _tara._SelfPlay(evaluator, _start(variant, rules), indices, seed,
                              options, in_step, threads)
    playing._evaluator = evaluator  # for garbage collection, which keeps it
    _playing.add(playing)
    return playing


def arena(a: Union[str, Player, _Choose], b: Union[str, Player, _Choose],
          variant: str, *, games: Optional[int] = None, seed: int = 1,
          rules: _types._Options = "-", sprt: Optional[str] = None,
          opening_plies: Optional[int] = None, threads: int = 1,
          store: Optional[_store.GameStore] = None,
          progress: Optional[Callable[[int, int, float], Any]] = None
          ) -> _types.ArenaResult:
    """Plays pairs of games of A against B; returns the ArenaResult.

    a, b: player specs, as in `tara arena` ("random", "mcts:sims=400",
    "best:sims=100", "net:runs/mine,sims=100"); or an object with
    choose(states), a Player; or a function with the same argument and result.
    variant: one of tara.VARIANTS.
    games: number of games, by default 200; with a sequential test the maximum,
    by default 20000. seed: seed of the openings and of the players' random
    numbers. rules: rule options, as in `State`. sprt: a sequential test such as
    "elo0=0,elo1=20", which ends the match when it has decided. opening_plies:
    number of random first actions. The two games of a pair share them, and
    each player is Red once. The default is 2, or more if openings of 2 rarely
    differ. threads: number of threads that play games. Only one of them at a
    time calls a player in Python.
    store: keeps the games. The same call resumes an interrupted match from it.
    It identifies a player in Python by its `name`, or else by its class or
    function.
    progress: called as progress(games_done, games, score).

    The calling thread runs players in Python and progress. The result is the
    same as that of `tara arena` with the same arguments. Ctrl-C interrupts it.
    Raises ValueError and TypeError for invalid arguments and illegal actions,
    and any exception that a player raises.
    """
    if store is not None:
        _store.check(store)
    table, report = _tara._arena(
        a, b, _start(variant, rules), games, seed, sprt, threads,
        opening_plies, None if store is None else store._opened(), progress)
    row = json.loads(report)

    def interval(name: str) -> Any:
        ends = row[f"{name}_low"], row[f"{name}_high"]
        return tuple(math.copysign(math.inf, sign) if end is None else end
                     for end, sign in zip(ends, (-1, 1)))

    elo = row["elo"]
    if elo is None:
        elo = math.inf if row["score"] > 0.5 else -math.inf
    return _types.ArenaResult(
        games=row["games"], wins=row["wins"], draws=row["draws"],
        losses=row["losses"], score=row["score"],
        score_interval=interval("score"), elo=elo,
        elo_interval=interval("elo"), margin=row["mean_margin"],
        margin_interval=interval("mean_margin"),
        decision=row.get("sprt", {}).get("decision"), report=row, table=table)
