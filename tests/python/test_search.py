"""Searches and networks: as in C++, around any evaluator, and never a crash."""

import contextvars
import io
import inspect
import json
import pathlib
import sys
import threading
import zipfile

import numpy as np
import pytest
import tara

from conftest import interrupted

WITNESS = pathlib.Path(__file__).resolve().parent.parent / "nn/witness"


@pytest.fixture(scope="module", name="network")
def small_network():
    return tara.load(WITNESS / "bundle.tara", precision="float32")


def uniform(planes, globals_, mask):
    assert planes.shape == (len(mask), tara.NUM_PLANES, 7, 7)
    assert globals_.shape == (len(mask), tara.NUM_GLOBALS)
    assert planes.dtype == globals_.dtype == np.float32
    assert mask.shape == (len(mask), tara.NUM_ACTIONS)
    assert mask.dtype == np.uint8 and mask.any(axis=1).all()
    return np.zeros(mask.shape), np.zeros((len(mask), 3))


def middle_games(variant, n=12, plies=12):
    games = tara.Games(variant, n, seed=4)
    for _ in range(plies):
        games.step(games.sample())
    return games.states.copy()


def same(a, b):
    return all(np.array_equal(x, y) for one, other in zip(a, b, strict=True)
               for x, y in zip(one, other, strict=True))


def test_a_network_answers_as_its_bundle_says(network):
    with zipfile.ZipFile(WITNESS / "bundle.tara") as entries:
        golden = json.load(io.BytesIO(entries.read("golden.json")))
    states = [tara.State.parse(each["position"])
              for each in golden["positions"]]
    answer = network.evaluate(states)
    for row, each in enumerate(golden["positions"]):
        expected = each["expected"]
        policy = answer.policy[row]
        np.testing.assert_allclose(policy[each["action_indices"]],
                                   expected["priors"], atol=1e-5)
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        np.testing.assert_allclose(
            answer.result[row],
            [expected[name] for name in ("win", "draw", "loss")], atol=1e-5)
        assert answer.margin[row] == pytest.approx(expected["margin"],
                                                   abs=1e-3)
    assert network.info["precision"] == "float32"


def test_searches_choose_what_the_program_in_c_chose(network):
    """The games that `tara engine` played with this network."""
    options = "sims=32,lcb=0,proof=off,solver_hills=0"
    games = (WITNESS / "games.txt").read_text().splitlines()
    played = 0
    for line in games:
        rules, actions = line.split(": ")
        state = tara.State(*rules.split())
        for action in actions.split():
            analysis, = tara.search([state], network, options=options)
            assert state.action_text(analysis.action) == action
            state = state.play(action)
            played += 1
        assert state.finished
    assert played > 80


@pytest.mark.parametrize("variant", tara.VARIANTS)
@pytest.mark.parametrize("evaluator", ["playouts", uniform])
def test_an_analysis_is_of_the_position(variant, evaluator):
    states = middle_games(variant)
    options = "sims=60"
    analyses = tara.search(states, evaluator, options=options)
    for row, analysis in zip(states, analyses, strict=True):
        state = tara.State.from_bytes(row.tobytes())
        legal = state.legal()
        np.testing.assert_array_equal(analysis.actions, legal)
        assert analysis.action in legal
        assert analysis.line[0] == analysis.action
        assert analysis.policy.sum() == pytest.approx(1, abs=1e-3)
        assert analysis.priors.sum() == pytest.approx(1, abs=1e-3)
        assert analysis.visits.sum() == analysis.simulations <= 61
        assert -1 <= analysis.value <= 1
        for action in analysis.line:
            state = state.play(int(action))
    one_by_one = [tara.search(states[i:i + 1], evaluator, options=options)[0]
                  for i in range(2)]
    if evaluator == "playouts":  # noise is of a position, not of its place
        assert same(one_by_one, analyses[:2])


@pytest.mark.parametrize("options", [
    "sims=50", "sims=50,gumbel=on", "sims=50,graph=on,proof=off"])
def test_threads_change_nothing(network, options):
    states = middle_games("high_kings_l1", 30)
    for evaluator in (network, "playouts", uniform):
        one = tara.search(states, evaluator, options=options)
        assert same(tara.search(states, evaluator, options=options, threads=3),
                    one)


