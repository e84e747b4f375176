"""Stubs and docstrings: what editors and type checkers are told is so."""

import ast
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import tara


# Classes made by pybind11 have a metaclass that no stub can name.
ALLOWED = """
tara\\._tara\\.(GameRecord|Games|Network|Search|State|_JobPlayer|_Opponent|_Sampler|_SelfPlay|_Store)
"""


# Of packages that Tara only calls: reading them takes most of the time.
MYPY = """
[mypy]
[mypy-ray.*,jax.*]
follow_imports = skip
"""


PYRIGHT = (pathlib.Path(__file__).resolve().parents[1] /
           "js/node_modules/pyright/index.js")


# What users write, that --strict must take.
USES = """
from typing import Iterator, List, Tuple
import numpy as np
from numpy.typing import NDArray
import tara
import tara.gym

class Arrays:
    def choose(self, states: List[tara.State]) -> NDArray[np.int64]:
        return np.array([state.legal()[0] for state in states], np.int64)

class Texts:
    def choose(self, states: List[tara.State]) -> List[str]:
        return [state.legal_text()[0] for state in states]

def first(states: List[tara.State]) -> List[np.uint16]:
    return [state.legal()[0] for state in states]

tara.arena(Arrays(), first, "four_treasures")
tara.arena(Texts(), lambda states: [0] * len(states), "four_treasures")
tara.gym.TaraEnv("four_treasures", first)
games = tara.selfplay("playouts", "four_treasures", 3)
iterator: Iterator[tara.GameRecord] = games
games.close()
tara.train("config").close()

def uniform(planes: NDArray[np.float32], globals_: NDArray[np.float32],
            mask: NDArray[np.uint8]
            ) -> Tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(mask.shape), np.zeros((len(mask), 3))

search = tara.Search([tara.State("four_treasures")], uniform,
                     options={"sims": 3})
node = search.node(0)
print(node and node.visits, tara.PLANES["pass"].index)
states = tara.play(np.zeros(3, tara.STATE), np.array([1, 2, 3]))
for batch in tara.Sampler(tara.GameStore("games.db")).batches(range(3)):
    print(batch.planes.shape, tara.outcome(states).reward.sum())
print(tara.rate("a", "b", games=3)["players"])
"""


@pytest.mark.parametrize("arguments", [
    ["mypy.stubtest", "tara._tara", "--allowlist", "allowed"],
    ["mypy", "--strict", "-p", "tara", "-m", "uses"],
])
def test_the_types_are_those_of_the_module(arguments, tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED)
    (tmp_path / "uses.py").write_text(USES)
    (tmp_path / "mypy.ini").write_text(MYPY)
    run = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def pyright(*arguments, **environment):
    """Runs pyright of tests/js; returns its messages."""
    if not PYRIGHT.exists():
        pytest.skip("no pyright: npm ci in tests/js installs it")
    run = subprocess.run(
        ["node", PYRIGHT, "--outputjson", *arguments], capture_output=True,
        text=True, check=False, env={**os.environ, **environment})
    return json.loads(run.stdout)


def test_pyright_takes_what_users_write(tmp_path):
    (tmp_path / "uses.py").write_text(USES + "\nreveal_type(games)\n")
    (tmp_path / "pyrightconfig.json").write_text(
        '{"include": ["uses.py"], "typeCheckingMode": "strict"}')
    message, = pyright("--project", tmp_path, "--pythonpath", sys.executable)[
        "generalDiagnostics"]
    assert 'Type of "games" is "_SelfPlay"' in message["message"]


def test_pyright_knows_the_types_of_all_that_is_public():
    # Those of classes that other packages have without types are not ours.
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent),
                            os.environ["PATH"]])
    report = pyright("--verifytypes", "tara", "--ignoreexternal", PATH=path)
    symbols = report["typeCompleteness"]["symbols"]
    assert sum(each["isExported"] for each in symbols) > 100
    wrong = [each["name"] for each in symbols
             if not (each["isTypeKnown"] or re.match(
                 r"tara\.(gym|pettingzoo|openspiel|fleet)\b", each["name"]))]
    assert not wrong


def test_defaults_of_the_stub_are_those_of_the_module():
    stub = pathlib.Path(tara.__file__).with_name("_tara.pyi")
    compared = 0
    for node in ast.parse(stub.read_text()).body:
        is_class = isinstance(node, ast.ClassDef)
        owner = getattr(tara._tara, node.name) if is_class else tara._tara
        for function in node.body if is_class else [node]:
            if not isinstance(function, ast.FunctionDef):
                continue
            names = function.args
            defaults = dict(zip(names.args[::-1], names.defaults[::-1]))
            defaults |= dict(zip(names.kwonlyargs, names.kw_defaults))
            for name, default in defaults.items():
                if default is None:
                    continue
                doc = getattr(owner, function.name).__doc__
                of_module = re.search(rf"\(.*\b{name.arg}: [^=]* = "
                                      r"('.*?'|\w+|\(\))", doc)
                assert of_module, (function.name, name.arg, doc)
                assert of_module[1] == ast.unparse(default), doc
                compared += 1
    assert compared >= 20


def test_all_that_is_public_is_documented():
    for name in tara.__all__:
        thing = getattr(tara, name)
        if not inspect.isclass(thing) and not inspect.isroutine(thing):
            continue
        assert thing.__doc__, name
        for member, value in getattr(thing, "__dict__", {}).items():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"


def test_the_lines_of_the_module_run():
    lines = inspect.getdoc(tara).split("\n\n")
    code = "\n".join(line[4:] for part in lines for line in part.split("\n")
                     if line.startswith("    "))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True,
                         text=True, check=True)
    assert run.stdout.startswith("Red minus Blue, random play:")


def test_the_version_is_that_of_the_project():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    project = (root / "pyproject.toml").read_text()
    assert f'version = "{tara.__version__}"' in project
