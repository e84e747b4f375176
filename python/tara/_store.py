"""Stores of games, as objects and as Arrow tables; samples to learn from."""

import collections.abc
import importlib
import itertools
import operator
import os
import pathlib
from typing import Any, Iterable, Iterator, Literal, Optional, Union

import numpy as np
from numpy.typing import NDArray

from tara import _tara, _types

_GAMES_AT_A_TIME = 256


class GameStore:
    """The games of a run, or of `tara selfplay` or `tara arena`, in one file.

        store = tara.GameStore("runs/mine")
        frame = polars.DataFrame(store)          # or pandas, duckdb, pyarrow
        for game in store.games(newest=100):
            print(game.variant, len(game), game.outcome.winner)

    path: the file, or the folder of a run, whose games.db is meant. mode: "r"
    reads, also while a run goes on; "w" adds games as well, to a new file where
    there is none.

    The attribute path is the file. Killing the process loses no game whose
    `add` has returned. Several threads may use it at the same time; not to be
    used after a fork. Raises FileNotFoundError, ValueError for a file of
    another kind, DataLoss for a damaged one.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"],
                 mode: Literal["r", "w"] = "r") -> None:
        file = pathlib.Path(_types.path("path", path))
        if file.is_dir():
            file = file / "games.db"
        self.path = file
        self._store: Optional[_tara._Store] = _tara._Store(str(file), mode)

    def _opened(self) -> _tara._Store:
        if self._store is None:
            raise ValueError(f"the store {self.path} is closed")
        return self._store

    def close(self) -> None:
        """Closes the file; a second time does nothing."""
        if self._store is not None:
            self._store.close()
        self._store = None

    def __enter__(self) -> "GameStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tara.GameStore {self.path}>"

    def __len__(self) -> int:
        """Returns the number of games."""
        return len(self._opened())

    def __getitem__(self, index: int) -> _tara.GameRecord:
        """Returns the game with an index; KeyError if there is none."""
        store, number = self._opened(), _index(index)
        if not 0 <= number < 2 ** 63:
            raise KeyError(f"no game has the index {number}")
        return store.get(number)

    def __iter__(self) -> Iterator[_tara.GameRecord]:
        """Yields all games by ascending index."""
        return self.games()

    def __contains__(self, index: object) -> bool:
        """Returns whether there is a game with an index."""
        try:
            self[_index(index)]
        except KeyError:
            return False
        except _types.DataLoss:
            pass
        return True

    def add(self, games: Union[_tara.GameRecord,
                               Iterable[_tara.GameRecord]]) -> None:
        """Adds a game or all of several; on an error, none.

        Raises ValueError for an index that the store has already, and for a
        store that is opened to read.
        """
        if isinstance(games, _tara.GameRecord):
            games = [games]
        if not isinstance(games, collections.abc.Iterable):
            raise TypeError(f"games: {games!r}; expected GameRecords")
        added = list(games)
        for game in added:
            if not isinstance(game, _tara.GameRecord):
                raise TypeError(f"games: has {game!r}; expected GameRecords")
        self._opened().add(added)

    def indices(self, *, variant: Optional[str] = None,
                generation: Optional[int] = None,
                newest: Optional[int] = None) -> NDArray[np.uint64]:
        """Returns the games' indices, ascending.

        variant, generation: of these alone. newest: at most so many, those
        with the highest indices.
        """
        return self._opened().indices(variant, generation, newest)

    def games(self, *, variant: Optional[str] = None,
              generation: Optional[int] = None,
              newest: Optional[int] = None) -> Iterator[_tara.GameRecord]:
        """Yields games by ascending index, read one after another.

        Arguments as of `indices`.
        """
        store = self._opened()
        return (store.get(int(index), listed=True) for index in self.indices(
            variant=variant, generation=generation, newest=newest))

    def arrow(self, table: Literal["games", "plies"] = "games", *,
              variant: Optional[str] = None, generation: Optional[int] = None,
              newest: Optional[int] = None) -> Any:
        """Returns a pyarrow.RecordBatchReader; needs pyarrow.

        table: "games", a row a game: game (its index), variant, options, model,
        generation, length (actions), points_red, points_blue, winner (0 Red,
        1 Blue, null a draw, with compensation), ended_by, finished (UTC);
        or "plies", a row an action: game, ply, seat, side, phase, action,
        text, legal (how many were), value (win minus loss for the side to
        move after the search; null without one), simulations, surprise (nats),
        chosen (by a search: neither drawn for the opening nor by proof).

        Other arguments as of `indices`. Plies are read as they are consumed.
        Raises ImportError without pyarrow.
        """
        try:
            pyarrow: Any = importlib.import_module("pyarrow")
        except ImportError as error:
            raise ImportError("tables of games need pyarrow: "
                              "pip install pyarrow") from error
        if _types.text("table", table) == "games":
            columns = self._opened().game_columns(variant, generation, newest)
            milliseconds = columns.pop("finished_ms")
            winner = columns["winner"]
            columns["winner"] = pyarrow.array(winner, mask=winner < 0)
            columns["finished"] = pyarrow.array(
                milliseconds, pyarrow.timestamp("ms", "UTC"))
            return pyarrow.table(columns).to_reader()
        if table != "plies":
            raise ValueError(
                f"table: {table!r}; expected 'games' or 'plies'")
        games = self.games(variant=variant, generation=generation,
                           newest=newest)

        # Its lists have types, which those of no games lack.
        schema = pyarrow.RecordBatch.from_pydict(
            _tara._ply_columns([]) | {"phase": pyarrow.array([], "string"),
                                      "text": pyarrow.array([], "string"),
                                      "chosen": pyarrow.array([], "bool")}
        ).schema

        def batches() -> Iterator[Any]:
            while part := list(itertools.islice(games, _GAMES_AT_A_TIME)):
                columns = _tara._ply_columns(part)
                value = columns["value"]
                columns["value"] = pyarrow.array(value, mask=np.isnan(value))
                yield pyarrow.RecordBatch.from_pydict(columns, schema)

        return pyarrow.RecordBatchReader.from_batches(schema, batches())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns the table "games" as Arrow's C stream (a capsule)."""
        return self.arrow().__arrow_c_stream__(requested_schema)