def test_the_callable_sees_a_position_as_tara_networks_do(network):
    """A network asked through Python finds what it finds by itself."""
    states = middle_games("poisoned_chalice", 6)
    seen = {}

    def evaluator(planes, globals_, mask):
        for row in range(len(planes)):
            seen[planes[row].tobytes() + globals_[row].tobytes()] = mask[row]
        return uniform(planes, globals_, mask)

    tara.search(states, evaluator, options="sims=1")
    features = tara.encode(states)
    for i, row in enumerate(states):
        key = features.planes[i].tobytes() + features.globals[i].tobytes()
        state = tara.State.from_bytes(row.tobytes())
        assert seen[key].sum() == state.legal().size


def test_an_evaluator_that_knows_better_is_followed():
    state = tara.State("four_treasures")

    def evaluator(planes, globals_, mask):
        logits, result = uniform(planes, globals_, mask)
        first = mask.argmax(axis=1)
        logits[np.arange(len(mask)), first] = 20
        return logits, result

    analysis, = tara.search([state], evaluator, options="sims=40,proof=off")
    assert analysis.priors.max() > 0.99
    assert analysis.action == analysis.actions[analysis.priors.argmax()]


def raises(planes, globals_, mask):
    raise RuntimeError("out of ideas")


class Brain16:
    """A tensor as those of a number type that NumPy lacks."""

    dtype = "bfloat16"

    def __dlpack__(self, **_):
        raise RuntimeError("Unsupported dtype in DLTensor.")

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.parametrize("evaluator, error, words", [
    (raises, RuntimeError, "out of ideas"),
    (lambda p, g, m: None, ValueError, r"None; expected \(logits, result_logi"),
    (lambda p, g, m: (1,), ValueError, r"\(1,\); expected \(logits, result_lo"),
    (lambda p, g, m: (1, 2, 3), ValueError, "logits: .*shape"),
    (lambda p, g, m: ("a", "b"), TypeError, "evaluator: logits: .*real numbers"),
    (lambda p, g, m: (np.zeros((1, 2)), np.zeros((1, 3))), ValueError,
     r"logits: .* shape \[1, 2\]; expected shape \[1, 570\]"),
    (lambda p, g, m: (np.zeros(m.shape), np.zeros((len(m), 2))), ValueError,
     r"result_logits: .* shape \[1, 2\]; expected shape \[1, 3\]"),
    (lambda p, g, m: (np.zeros(m.shape).astype(str), np.zeros((len(m), 3))),
     TypeError, "evaluator: logits: an array of <U.*; expected .* real numbers"),
    (lambda p, g, m: (np.zeros(m.shape), np.zeros((len(m), 3), complex)),
     TypeError, "evaluator: result_logits: an array of complex128"),
    (lambda p, g, m: (np.zeros(m.shape, object), np.zeros((len(m), 3))),
     TypeError, "evaluator: logits: an array of object"),
    (lambda p, g, m: (Brain16(), np.zeros((len(m), 3))), TypeError,
     "evaluator: logits is a tensor of bfloat16 .*expected .*float32"),
    (lambda p, g, m: (np.full(m.shape, np.nan), np.zeros((len(m), 3))),
     ValueError, r"logits\[0\] has nan"),
    (lambda p, g, m: (np.zeros(m.shape), np.full((len(m), 3), np.inf)),
     ValueError, r"result_logits\[0\] has inf"),
    ("magic", TypeError, "'magic'; expected a Network"),
    (None, TypeError, "None; expected a Network"),
])
@pytest.mark.parametrize("threads", [1, 3])
def test_an_evaluator_that_fails_is_told(evaluator, error, words, threads):
    with pytest.raises(error, match=words):
        tara.search([tara.State("four_treasures")], evaluator, threads=threads)


@pytest.mark.parametrize("arguments, error, words", [
    ({"options": "sims=0"}, ValueError,
     "sims is '0'; expected a whole number from 1 to"),
    ({"options": "sims=x"}, ValueError, "sims is 'x'"),
    ({"options": "depth=3"}, ValueError, "depth"),
    ({"options": "lcb=-1"}, ValueError, "lcb is '-1'"),
    ({"threads": 0}, ValueError, "threads: 0"),
    ({"options": "sims=5, sims=6"}, ValueError, "sims.* is given twice"),
    ({"options": "sims"}, ValueError, "options: 'sims'; expected name=value"),
])
def test_wrong_arguments_of_search_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        tara.search([tara.State("four_treasures")], **arguments)


