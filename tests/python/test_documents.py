"""The Python code of the documents runs as it stands."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_page(page, capsys):
    """Runs a page's blocks of Python as one session in this folder.

    A block of text must be what was printed since the one before. What differs
    between processors stands in blocks without a language.
    """
    names, printed, shown = {}, "", ""
    for language, text in BLOCK.findall((ROOT / page).read_text()):
        if language == "python":
            exec(compile(text, page, "exec"), names)  # pylint: disable=exec-used
            shown = capsys.readouterr().out
            printed += shown
        elif language == "text":
            assert shown.strip("\n") == text.strip("\n"), page
    assert printed


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/use_python.md"])
def test_the_code_runs(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TARA", str(ROOT))
    run_page(page, capsys)


def test_the_tutorial_prints_and_draws_what_it_shows(capsys, monkeypatch,
                                                     tmp_path):
    monkeypatch.chdir(tmp_path)
    run_page("docs/tutorial/python.md", capsys)
    # Numbers of the network's policy may differ between processors.
    drawn, stored = (re.sub(r"[\d.]+", "0", path.read_text()) for path in (
        tmp_path / "policy.svg", ROOT / "docs/tutorial/python.svg"))
    assert drawn == stored


def test_the_benchmark_runs():
    run = subprocess.run(
        [sys.executable, "-m", "tara.bench", "--seconds", "0.05", "--variant",
         "four_treasures", "--threads", "2"],
        capture_output=True, text=True, check=True)
    rows = run.stdout.splitlines()
    assert rows[0].split() == ["random", "games", "million", "actions/s"]
    assert len(rows) == 4
    assert all(float(row.split()[-1]) > 0 for row in rows[1:])


def test_the_benchmark_says_which_library_is_missing():
    run = subprocess.run([sys.executable, "-m", "tara.bench", "--peers"],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pgx" in run.stderr and "pip install" in run.stderr
