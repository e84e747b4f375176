"""The headers with which the Python package's extension module is compiled.

`pip install` names their folders (python/build_backend.py): TARA_PYTHON_INCLUDE
that of Python, TARA_PYBIND11_INCLUDE that of pybind11, which comes from PyPI:
Debian 12's is too old for NumPy 2. Nothing is linked: an extension takes
Python's symbols from the program that loads it.
"""

_BUILD = """\
cc_library(
    name = "pybind11",
    hdrs = glob(["python/**/*.h", "pybind11/**/*.h"]),
    includes = ["python", "pybind11"],
    visibility = ["//visibility:public"],
)
"""

def _python_repository_impl(repository_ctx):
    for name, variable, header in [
        ("python", "TARA_PYTHON_INCLUDE", "Python.h"),
        ("pybind11", "TARA_PYBIND11_INCLUDE", "pybind11/pybind11.h"),
    ]:
        folder = repository_ctx.os.environ.get(variable, "")
        if not folder or not repository_ctx.path(folder + "/" + header).exists:
            fail("%s is '%s'; expected the folder with %s. `pip install .` " %
                 (variable, folder, header) + "sets it")
        repository_ctx.symlink(folder, name)
    repository_ctx.file("BUILD", _BUILD)

python_repository = repository_rule(
    implementation = _python_repository_impl,
    environ = ["TARA_PYTHON_INCLUDE", "TARA_PYBIND11_INCLUDE"],
    local = True,
)
