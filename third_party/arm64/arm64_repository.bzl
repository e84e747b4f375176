"""What builds for arm64 on another machine: Debian's cross compiler.

The environment variable TARA_ARM64_ROOT names a folder with the libraries and
headers of Debian's arm64, of the same release as this system's: protoc and
headers without machine code are taken from this system. `--config=arm64` in
.bazelrc uses this repository; CONTRIBUTING.md has the commands.
"""

load("@bazel_tools//tools/cpp:unix_cc_configure.bzl", "configure_unix_toolchain")

_PREFIX = "/usr/bin/aarch64-linux-gnu-"

# Programs by QEMU, which passes the variable on, and so to programs that these
# start where the kernel runs them by QEMU, too. Scripts as they are.
_RUN = """\
#!/bin/sh
case "$(head -c 4 "$1" | tail -c 3)" in
  ELF) exec env QEMU_LD_PREFIX={root} qemu-aarch64 "$@" ;;
esac
exec "$@"
"""

def _arm64_repository_impl(repository_ctx):
    root = repository_ctx.os.environ.get("TARA_ARM64_ROOT", "")
    for needed in [
        _PREFIX + "g++",
        root + "/usr/lib/aarch64-linux-gnu/libprotobuf.so",
    ]:
        if not root or not repository_ctx.path(needed).exists:
            fail("For arm64, TARA_ARM64_ROOT names a folder of its libraries, " +
                 "and g++-aarch64-linux-gnu is installed: see CONTRIBUTING.md" +
                 " (TARA_ARM64_ROOT is '%s'; no %s)" % (root, needed))

    # Not /usr/bin/aarch64-linux-gnu-gcc itself: Bazel would let it look for its
    # linker beside it, and find this machine's.
    repository_ctx.file(
        "gcc",
        "#!/bin/sh\nexec %sgcc --sysroot=%s \"$@\"\n" % (_PREFIX, root),
    )
    tools = {"gcc": str(repository_ctx.path("gcc"))}
    for tool in ["ar", "cpp", "dwp", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]:
        tools[tool] = _PREFIX + tool
    configure_unix_toolchain(repository_ctx, "aarch64", tools)

    repository_ctx.file("run/run.sh", _RUN.format(root = root))
    repository_ctx.file("run/BUILD", """\
sh_binary(
    name = "run",
    srcs = ["run.sh"],
    visibility = ["//visibility:public"],
)
""")

arm64_repository = repository_rule(
    implementation = _arm64_repository_impl,
    environ = ["TARA_ARM64_ROOT"],
    local = True,
)
