"""Stored games, their tables, and the samples that learners draw."""

import contextlib
import itertools
import os
import pathlib
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import tara


@pytest.fixture(scope="module", name="path")
def path_of_games(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.db"
    with tara.GameStore(path, "w") as store:
        for first, variant in enumerate(("four_treasures", "high_kings_l2")):
            store.add(tara.selfplay(
                "playouts", variant, range(40 * first, 40 * first + 40),
                options="sims=16,opening.share=0.3"))
    return path


@pytest.fixture(name="store")
def opened_store(path):
    with tara.GameStore(path) as store:
        yield store


@pytest.fixture(name="copy")
def copied_store(path, tmp_path):
    return shutil.copy(path, tmp_path / "copy.db")


@contextlib.contextmanager
def records_of(path):
    """Gives a function that returns a game's stored record or changes it."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        table = database.execute(
            "select name from sqlite_master where type = 'table' and sql like "
            "'%blob%'").fetchone()[0]
        column = next(row[1] for row in database.execute(
            f"pragma table_info({table})") if row[2].lower() == "blob")

        def record(index, change=None):
            if change is not None:
                database.execute(f"update {table} set {column} = ? where "
                                 "game_index = ?", (change, index))
            return database.execute(f"select {column} from {table} where "
                                    "game_index = ?", (index,)).fetchone()[0]

        yield record


# --- Records and stores ------------------------------------------------------


def test_games_come_back_as_they_were(store):
    assert len(store) == 80
    assert list(store.indices()) == list(range(80))
    assert list(store.indices(variant="high_kings_l2", newest=3)) == [
        77, 78, 79]
    assert list(store.indices(generation=1)) == []
    games = list(store.games(newest=5))
    assert [game.index for game in games] == [75, 76, 77, 78, 79]
    for game in games:
        assert store[game.index] == game
        assert pickle.loads(pickle.dumps(game)) == game
        assert hash(store[game.index]) == hash(game)
        states, actions = game.states, game.actions
        assert len(states) == len(actions) + 1 == len(game) + 1
        assert len(game.values) == len(game.simulations) == len(game)
        legal = [tara.State.from_bytes(state.tobytes()).legal()
                 for state in states]
        policy = game.policy()
        for ply, action in enumerate(actions):
            assert action in legal[ply]
            assert set(np.flatnonzero(policy[ply])) <= set(legal[ply])
        drawn = np.isnan(game.values)
        assert drawn.sum() == game.opening_plies
        np.testing.assert_allclose(policy[~drawn].sum(axis=1), 1, atol=1e-5)
        assert game.line.startswith('{"variant"') or "actions" in game.line


def test_a_store_is_iterated_and_has_indices(store):
    assert list(store) == list(store.games())
    assert 5 in store and np.uint64(79) in store
    assert not any(each in store for each in (80, -1, 2 ** 63, 2 ** 70))
    with pytest.raises(TypeError, match="index: '5'; expected an integer"):
        "5" in store


def test_a_damaged_record_is_refused(store):
    game = bytes(store[3])
    for damaged in (b"nonsense", game[:-20],
                    game.replace(b"four_treasures", b"sacred_hill_l1")):
        with pytest.raises(ValueError):
            tara.GameRecord.from_bytes(damaged)


def test_wrong_uses_of_a_store_are_named(store, path, copy, tmp_path):
    with pytest.raises(KeyError, match="80"):
        store[80]
    with pytest.raises(KeyError):
        store[-1]
    with pytest.raises(ValueError, match="read-only"):
        store.add(store[0])
    with pytest.raises(ValueError, match="variant"):
        store.indices(variant="go")
    with pytest.raises(ValueError, match="newest: -1; expected 0 or more"):
        store.indices(newest=-1)
    with pytest.raises(FileNotFoundError, match="none.db"):
        tara.GameStore(tmp_path / "none.db")
    with pytest.raises(FileNotFoundError, match="games.db"):
        tara.GameStore(tmp_path)
    with pytest.raises(ValueError, match="mode: 'a'; expected 'r' or 'w'"):
        tara.GameStore(path, "a")
    (tmp_path / "text.db").write_text("not a store" * 1000)
    with pytest.raises(ValueError, match="text.db"):
        tara.GameStore(tmp_path / "text.db")
    with tara.GameStore(copy, "w") as other:
        with pytest.raises(ValueError, match="7"):
            other.add([store[7]])
        assert len(other) == 80
        other.close()
        for use in (other.games, other.indices, lambda: other[0],
                    lambda: len(other), lambda: polars.DataFrame(other),
                    lambda: iter(other), lambda: 0 in other):
            with pytest.raises(ValueError, match="copy.db is closed"):
                use()


def test_a_damaged_store_is_data_loss(copy):
    with records_of(copy) as record:
        record(5, b"\x00\x11\x22\x33")
    with tara.GameStore(copy) as store:
        assert store[4] and store[6] and 5 in store
        with pytest.raises(tara.DataLoss, match="5"):
            store[5]
        with pytest.raises(tara.DataLoss, match="5"):
            tara.Sampler(store)


def test_an_update_that_fails_leaves_the_window(copy):
    with records_of(copy) as record:
        whole = record(12)
        record(12, b"\x00\x11\x22\x33")
    with tara.GameStore(copy) as store:
        sampler = tara.Sampler.__new__(tara.Sampler)
        sampler._sampler = tara._tara._Sampler(
            store._opened(), "window_games=4,held_out_share=0", 1)
        sampler.update(10)
        before = sampler.batch(5, 64)
        for _ in range(2):
            with pytest.raises(tara.DataLoss, match="12"):
                sampler.update(16)
            assert sampler.games == 4
            assert same(sampler.batch(5, 64), before)
        with records_of(copy) as record:
            record(12, whole)
        sampler.update(16)
        fresh = tara.Sampler(store, "window_games=4,held_out_share=0")
        assert not same(sampler.batch(5, 64), before)
        sampler.update()
        assert same(sampler.batch(5, 64), fresh.batch(5, 64))


def zstd_frame(data):
    """Returns a frame of one block as it is, with no checksum."""
    assert len(data) < 1 << 17
    return (b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little") +
            (len(data) << 3 | 1).to_bytes(3, "little") + data)


def test_a_record_with_an_action_that_there_is_not_has_no_line(path, copy):
    with tara.GameStore(path) as store:
        whole = bytes(store[7])
    # One more step, of action 100,000,000.
    step = b"\x08\x80\xc2\xd7\x2f"
    with records_of(copy) as record:
        record(7, zstd_frame(whole + b"\x4a" + bytes([len(step)]) + step))
    with tara.GameStore(copy) as store:
        game = store[7]
        assert game.actions[-1] == 100_000_000 % 2 ** 16
        for use in (lambda: game.line, lambda: game.states, game.policy):
            with pytest.raises(ValueError, match="game 7"):
                use()
        for use in (lambda: tara.Sampler(store),
                    store.arrow("plies").read_all):
            with pytest.raises(tara.DataLoss, match="game 7: "):
                use()


def test_a_copy_with_its_log_and_without_its_index_is_read(path, tmp_path):
    (tmp_path / "copy").mkdir()
    with tara.GameStore(tmp_path / "games.db", "w") as store:
        with tara.GameStore(path) as games:
            store.add(games.games(newest=3))
        for name in ("games.db", "games.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / "copy")
        with tara.GameStore(tmp_path / "copy") as copy:
            assert list(copy) == list(store) and len(copy) == 3


def test_libprotobuf_prints_nothing(store):
    damaged = bytes(store[0]).replace(b"four_treasures", b"four_treasure\xff")
    code = f"""
import tara
try:
    tara.GameRecord.from_bytes({damaged!r})
except ValueError:
    print("ValueError")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True,
                         text=True, check=True)
    assert (run.stdout, run.stderr) == ("ValueError\n", "")


