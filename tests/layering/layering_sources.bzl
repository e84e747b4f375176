"""What tests that look at sources, as tests/layering does, see of a package."""

def layering_sources(folders = []):
    """The filegroup `layering_sources`: the package's sources and headers.

    Args:
      folders: those within the package that are no packages of their own.
    """
    native.filegroup(
        name = "layering_sources",
        srcs = native.glob([
            folder + pattern
            for folder in [""] + [folder + "/" for folder in folders]
            for pattern in ["*.cc", "*.h"]
        ]),
        visibility = ["//tests:__subpackages__"],
    )
