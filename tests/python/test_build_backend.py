"""What pip is told before and while the package is built."""

import importlib
import importlib.metadata
import io
import pathlib
import sys
import tarfile

import pytest
from packaging.requirements import Requirement

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module", name="backend")
def imported_backend():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "python")
        import build_backend
        yield build_backend


def test_metadata_needs_no_build(backend, tmp_path):
    folder = backend.prepare_metadata_for_build_wheel(tmp_path)
    text = (tmp_path / folder / "METADATA").read_text()
    head, _, page = text.partition("\n\n")
    assert "Name: tara-boardgame" in head and "Requires-Dist: numpy" in head
    assert page == (ROOT / "python/README.md").read_text()
    assert "Tag: cp3" in (tmp_path / folder / "WHEEL").read_text()


@pytest.mark.parametrize("extra, module", [
    ("arrow", "pyarrow"), ("fleet", "tara.fleet"), ("gym", "tara.gym"),
    ("openspiel", "tara.openspiel"), ("pettingzoo", "tara.pettingzoo")])
def test_an_extra_has_what_a_module_needs(extra, module):
    """Of versions that include the ones that it is tested with."""
    importlib.import_module(module)
    assert extra in importlib.metadata.metadata("tara-boardgame").get_all(
        "Provides-Extra")
    wanted = [Requirement(each)
              for each in importlib.metadata.requires("tara-boardgame")]
    wanted = [each for each in wanted if each.marker is not None
              and each.marker.evaluate({"extra": extra})]
    assert wanted
    for each in wanted:
        assert importlib.metadata.version(each.name) in each.specifier


def test_the_code_of_the_packages_page_runs(capsys):
    text = (ROOT / "python/README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "README.md", "exec"), {})  # pylint: disable=exec-used
    assert capsys.readouterr().out.strip().isdigit()


def test_a_source_distribution_has_what_is_built_and_no_tests(backend,
                                                              tmp_path):
    name = backend.build_sdist(tmp_path)
    with tarfile.open(tmp_path / name) as archive:
        names = set(archive.getnames())
    base = name.removesuffix(".tar.gz")
    for each in ("PKG-INFO", "pyproject.toml", "WORKSPACE", ".bazelrc",
                 "bin/lib.sh", "tara/python/BUILD", "python/tara/__init__.py",
                 "models/tara.tara", "proto/config.proto"):
        assert f"{base}/{each}" in names
    assert not any(each.startswith((f"{base}/tests", f"{base}/web"))
                   for each in names)


@pytest.mark.parametrize("system, words", [
    ("win32", "tara: Windows; expected Linux.*WSL"),
    ("darwin", "tara: darwin; expected Linux.*container")])
def test_other_systems_are_told_what_to_do(backend, monkeypatch, system, words):
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(SystemExit, match=words):
        backend._check_platform()


def test_progress_goes_to_stderr(backend, capsys):
    lines = "[12 / 1,345] Compiling a.cc\nINFO: done\n"
    backend._show(io.StringIO(lines))
    assert capsys.readouterr().err == lines
