"""Training as a stream of events: the real program, runs of seconds."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tara

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TINY = ROOT / "configs/tiny.textproto"
# Opponents that take no time.
FAST = {"evaluation": {"opponent": ["random"], "games": 2, "final_games": 2}}


def metrics(run_dir):
    lines = (run_dir / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_events_are_those_of_the_metrics_and_the_end_has_the_player(tmp_path):
    run_dir = tmp_path / "run"
    events = list(tara.train(TINY, run_dir=run_dir, generations=2, **FAST))
    progress = [event for event in events if event["event"] == "progress"]
    assert progress[0]["run_dir"] == str(run_dir)
    done = [event["generations_done"] for event in progress]
    assert done == sorted(done) and done[0] == 0 and done[-1] == 2
    end = events[-1]
    assert end["event"] == "end" and not end["stopped"]
    assert [event for event in events[:-1] if event not in progress] == (
        metrics(run_dir))
    names = {event["event"] for event in events}
    assert {"self_play", "learning", "strength"} <= names
    network = tara.load(end["checkpoint"])
    assert network.evaluate([tara.State("sacred_hill_l1")]).policy.shape == (
        1, tara.NUM_ACTIONS)


def test_breaking_off_stops_the_run_and_the_same_call_goes_on(tmp_path):
    run_dir = tmp_path / "run"
    arguments = {"run_dir": run_dir, **FAST}
    for event in tara.train(TINY, generations=10**6, **arguments):
        if event["event"] == "learning":
            break
    del event
    learned = [each["generation"] for each in metrics(run_dir)
               if each["event"] == "learning"]
    assert learned
    end = learned[-1] + 2
    events = list(tara.train(TINY, generations=end, **arguments))
    assert events[-1]["generation"] == end
    assert [each["generation"] for each in metrics(run_dir)
            if each["event"] == "learning"] == list(range(1, end + 1))


SCRIPT = """
import sys, tara
for event in tara.train(sys.argv[1], run_dir=sys.argv[2], generations=10**6):
    print(event["event"], flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_run_ends_with_the_process_that_has_begun_it(tmp_path, how):
    run_dir = tmp_path / "run"
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, TINY, run_dir],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while script.stdout.readline() != "learning\n":
        assert script.poll() is None
    script.send_signal(how)
    assert script.wait() == -how
    script.stdout.close()
    # It holds a lock on its folder: the next one says so while it lives.
    while True:
        try:
            events = list(tara.train(TINY, run_dir=run_dir, generations=1,
                                     **FAST))
            break
        except RuntimeError as error:
            assert "another process" in str(error), error
            time.sleep(0.2)
    assert events[-1]["generation"] >= 1


@pytest.mark.parametrize("arguments, error, words", [
    ({"config": "missing.textproto"}, FileNotFoundError,
     "config: missing.textproto"),
    ({"program": "no-such-program"}, FileNotFoundError, "program: no-such"),
    ({"nonsense": 3}, ValueError, "nonsense"),
    ({"generations": -1}, ValueError, "generations"),
    ({"generations": [None]}, TypeError, "generations: None"),
    ({"variant": []}, ValueError, r"variant: \[\]; expected one value"),
    ({"evaluation": {"opponent": ("",)}}, ValueError, "evaluation.opponent"),
    ({"learner": {"batch_size": {1}}}, TypeError, "learner.batch_size: {1}"),
    ({"learner": {"batch_size": "many"}}, ValueError, "learner.batch_size"),
    ({"run_dir": "/dev/null/run"}, RuntimeError, "/dev/null/run"),
])
def test_what_is_wrong_is_named(arguments, error, words):
    arguments = {"config": TINY, **arguments}
    with pytest.raises(error, match=words):
        list(tara.train(**arguments))


def test_fields_are_those_that_are_given(tmp_path):
    """Texts of a list with commas, and numbers of NumPy, too."""
    opponents = ["random", "mcts:sims=2,c_puct=2"]
    run_dir = tmp_path / "run"
    end = list(tara.train(
        TINY, run_dir=run_dir, generations=np.int64(1),
        learner={"batch_size": np.uint16(16),
                 "weight_decay": np.float32(0.5)},
        evaluation={**FAST["evaluation"], "opponent": opponents}))[-1]
    assert end["generation"] == 1
    assert {each["opponent"] for each in metrics(run_dir)
            if each["event"] == "strength"} == set(opponents)


def test_a_bar_shows_how_far_it_is(tmp_path, capsys):
    for _ in tara.train(TINY, progress=True, run_dir=tmp_path / "run",
                        generations=1, **FAST):
        pass
    shown = capsys.readouterr().err
    assert "1.0 of 1 generations" in shown
    assert "against random" in shown


def test_the_program_is_found_in_this_order(tmp_path, monkeypatch):
    program = tmp_path / "tara"
    program.write_text("#!/bin/sh\necho \"tara: $0\" >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def used(**arguments):
        with pytest.raises(RuntimeError) as raised:
            list(tara.train(TINY, **arguments))
        return str(raised.value)

    monkeypatch.delenv("TARA_BINARY", raising=False)
    assert used() == str(program)
    other = tmp_path / "other"
    other.write_bytes(program.read_bytes())
    other.chmod(0o755)
    monkeypatch.setenv("TARA_BINARY", str(other))
    assert used() == str(other)
    assert used(program=program) == str(program)
    monkeypatch.setenv("TARA_BINARY", "/no/such/file")
    with pytest.raises(FileNotFoundError, match="TARA_BINARY: /no/such/file"):
        tara.train(TINY)


@pytest.mark.parametrize("script, message", [
    ("kill -9 $$", r"program was killed by signal 9 \(Killed\)"),
    ("echo oops >&2; kill -9 $$", r"signal 9 \(Killed\) oops"),
    ("exit 3", "program ended with status 3"),
    ("exit 0", "program ended without an event .*expected the program `tara`"),
    ("echo 1", r"program printed '1\\n'; expected an event"),
    ("echo hello", r"program printed 'hello\\n'; expected an event"),
    ("echo '{}'", "expected an event of the program `tara`"),
])
def test_a_program_that_is_another_or_dies_is_named(tmp_path, script, message):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match=message):
        list(tara.train(TINY, program=program))
