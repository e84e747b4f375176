"""What the tests of the Python package share: the data of the C++ tests."""

import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import threading
import time

import pytest

# Whoever runs the tests in the background may have left it ignored, and then
# programs would be started that no Ctrl-C stops.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/golden"

# Memory that other programs take ends no worker of these tests.
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")

# The program as bin/test builds it, where nothing names another.
if not os.environ.get("TARA_BINARY"):
    PROCESSOR = "aarch64" if platform.machine() == "aarch64" else "k8"
    os.environ["TARA_BINARY"] = str(
        ROOT / f"bazel-out/{PROCESSOR}-opt/bin/tara/cli/tara")


def golden_games(path):
    """Yields the games of a file of tests/golden as dictionaries."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def options_text(game):
    """Returns a golden game's rule options as State takes them."""
    options = game.get("options", {})
    texts = [f"{name}={str(value).lower()}" for name, value in options.items()]
    return ",".join(texts) or "-"


def interrupted(code, begun="begun\n"):
    """Sends Ctrl-C to Python code once it has printed `begun`.

    Returns its exit status, what else it has printed, and its errors.
    """
    with subprocess.Popen([sys.executable, "-c", code], text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == begun
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=300)
            return child.returncode, output, errors
        finally:
            child.kill()


def in_threads(number, call):
    """Calls a function in several threads at once, until all have returned."""
    threads = [threading.Thread(target=call) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture(scope="session")
def perft():
    return json.loads((GOLDEN / "perft.json").read_text())
