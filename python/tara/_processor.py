"""Says clearly where the package does not work, before it does anything."""

import importlib
import platform


def check() -> None:
    """Raises ImportError in subinterpreters, and on processors without AVX2."""
    _check_interpreter()
    _check_processor()


def _check_interpreter() -> None:
    # NumPy waits for ever there.
    for name in ("_interpreters", "_xxsubinterpreters"):  # since 3.13; before
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("tara works in the main interpreter alone; this "
                              "is a subinterpreter")


def _check_processor() -> None:
    """Raises ImportError where an x86-64 processor lacks AVX2."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split(":", 1)[1].split() for line in file
                          if line.startswith("flags")), None)
    except OSError:
        return
    missing = [] if flags is None else [
        name for name in ("avx2", "bmi2", "fma") if name not in flags]
    if missing:
        raise ImportError(
            "tara needs a processor with AVX2 (x86-64-v3); this one lacks " +
            ", ".join(missing))
