"""Stores of games, as objects and as Arrow tables; training samples."""

import collections
import collections.abc
import importlib
import itertools
import operator
import os
import pathlib
from typing import (Any, Callable, Iterable, Iterator, Literal, Optional,
                    Union)

import numpy as np
from numpy.typing import NDArray

from tara import _tara, _types

_GAMES_AT_A_TIME = 256


class GameStore:
    """A file with the games of a run, of `tara selfplay` or of `tara arena`.

        store = tara.GameStore("runs/mine")
        frame = polars.DataFrame(store)          # or pandas, duckdb, pyarrow
        for game in store.games(newest=100):
            print(game.variant, len(game), game.outcome.winner)

    path: the file, or the folder of a run, which stands for its games.db.
    mode: "r" reads, even while a run is writing; "w" also adds games, and
    creates the file if it does not exist.

    The attribute path is the file. A game is safe, even if the process is
    killed, once `add` has returned. Several threads may use a store
    concurrently. It must not be used after a fork. Raises FileNotFoundError
    for a missing file, ValueError for a file of another kind, and DataLoss for
    a damaged one.
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
        """Closes the file. Further calls have no effect."""
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
        """Returns the game with the given index; KeyError if there is none."""
        store, number = self._opened(), _index(index)
        if not 0 <= number < 2 ** 63:
            raise KeyError(f"no game has the index {number}")
        return store.get(number)

    def __iter__(self) -> Iterator[_tara.GameRecord]:
        """Yields all games in ascending order of index."""
        return self.games()

    def __contains__(self, index: object) -> bool:
        """Returns whether there is a game with the given index."""
        try:
            self[_index(index)]
        except KeyError:
            return False
        except _types.DataLoss:
            pass
        return True

    def add(self, games: Union[_tara.GameRecord,
                               Iterable[_tara.GameRecord]]) -> None:
        """Adds one or several games; adds none of them if there is an error.

        Raises ValueError for an index that the store already contains, and for
        a store opened in mode "r".
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
        """Returns the indices of the games, ascending.

        variant, generation: only games of this variant and generation. newest:
        only this many games, the ones with the highest indices.
        """
        return self._opened().indices(variant, generation, newest)

    def games(self, *, variant: Optional[str] = None,
              generation: Optional[int] = None,
              newest: Optional[int] = None) -> Iterator[_tara.GameRecord]:
        """Yields games in ascending order of index, reading one at a time.

        Takes the same arguments as `indices`.
        """
        store = self._opened()
        return (store.get(int(index), listed=True) for index in self.indices(
            variant=variant, generation=generation, newest=newest))

    def arrow(self, table: Literal["games", "plies"] = "games", *,
              variant: Optional[str] = None, generation: Optional[int] = None,
              newest: Optional[int] = None) -> Any:
        """Returns a pyarrow.RecordBatchReader; requires pyarrow.

        table: "games" or "plies". "games" has one row per game: game (its
        index), variant, options, model, generation, length (actions),
        points_red, points_blue, winner (0 Red, 1 Blue, null for a draw,
        including compensation), ended_by, finished (UTC). "plies" has one row
        per action: game, ply, seat, side, phase, action, text, legal (number
        of legal actions), value (win minus loss for the side to move after the
        search; null without a search), simulations, surprise (nats), chosen
        (whether a search chose the action, rather than the random opening or a
        proof).

        The other arguments are the same as for `indices`. Plies are read as
        they are consumed. Raises ImportError without pyarrow.
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

        def batch_of(part: "list[_tara.GameRecord]") -> Any:
            rows = _tara._plies(part)
            columns: "dict[str, Any]" = {
                name: np.ascontiguousarray(rows[name])
                for name in rows.dtype.names or ()}
            for name in ("phase", "text"):
                columns[name] = columns[name].astype(str)
            value = columns["value"]
            columns["value"] = pyarrow.array(value, mask=np.isnan(value))
            return pyarrow.RecordBatch.from_pydict(columns)

        parts = iter(lambda: list(itertools.islice(games, _GAMES_AT_A_TIME)),
                     [])
        return pyarrow.RecordBatchReader.from_batches(
            batch_of([]).schema, map(batch_of, parts))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns the table "games" as Arrow's C stream (a capsule)."""
        return self.arrow().__arrow_c_stream__(requested_schema)


def _index(given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"index: {given!r}; expected an integer") from None


def check(store: object) -> None:
    """Raises TypeError if the argument `store` is not a GameStore."""
    if not isinstance(store, GameStore):
        raise TypeError(f"store: {store!r}; expected a GameStore")


class Sampler:
    """Draws batches of samples from the newest games of a store.

        sampler = tara.Sampler(store, "window_games=2000")
        for step in range(1000):
            batch = sampler.batch(step, 256)

    options: fields of `learner` in a training config by name, "name=value,
    ...": window_games, window_growth, value_search_share, value_horizon,
    held_out_share (docs/reference/config.md). seed: the same seed as that of a run gives the
    batches of its learner.

    The window covers the games that the store contains at creation. `update`
    moves it. Several threads may use a sampler concurrently; their calls are
    serialized. Raises ValueError for invalid options. With an empty store,
    `batch` raises ValueError until games are added and `update` is called.
    """

    def __init__(self, store: GameStore, options: str = "", *,
                 seed: int = 1) -> None:
        check(store)
        self._sampler = _tara._Sampler(store._opened(), options, seed)
        self.update()

    def update(self, end: Optional[int] = None) -> None:
        """Moves the window to the newest games with an index below `end`.

        end: None for all games of the store. The end never decreases. A game
        is read and replayed once, when it enters the window.
        Raises DataLoss for a damaged game; the window then does not change.
        """
        self._sampler.update(end)

    def batch(self, step: int, size: int = 256) -> _types.Batch:
        """Returns the samples of a training step.

        step: 0 or more. size: number of samples, 1 to 1048576.

        The result depends only on the seed, step, size and window. Raises
        ValueError if the window is empty.
        """
        return self._sampler.batch(step, size)

    def batches(self, steps: Iterable[int], size: int = 256, *, ahead: int = 2,
                to: Callable[[_types.Batch], Any] = lambda batch: batch
                ) -> Iterator[Any]:
        """Yields batches that a thread prepares ahead, in the order of steps.

            def pinned(batch):
                return {name: torch.from_dlpack(array).pin_memory()
                        for name, array in batch._asdict().items()
                        if name != "states"}

            for tensors in sampler.batches(range(1000), 256, to=pinned):
                planes = tensors["planes"].to("cuda", non_blocking=True)

        steps, size: as in `batch`. ahead: number of batches in preparation. to:
        called by that thread with each Batch; its result is yielded. Do not
        call `update` during the iteration.
        """
        from concurrent import futures  # here: it loads many modules

        def prepare(step: int) -> Any:
            return to(self.batch(step, size))

        pool = futures.ThreadPoolExecutor(1)
        waiting: "collections.deque[futures.Future[Any]]" = collections.deque()
        try:
            for step in steps:
                waiting.append(pool.submit(prepare, step))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    @property
    def games(self) -> int:
        """Number of games in the window that samples come from."""
        return self._sampler.games

    @property
    def positions(self) -> int:
        """Number of positions in these games that can be drawn."""
        return self._sampler.positions
