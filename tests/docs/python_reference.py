#!/usr/bin/env python3
"""Writes docs/reference/python.md: the Python package by its docstrings.

    .tara/venv/bin/python tests/docs/python_reference.py [--check]

Types are those of the sources that are installed, the texts those of the module
as it is imported: install the package as it is now. With --check nothing is
written, and the exit status is 1 where the page differs.
"""

import argparse
import ast
import difflib
import importlib
import inspect
import itertools
import pathlib
import pkgutil
import re
import sys
import textwrap
import typing

import tara

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/python.md"
COMMAND = ".tara/venv/bin/python tests/docs/python_reference.py"
WIDTH = 100

# Heading, and what the section has: names of tara, or a module with all of its
# public names.
PARTS = [
    ("Positions", ["State", "Outcome", "STATE", "VARIANTS", "NUM_ACTIONS"]),
    ("Games in lockstep", ["Games", "Step"]),
    ("Batches of any positions",
     ["play", "draw", "legal_mask", "legal", "finished", "outcome", "Outcomes"]),
    ("Network inputs",
     ["encode", "Features", "PLANES", "GLOBALS", "Input", "NUM_PLANES",
      "NUM_GLOBALS"]),
    ("Views and symmetries",
     ["to_seen", "from_seen", "symmetries", "transform", "Symmetry",
      "SYMMETRIES", "Symmetries"]),
    ("Networks and search",
     ["load", "Network", "Evaluation", "search", "Evaluator", "Analysis",
      "Search", "Leaves", "Node"]),
    ("Self-play and records", ["selfplay", "GameRecord"]),
    ("Matches", ["arena", "Player", "ArenaResult"]),
    ("Reports",
     ["rate", "crossplay", "review", "balance", "explore", "solve",
      "Report"]),
    ("Stores and samples", ["GameStore", "Sampler", "Batch", "DataLoss"]),
    ("Training", ["train", "Event"]),
    ("Gymnasium", ["tara.gym"]),
    ("PettingZoo", ["tara.pettingzoo"]),
    ("OpenSpiel", ["tara.openspiel"]),
    ("Fleet", ["tara.fleet"]),
    ("Benchmark", ["tara.bench"]),
    ("Version", ["__version__"]),
]


class Failure(Exception):
    """Why there is no page."""


class Entry(typing.NamedTuple):
    """A public name: a constant, a function or a class."""

    path: str  # "tara.Games"
    thing: object
    nodes: list  # its definitions in the source: several of what is overloaded


# --- What there is -----------------------------------------------------------


def definitions(body):
    """Yields (name, node, text after it) of what a module or class defines."""
    for node, after in zip(body, body[1:] + [None]):
        text = ""
        if isinstance(after, ast.Expr) and isinstance(after.value,
                                                      ast.Constant):
            text = inspect.cleandoc(str(after.value.value))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node, ""
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node, text
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0],
                                                         ast.Name):
            yield node.targets[0].id, node, text


def read(paths):
    """Returns definitions by name, of source files."""
    found = {}
    for path in paths:
        for name, node, text in definitions(ast.parse(path.read_text()).body):
            node.text = text
            found.setdefault(name, []).append(node)
            if re.match("_[A-Z]", name) and isinstance(node, ast.Assign):
                ALIASES[name] = ast.unparse(node.value)
    return found


def entries_of(module):
    """Returns a module's public names: of __all__, or what it defines."""
    folder = pathlib.Path(tara.__file__).parent
    if module is tara:
        sources = read(sorted(folder.glob("_[!_]*.py*")))
    else:
        sources = read([pathlib.Path(module.__file__)])
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in sources if not name.startswith("_")]
    entries = {}
    for name in names:
        path = f"{module.__name__}.{name}"
        if name not in sources:
            raise Failure(f"{path}: no definition in the files of the package")
        entries[path] = Entry(path, getattr(module, name), sources[name])
    return entries


def modules():
    """Returns tara and its public modules by name."""
    found = {"tara": tara}
    for each in pkgutil.iter_modules(tara.__path__, "tara."):
        if each.name.split(".")[-1].startswith("_"):
            continue
        try:
            found[each.name] = importlib.import_module(each.name)
        except ImportError as error:
            raise Failure(
                f"{each.name}: {error}; expected the packages of "
                "tests/python/requirements.txt") from error
    return found


