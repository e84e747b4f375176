"""Whole games: self-play around a judge, matches of two players."""

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


_MOST_GAMES = 10 ** 8
"""Of a call of selfplay: 8 bytes each."""
_MOST_YIELDED = 10 ** 6
"""And of those that come from an iterator, which may have no end."""
_Actions = Union[Sequence[Union[SupportsIndex, str]],
                 NDArray[np.integer[Any]]]


class Player(Protocol):
    """A player of one's own: any object with the method choose.

    Its attribute name, where it has one, is what tables and stores call it:

        class First:
            name = "first"

            def choose(self, states):
                return [state.legal()[0] for state in states]
    """

    def choose(self, states: List[_tara.State]) -> _Actions:
        """Returns an action, an index or text, for each of the positions.

        They are of different games; none is finished. It is called by the
        thread that calls `arena`.
        """


_Choose = Callable[[List[_tara.State]], Any]  # as Player.choose

_playing: "weakref.WeakSet[_tara._SelfPlay]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # Threads that ask a callable must not outlive the interpreter.
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
        if count > _MOST_GAMES:
            raise ValueError(f"games: {count}; expected {_MOST_GAMES} at most")
        return range(count)
    most = (_MOST_GAMES if isinstance(games, collections.abc.Sized)
            else _MOST_YIELDED)
    indices = array.array("Q", map(_index, itertools.islice(games, most + 1)))
    if len(indices) > most:
        raise ValueError(f"games: more than {most} indices; expected {most} "
                         "at most" + ("" if most == _MOST_GAMES else
                                      ", or a sequence that has a length"))
    ordered = np.sort(np.asarray(indices, np.uint64))
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise ValueError(f"games: has {twice[0]} twice; expected each index "
                         "once")
    return indices


def _start(variant: str, rules: str) -> _tara.State:
    return _tara.State(variant, _types.text("rules", rules))


def selfplay(judge: _network.Judge, variant: str,
             games: Union[int, Iterable[int]], *, seed: int = 1,
             options: str = "sims=100", rules: str = "-", in_step: int = 64,
             threads: int = 1) -> _tara._SelfPlay:
    """Plays games, each seat by search around the judge, while they are taken.

    judge: as of `search`, but threads of Tara's call it, with a copy of this
    call's context (contextvars). What belongs to a thread does not hold there:
    enter torch.no_grad() or torch.autocast() in the judge. variant: one of
    tara.VARIANTS. games: how many, or their indices, each once, at most
    100000000: a game depends on the seed and its index,
    not on those played beside it, so that any part of a run can be played, or
    played again.
    seed: of the run.
    options: "sims=100,..."; the options of a search, as of player specs, and
    the fields of self_play in a config of training by name
    ("temperature_plies=10", "playout_cap.full_share=0.25", "opening.share=0.1";
    docs/reference/config.md). rules: rule options, as of State. in_step: games
    that share batches, for each of the threads. threads: that play games.

    Returns an iterator of GameRecord, in the order in which games end. Games
    are played ahead of it, but not without bound; breaking off, Ctrl-C or
    close() ends those that are played. After close() there is no next game,
    after Ctrl-C those that were finished; a judge that does not return within
    a second of it is abandoned. Equal to `tara selfplay`, with the same seed,
    network and number type, bit for bit.

    Raises ValueError and TypeError for wrong arguments; a judge's exception
    comes after all games that were finished before it. Raises RuntimeError
    where it is taken from in a fork of the process, which does not play.
    """
    indices = _indices(games)
    playing = _tara._SelfPlay(judge, _start(variant, rules), indices, seed,
                              options, in_step, threads)
    _playing.add(playing)
    return playing


def arena(a: Union[str, Player, _Choose], b: Union[str, Player, _Choose],
          variant: str, *, games: Optional[int] = None, seed: int = 1,
          rules: str = "-", sprt: Optional[str] = None,
          opening_plies: Optional[int] = None, threads: int = 1,
          store: Optional[_store.GameStore] = None,
          progress: Optional[Callable[[int, int, float], Any]] = None
          ) -> _types.ArenaResult:
    """Plays pairs of games of A against B; returns the ArenaResult.

    a, b: player specs, as of `tara arena` ("random", "mcts:sims=400",
    "best:sims=100", "net:runs/mine,sims=100"); or an object with
    choose(states), a Player, or a function like it. variant: one of
    tara.VARIANTS.
    games: 200, or with a sequential test 20000 at most. seed: of openings and
    of players' draws. rules: rule options,
    as of State. sprt: such as "elo0=0,elo1=20": ends when it has decided.
    opening_plies: random first actions, the same in the two games of a pair,
    in which each player is Red once; by default 2, or more where few openings
    of 2 differ. threads: that play games; a player in Python is called by one of
    them at a time.
    store: where games are kept, and found again: the same call goes on where
    it was stopped. A player in Python is known there by its `name`, or its
    class or function.
    progress: called as progress(games_done, games, score).

    Players in Python and progress are called by the thread that calls this. The
    result is that of `tara arena` with the same arguments. Ctrl-C ends it.
    Raises ValueError and TypeError for wrong arguments, for an action that is
    not legal, and whatever a player raises.
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
