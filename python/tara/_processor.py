"""Says clearly that the processor is too old, before it meets the code."""

import platform


def check() -> None:
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
