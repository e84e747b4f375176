"""The Python code of the documents runs as it stands."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/use_python.md"])
def test_the_code_runs(page, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(),
                        re.MULTILINE | re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # pylint: disable=exec-used
    assert capsys.readouterr().out
