"""Tests of one folder that are built alike."""

def cc_tests(deps, names = None, **kwargs):
    """Declares a cc_test NAME of NAME.cc for each name.

    Args:
      deps: what any of them needs, beside GoogleTest's main.
      names: NAMEs. Default: every *_test.cc of the folder of which the lines
        above have made no test.
      **kwargs: as of cc_test.
    """
    if names == None:
        made = native.existing_rules()
        files = [file[:-len(".cc")] for file in native.glob(["*_test.cc"])]
        names = [name for name in files if name not in made]
    for name in names:
        native.cc_test(
            name = name,
            srcs = [name + ".cc"],
            deps = deps + ["//third_party/gtest:gtest_main"],
            **kwargs
        )
