"""Training by the program `tara train`, as a stream of events."""

import json
import numbers
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import urllib.parse
import warnings
from typing import (Any, Dict, Generator, Iterator, List, Mapping, Optional,
                    Tuple, Union)

from tara import _types

Event = Dict[str, Any]
"""An event of a run, by name: see `train`."""

_PathLike = Union[str, "os.PathLike[str]"]

# Of the program's exit statuses: a wrong argument or field of a config.
_USAGE = 2


def train(config: _PathLike, *, program: Optional[_PathLike] = None,
          progress: bool = False, **overrides: Any
          ) -> Generator[Event, None, None]:
    """Trains from a config, as `tara train` does; returns a stream of events.

        for event in tara.train("configs/quickstart.textproto", seed=3,
                                learner={"batch_size": 128}, progress=True):
            if event["event"] == "strength":
                print(event["opponent"], event["score"])
        network = tara.load(event["checkpoint"])

    config: path of a config, a text-format proto. Its run_dir is the folder of
    the run, relative to the working directory. overrides: fields of the
    config. A message is a dictionary of fields, and a repeated field a list.
    progress: show a tqdm progress bar, in terminals and notebooks. program:
    path of the program `tara`. The default is the environment variable
    TARA_BINARY, then the PATH, then the clone that this package was installed
    from, which builds the program first if necessary.

    An event is a dictionary with the key "event". The values "self_play",
    "learning_speed", "learning", "held_out", "strength", "gate" and "note"
    are those of the run's metrics.jsonl. "progress" comes once per second.
    The last event is "end", with the path of the best player as "checkpoint"
    (docs/reference/metrics.md lists all fields). Training does not wait for
    the consumer of events. Leaving the loop, Ctrl-C or close() stops the run.
    Everything that was played and learned is kept, and the same call resumes
    the run. If this process is killed, the run ends too.
    Raises FileNotFoundError if the config or the program is missing,
    ValueError for an invalid field or value, and RuntimeError for any other
    failure, with the program's message.
    """
    path = _types.path("config", config)
    if not os.path.exists(path):
        raise FileNotFoundError(f"config: {path}: no such file")
    command = [*_program(program), "train", path, "--format=json"]
    for field, value in _fields(overrides):
        command.append(f"--set={field}={value}")
    if not progress:
        return _events(command)
    return _shown(_events(command), _new_bar())


def _fields(overrides: Mapping[str, Any], of: str = ""
            ) -> Iterator[Tuple[str, str]]:
    """Yields the path and text of each field, as `--set` takes them."""
    for name, value in overrides.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{of}{name}.")
        elif isinstance(value, (list, tuple)):
            text = ",".join(_text(of + name, each).replace(",", "\\,")
                            for each in value)
            if not text:
                raise ValueError(f"{of}{name}: {value!r}; expected one value "
                                 "or more, or '' for the default")
            yield of + name, text
        else:
            yield of + name, _text(of + name, value)


def _text(field: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, numbers.Real, os.PathLike)):
        return str(value)
    raise TypeError(f"{field}: {value!r}; expected a number, a text, True or "
                    "False, a list of them, or a dictionary of fields")


def find_program(named: Mapping[str, Optional[_PathLike]]) -> Optional[str]:
    """Returns the program `tara`: the first that is named, or on the PATH.

    named: paths, or None, by who names them. Raises FileNotFoundError, naming
    both, if it is missing.
    """
    import shutil  # here, as it loads libraries that `import tara` need not
    for name, path in named.items():
        if path is None:
            continue
        text = _types.path(name, path)
        found = shutil.which(text)
        if found is None:
            raise FileNotFoundError(
                f"{name}: {text}; expected the program `tara`")
        return found
    return shutil.which("tara")


def _program(given: Optional[_PathLike]) -> List[str]:
    """Returns the beginning of a command line that runs `tara`."""
    path = find_program({"program": given,
                         "TARA_BINARY": os.environ.get("TARA_BINARY")})
    if path is not None:
        return [path]
    clone = _clone()
    if clone is not None:
        # Prints its progress, which may take minutes, or its error on stderr.
        built = subprocess.run([clone, "--version"], check=False,
                               stdout=subprocess.DEVNULL)
        if built.returncode != 0:
            raise RuntimeError(f"program: {clone} --version: status "
                               f"{built.returncode}; expected it to build and "
                               "run")
        return [clone]
    raise FileNotFoundError(
        "program: no `tara` on the PATH, none in TARA_BINARY, and no clone "
        "that this package was installed from; expected program=PATH, such as "
        "CLONE/bin/tara")


