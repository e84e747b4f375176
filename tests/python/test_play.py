"""Self-play and matches: as the C++ program's, around any evaluator or player."""

import collections
import contextlib
import contextvars
import gc
import itertools
import math
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import tara

from conftest import in_threads, interrupted

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WITNESS = ROOT / "tests/nn/witness/bundle.tara"
PROGRAM = os.environ["TARA_BINARY"]


@pytest.fixture(scope="module", name="network")
def ready_made_network():
    return tara.load()


def zeros(planes, globals_, mask):
    return np.zeros(mask.shape), np.zeros((len(mask), 3))


def tara_program(*arguments, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True,
        check=True, env={**os.environ, "TARA_ROOT": str(ROOT)}, **options)


def threads():
    """Returns the number of threads that play games, by their name."""
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            names.append((task / "comm").read_text().strip())
    return names.count("tara")


def by_index(games):
    return {game.index: bytes(game) for game in games}


# --- Self-play ---------------------------------------------------------------


@pytest.mark.parametrize("variant", ["sacred_hill_l1", "poisoned_chalice"])
@pytest.mark.parametrize("player", ["best", "playouts"])
def test_games_are_those_of_the_program(tmp_path, network, variant, player):
    given = "best,precision=int8" if player == "best" else player
    tara_program("selfplay", "--variant", variant, "--model", given, "-o",
                 tmp_path / "games.db", "--games", 8, "--sims", 30, "--seed",
                 5)
    evaluator = network if player == "best" else player
    games = tara.selfplay(evaluator, variant, 8, seed=5, options="sims=30")
    with tara.GameStore(tmp_path / "games.db") as store:
        assert by_index(store.games()) == by_index(games)


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_a_game_depends_on_its_index_alone(variant):
    options = "sims=12,temperature_plies=6,opening.share=0.5"
    all_games = by_index(tara.selfplay(zeros, variant, 6, options=options))
    some = tara.selfplay(zeros, variant, [5, 2], options=options, threads=2,
                         in_step=1)
    for game in some:
        assert bytes(game) == all_games.pop(game.index)
        assert tara.GameRecord.from_bytes(bytes(game)) == game
        assert game.states[-1].tobytes() == replay(game)
        assert game.model == "zeros,sims=12" and game.variant == variant
    assert sorted(all_games) == [0, 1, 3, 4]


def replay(game):
    state = tara.State(game.variant, game.options)
    for action in game.actions:
        state = state.play(int(action))
    assert state.outcome == game.outcome
    return bytes(state)


def test_games_are_any_integers():
    for games in (np.int64(2), range(2), np.arange(2), iter([0, 1])):
        played = tara.selfplay("playouts", "four_treasures", games,
                               options="sims=2")
        assert sorted(game.index for game in played) == [0, 1]


def test_rules_and_options_reach_the_games():
    game, = tara.selfplay("playouts", "four_treasures", [3],
                          rules="compensation=2.5",
                          options="sims=40,playout_cap.full_share=0.5,"
                                  "playout_cap.fast_simulations=5,c_puct=2")
    assert game.options == "compensation=2.5"
    assert game.outcome.compensation == 2.5
    full = game.policy().sum(axis=1) > 0
    assert 0 < full.sum() < len(game)
    assert (game.simulations[~full] < 40).any()


@pytest.mark.parametrize("arguments, message", [
    ({"options": "sims=0"}, "simulations: 0 is out of range; expected"),
    ({"options": "simulation=3"}, "simulation"),
    ({"options": "temperature=-1"}, "temperature: -1 is out of range; expected"),
    ({"options": "c_puct=x"}, "c_puct"),
    ({"options": "warm_start.generations=2"}, "warm_start"),
    ({"rules": "pies=true"}, "pies"),
    ({"variant": "chess"}, "chess"),
    ({"games": [-1]}, "games: -1; expected 0 or more"),
    ({"games": -1}, "games: -1; expected 0 or more"),
    ({"games": 2.5}, "games: 2.5; expected"),
    ({"games": "3"}, "games: '3'; expected"),
    ({"games": [0, None]}, "games: None; expected"),
    ({"games": 10 ** 9}, "games: 1000000000; expected 100000000 at most"),
    ({"in_step": 0}, "in_step: 0; expected 1 to 65536"),
    ({"threads": 0}, "threads: 0; expected"),
    ({"games": [3, 1, 3]}, "games: has 3 twice"),
    ({"options": "sims=3, sims=4"}, "sims.* is given twice"),
    ({"options": "sims=3,simulations=4"}, "has simulations twice"),
    ({"evaluator": 3}, "evaluator: 3; expected"),
    ({"evaluator": "playout"}, "evaluator: 'playout'; expected"),
])
def test_wrong_arguments_are_named(arguments, message):
    given = {"evaluator": "playouts", "variant": "four_treasures", "games": 2,
             **arguments}
    with pytest.raises((ValueError, TypeError), match=message):
        tara.selfplay(**given)


