"""The Python code of the documents runs as it stands."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/use_python.md"])
def test_the_code_runs(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TARA", str(ROOT))
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(),
                        re.MULTILINE | re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # pylint: disable=exec-used
    assert capsys.readouterr().out


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