def test_a_path_with_a_nul_is_refused(tmp_path):
    with pytest.raises(ValueError, match="path: .*without NUL"):
        tara.GameStore(f"{tmp_path}/a\0b.db", "w")
    assert not list(tmp_path.iterdir())


def test_a_store_may_be_closed_while_it_is_read(path):
    for _ in range(20):
        store = tara.GameStore(path)
        errors = []

        def read():
            try:
                while True:
                    for game in store.games():
                        assert len(game)
            except ValueError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.01)
        store.close()
        for thread in threads:
            thread.join()
        assert len(errors) == 3
        assert all("closed" in message for message in errors)


# --- Tables ------------------------------------------------------------------


def test_a_store_keeps_its_locks_when_it_is_opened_again(copy):
    """Who closes it elsewhere does not take itself for the last."""
    games = list(tara.selfplay("playouts", "four_treasures", range(80, 100),
                               options="sims=2"))
    with tara.GameStore(copy, "w") as store:
        store.add(games[:10])
        with tara.GameStore(copy) as again:
            subprocess.run(
                [sys.executable, "-c", "import sys, tara\n"
                 "tara.GameStore(sys.argv[1], 'w').close()", copy], check=True)
            store.add(games[10:])
            assert len(again) == 100
    with tara.GameStore(copy) as store:
        assert len(store) == 100