def _index(given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"index: {given!r}; expected an integer") from None


def check(store: object) -> None:
    """Raises TypeError for an argument `store` that is none."""
    if not isinstance(store, GameStore):
        raise TypeError(f"store: {store!r}; expected a GameStore")


class Sampler:
    """Draws batches of samples from the newest games of a store.

        sampler = tara.Sampler(store, "window_games=2000")
        for step in range(1000):
            batch = sampler.batch(step, 256)

    options: fields of `learner` in a config of training by name, "name=value,
    ...": window_games, window_growth, value_search_share, value_horizon,
    policy_surprise, held_out_share, variant_balance (docs/reference/config.md).
    seed: that of the run whose learner draws the same batches.

    The window is that of the games that the store has now; `update` moves it.
    Several threads may use it at the same time: their calls take turns.
    Raises ValueError for options; of a store without games `batch` does, up to
    an `update` after games were added.
    """

    def __init__(self, store: GameStore, options: str = "", *,
                 seed: int = 1) -> None:
        check(store)
        self._sampler = _tara._Sampler(store._opened(), options, seed)
        self.update()

    def update(self, end: Optional[int] = None) -> None:
        """Moves the window to the newest games with an index below `end`.

        end: None for all games of the store; it never falls. A game is read
        and replayed once, as it enters the window.
        Raises DataLoss for a damaged game: the window then stays as it was.
        """
        self._sampler.update(end)

    def batch(self, step: int, size: int = 256) -> _types.Batch:
        """Returns the samples of a step.

        step: 0 or more. size: samples, 1 to 1048576.

        Depends on seed, step, size and window alone. Raises ValueError where
        the window is empty.
        """
        return self._sampler.batch(step, size)

    @property
    def games(self) -> int:
        """Games of the window that are learned from."""
        return self._sampler.games

    @property
    def positions(self) -> int:
        """Positions that can be drawn of them."""
        return self._sampler.positions