def test_games_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(tara._play, "_MAX_GAMES", 2000)
    monkeypatch.setattr(tara._play, "_MAX_YIELDED", 1000)
    with pytest.raises(ValueError, match="games: more than 1000 indices"):
        tara.selfplay("playouts", "four_treasures", itertools.count())
    with pytest.raises(ValueError, match="games: more than 2000 indices"):
        tara.selfplay("playouts", "four_treasures", range(2001))
    tara.selfplay("playouts", "four_treasures", range(2000)).close()


def test_a_network_plays_no_rules_that_it_has_not_learned(network):
    with pytest.raises(ValueError, match="pie_rule"):
        tara.selfplay(network, "four_treasures", 1, rules="pie_rule=true")


def test_games_finished_before_an_exception_are_not_lost():
    calls = 0

    def evaluator(planes, globals_, mask):
        nonlocal calls
        calls += 1
        if calls > 900:
            raise RuntimeError("out of memory")
        return zeros(planes, globals_, mask)

    games = tara.selfplay(evaluator, "four_treasures", 1000, options="sims=8",
                          in_step=1)
    taken = []
    with pytest.raises(RuntimeError, match="out of memory"):
        for game in games:
            taken.append(game)
    assert taken
    assert next(games, None) is None


def test_breaking_off_ends_the_games():
    before = threads()
    for _ in range(5):
        for game in tara.selfplay(zeros, "stone_of_destiny", 10 ** 6,
                                  options="sims=8", in_step=4, threads=2):
            assert game.index < 100
            break
    gc.collect()
    while threads() > before:
        time.sleep(0.01)  # joined, but still listed for a moment
    games = tara.selfplay("playouts", "four_treasures", 10 ** 6,
                          options="sims=1")
    next(games)
    assert threads() > before
    while before + 1 < threads():  # others are over by then, most probably
        time.sleep(0.01)
    games.close()
    games.close()
    assert not list(games)


def test_games_are_played_ahead_but_not_without_bound():
    asked = 0

    def evaluator(planes, globals_, mask):
        nonlocal asked
        asked += len(mask)
        return zeros(planes, globals_, mask)

    games = tara.selfplay(evaluator, "four_treasures", 10 ** 6, options="sims=2",
                          in_step=2)
    next(games)
    before = -1
    while asked != before:
        before = asked
        time.sleep(0.5)
    assert asked < 50_000
    games.close()


LONG = """
import numpy as np, tara
def evaluator(planes, globals_, mask):
    return np.zeros(mask.shape), np.zeros((len(mask), 3))
games = tara.selfplay(evaluator, "high_kings_l2", 10, options="sims=1000000")
print("begun", flush=True)
next(games)
"""


def test_ctrl_c_ends_self_play():
    assert interrupted(LONG)[2].rstrip().endswith("KeyboardInterrupt")


HUNG = """
import queue, threading, time, tara
asked = threading.Event()
def waits(*_):
    asked.set()
    return queue.Queue().get()
def loops(*_):
    asked.set()
    while True:
        pass
def run():
    %s
threading.Thread(target=lambda: (asked.wait(), time.sleep(0.1),
                                 print("asked", flush=True)), daemon=True
                 ).start()
try:
    run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("callee", ["waits", "loops"])
@pytest.mark.parametrize("work", [
    "for _ in tara.selfplay({0}, 'four_treasures', 2): pass",
    "games = tara.selfplay({0}, 'four_treasures', 2); next(games)",
    "tara.arena({0}, 'random', 'four_treasures', games=2)",
    "tara.arena('random', 'greedy', 'four_treasures', progress={0})",
])
def test_ctrl_c_ends_what_waits_for_a_callee_that_never_returns(callee, work):
    assert interrupted(HUNG % work.format(callee), begun="asked\n") == (
        0, "interrupted\n", "")


def test_the_thread_that_iterates_calls_the_evaluator_of_self_play():
    variable = contextvars.ContextVar("variable", default="unset")
    seen = set()

    def evaluator(planes, globals_, mask):
        seen.add((threading.get_ident(), variable.get()))
        return zeros(planes, globals_, mask)

    games = tara.selfplay(evaluator, "four_treasures", 4, options="sims=4",
                          threads=2)
    variable.set("later")
    assert len(list(games)) == 4
    assert seen == {(threading.get_ident(), "later")}


AT_WORK = """
import collections, threading, time, numpy as np, tara
begun = threading.Event()
def evaluator(planes, globals_, mask):
    begun.set()
    return np.zeros(mask.shape), np.zeros((len(mask), 3))
