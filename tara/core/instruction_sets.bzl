"""Compiler flags of the units of the batched core, one for each instruction set."""

# -O3 in every configuration: what is not inlined would be compiled for an
# instruction set and shared with code that runs without it.
_COMMON_COPTS = ["-O3"]

def x86_only(values):
    """Returns the values where the processor is an x86-64, else none.

    Args:
      values: labels or flags.
    """
    return select({
        "//third_party/arm64": [],
        "//conditions:default": values,
    })

# As target_compatible_with: of units that there are only for x86-64, or arm64.
X86_ONLY = select({
    "//third_party/arm64": ["@platforms//:incompatible"],
    "//conditions:default": [],
})
ARM64_ONLY = select({
    "//third_party/arm64": [],
    "//conditions:default": ["@platforms//:incompatible"],
})

# The rest of the build may use AVX2; these units are those for processors (and
# compilers) without. Of several -march the compiler takes the last.
PORTABLE_COPTS = _COMMON_COPTS + x86_only(["-march=x86-64"])

AVX2_COPTS = _COMMON_COPTS

AVX512_COPTS = _COMMON_COPTS + [
    "-march=x86-64-v4",
    "-mavx512vbmi",
    "-mavx512bitalg",
    "-mavx512vpopcntdq",
    "-mgfni",
]
