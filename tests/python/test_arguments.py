"""Wrong arguments of every public function, and objects without contents."""

import inspect
import pathlib
import re

import numpy as np
import pyspiel
import pytest
import tara
import tara.gym
import tara.openspiel
from tara import _tara, pettingzoo

SPIEL = "python_tara(variant=four_treasures)"


TINY = pathlib.Path(__file__).resolve().parents[2] / "configs/tiny.textproto"


class Odd:
    """What no function takes."""


# Of every argument: no function takes all of them, and none of its errors has
# another form.
WRONG = [Odd(), 1.5, -1, 2 ** 64, 2 ** 200, "x", "a\0b", "\ud800", b"\xff",
         None, {"sims": 10}, [Odd()], np.zeros((2, 3), complex), lambda: None]


@pytest.fixture(scope="module", name="things")
def made_things(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "games.db"
    store = tara.GameStore(path, "w")
    store.add(tara.selfplay("playouts", "four_treasures", 3,
                            options="sims=4"))
    agents = pettingzoo.env("four_treasures")
    agents.reset()
    return {"state": tara.State("four_treasures"), "store": store,
            "network": tara.load(), "sampler": tara.Sampler(store),
            "agents": agents, "spiel": pyspiel.load_game(SPIEL)}


STORE = "the store"


def search_with_leaves():
    search = tara.Search([tara.State("four_treasures")], None)
    search.leaves()
    return search


# What each call has a new one of.
MADE = {
    "games": lambda: tara.Games("four_treasures", 2),
    "search": lambda: tara.Search([tara.State("four_treasures")],
                                  options="sims=4"),
    "leafy": search_with_leaves,
}

# Function by name, what it is of, and arguments that are right.
CALLS = {
    "State": (None, {"variant": "four_treasures", "options": "-"}),
    "State.parse": (None, {"text": "?"}),
    "State.from_bytes": (None, {"data": bytes(tara.State("four_treasures"))}),
    "State.legal": ("state", {"seen": True}),
    "State.play": ("state", {"action": 3, "seen": False}),
    "State.action_text": ("state", {"action": 3, "seen": False}),
    "State.perft": ("state", {"depth": 1}),
    "State.svg": ("state", {"legal": True, "policy": None, "last": None}),
    "Games": (None, {"variant": "four_treasures", "n": 2, "seed": 1,
                     "options": "-", "threads": 1, "states": None}),
    "Games.reset": ("games", {"where": None}),
    "Games.step": ("games", {"actions": np.array([3, 4]), "seen": False,
                             "where": None}),
    "Games.sample": ("games", {"out": None}),
    "Games.legal_mask": ("games", {"out": None, "seen": False}),
    "Games.observe": ("games", {"out": None, "layout": "NCHW"}),
    "play": (None, {"states": [], "actions": np.zeros(0, int), "seen": False,
                    "where": None, "threads": 1}),
    "draw": (None, {"states": [], "seed": 1, "seen": False, "out": None,
                    "threads": 1}),
    "legal_mask": (None, {"states": [], "seen": False, "out": None,
                          "threads": 1}),
    "legal": (None, {"states": [], "seen": False}),
    "finished": (None, {"states": []}),
    "outcome": (None, {"states": []}),
    "to_seen": (None, {"states": [], "actions": np.zeros(0, int)}),
    "from_seen": (None, {"states": [], "actions": np.zeros(0, int)}),
    "symmetries": (None, {"variant": "four_treasures"}),
    "transform": (None, {"states": [], "symmetry": (0, 0)}),
    "encode": (None, {"states": [], "layout": "NCHW", "out": None,
                      "seats": None, "threads": 1}),
    "search": (None, {"states": [], "evaluator": "playouts", "options": "sims=4",
                      "seed": 1, "threads": 1}),
    "Search": (None, {"states": [tara.State("four_treasures")],
                      "evaluator": "playouts", "options": "sims=4", "seed": 1}),
    "Search.run": ("search", {"sims": 2, "ms": 1000}),
    "Search.leaves": ("leafy", {"per_tree": 1}),
    "Search.answer": ("leafy", {"logits": np.zeros((1, tara.NUM_ACTIONS)),
                                "result_logits": np.zeros((1, 3)),
                                "margin": None}),
    "Search.play": ("search", {"actions": [0], "seen": False}),
    "Search.node": ("search", {"tree": 0, "line": ()}),
    "load": (None, {"model": "best", "precision": "auto"}),
    "Network.evaluate": ("network", {"states": []}),
    "selfplay": (None, {"evaluator": "playouts", "variant": "four_treasures",
                        "games": 0, "seed": 1, "options": "sims=2",
                        "rules": "-", "in_step": 2, "threads": 1}),
    "arena": (None, {"a": "random", "b": "random",
                     "variant": "four_treasures", "games": 2, "seed": 1,
                     "rules": "-", "sprt": None, "opening_plies": None,
                     "threads": 1, "store": None, "progress": None}),
    "GameRecord.from_bytes": (None, {"data": b"?"}),
    "GameStore": (None, {"path": STORE, "mode": "r"}),
    "GameStore.add": ("store", {"games": []}),
    "GameStore.indices": ("store", {"variant": None, "generation": None,
                                    "newest": None}),
    "GameStore.games": ("store", {"variant": None, "generation": None,
                                  "newest": None}),
    "GameStore.arrow": ("store", {"table": "games", "variant": None,
                                  "generation": None, "newest": None}),
    "GameStore.__getitem__": ("store", {"index": 1}),
    "GameStore.__contains__": ("store", {"index": 1}),
    "Sampler": (None, {"store": STORE, "options": "", "seed": 1}),
    "Sampler.update": ("sampler", {"end": None}),
    "Sampler.batch": ("sampler", {"step": 1, "size": 2}),
    "train": (None, {"config": TINY, "program": None}),
    "gym.TaraEnv": (None, {
        "variant": "four_treasures", "opponent": "random", "side": None,
        "options": "-", "render_mode": None, "illegal": "raise"}),
    "gym.TaraVectorEnv": (None, {
        "variant": "four_treasures", "num_envs": 2, "opponent": "random",
        "side": None, "options": "-", "render_mode": None, "threads": 1,
        "illegal": "raise"}),
    "pettingzoo.env": (None, {"variant": "four_treasures", "options": "-",
                              "render_mode": None, "mask": "info"}),
    "pettingzoo.raw_env": (None, {"variant": "four_treasures", "options": "-",
                                  "render_mode": None, "mask": "info"}),
    "pettingzoo.TaraEnv.observe": ("agents", {"agent": "seat_0"}),
    "openspiel.TaraGame.new_initial_state": ("spiel", {"position": None}),
}
# Those whose arguments others check, or have none, or take anything.
OTHERS = {
    "State.legal_text", "State.features", "Features.as_planes",
    "GameRecord.policy", "GameStore.close", "Games.copy",
    "Sampler.batches", "Search.step", "Search.analyses", "Input", "Player.choose",
    "gym.TaraEnv.reset", "gym.TaraEnv.step", "gym.TaraEnv.render",
    "gym.TaraEnv.action_masks", "gym.TaraVectorEnv.reset",
    "gym.TaraVectorEnv.step", "gym.TaraVectorEnv.render", "pettingzoo.TaraEnv",
    "pettingzoo.TaraEnv.observation_space", "pettingzoo.TaraEnv.action_space",
    "pettingzoo.TaraEnv.reset", "pettingzoo.TaraEnv.step",
    "pettingzoo.TaraEnv.render",
    "pettingzoo.TaraEnv.state", "pettingzoo.TaraEnv.close", "Player",
    "Network", "GameRecord", "DataLoss",
    # Their options are those of commands, which check them.
    "Report", "rate", "crossplay", "review", "balance", "explore", "solve",
}


def public_functions():
    """Yields the names of functions, classes and their methods."""
    named = {name: getattr(tara, name) for name in tara.__all__}
    for module in (tara.gym, pettingzoo):
        for name in module.__all__:
            named[f"{module.__name__[5:]}.{name}"] = getattr(module, name)
    for name, thing in named.items():
        if not callable(thing):
            continue
        if not inspect.isclass(thing):
            if inspect.isroutine(thing):
                yield name
            continue
        if not issubclass(thing, tuple):
            yield name
        for method, value in vars(thing).items():
            if not method.startswith("_") and (
                    callable(value) or isinstance(value, staticmethod)):
                yield f"{name}.{method}"


def test_all_public_functions_are_called_here():
    assert set(public_functions()) - OTHERS - set(CALLS) == set()


def call(name, of, given, things):
    if name == "Sampler" and given["store"] is STORE:
        given = {**given, "store": things["store"]}
    if name == "GameStore" and given["path"] is STORE:
        given = {**given, "path": things["store"].path}
    function = tara
    path = name.split(".")
    if of is not None:
        path = path[-1:]
        function = MADE[of]() if of in MADE else things[of]
    for part in path:
        function = getattr(function, part)
    if path[-1].startswith("__"):
        return function(*given.values())
    return function(**given)


def takes(name, argument, wrong):
    """Whether it is of the right type: what others find wrong in it differs."""
    if isinstance(wrong, str) and (
            wrong == "x" or name in ("State.parse", "openspiel.TaraGame."
                                     "new_initial_state")):
        return True
    if isinstance(wrong, dict) and argument in ("options", "rules"):
        return True
    if callable(wrong) and argument in ("a", "b", "progress"):
        return True
    if isinstance(wrong, np.ndarray):  # it has `choose`, and compares badly
        return argument in ("a", "b") or (
            name.split(".")[0] in ("gym", "pettingzoo"))
    return isinstance(wrong, bytes) and argument in ("path", "model", "config",
                                                     "program")


@pytest.mark.parametrize("name, argument", [
    (name, argument) for name, (_, given) in CALLS.items()
    for argument in given])
def test_a_wrong_argument_is_named(name, argument, things):
    of, right = CALLS[name]
    refused = 0
    for wrong in WRONG:
        try:
            result = call(name, of, {**right, argument: wrong}, things)
            if hasattr(result, "close"):
                result.close()
            continue
        except (ValueError, TypeError, FileNotFoundError, KeyError) as error:
            message = str(error)
        refused += 1
        # That of a field that a config lacks lists those that it has.
        assert len(message) < 700 and "incompatible" not in message, message
        assert takes(name, argument, wrong) or re.search(
            rf"\b{argument}\b", message), message
    assert refused


def test_the_value_and_what_is_expected_are_named():
    start = tara.State("four_treasures")
    for call_it, kind, message in [
            (lambda: tara.Games("four_treasures", 4, seed=-1), ValueError,
             "seed: -1; expected 0 or more"),
            (lambda: tara.search([start], seed=2 ** 64), ValueError,
             "seed: 18446744073709551616; expected 0 to 18446744073709551615"),
            (lambda: tara.Games("four_treasures", 1.5), TypeError,
             "n: 1.5; expected an integer"),
            (lambda: tara.Games("four_treasures", 0), ValueError,
             "n: 0; expected 1 to 67108864"),
            (lambda: start.play(1.5), TypeError,
             "action: 1.5; expected an integer"),
            (lambda: start.play(570), ValueError,
             "action: 570; expected 0 to 569"),
            (lambda: tara.search([start], options={"sims": [10]}), TypeError,
             "options: {'sims': [10]}; expected names with numbers, bools or "
             "texts"),
            (lambda: tara.search([start], options=10), TypeError,
             "options: 10; expected a text"),
            (lambda: tara.arena("random", "random", "four_treasures",
                                progress=3), TypeError,
             "progress: 3; expected a function, or None"),
            (lambda: tara.selfplay("playouts", "four_treasures", 1, rules=3),
             TypeError, "rules: 3; expected a text"),
            (lambda: tara.Games("four_treasures", 1).step(
                np.array([2 ** 64 - 1], np.uint64)), ValueError,
             "actions[0]: 18446744073709551615; expected 0 to 569"),
            (lambda: start.svg(policy=np.zeros(3)), ValueError,
             "policy: an array of float64 and shape [3]; expected numbers of "
             "shape [570]"),
            (lambda: tara.load("a\0b"), ValueError,
             "model: 'a\\x00b'; expected a path without NUL characters"),
            (lambda: tara.gym.TaraVectorEnv("four_treasures", 0), ValueError,
             "num_envs: 0; expected 1 to 67108864")]:
        with pytest.raises(kind) as raised:
            call_it()
        assert str(raised.value) == message


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    class Shy:
        def __repr__(self):
            raise RuntimeError("no repr")

    with pytest.raises(TypeError, match="^n: a Shy; expected an integer$"):
        tara.Games("four_treasures", Shy())
    with pytest.raises(TypeError, match=r"^options: '(x){99}\.\.\.; expected"):
        tara.Games("four_treasures", 1, options=Long())


class Long:
    def __repr__(self):
        return "'" + "x" * 1000


def test_what_is_like_a_number_is_one():
    games = tara.Games("four_treasures", np.int16(2), seed=np.uint64(2 ** 63),
                       threads=True)
    games.legal_mask(seen=np.bool_(True))
    games.legal_mask(seen=1)
    tara.State("four_treasures").play(np.uint8(3)).play(np.array(4))


CLASSES = [thing for thing in vars(_tara).values() if inspect.isclass(thing)]


@pytest.mark.parametrize("kind", CLASSES)
def test_an_object_that_was_not_initialized_is_a_type_error(kind):
    assert len(CLASSES) == 10
    empty = kind.__new__(kind)
    for name, member in vars(kind).items():
        if isinstance(member, property):
            calls = [lambda: getattr(empty, name)]
        elif not callable(member) or name in (
                "__init__", "__new__", "__setstate__", "__iter__",
                "_pybind11_conduit_v1_"):
            continue
        elif isinstance(member, staticmethod):
            continue
        else:
            calls = [lambda: getattr(empty, name)(),
                     lambda: getattr(empty, name)(1),
                     lambda: getattr(empty, name)(1, 2)]
        for each in calls:
            with pytest.raises(TypeError):
                each()
    del empty
