"""A library of the system: nothing to compile, only linker flags."""

def system_library(name, libraries = [], **kwargs):
    """Declares a cc_library that links shared libraries of the system.

    The header files lie under /usr/include, which the compiler searches anyway.
    A library that turns out not to be used is left out of the binary, so that
    a label may list more than one of its users needs.

    Args:
      name: The label's name.
      libraries: Names as in -lNAME, a library before those it uses.
      **kwargs: Passed on to cc_library.
    """
    linkopts = []
    if libraries:
        linkopts = (["-Wl,--push-state,--as-needed"] +
                    ["-l" + library for library in libraries] +
                    ["-Wl,--pop-state"])
    native.cc_library(
        name = name,
        linkopts = linkopts,
        **kwargs
    )
