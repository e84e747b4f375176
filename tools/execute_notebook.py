#!/usr/bin/env python3
"""Runs a notebook in a fresh kernel and writes its outputs into it.

    .tara/venv/bin/python tools/execute_notebook.py examples/python/tour.ipynb

The kernel is the Python that runs this, whatever kernels are installed. With
--check nothing is written. The exit status is 1 where a cell fails, and with
--check where an output is of another kind than the one that is stored.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError as error:
    sys.exit(f"{error}; expected nbclient and ipykernel: apt-get install "
             "python3-nbclient python3-ipykernel")

CELL_TIMEOUT_S = 600
KERNEL = "this-python"
# What a kernel adds to it depends on the versions of Python and Jupyter.
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python",
                           "name": "python3"},
            "language_info": {"name": "python"}}


def execute(notebook, path):
    """Executes the cells in place; exits where one fails."""
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder, "kernels", KERNEL, "kernel.json")
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f",
                     "{connection_file}"],
            "display_name": KERNEL, "language": "python"}))
        # Neither settings nor history of whoever runs this.
        os.environ |= {"JUPYTER_PATH": folder, "JUPYTER_RUNTIME_DIR": folder,
                       "JUPYTER_CONFIG_DIR": folder, "IPYTHONDIR": folder,
                       # No remark that debuggers may miss breakpoints.
                       "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        client = nbclient.NotebookClient(
            notebook, kernel_name=KERNEL, timeout=CELL_TIMEOUT_S,
            # Its own are a minute, and 4 s after which outputs are lost.
            startup_timeout=CELL_TIMEOUT_S, iopub_timeout=CELL_TIMEOUT_S,
            record_timing=False,
            resources={"metadata": {"path": str(path.parent)}})
        try:
            client.execute()
        except (nbclient.exceptions.CellExecutionError,
                nbclient.exceptions.CellTimeoutError,
                nbclient.exceptions.DeadKernelError) as failure:
            number = max((i for i, cell in enumerate(notebook.cells, 1)
                          if cell.get("execution_count")), default=0)
            text = re.sub(r"\x1b\[[0-9;]*m", "", str(failure)).strip()
            sys.exit(f"{path}: cell {number} of {len(notebook.cells)} "
                     f"failed:\n{text}")


def join_streams(cell):
    """Makes one output of texts that came one after another."""
    joined = []
    for output in cell.get("outputs", []):
        if joined and output.output_type == "stream" and (
                joined[-1].get("name") == output.name):
            joined[-1].text += output.text
        else:
            joined.append(output)
    if cell.cell_type == "code":
        cell.outputs = joined


def kinds(notebook):
    """Returns the kinds of each cell's outputs."""
    return [[output.get("name") or sorted(output.get("data", {}))
             for output in cell.get("outputs", [])] for cell in notebook.cells]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path, metavar="NOTEBOOK")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; compare kinds of outputs")
    arguments = parser.parse_args()
    path = arguments.path.resolve()
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, nbformat.reader.NotJSONError) as failure:
        sys.exit(f"{arguments.path}: {failure}; expected a notebook")
    stored = kinds(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count, cell.metadata = [], None, {}
    execute(notebook, path)
    for cell in notebook.cells:
        join_streams(cell)
        if cell.cell_type == "code":
            cell.metadata = nbformat.from_dict({})
    notebook.metadata = nbformat.from_dict(METADATA)
    if not arguments.check:
        nbformat.write(notebook, path)
        return
    for number, (old, new) in enumerate(zip(stored, kinds(notebook)), 1):
        if old != new:
            sys.exit(f"{path}: cell {number} has the stored outputs {old}; "
                     f"expected {new}: run this without --check")


if __name__ == "__main__":
    main()