def slow(planes, globals_, mask):
    begun.set()
    time.sleep(0.5)
    return evaluator(planes, globals_, mask)
def first(states):
    begun.set()
    return [state.legal()[0] for state in states]
start = tara.State("sacred_hill_l1")
games = tara.Games("sacred_hill_l1", 256)
def in_thread(work):
    def forever():
        while True:
            work()
    threading.Thread(target=forever, daemon=True).start()
%s
assert begun.wait(300)
"""


def check_that_it_ends(work):
    run = subprocess.run([sys.executable, "-c", AT_WORK % work], timeout=300,
                         capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("evaluator", ["evaluator", "slow", "'playouts'"])
def test_the_interpreter_ends_while_games_are_played(evaluator):
    check_that_it_ends(f"games = tara.selfplay({evaluator}, 'high_kings_l2', "
                       "10, options='sims=1000000')\n"
                       "threading.Thread(target=lambda: (begun.set(), "
                       "next(games, None)), daemon=True).start()")


@pytest.mark.parametrize("work", [
    "tara.search([start] * 8, evaluator, options='sims=200', threads=2)",
    "tara.arena(first, 'random', 'sacred_hill_l1', games=20, threads=2)",
    "(games.step(games.sample()), begun.set())",
    "(start.features(), begun.set())",
    "collections.deque(tara.selfplay(evaluator, 'sacred_hill_l1', 100), 0)",
])
def test_the_interpreter_ends_while_a_daemon_thread_works(work):
    check_that_it_ends(f"in_thread(lambda: {work})")


def test_ctrl_c_in_next_ends_the_games():
    interrupted = threading.Event()
    calls = 0

    def evaluator(planes, globals_, mask):
        nonlocal calls
        calls += 1
        if calls == 100:
            signal.raise_signal(signal.SIGINT)
            interrupted.wait()  # no game is over before
        return zeros(planes, globals_, mask)

    before = threads()
    games = tara.selfplay(evaluator, "sacred_hill_l1", 10 ** 6,
                          options="sims=400", in_step=1)
    with pytest.raises(KeyboardInterrupt):
        for _ in games:
            pass
    interrupted.set()
    while threads() > before + 1:
        time.sleep(0.01)  # the one that is not joined yet
    assert all(len(game) for game in games)


def test_games_and_an_evaluator_that_refer_to_each_other_are_collected():
    class Trainer:
        def __init__(self):
            self.games = tara.selfplay(self.evaluator, "four_treasures", 10 ** 6,
                                       options="sims=5")

        def evaluator(self, planes, globals_, mask):
            return zeros(planes, globals_, mask)

    before = threads()
    trainers = [Trainer() for _ in range(3)]
    alive = [weakref.ref(trainer) for trainer in trainers]
    assert all(len(next(trainer.games)) for trainer in trainers)
    del trainers
    while any(each() is not None for each in alive) or threads() > before:
        gc.collect()
        time.sleep(0.01)


@contextlib.contextmanager
def process(method, target, *arguments):
    """Runs a function in another process; gives what it sends."""
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=target, args=(*arguments, there))
    child.start()

    def receive():
        assert here.poll(300)
        return here.recv()

    yield receive
    child.join(300)
    assert child.exitcode == 0


def in_a_fork(connection):
    connection.send(len(list(tara.selfplay(zeros, "four_treasures", 3,
                                           options="sims=4"))))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_play_games_of_their_own(method):
    ours = tara.selfplay(zeros, "four_treasures", 50, options="sims=50")
    next(ours)
    with process(method, in_a_fork) as receive:
        assert receive() == 3
    ours.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_fork_waits_for_a_lock_that_a_thread_had_when_it_was_made():
    ours = tara.selfplay("playouts", "four_treasures", 10 ** 6,
                         options="sims=20", in_step=4, threads=2)
    taker = threading.Thread(target=collections.deque, args=(ours, 0))
    taker.start()  # so that they are played all the time
    try:
        for _ in range(30):
            with process("fork", in_a_fork) as receive:
                assert receive() == 3
    finally:
        ours.close()
        taker.join()


def in_a_fork_of_players(holder, connection):
    try:
        next(holder[0])
    except RuntimeError as error:
        connection.send(str(error))
    holder[0].close()
    holder.clear()  # nothing else has it
    connection.send("gone")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_leaves_games_to_the_process_that_plays_them():
    holder = [tara.selfplay("playouts", "four_treasures", 10 ** 6,
                            options="sims=1", in_step=1)]
    next(holder[0])
    time.sleep(0.5)  # then its thread waits, most probably, to be taken from
    with process("fork", in_a_fork_of_players, holder) as receive:
        assert "expected tara.selfplay" in receive()
        assert receive() == "gone"
    assert len(next(holder[0]))
    holder[0].close()


def test_an_evaluator_may_end_the_games_that_ask_it():
    before = threads()
    games = None

    def evaluator(planes, globals_, mask):
        games.close()
        return zeros(planes, globals_, mask)

    games = tara.selfplay(evaluator, "four_treasures", 10 ** 6,
                          options="sims=8", threads=2)
    assert not list(games)
    del games
    while threads() > before:
        gc.collect()
        time.sleep(0.01)


def test_games_are_closed_while_their_evaluator_waits():
    asked, answered = threading.Event(), threading.Event()

    def evaluator(planes, globals_, mask):
        asked.set()
        answered.wait()
        return zeros(planes, globals_, mask)

    games = tara.selfplay(evaluator, "four_treasures", 2, options="sims=8")
    taken = []
    taker = threading.Thread(target=lambda: taken.extend(games))
    taker.start()
    assert asked.wait(300)
    games.close()
    answered.set()
    taker.join()
    assert not taken


def test_games_may_be_closed_by_several_threads():
    for _ in range(20):
        games = tara.selfplay("playouts", "four_treasures", 10 ** 6,
                              options="sims=1")
        in_threads(4, games.close)
        assert all(len(game) for game in games)


# --- Matches -----------------------------------------------------------------


class First:
    """Plays the first legal action."""

    name = "first"

    def choose(self, states):
        return [int(state.legal()[0]) for state in states]


def test_a_match_is_that_of_the_program():
    result = tara.arena("best:sims=8,precision=int8", "greedy",
                        "sacred_hill_l2", games=20, seed=3, threads=2)
    program = tara_program("arena", "--variant", "sacred_hill_l2", "--games",
                           20, "--seed", 3, "best:sims=8,precision=int8",
                           "greedy")
    assert str(result) == program.stdout
    assert result.games == 20
    assert result.score == (result.wins + result.draws / 2) / 20
    low, high = result.score_interval
    assert low <= result.score <= high
    assert result.report["player_a"] == "best:sims=8,precision=int8"


def test_a_match_of_an_engine_is_that_of_the_program():
    """An engine plays one game at a time, as it can."""
    # Where the ready-made network is, only one of them is told.
    engine = f"engine:{PROGRAM} engine --model playouts"
    result = tara.arena(engine, "random", "four_treasures", games=6, seed=3)
    program = tara_program("arena", "--variant", "four_treasures", "--games",
                           6, "--seed", 3, engine, "random")
    assert str(result) == program.stdout


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_python_plays_beside_all_players(variant):
    results = [tara.arena(player, "greedy", variant, games=8, threads=threads)
               for player, threads in
               ((First(), 1), (First(), 2), (First().choose, 1))]
    assert [(r.wins, r.draws, r.losses) for r in results] == 3 * [
        (results[0].wins, results[0].draws, results[0].losses)]
    assert results[0].report["player_a"] == "first"
    assert results[2].report["player_a"] == "choose"


def test_python_is_asked_by_the_thread_that_calls():
    asked = set()

    def choose(states):
        asked.add(threading.get_ident())
        return [state.legal()[0] for state in states]

    tara.arena(choose, choose, "four_treasures", games=40, threads=4,
               progress=lambda *_: asked.add(threading.get_ident()))
    assert asked == {threading.get_ident()}


def test_a_search_in_python_beats_random():
    class Searcher:
        def choose(self, states):
            return [analysis.action for analysis in tara.search(
                states, "playouts", options="sims=30")]

    result = tara.arena(Searcher(), "random", "four_treasures", games=40)
    assert result.score_interval[0] > 0.6
    assert result.elo == math.inf or result.elo > 100


def test_a_sequential_test_decides():
    result = tara.arena("greedy", "random", "four_treasures",
                        sprt="elo0=0,elo1=100")
    assert result.decision in ("H0", "H1")
    assert result.games < 20000


@pytest.mark.parametrize("choose, kind, message", [
    (lambda states: [600] * len(states), ValueError,
     "choose returned 600 in .*; expected a legal action"),
    (lambda states: ["Z9"] * len(states), ValueError, "'Z9'"),
    (lambda states: np.array([state.legal()[0] for state in states])[:, None],
     ValueError, r"choose returned an array of uint16 and shape \[1\] in"),
    (lambda states: [None] * len(states), ValueError, "None"),
    (lambda states: [], ValueError, "an action for each of"),
    (lambda states: None, ValueError, "choose returned None"),
    (lambda states: 1 / 0, ZeroDivisionError, "division"),
])
def test_a_player_that_cannot_play_is_an_exception(choose, kind, message):
    with pytest.raises(kind, match=message):
        tara.arena(choose, "random", "four_treasures", games=2, threads=2)


@pytest.mark.parametrize("arguments, message", [
    ({"a": "grandmaster"}, "grandmaster"),
    ({"a": "net:no/such/file"}, "no/such/file"),
    ({"a": 7}, "a: 7; expected a player spec"),
    ({"games": 0}, "games"),
    ({"games": -3}, "games"),
    ({"sprt": "elo0=10"}, "elo"),
    ({"opening_plies": -1}, "opening"),
    ({"store": "match.db"}, "store: 'match.db'; expected a GameStore"),
    ({"threads": 0}, "threads: 0; expected"),
    ({"variant": "go"}, "go"),
    ({"a": "best:sims=5", "rules": "pie_rule=true"}, "pie_rule"),
    ({"a": "random+greedy"}, "four_treasures"),
])
def test_wrong_arguments_of_matches_are_named(arguments, message):
    given = {"a": "random", "b": "random", "variant": "four_treasures",
             **arguments}
    with pytest.raises((ValueError, TypeError, FileNotFoundError),
                       match=message):
        tara.arena(**given)


def test_a_match_goes_on_from_its_store(tmp_path):
    played = []

    class Counting(First):
        def choose(self, states):
            played.append(len(states))
            return super().choose(states)

    with tara.GameStore(tmp_path / "match.db", "w") as store:
        first = tara.arena(Counting(), "random", "four_treasures", games=10,
                           store=store)
        assert len(store) == 10 and sum(played) > 100
        played.clear()
        again = tara.arena(Counting(), "random", "four_treasures", games=10,
                           store=store)
        assert not played and again.table == first.table
        tara.arena(Counting(), "random", "four_treasures", games=12,
                   store=store)
        assert len(store) == 12 and played
        for game in store.games():
            replay(game)
    with pytest.raises(ValueError, match="closed"):
        tara.arena("random", "random", "four_treasures", store=store)


def test_a_match_keeps_its_store_to_its_end(tmp_path):
    store = tara.GameStore(tmp_path / "match.db", "w")
    result = tara.arena("random", "greedy", "four_treasures", games=40,
                        store=store, progress=lambda *_: store.close())
    assert result.games == 40
    with tara.GameStore(store.path) as again:
        assert len(again) == 40


def test_progress_is_reported_and_may_end_the_match():
    seen = []
    tara.arena("random", "greedy", "four_treasures", games=6,
               progress=lambda *done: seen.append(done))
    assert seen[-1][:2] == (6, 6)

    def fail(done, games, score):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        tara.arena("random", "greedy", "four_treasures", progress=fail)


def test_ctrl_c_ends_a_match():
    _, _, errors = interrupted("""
import tara
print("begun", flush=True)
tara.arena("mcts:sims=1000000", "random", "high_kings_l1", games=1000000)
""")
    assert errors.rstrip().endswith("KeyboardInterrupt")
