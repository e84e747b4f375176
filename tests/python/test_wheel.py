"""The wheel for other machines: what it brings and what it leaves to them."""

import io
import pathlib
import platform
import re
import subprocess
import sys
import venv
import zipfile

import numpy as np
import pytest
import tara
from tara import _processor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# What every Linux has (PEP 600), of those that the module is linked with.
OF_THE_SYSTEM = {"libc", "libdl", "libgcc_s", "libm", "libpthread", "librt",
                 "libstdc++", "libz"}

# Prints the libraries that `import tara` loads, then what a search finds.
SEARCH = """
import numpy
def loaded():
    return {line.split()[-1] for line in open("/proc/self/maps")
            if "/lib" in line and ".so" in line}
before = loaded()
import tara
print(*sorted(loaded() - before))
network = tara.load()
analysis, = tara.search([tara.State("four_treasures")], network,
                        options="sims=50")
print(analysis.action, analysis.value)
"""


@pytest.fixture(scope="module", name="wheel")
def made_wheel(tmp_path_factory):
    """The wheel, of the module that is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "python")
        import build_backend
        patch.setattr(build_backend, "_build_module",
                      lambda: pathlib.Path(tara._tara.__file__))
        name = build_backend.build_wheel(folder, {"manylinux": "yes"})
    return folder / name


@pytest.fixture(scope="module", name="python")
def fresh_python(tmp_path_factory, wheel):
    """A Python with the wheel and NumPy alone."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder)
    python = folder / "bin/python"
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install",
                    "--quiet", "--no-deps", "--no-index", wheel], check=True)
    installed = pathlib.Path(np.__file__).parent.parent
    packages, = folder.glob("lib/python*/site-packages")
    for name in ("numpy", "numpy.libs"):
        (packages / name).symlink_to(installed / name)
    return python


def test_its_name_states_the_oldest_glibc(wheel):
    assert re.fullmatch(
        r"tara_boardgame-[\d.]+-(cp3\d+)-\1-manylinux_2_\d+_[a-z0-9_]+\.whl", wheel.name)


def test_it_has_the_licences_of_its_libraries(wheel):
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    libraries = [name for name in names
                 if name.startswith("tara_boardgame.libs/lib")]
    licences = {pathlib.Path(name).name for name in names
                if ".dist-info/licenses/" in name}
    assert any("libprotobuf" in name for name in libraries)
    assert {"libeigen3-dev", "pybind11"} <= licences
    for library in libraries:
        stem = re.match(r"tara_boardgame\.libs/lib([a-z]+)", library.lower()).group(1)
        # libcrypto is a part of libssl3.
        stem = "ssl" if stem == "crypto" else stem
        assert any(stem in licence for licence in licences), library


def test_it_takes_no_library_from_the_system_but_those_of_any_linux(python):
    run = subprocess.run([python, "-c", SEARCH], capture_output=True,
                         text=True, check=True, env={})
    libraries, found = run.stdout.splitlines()
    brought = [path for path in libraries.split()
               if str(python.parent.parent) in path]
    others = {pathlib.Path(path).name.split(".so")[0]
              for path in libraries.split() if path not in brought}
    # Modules of Python's own have no name with lib.
    assert {name for name in others if name.startswith("lib")} <= OF_THE_SYSTEM
    assert any("libprotobuf" in path for path in brought)
    analysis, = tara.search([tara.State("four_treasures")],
                            tara.load(), options="sims=50")
    assert found == f"{analysis.action} {analysis.value}"


def test_a_setting_that_is_none_is_an_error(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "python")
    import build_backend
    with pytest.raises(SystemExit, match="manylinux is '1'; expected yes"):
        build_backend.build_wheel(tmp_path, {"manylinux": "1"})


@pytest.mark.parametrize("flags, missing", [
    ("fpu sse2 avx bmi1", "avx2, bmi2, fma"), ("avx2 bmi2", "fma"),
    ("avx2 bmi2 fma", None)])
def test_a_processor_that_is_too_old_is_named(monkeypatch, flags, missing):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(
        "builtins.open", lambda *_, **__: io.StringIO(f"flags\t\t: {flags}\n"))
    if missing is None:
        _processor.check()
        return
    with pytest.raises(ImportError, match=f"AVX2 .*lacks {missing}$"):
        _processor.check()
