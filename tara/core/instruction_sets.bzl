"""Compiler flags of the units of the batched core, one for each instruction set."""

# -O3 in every configuration: what is not inlined would be compiled for an
# instruction set and shared with code that runs without it.
_COMMON_COPTS = ["-O3"]

# The rest of the build may use AVX2; these units are those for processors (and
# compilers) without.
PORTABLE_COPTS = _COMMON_COPTS + [
    "-mno-avx",
    "-mno-bmi",
    "-mno-bmi2",
    "-mno-lzcnt",
    "-mno-popcnt",
]

AVX2_COPTS = _COMMON_COPTS + [
    "-mavx2",
    "-mbmi2",
]

AVX512_COPTS = AVX2_COPTS + [
    "-mavx512f",
    "-mavx512bw",
    "-mavx512dq",
    "-mavx512vl",
    "-mavx512vbmi",
    "-mavx512bitalg",
    "-mavx512vpopcntdq",
    "-mgfni",
]