def test_libraries_of_tables_take_a_store_as_it_is(store):
    frame = polars.DataFrame(store)
    assert frame.height == 80
    assert pyarrow.table(store).num_rows == 80
    assert len(pandas.DataFrame.from_arrow(store)) == 80
    for row, game in zip(frame.iter_rows(named=True), store.games()):
        assert row["game"] == game.index
        assert row["variant"] == game.variant
        assert row["winner"] == game.outcome.winner
        points = (row["points_red"], row["points_blue"])
        assert points == game.outcome.points
        assert row["ended_by"] == game.outcome.ended_by
        assert row["length"] == len(game)
    by_variant = frame.group_by("variant").len().sort("variant")
    assert by_variant.rows() == [("four_treasures", 40), ("high_kings_l2", 40)]


def test_plies_of_many_games_are_read_a_part_at_a_time(copy):
    with tara.GameStore(copy, "w") as store:
        store.add(tara.selfplay("playouts", "four_treasures", range(80, 600),
                                options="sims=2"))
        plies = polars.DataFrame(store.arrow("plies"))
        lengths = {game.index: len(game) for game in store.games()}
    counted = plies.group_by("game").len().rows()
    assert len(lengths) == 600 and dict(counted) == lengths


def test_plies_are_those_of_the_games(store):
    frame = polars.DataFrame(store.arrow("plies", newest=20))
    games = {game.index: game for game in store.games(newest=20)}
    assert frame.height == sum(len(game) for game in games.values())
    for row in frame.sample(100, seed=1).iter_rows(named=True):
        game = games[row["game"]]
        state = tara.State.from_bytes(game.states[row["ply"]].tobytes())
        assert (row["seat"], row["side"], row["phase"]) == (
            state.seat, state.side, state.phase)
        assert row["action"] == game.actions[row["ply"]]
        assert row["text"] == state.action_text(row["action"])
        assert row["legal"] == len(state.legal())
        value = game.values[row["ply"]]
        assert row["value"] == (None if np.isnan(value) else value)
        assert row["chosen"] == (row["ply"] >= game.opening_plies)
    empty = polars.DataFrame(store.arrow("plies", generation=3))
    assert empty.height == 0 and empty.schema == frame.schema
    with pytest.raises(ValueError, match="table: 'moves'; expected"):
        store.arrow("moves")


# --- Samples -----------------------------------------------------------------


def turned(state, planes):
    """Whether the planes have the values of the state's, in any order."""
    return np.array_equal(np.sort(planes.ravel()),
                          np.sort(state.features().planes.ravel()))


