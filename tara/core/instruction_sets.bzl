"""Compiler flags of the units of the batched core, one for each instruction set."""

# -O3 in every configuration: what is not inlined would be compiled for an
# instruction set and shared with code that runs without it.
_COMMON_COPTS = ["-O3"]

# The rest of the build may use AVX2; these units are those for processors (and
# compilers) without. Of several -march the compiler takes the last.
PORTABLE_COPTS = _COMMON_COPTS + ["-march=x86-64"]

AVX2_COPTS = _COMMON_COPTS

AVX512_COPTS = _COMMON_COPTS + [
    "-march=x86-64-v4",
    "-mavx512vbmi",
    "-mavx512bitalg",
    "-mavx512vpopcntdq",
    "-mgfni",
]
