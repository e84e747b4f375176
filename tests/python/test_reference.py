"""docs/reference/python.md is that of the package."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
import tara

SCRIPT = (pathlib.Path(__file__).resolve().parent.parent /
          "docs/python_reference.py")


@pytest.fixture(name="reference")
def reference_module():
    spec = importlib.util.spec_from_file_location("python_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_package():
    run = subprocess.run([sys.executable, SCRIPT, "--check"],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_page_that_differs_is_an_error_that_names_the_command(
        reference, monkeypatch, tmp_path, capsys):
    page = tmp_path / "docs/reference/python.md"
    page.parent.mkdir(parents=True)
    page.write_text(reference.page().replace("Plays an action", "Sings"))
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    monkeypatch.setattr(reference, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["python_reference.py", "--check"])
    with pytest.raises(SystemExit, match=reference.COMMAND):
        reference.main()
    assert "-Sings in each game" in capsys.readouterr().out


def test_a_public_name_without_a_section_is_an_error(reference, monkeypatch):
    monkeypatch.setattr(tara, "__all__", tara.__all__ + ["arena_again"])
    monkeypatch.setattr(tara, "arena_again", tara.arena, raising=False)
    with pytest.raises(reference.Failure, match="tara.arena_again"):
        reference.page()
    monkeypatch.undo()
    monkeypatch.setattr(reference, "PARTS", reference.PARTS[:-1])
    with pytest.raises(reference.Failure, match="in no section.*__version__"):
        reference.page()


def test_a_name_in_two_sections_or_of_nothing_is_an_error(
        reference, monkeypatch):
    for names, why in ((["State"], "in another part"),
                       (["Stat"], "no public name")):
        monkeypatch.setattr(reference, "PARTS",
                            reference.PARTS + [("More", names)])
        with pytest.raises(reference.Failure, match=why):
            reference.page()
        monkeypatch.undo()


def test_a_module_whose_package_is_missing_is_an_error(reference, monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "tara.gym", raising=False)
    with pytest.raises(reference.Failure,
                       match=r"tara.gym: .*tests/python/requirements.txt"):
        reference.page()


def test_docstrings_become_markdown(reference):
    reference.LINKS.update({"tara.encode": "taraencode"})
    assert reference.markdown(
        "Does it, as tara.encode: `encode`.\n\n"
        "first: a * b. second, third: [n].\n    f(x)\nof it. Raises Error.\n\n"
        "    a = 1\n\n    b = 2", "tara.it", {"first", "second", "third"}
    ) == ("Does it, as [`tara.encode`](#taraencode): "
          "[`encode`](#taraencode).\n\n"
          "- `first`: a \\* b.\n"
          "- `second, third`: [n].\n\n  ```python\n  f(x)\n  ```\n\n"
          "  of it.\n\nRaises Error.\n\n"
          "```python\na = 1\n\nb = 2\n```")