def _clone() -> Optional[str]:
    """Returns bin/tara of the clone that pip has installed, or None."""
    import importlib.metadata  # here, as shutil above
    try:
        text = importlib.metadata.distribution("tara-boardgame").read_text(
            "direct_url.json")  # PEP 610
    except importlib.metadata.PackageNotFoundError:
        return None
    url = urllib.parse.urlparse(json.loads(text or "{}").get("url", ""))
    if url.scheme != "file":
        return None
    folder = pathlib.Path(urllib.parse.unquote(url.path))
    program = folder / "bin" / "tara"
    return str(program) if os.access(program, os.X_OK) else None


def _events(command: List[str]) -> Generator[Event, None, None]:
    import tempfile  # here, as shutil above

    with tempfile.TemporaryFile("w+", encoding="utf-8",
                                errors="replace") as errors:
        # In its own session: this process forwards a terminal's Ctrl-C, once.
        with subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors, text=True, encoding="utf-8", errors="replace",
                start_new_session=True) as process:
            lines: "queue.SimpleQueue[Optional[str]]" = queue.SimpleQueue()

            # The pipe is always read, so that no run waits for its reader.
            def read() -> None:
                for line in process.stdout or ():
                    lines.put(line)
                lines.put(None)

            thread = threading.Thread(target=read, daemon=True)
            thread.start()
            ended = False  # with an event "end"
            try:
                while (line := lines.get()) is not None:
                    try:
                        event: Event = json.loads(line)
                        ended = event["event"] == "end"
                    except (KeyError, TypeError, ValueError):
                        raise RuntimeError(
                            f"{command[0]} printed {line!r}; expected an event "
                            "of the program `tara`") from None
                    yield event
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                process.wait()
                thread.join()
        errors.seek(0)
        _check_status(command[0], process.returncode, errors.read())
    if not ended:
        raise RuntimeError(f"{command[0]} ended without an event 'end'; "
                           "expected the program `tara`")


def _check_status(program: str, status: int, errors: str) -> None:
    """Raises what a program's status and errors say, unless it succeeded."""
    if status == 0:
        return
    message = errors.strip()
    if status < 0:
        message = (f"{program} was killed by signal {-status} "
                   f"({signal.strsignal(-status)}) {message}").strip()
    message = message or f"{program} ended with status {status}"
    raise (ValueError if status == _USAGE else RuntimeError)(
        message.removeprefix("tara: "))


def _new_bar() -> Any:
    try:
        with warnings.catch_warnings():
            # Without ipywidgets, the bar in a notebook is text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("progress=True needs the package tqdm: "
                          "pip install tqdm") from error
    return tqdm(total=1, file=sys.stderr, bar_format=(
        "{desc} {bar}| {n:.1f} of {total} generations [{elapsed}{postfix}]"))


def _shown(events: Iterator[Event], bar: Any
           ) -> Generator[Event, None, None]:
    """Yields the events, and shows them in the bar."""
    with bar:
        for event in events:
            if event["event"] == "progress":
                bar.total = event["generations"]
                bar.n = event["generations_done"]
                bar.set_description_str(event["run_dir"], refresh=False)
                bar.set_postfix_str(_doing(event), refresh=False)
                bar.refresh()
            elif event["event"] == "strength":
                bar.write("generation {generation}: {score:.1%} "
                          "[{score_low:.1%}, {score_high:.1%}] of "
                          "{games} games of {variant} against {opponent}"
                          .format(**event), file=sys.stderr)
            elif event["event"] == "note":
                bar.write(event["text"], file=sys.stderr)
            yield event


def _doing(event: Event) -> str:
    """Returns the phases in progress of a progress event, as text."""
    parts = [event["phase"]]
    for name in ("games", "steps", "evaluation_games"):
        if name in event:
            parts.append(f"{event[name]}/{event[f'{name}_wanted']} "
                         f"{name.replace('_', ' ')}")
    if "loss" in event:
        parts.append(f"loss {event['loss']:.3f}")
    if "seconds_left" in event:
        minutes, seconds = divmod(round(event["seconds_left"]), 60)
        parts.append(f"about {minutes}:{seconds:02d} left")
    return ", ".join(parts)
