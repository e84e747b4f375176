"""Reports of the program `tara`, as tables for data frames."""

import json
import os
import pathlib
import signal
import subprocess
from html import escape
from typing import Any, Dict, List, Optional, Sequence, Union

from tara import _tara, _train, _types

_Row = Dict[str, Any]


class Report(Dict[str, List[_Row]]):
    """The tables of a report by name. Each is a list of rows, dictionaries.

        report = tara.rate("random", "greedy", variant="four_treasures", games=40)
        polars.DataFrame(report["players"])

    A table is an argument of polars.DataFrame, pandas.DataFrame and
    pyarrow.Table.from_pylist. Notebooks display `html`.
    """

    data: Dict[str, Any]
    """The JSON of the program, with the names of its documents."""
    html: str
    """The program's page with figures, self-contained; "" if it has none."""

    def __init__(self, data: Dict[str, Any], html: str) -> None:
        super().__init__()
        self.data = data
        self.html = html
        _add_tables(self, data, {})

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html)}" '
                'style="width: 100%; height: 600px; border: 0"></iframe>')


def rate(*players: Any, **options: Any) -> Report:
    """Rates players, as `tara rate` does: Elo per variant and overall.

    players: specs, checkpoints or folders of runs. options: those of the
    command, such as variant="four_treasures", games=100, sims=50. A list
    repeats an option, True is for one without a value, and
    option={"compensation": 2.5} sets rule options. program: the program
    `tara`, by default as in `train`.

    Returns a Report. Table "players": one row per player and variant, and
    "overall"; "results": wins, draws and losses of each pair of players.
    Raises ValueError for invalid arguments, and RuntimeError, with the
    program's message, if it fails. Ctrl-C interrupts it.
    """
    report = _report("rate", players, options)
    names = [each["name"] for each in report.data["players"]]
    report["players"] = [
        {"name": each["name"], "variant": variant, **rating}
        for each in report.data["players"]
        for variant, rating in [("overall", each["overall"]),
                                *each["variants"].items()]]
    for row in report.get("results", []):
        row["first"] = names[row["first"]]
        row["second"] = names[row["second"]]
    return report


def crossplay(a: str, b: str, c: Optional[str] = None, *, variant: str,
              **options: Any) -> Report:
    """Compares players as partners, as `tara crossplay` does.

    a, b, c: player specs. variant: one for pairs. options: as in `rate`.

    Returns a Report. Table "studies": one row per variant; "matches": the
    results of each pair of teams. Raises as `rate` does.
    """
    players = (a, b) if c is None else (a, b, c)
    return _report("crossplay", players, {"variant": variant, **options})


def review(game: Union[str, "os.PathLike[str]", _tara.GameRecord],
           **options: Any) -> Report:
    """Finds the mistakes in a game, as `tara review` does.

    game: a GameRecord, or the path of a file of games, of a game store or of
    the folder of a run. options: those of the command, as in `rate`; game
    numbers are number=N.

    Returns a Report. Table "actions": one row per action; "course": the value
    of each position; "seats": the losses of each seat. Raises as `rate` does.
    """
    if "number" in options:
        options["game"] = options.pop("number")
    if isinstance(game, _tara.GameRecord):
        return _report("review", ["-"], options, game.line + "\n")
    return _report("review", [_types.path("game", game)], options)


def balance(**options: Any) -> Report:
    """Studies how fair variants are, as `tara balance` does.

    options: those of the command, as in `rate`: variant="four_treasures",
    player="best:sims=50", games=200, or study=PATH.

    Returns a Report with the tables of its JSON, such as "studies",
    "first_actions" and "courses". Raises as `rate` does.
    """
    return _report("balance", [], options)


def solve(position: Union[str, _tara.State], **options: Any) -> Report:
    """Computes the exact result of a position, as `tara solve` does.

    position: a State or its text. options: as in `rate`, such as
    node_limit=1_000_000.

    Returns a Report without a page. Table "actions": one row per legal action,
    with its exact margin. `data` has the margin of the position and the best
    actions. Raises as `rate` does, and RuntimeError at the node limit.
    """
    if isinstance(position, _tara.State):
        position = position.text
    return _report("solve", [], {"position": position, "all_actions": True,
                                 **options})


def explore(book: Union[str, "os.PathLike[str]"], *,
            variant: Optional[str] = None, actions: str = "",
            position: Union[str, _tara.State, None] = None,
            **build: Any) -> Report:
    """Shows a position of an opening book, as `tara explore` does.

    book: path of the book. variant, actions ("D4 E6"), position: the position;
    by default the start. build: options of `tara explore build`, as in `rate`.
    With any, such as positions=500, the book is created or extended first.

    Returns a Report. Table "actions": one row per action, best first. Raises
    as `rate` does.
    """
    path = _types.path("book", book)
    program = build.pop("program", None)
    if build:
        _run(["explore", "build", path,
              *_flags({"variant": variant, **build})], program)
    if isinstance(position, _tara.State):
        position = position.text
    return _report("explore show", [path], {
        "variant": variant if position is None else None,
        "actions": actions or None, "position": position, "program": program})


def _add_tables(tables: Dict[str, List[_Row]], data: Dict[str, Any],
                of: _Row) -> _Row:
    """Adds lists of objects as tables; returns what else there is, flat.

    of: the columns that rows get from the object around them.
    """
    row: _Row = dict(of)
    lists = []
    for name, value in data.items():
        if isinstance(value, dict) and all(map(str.isidentifier, value)):
            row.update((f"{name}_{inner}", each) for inner, each
                       in _add_tables(tables, value, {}).items())
        elif value and isinstance(value, list) and isinstance(value[0], dict):
            lists.append((name, value))
        else:
            row[name] = value
    inherited = {name: row[name] for name in ("variant",) if name in row}
    for name, entries in lists:
        rows = [_add_tables(tables, each, inherited) for each in entries]
        tables.setdefault(name, []).extend(rows)
    return row


def _flags(options: Dict[str, Any]) -> List[str]:
    """Returns options of the command line."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, dict):
            value = [f"{key}={_train._text(name, each)}"
                     for key, each in value.items()]
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            flags.append(f"{flag}={_train._text(name, each)}")
    return flags


def _report(command: str, arguments: Sequence[Any], options: Dict[str, Any],
            given: str = "") -> Report:
    import tempfile  # It loads libraries, which `import tara` does without.

    options = dict(options)
    program = options.pop("program", None)
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        text = _run([*command.split(), *map(os.fspath, arguments),
                     *_flags(options), "--format=json",
                     *([] if command == "solve" else [f"--html={page}"])],
                    program, given)
        return Report(json.loads(text), page.read_text(encoding="utf-8")
                      if page.exists() else "")


def _run(arguments: List[str], program: Any, given: str = "") -> str:
    """Returns what the program prints."""
    command = [*_train._program(program), *arguments]
    # In its own session: this process forwards a terminal's Ctrl-C, once.
    with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, encoding="utf-8",
            errors="replace", start_new_session=True) as process:
        try:
            printed, errors = process.communicate(given)
        except BaseException:
            process.send_signal(signal.SIGINT)
            raise
    _train._check_status(command[0], process.returncode, errors)
    return printed