def test_batches_are_of_the_games_that_were_played(store):
    sampler = tara.Sampler(store, "window_games=60,held_out_share=0.1",
                           seed=4)
    assert 40 < sampler.games < 60
    seen = {}
    for game in store.games(newest=60):
        policy = game.policy()
        for ply, state in enumerate(game.states[:-1]):
            if ply >= game.opening_plies:
                seen.setdefault(state.tobytes(), []).append(
                    (game, policy[ply]))
    batch = sampler.batch(7, 200)
    for i, raw in enumerate(batch.states):
        state = tara.State.from_bytes(raw.tobytes())
        candidates = seen[raw.tobytes()]
        assert batch.mask[i].sum() == len(state.legal())
        assert turned(state, batch.planes[i])
        np.testing.assert_array_equal(batch.globals[i],
                                      state.features().globals)
        assert batch.policy_weight[i] == 1
        assert batch.policy[i].sum() == pytest.approx(1, abs=1e-5)
        assert (batch.policy[i][batch.mask[i] == 0] == 0).all()
        assert any(np.allclose(np.sort(policy), np.sort(batch.policy[i]),
                               atol=1e-4) for _, policy in candidates)
        won = [outcome_for(game, state.side) for game, _ in candidates]
        assert tuple(batch.result[i]) in won
        assert batch.margin_weight[i] == batch.final_weight[i] == 1
        margins = [game.outcome.margin * (1 - 2 * state.side)
                   for game, _ in candidates]
        assert batch.margin[i] in margins
        assert ((batch.owner[i] == 0).sum(),
                (batch.owner[i] == 1).sum()) in [
                    ringforts(game, state.side) for game, _ in candidates]


def outcome_for(game, side):
    winner = game.outcome.winner
    if winner is None:
        return (0, 1, 0)
    return (1, 0, 0) if winner == side else (0, 0, 1)


def ringforts(game, side):
    of_sides = game.states[-1]["ringforts"]
    return (bin(of_sides[side]).count("1"), bin(of_sides[1 - side]).count("1"))


def test_a_batch_depends_on_seed_step_and_window_alone(store):
    one, two = (tara.Sampler(store, "window_games=50", seed=2)
                for _ in range(2))
    two.batch(3)
    assert same(one.batch(9), two.batch(9))
    assert not same(one.batch(9), one.batch(10))
    assert not same(one.batch(9), tara.Sampler(
        store, "window_games=50", seed=3).batch(9))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("options", [
    "", "window_games=40,held_out_share=0.2", "value_search_share=0.5"])
def test_batches_are_the_learners_bit_for_bit(path, store, options):
    binary = (pathlib.Path(os.environ["TARA_BINARY"]).parents[2] /
              "tests/train/learner_batch")
    n, planes, actions = 50, tara.NUM_PLANES, tara.NUM_ACTIONS
    run = subprocess.run(
        [binary, path, "6", "3", str(n), *filter(None, options.split(","))],
        stdout=subprocess.PIPE, check=True)
    batch = tara.Sampler(store, options, seed=6).batch(3, n)
    at = 0
    for name, dtype, shape in [
            ("planes", "f4", (n, 7, 7, planes)),
            ("globals", "f4", (n, tara.NUM_GLOBALS)),
            ("mask", "f4", (n, actions)), ("policy", "f4", (n, actions)),
            ("policy_weight", "f4", (n,)), ("result", "f4", (n, 3)),
            ("margin", "i8", (n,)), ("margin_weight", "f4", (n,)),
            ("reply", "f4", (n, actions)), ("reply_weight", "f4", (n,)),
            ("owner", "i8", (n, 7, 7)), ("kingdoms", "i8", (n, 2)),
            ("final_weight", "f4", (n,))]:
        count = int(np.prod(shape))
        want = np.frombuffer(run.stdout, dtype, count, at).reshape(shape)
        at += want.nbytes
        got = getattr(batch, name)
        if name == "planes":
            got = got.transpose(0, 2, 3, 1)
        elif name == "mask":
            want = want == 0  # added to logits
        np.testing.assert_array_equal(got, want, err_msg=name)
    assert at == len(run.stdout)


