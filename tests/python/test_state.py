"""Positions: the rules as in C++, and how Python holds them."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from xml.etree import ElementTree
import zipfile
import io
import json
import pathlib

import numpy as np
import pytest
import tara

from conftest import (GOLDEN, golden_games, in_threads, interrupted,
                      options_text)


@pytest.mark.parametrize("variant", tara.VARIANTS)
@pytest.mark.parametrize("folder", ["", "options"])
def test_golden_games(variant, folder):
    """Games of an independent implementation: legal actions and results."""
    games = 0
    for game in golden_games(GOLDEN / folder / f"{variant}.jsonl"):
        state = tara.State(variant, options_text(game))
        for step in game["steps"]:
            assert state.seat == step["seat"]
            assert state.legal_text() == step["legal"]
            state = state.play(step["action"])
        assert state.finished
        assert state.legal().size == 0
        result = game["result"]
        assert list(state.outcome.points) == result["points"]
        assert state.outcome.winner == result["winner"]
        assert state.outcome.ended_by == result["ended_by"]
        games += 1
    assert games >= 12


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_perft(variant, perft):
    def check(state, counts):
        for depth, count in enumerate(counts, start=1):
            if count > 100_000:
                break  # C++'s own test has the larger ones
            assert state.perft(depth) == count

    check(tara.State(variant), perft[variant]["start"])
    for position in perft[variant]["positions"]:
        state = tara.State(variant)
        for action in position["prefix"]:
            state = state.play(action)
        check(state, position["counts"])


SVG = "{http://www.w3.org/2000/svg}"


def _drawn(root):
    """Returns the counts of what a picture shows: [red, blue] by kind."""
    groups = {}
    kings = {"red": 0, "blue": 0}
    stranded = 0
    for group in root.iter(f"{SVG}g"):
        names = group.get("class", "").split()
        for name in names:
            groups[name] = group
        stranded += "tara-stranded" in names
        for side in kings:
            kings[side] += f"tara-{side}-king" in names
    return {
        "ringforts": [len(groups[f"tara-{side}-ringforts"])
                      for side in ("red", "blue")],
        "bridges": sum(len(groups[f"tara-{side}-bridges"])
                       for side in ("red", "blue")),
        "kings": list(kings.values()),
        "stranded": stranded,
    }


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_pictures_have_what_the_position_has(variant):
    state, last = tara.State(variant), None
    rng = np.random.default_rng(5)
    while True:
        raw = np.frombuffer(bytes(state), tara.STATE)[0]
        red, blue = (int(board) for board in raw["ringforts"])
        kings = [int(board) for board in raw["kings"]]
        if variant == "stone_of_destiny":
            bridges = (int(raw["links_east"]).bit_count() +
                       int(raw["links_north"]).bit_count())
        else:
            bridges = sum((own & own >> step).bit_count()
                          for own in (red, blue) for step in (1, 9))
        text = state.svg(legal=True, last=last)
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text == root.get("aria-label")
        assert root.find(f"{SVG}desc").text
        assert not any("id" in element.attrib for element in root.iter())
        assert _drawn(root) == {
            "ringforts": [red.bit_count(), blue.bit_count()],
            "bridges": bridges,
            "kings": [board.bit_count() for board in kings],
            "stranded": (kings[0] & blue | kings[1] & red).bit_count(),
        }
        assert len(text) < 30_000
        if state.finished:
            break
        legal = state.legal()
        last = int(legal[rng.integers(len(legal))])
        state = state.play(last)
    in_notebook = state._repr_svg_()  # pylint: disable=protected-access
    assert in_notebook.replace(' width="424"', "", 1) == state.svg()


def test_pictures_of_policies():
    state = tara.State("four_treasures")
    policy = np.zeros(tara.NUM_ACTIONS, np.float32)
    policy[state.legal()[:3]] = [3, 2, 5]
    root = ElementTree.fromstring(state.svg(policy=policy))
    group, = (each for each in root.iter(f"{SVG}g")
              if each.get("class") == "tara-policy")
    assert sorted(text.text for text in group.iter(f"{SVG}text")) == [
        "20", "30", "50"]
    assert state.svg(policy=list(policy)) == state.svg(policy=policy * 2)
    assert state.svg(policy=policy * 0) == state.svg(policy=policy * 0)


def test_indices_and_texts_are_the_same_actions():
    state = tara.State("high_kings_l1")
    while not state.finished:
        legal = state.legal()
        assert legal.dtype == np.uint16
        assert list(legal) == sorted(legal)
        texts = [state.action_text(int(action)) for action in legal]
        assert sorted(texts) == state.legal_text()
        assert state.play(int(legal[-1])) == state.play(texts[-1])
        state = state.play(int(legal[len(legal) // 2]))


def test_a_position_survives_text_bytes_copy_and_pickle():
    state = tara.State("stone_of_destiny", "compensation=-2.5,pie_rule=true")
    for _ in range(5):
        for other in (tara.State.parse(state.text),
                      tara.State.from_bytes(bytes(state)),
                      copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert other == state
            assert hash(other) == hash(state)
            assert other.text == state.text
        assert len(bytes(state)) == tara.STATE.itemsize == 64
        assert eval(repr(state)) == state  # pylint: disable=eval-used
        state = state.play(int(state.legal()[0]))
    assert state != tara.State("stone_of_destiny")
    assert state != "a text"


def test_a_result_knows_the_compensation():
    state = tara.State("poisoned_chalice", "compensation=12")
    while not state.finished:
        assert state.outcome is None
        state = state.play(int(state.legal()[0]))
    outcome = state.outcome
    assert outcome.compensation == 12
    assert outcome.margin == outcome.points[0] - outcome.points[1]
    assert outcome.winner == 1
    assert (state.seat, state.side, state.phase) == (None, None, "finished")


@pytest.mark.parametrize("call, error, words", [
    (lambda: tara.State("chess"), ValueError, ["chess", "sacred_hill_l1"]),
    (lambda: tara.State("four_treasures", "compensation=0.3"), ValueError,
     ["0.3", "-12 to 12 in steps of 0.5"]),
    (lambda: tara.State("four_treasures_doubles", "pie_rule=true"), ValueError,
     ["no rule option 'pie_rule'"]),
    (lambda: tara.State("four_treasures").play("A1"), ValueError, ["A1"]),
    (lambda: tara.State("four_treasures").play("pass"), ValueError,
     ["illegal action pass", "legal: "]),
    (lambda: tara.State.parse("nonsense"), ValueError, ["nonsense"]),
    (lambda: tara.State.from_bytes(b"short"), ValueError, ["5 bytes", "64"]),
    (lambda: tara.State.from_bytes(b"\xff" * 64), ValueError, []),
    (lambda: tara.State("four_treasures").svg(last=570), ValueError,
     ["last: 570", "0 to 569"]),
    (lambda: tara.State("four_treasures").svg(last=-2**70), ValueError,
     ["last: -1180591620717411303424"]),
    (lambda: tara.State("four_treasures").svg(last="<A1>"), ValueError,
     ["last: ", "<A1>"]),
    (lambda: tara.State("four_treasures").svg(policy=[1, 2]), ValueError,
     ["policy", "[570]"]),
    (lambda: tara.State("four_treasures").svg(policy="high"), ValueError,
     ["policy", "[570]"]),
    (lambda: tara.State("four_treasures").svg(policy=np.full(570, np.nan)),
     ValueError, ["policy[0]: nan", "0 or more"]),
    (lambda: tara.State("four_treasures").svg(policy=np.full(570, -1)),
     ValueError, ["policy[0]: -1"]),
    (lambda: tara.State("four_treasures").svg(policy=np.ones(570)),
     ValueError, ["policy[", "illegal"]),
    (lambda: tara.encode([tara.State("four_treasures"), 7]), TypeError,
     ["int"]),
    (lambda: tara.encode(tara.State("four_treasures")), TypeError,
     ["states: ", "a sequence of tara.State", "got a State"]),
    (lambda: tara.encode(np.zeros(3)), ValueError, ["float64", "tara.STATE"]),
    (lambda: tara.encode(np.full(64, 255, np.uint8).view(tara.STATE)),
     ValueError, ["states[0]"]),
    (lambda: tara.encode([tara.State("four_treasures")], layout="CHW"),
     ValueError, ["'CHW'", "'NHWC'"]),
    (lambda: tara.encode([tara.State("four_treasures")], out=3), ValueError,
     ["pair"]),
])
def test_wrong_arguments_are_named(call, error, words):
    with pytest.raises(error) as raised:
        call()
    for word in words:
        assert word in str(raised.value)


def test_a_finished_game_is_not_played():
    state = tara.State("sacred_hill_l1")
    while not state.finished:
        state = state.play(int(state.legal()[0]))
    with pytest.raises(ValueError):
        state.play("D4")
    with pytest.raises(ValueError, match=r"states\[1\] is finished"):
        tara.search([tara.State("sacred_hill_l1"), state])
    with pytest.raises(ValueError):
        state.features()


def test_features_are_those_of_a_bundle_bit_for_bit():
    bundle = pathlib.Path(__file__).parent.parent / "nn/witness/bundle.tara"
    with zipfile.ZipFile(bundle) as entries:
        positions = json.loads(entries.read("golden.json"))["positions"]
        planes = np.load(io.BytesIO(entries.read("golden/planes.npy")))
        of_bundle = np.load(io.BytesIO(entries.read("golden/globals.npy")))
    states = [tara.State.parse(each["position"]) for each in positions]
    features = tara.encode(states)
    assert features.planes.shape == (40, tara.NUM_PLANES, 7, 7)
    assert features.globals.shape == (40, tara.NUM_GLOBALS)
    # Inputs are appended to: an older network has the first of them.
    np.testing.assert_array_equal(features.planes[:, :planes.shape[1]], planes)
    np.testing.assert_array_equal(
        features.globals[:, :of_bundle.shape[1]], of_bundle)


def test_all_ways_to_features_are_the_same():
    games = tara.Games("high_kings_l2", 50, seed=3)
    for _ in range(40):
        games.step(games.sample())
    states = [tara.State.from_bytes(row.tobytes()) for row in games.states]
    planes, of_all = tara.encode(states)
    last = tara.encode(games.states.copy(), layout="NHWC")
    np.testing.assert_array_equal(last.planes.transpose(0, 3, 1, 2), planes)
    np.testing.assert_array_equal(last.globals, of_all)
    np.testing.assert_array_equal(games.observe().planes, planes)
    for i, state in enumerate(states):
        np.testing.assert_array_equal(state.features().planes, planes[i])
    out = (np.empty_like(planes), np.empty_like(of_all))
    assert tara.encode(states, out=out).planes is out[0]
    np.testing.assert_array_equal(out[0], planes)


def _perft(state):
    return state.perft(3)


def test_planes_of_another_layout_are_refused():
    games = tara.Games("four_treasures", 3)
    assert games.observe().as_planes().shape == (
        3, tara.NUM_PLANES + tara.NUM_GLOBALS, 7, 7)
    with pytest.raises(ValueError, match=r"planes: \[3, 7, 7, \d+\]; expected"):
        games.observe(layout="NHWC").as_planes()


def test_threads_and_processes():
    state = tara.State("four_treasures")
    want = state.perft(3)
    results = []
    in_threads(4, lambda: results.append(state.perft(3)))
    assert results == [want] * 4
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(_perft, [state] * 3) == [want] * 3


def test_ctrl_c_ends_perft():
    _, _, errors = interrupted("""
import tara
print("begun", flush=True)
tara.State("high_kings_l1").perft(30)
""")
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_a_subinterpreter_cannot_import_it():
    """NumPy, which cannot either, waits there for ever."""
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
inner = interpreters.create()
try:
    failed = interpreters.run_string(inner, "import tara")
except interpreters.RunFailedError as error:
    failed = error
print(failed, flush=True)
import os
os._exit(0)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True,
                         text=True, check=True, timeout=300)
    assert "in the main interpreter alone" in run.stdout
