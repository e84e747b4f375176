"""Tests of one folder that are built alike."""

def cc_tests(names, deps, size = "small", **kwargs):
    """Declares a cc_test NAME of NAME.cc for each name.

    Args:
      names: NAMEs.
      deps: what any of them needs, beside GoogleTest's main.
      size: as of cc_test.
      **kwargs: as of cc_test.
    """
    for name in names:
        native.cc_test(
            name = name,
            size = size,
            srcs = [name + ".cc"],
            deps = deps + ["//third_party/gtest:gtest_main"],
            **kwargs
        )