def sections(found):
    """Yields (heading, module or None, entries) of each part.

    Fails for public names that are in none, in two, or not there.
    """
    left = {}
    for module in found.values():
        left.update(entries_of(module))
    known = set(left)
    for heading, names in PARTS:
        module = found.get(names[0])
        if module is None:
            paths = [f"tara.{name}" for name in names]
        else:
            paths = [path for path in left
                     if path.rpartition(".")[0] == names[0]]
        for path in paths:
            if path not in left:
                raise Failure(
                    f"{path}, in the part \"{heading}\" of PARTS, " +
                    ("is in another part, too" if path in known else
                     "is no public name of the package"))
        yield heading, module, [left.pop(path) for path in paths]
    if left:
        raise Failure(f"in no section: {', '.join(left)}; expected each in a "
                      "part of PARTS in tests/docs/python_reference.py")


def documented(path, text):
    if not text:
        raise Failure(f"{path}: no docstring")
    return text


# --- Types -------------------------------------------------------------------


ALIASES = {}  # types by the private names that the sources have for them


class Readable(ast.NodeTransformer):
    """Writes types as the page has them: `int | None`, without modules."""

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Attribute(self, node):
        if ast.unparse(node.value) in ("np", "typing", "tara", "_tara",
                                       "_types", "_network", "_store"):
            return ast.Name(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in ALIASES:
            return self.visit(ast.parse(ALIASES[node.id], mode="eval").body)
        return ast.Name({"List": "list", "Tuple": "tuple",
                         "Dict": "dict"}.get(node.id, node.id))

    def visit_Subscript(self, node):
        name = ast.unparse(node.value).rpartition(".")[2]
        if name == "Literal":
            return ast.Subscript(ast.Name(name), node.slice)
        node = self.generic_visit(node)
        if name == "Optional":
            return ast.BinOp(node.slice, ast.BitOr(), ast.Constant(None))
        if name == "Union":
            union, *others = node.slice.elts
            for other in others:
                union = ast.BinOp(union, ast.BitOr(), other)
            return union
        if name == "integer":
            return node.value
        return node


def type_text(node):
    text = ast.unparse(ast.fix_missing_locations(Readable().visit(node)))
    return text.replace("'", '"')


def parameters_of(function):
    """Returns the texts of the parameters, with "*" and without self."""
    args = function.args
    plain = args.args
    defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
    rows = list(zip(plain, defaults))
    if rows and rows[0][0].arg in ("self", "cls"):
        rows = rows[1:]
    texts = [parameter_text(*row) for row in rows]
    if args.vararg:
        texts.append("*" + parameter_text(args.vararg))
    elif args.kwonlyargs:
        texts.append("*")
    texts += [parameter_text(*row)
              for row in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg:
        texts.append("**" + parameter_text(args.kwarg))
    return texts


def parameter_text(argument, default=None):
    text = argument.arg
    if argument.annotation:
        text += ": " + type_text(argument.annotation)
    if default is not None:
        text += " = " + ast.unparse(default).replace("'", '"')
    return text


def names_of(functions):
    return {node.arg for each in functions for node in ast.walk(each.args)
            if isinstance(node, ast.arg)}


def call(name, function, returns=True):
    """Returns a signature, in several lines where it is long."""
    texts = parameters_of(function)
    result = ""
    if returns and function.returns:
        result = " -> " + type_text(function.returns)
    line = f"{name}({', '.join(texts)}){result}"
    if len(line) <= 88:
        return line
    inside = "".join(f"    {text},\n" for text in texts)
    return f"{name}(\n{inside}){result}"


def code(text):
    language = "" if text.startswith("python ") else "python"
    return f"```{language}\n{text}\n```"


# --- Texts -------------------------------------------------------------------

LINKS = {}  # anchors of headings by path


def slug(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def inline(text, own):
    """Returns the text of a docstring as Markdown.

    Names of the package become links, but for `own`, what the text is of;
    characters are escaped that would mean something in Markdown.
    """

    def link(name, shown):
        name = name.removeprefix("tara.")
        path = next((path for path in (f"{own}.{name}", f"tara.{name}")
                     if path in LINKS and path != own), None)
        return shown if path is None else f"[{shown}](#{LINKS[path]})"

    def spoken(match):
        quoted, name, article, word, page = match.groups()
        if quoted is not None:
            return link(quoted, f"`{quoted}`")
        if name is not None:
            return link(name, f"`{name}`")
        if page is not None:
            return f"[{page}]({page}.md)"
        return article + link(word, word)

    pattern = (r"`([^`]+)`|\b(tara\.[\w.]*\w|[A-Z][a-z]\w+\.[a-z]\w+)\b|"
               r"\b((?:[Aa]n?|[Tt]he|of|as) )([A-Z][a-z]\w+)\b|"
               r"docs/reference/(\w+)\.md")
    parts = []
    end = 0
    for match in re.finditer(pattern, text):
        parts += [escape(text[end:match.start()]), spoken(match)]
        end = match.end()
    text = "".join(parts) + escape(text[end:])
    return "\\" + text if re.match(r"\[[^]]*\]:", text) else text


def escape(text):
    return re.sub(r"([*<]|\b__|__\b)", r"\\\1", text)


def wrap(text, indent=""):
    lines = textwrap.wrap(text, WIDTH - len(indent), break_long_words=False,
                          break_on_hyphens=False)
    return "\n".join(indent + line if i else line
                     for i, line in enumerate(lines))


def markdown(doc, own, parameters=()):
    """Returns a docstring, without its indentation, as Markdown.

    Lines that are indented become blocks of code, sentences that begin with
    names of parameters and a colon the items of a list, up to the end of their
    paragraph or to what is raised.
    """
    marker = re.compile(r"(?:^|(?<=[.;] ))((?:\w+, )*\w+): |"
                        r"(?<=\. )(?=Raises )")
    blocks = []
    for is_code, text in pieces(doc):
        if text is None:  # a paragraph ends
            item = None
            continue
        if is_code:
            blocks.append(textwrap.indent(code(text), "  " if item else ""))
            continue
        parts, begin, first = [], 0, False
        for match in marker.finditer(text):
            names = match.group(1)
            if names and not set(names.split(", ")) <= set(parameters):
                continue
            parts.append((item, first, text[begin:match.start()]))
            begin, item, first = match.end(), names, True
        parts.append((item, first, text[begin:]))
        for names, first, part in parts:
            part = inline(part.strip(), own)
            if part and names and first:
                blocks.append("- " + wrap(f"`{names}`: {part}", "  "))
            elif part:
                blocks.append(("  " if names else "") +
                              wrap(part, "  " if names else ""))
    return join(blocks)


def join(blocks):
    """Returns blocks with a blank line between them, but not between items."""
    return "".join(
        block if before is None else
        ("\n" if before.startswith("- ") and block.startswith("- ") else
         "\n\n") + block
        for before, block in zip([None] + blocks, blocks))


def pieces(doc):
    """Yields (is code, text), and (False, None) between paragraphs."""
    lines = doc.split("\n")
    kinds = ["code" if line.startswith("    ") else "text" if line else "blank"
             for line in lines]
    for i in range(1, len(lines) - 1):  # code goes on over blank lines
        if kinds[i] == "blank" and kinds[i - 1] == kinds[i + 1] == "code":
            kinds[i] = "code"
    yield False, None
    for kind, group in itertools.groupby(zip(kinds, lines),
                                         key=lambda pair: pair[0]):
        part = [line for _, line in group]
        if kind == "code":
            yield True, textwrap.dedent("\n".join(part))
        elif kind == "text":
            yield False, " ".join(part)
        else:
            yield False, None


def text_of(thing):
    """Returns a docstring without the signatures that pybind11 puts first."""
    doc = inspect.cleandoc(thing.__doc__ or "")
    if isinstance(thing, (type, property)):
        return doc
    name = re.escape(getattr(thing, "__name__", ""))
    return re.sub(
        rf"^(\d+\. )?{name}\(.*\)( -> .*)?$|^Overloaded function\.$", "", doc,
        flags=re.MULTILINE).strip()


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


# --- The page ----------------------------------------------------------------


class Members(typing.NamedTuple):
    """What a class has: (name, type, text) and (path, overloads, text)."""

    constructor: list
    attributes: list
    methods: list


def members_of(entry):
    """Returns the public members of a class."""
    functions, attributes = {}, []
    for name, member, text in definitions(entry.nodes[0].body):
        if isinstance(member, ast.FunctionDef):
            functions.setdefault(name, []).append(member)
        elif text and not name.startswith("_"):
            attributes.append((name, member.annotation, text))
    constructor = functions.pop("__init__", [])
    methods = []
    for name, overloads in functions.items():
        thing = inspect.getattr_static(entry.thing, name, None)
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        text = text_of(thing)
        path = f"{entry.path}.{name}"
        if name.startswith("__") and not text or (
                name.startswith("_") and not name.startswith("__")):
            continue
        documented(path, text)
        if isinstance(thing, property):
            attributes.append((name, overloads[0].returns, text))
        else:
            methods.append((path, overloads, text))
    return Members(constructor, attributes, methods)


def render_class(entry):
    members = members_of(entry)
    bases = [ast.unparse(base).rpartition(".")[2]
             for base in entry.nodes[0].bases]
    taken = names_of(members.constructor)
    if members.constructor and "kwargs" not in taken:
        yield code(call(entry.path, members.constructor[0], returns=False))
    else:
        known = f"({', '.join(bases)})" if bases else ""
        yield code(f"class {entry.path}{known}")
    yield markdown(documented(entry.path, text_of(entry.thing)), entry.path,
                   taken)
    if members.attributes:
        title = "field" if "NamedTuple" in bases else "attribute"
        yield "\n".join([f"| {title} | type | |", "|---|---|---|"] + [
            f"| `{name}` | {cell(f'`{type_text(kind)}`')} | "
            f"{cell(inline(text, entry.path))} |"
            for name, kind, text in members.attributes])
    for path, overloads, text in members.methods:
        yield heading(4, path, short(path))
        yield code("\n".join(call(short(path), each) for each in overloads))
        yield markdown(text, entry.path, names_of(overloads))


def short(path):
    """Returns "Games.step" of "tara.Games.step"."""
    return ".".join(path.split(".")[-2:])


def heading(level, path, title):
    """Returns a heading, with an explicit anchor where the title is repeated:
    GitHub numbers repeated anchors in one way, the site in another.
    """
    text = f"{'#' * level} `{title}`"
    anchor = LINKS[path]
    return text if anchor == slug(title) else f'<a id="{anchor}"></a>\n\n{text}'


def render(entry):
    """Yields the blocks of a name."""
    yield heading(3, entry.path, entry.path)
    node = entry.nodes[0]
    if isinstance(node, ast.ClassDef):
        yield from render_class(entry)
    elif isinstance(node, ast.FunctionDef):
        yield code("\n".join(call(entry.path, each) for each in entry.nodes))
        yield markdown(documented(entry.path, text_of(entry.thing)),
                       entry.path, names_of(entry.nodes))
    else:
        if isinstance(node, ast.AnnAssign):
            yield code(f"{entry.path}: {type_text(node.annotation)}")
        else:
            value = type_text(node.value)
            if len(value) > 60:
                value = "(\n    " + value.replace(" | ", "\n    | ") + "\n)"
            yield code(f"{entry.path} = {value}")
        yield markdown(documented(entry.path, node.text), entry.path)


def number_headings(parts):
    """Fills LINKS: a heading's anchor has a number where it is a repeated one.
    """
    LINKS.clear()
    taken = {}

    def add(path, title):
        name = slug(title)
        count = taken[name] = taken.get(name, -1) + 1
        LINKS[path] = f"{name}-{count}" if count else name

    for title in ("Python", "Conventions"):
        add(title, title)
    for heading, _, entries in parts:
        add(heading, heading)
        for entry in entries:
            add(entry.path, entry.path)
            if isinstance(entry.nodes[0], ast.ClassDef):
                for path, _, _ in members_of(entry).methods:
                    add(path, short(path))


def page():
    """Returns the text of the page."""
    parts = list(sections(modules()))
    number_headings(parts)
    about, _, conventions = text_of(tara).partition("Conventions: ")
    contents, blocks = [], []
    for heading, module, entries in parts:
        names = ", ".join(f"[`{entry.path.removeprefix('tara.')}`]"
                          f"(#{LINKS[entry.path]})" for entry in entries)
        contents.append(f"| [{heading}](#{LINKS[heading]}) | {names} |")
        blocks.append(f"## {heading}")
        if module is not None:
            blocks.append(markdown(documented(module.__name__, text_of(module)),
                                   module.__name__))
        for entry in entries:
            blocks += render(entry)
    return "\n\n".join([
        "# Python",
        wrap("This page lists all public names of the package `tara` with their "
             "docstrings. [Use Python](../how-to/use_python.md) explains how to "
             "install and use the package, and the "
             "[tutorial](../tutorial/python.md) introduces it step by step. "
             "`tests/docs/python_reference.py` generates the page, and a test "
             "compares it with the package."),
        markdown(about.strip(), "tara"),
        "\n".join(["| section | names |", "|---|---|", *contents]),
        "## Conventions",
        markdown(conventions[0].upper() + conventions[1:], "tara"),
        *blocks]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail where the page differs")
    arguments = parser.parse_args()
    try:
        text = page()
    except Failure as failure:
        sys.exit(f"{PAGE.relative_to(ROOT)}: {failure}")
    if not arguments.check:
        PAGE.write_text(text)
        return
    old = PAGE.read_text() if PAGE.exists() else ""
    if text != old:
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(True), text.splitlines(True), "the page",
            "the package"))
        sys.exit(f"{PAGE.relative_to(ROOT)} differs from the package; "
                 f"expected it as {COMMAND} writes it")


if __name__ == "__main__":
    main()