def test_a_window_moves_with_its_games(copy):
    with tara.GameStore(copy, "w") as store:
        sampler = tara.Sampler(store, "window_games=30,held_out_share=0")
        positions = sampler.positions
        store.add(tara.selfplay("playouts", "four_treasures", range(80, 100),
                                options="sims=8"))
        assert (sampler.games, sampler.positions) == (30, positions)
        sampler.update()
        assert sampler.games == 30 and sampler.positions != positions
        with pytest.raises(ValueError, match="end: 50; expected 100 or more"):
            sampler.update(50)
    assert len(sampler.batch(0).planes) == 256  # of games in memory


def test_a_window_moves_while_another_thread_draws(copy):
    games = sorted(tara.selfplay("playouts", "four_treasures", range(80, 200),
                                 options="sims=2"), key=lambda game: game.index)
    with tara.GameStore(copy, "w") as store:
        sampler = tara.Sampler(store, "window_games=10,held_out_share=0")
        drawn = []
        is_over = threading.Event()

        def draw():
            while True:
                batch = sampler.batch(len(drawn), 64)
                drawn.append(batch.policy[batch.mask == 0].any())
                if is_over.is_set():
                    return

        threads = [threading.Thread(target=draw) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for game in games:
                store.add(game)
                sampler.update()
                assert sampler.games == 10 and sampler.positions > 0
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
    assert drawn and not any(drawn)


def test_batches_are_prepared_ahead_by_a_thread(store):
    sampler = tara.Sampler(store, "held_out_share=0")
    asked_by = set()

    def noted(batch):
        asked_by.add(threading.get_ident())
        return batch

    steps = range(3, 8)
    batches = list(sampler.batches(steps, 8, to=noted))
    for step, batch in zip(steps, batches, strict=True):
        for array, wanted in zip(batch, sampler.batch(step, 8)):
            assert array.tobytes() == wanted.tobytes()
    assert len(asked_by) == 1 and threading.get_ident() not in asked_by
    endless = sampler.batches(itertools.count(), 8)
    assert len(next(endless).planes) == 8
    endless.close()
    with pytest.raises(ZeroDivisionError):
        list(sampler.batches([0], 8, to=lambda _: 1 / 0))


@pytest.mark.parametrize("options, message", [
    ("window_games=0", "window_games: 0 is out of range; expected"),
    ("windows=5", "windows"),
    ("held_out_share", "held_out_share"),
])
def test_wrong_options_of_a_sampler_are_named(store, options, message):
    with pytest.raises(ValueError, match=message):
        tara.Sampler(store, options)


def test_a_sampler_takes_no_path(path):
    with pytest.raises(TypeError, match="store: .*; expected a GameStore"):
        tara.Sampler(path)


def test_a_batch_of_nothing_is_refused(store, tmp_path):
    sampler = tara.Sampler(store)
    for step, size, message in ((-1, 4, "step: -1"), (0, 0, "size: 0")):
        with pytest.raises(ValueError, match=message):
            sampler.batch(step, size)
    with tara.GameStore(tmp_path / "empty.db", "w") as empty:
        sampler = tara.Sampler(empty, "held_out_share=0")
        with pytest.raises(ValueError, match="no positions"):
            sampler.batch(0)
        empty.add(store[7])
        sampler.update()
        assert len(sampler.batch(0, 4).planes) == 4


def test_a_folder_of_a_run_is_its_store(path, tmp_path):
    shutil.copy(path, tmp_path / "games.db")
    with tara.GameStore(tmp_path) as store:
        assert len(store) == 80
        assert store.path == pathlib.Path(tmp_path) / "games.db"
