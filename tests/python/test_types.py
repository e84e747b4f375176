"""Stubs and docstrings: what editors and type checkers are told is so."""

import inspect
import pathlib
import subprocess
import sys

import pytest
import tara


# Classes made by pybind11 have a metaclass that no stub can name.
ALLOWED = """
tara\\._tara\\.(GameRecord|Games|Network|State|_BlockPlayer|_Sampler|_SelfPlay|_Store)
"""


@pytest.mark.parametrize("arguments", [
    ["mypy.stubtest", "tara._tara", "--allowlist", "allowed"],
    ["mypy", "--strict", "-p", "tara"],
])
def test_the_types_are_those_of_the_module(arguments, tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED)
    run = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


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