def test_options_may_have_spaces():
    state = tara.State("four_treasures")
    assert same(tara.search([state], options=" sims = 9 ,c_puct=2 "),
                tara.search([state], options="sims=9,c_puct=2"))


@pytest.mark.parametrize("utility", ["points", "mix"])
def test_points_need_an_evaluator_that_gives_margins(network, utility):
    state = tara.State("four_treasures")
    options = f"sims=4,utility={utility}"
    with pytest.raises(ValueError, match=f"utility={utility} .*no margins"):
        tara.search([state], uniform, options=options)
    with pytest.raises(ValueError, match=f"utility={utility} .*no margins"):
        tara.selfplay(uniform, "four_treasures", 1, options=options)
    tara.search([state], uniform, options="sims=4,utility=match")
    tara.search([state], "playouts", options=options)
    tara.search([state], network, options=options)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_evaluator_is_called_where_search_is(threads):
    """What belongs to a thread or a context holds in it."""
    states = middle_games("four_treasures", 12)
    variable = contextvars.ContextVar("variable")
    of_thread = threading.local()
    asked = []

    def evaluator(planes, globals_, mask):
        asked.append((threading.get_ident(), variable.get(), of_thread.value))
        np.float32(1) / np.float32(len(mask) - len(mask))
        return uniform(planes, globals_, mask)

    variable.set("set")
    of_thread.value = "own"
    with pytest.raises(FloatingPointError), np.errstate(all="raise"):
        tara.search(states, evaluator, options="sims=8", threads=threads)
    with np.errstate(all="ignore"):
        tara.search(states, evaluator, options="sims=8", threads=threads)
    assert set(asked) == {(threading.get_ident(), "set", "own")}


@pytest.fixture(name="few_frames")
def lower_recursion_limit():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("few_frames")
def test_evaluators_that_ask_themselves_without_end_are_an_error():
    state = tara.State("four_treasures")
    deepest = 0

    def evaluator(planes, globals_, mask, depth=1):
        nonlocal deepest
        deepest = max(deepest, depth)
        tara.search([state], lambda *given: evaluator(*given, depth + 1),
                    options="sims=2")
        return uniform(planes, globals_, mask)

    with pytest.raises(RecursionError):
        tara.search([state], evaluator, options="sims=2")
    assert deepest > 20

    def plays(planes, globals_, mask):
        list(tara.selfplay(plays, "four_treasures", 1, options="sims=2"))
        return uniform(planes, globals_, mask)

    with pytest.raises(RecursionError):
        list(tara.selfplay(plays, "four_treasures", 1, options="sims=2"))


def test_finished_games_are_neither_searched_nor_judged(network):
    state = tara.State("sacred_hill_l1")
    while not state.finished:
        state = state.play(int(state.legal()[0]))
    for call in (tara.search, network.evaluate):
        with pytest.raises(ValueError, match=r"states\[0\] is finished"):
            call([state])
    for none in ([], np.zeros(0, tara.STATE)):
        assert tara.search(none) == []


def test_networks_that_are_not_there_or_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tara.load("nowhere.tara")
    damaged = tmp_path / "damaged.tara"
    damaged.write_bytes(b"no bundle")
    with pytest.raises(ValueError, match="damaged.tara"):
        tara.load(damaged)
    with pytest.raises(ValueError, match="float7"):
        tara.load(WITNESS / "bundle.tara", precision="float7")


def test_the_ready_made_network_comes_with_the_package():
    network = tara.load()
    state = tara.State("four_treasures")
    assert network.evaluate([state]).policy.shape == (1, tara.NUM_ACTIONS)
    assert pathlib.Path(network.info["path"]).name == "tara.tara"


@pytest.mark.parametrize("evaluator", ["'playouts'", "evaluator", "hung"])
def test_ctrl_c_ends_a_search(evaluator):
    _, _, errors = interrupted(f"""
import numpy as np, queue, tara
def evaluator(planes, globals_, mask):
    return np.zeros(mask.shape), np.zeros((len(mask), 3))
def hung(planes, globals_, mask):
    return queue.Queue().get()
print("begun", flush=True)
tara.search([tara.State("high_kings_l1")] * 64, {evaluator},
            options="sims=1000000", threads=2)
""")
    assert "KeyboardInterrupt" in errors
