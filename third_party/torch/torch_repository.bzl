"""LibTorch as a repository whose root is a setting.

The environment variable TARA_TORCH_ROOT (or --repo_env=TARA_TORCH_ROOT=...)
names the folder that holds LibTorch's `include` and `lib`: of the archives, or
`torch` among the packages of a Python; the default, /usr, is Debian's
libtorch-dev. CUDA libraries are linked when the root has them.

Of the root's headers only LibTorch's own are offered: PyPI's wheels bring those
of other libraries too, such as Protobuf's, of other versions than Debian's.

CUDA graphs need the headers of CUDA's toolkit besides: TARA_CUDA_ROOT names its
folder; the default is what Python's packages have beside LibTorch, else
/usr/local/cuda. Where both are found, TARA_TORCH_CUDA is defined; without the
toolkit all else works, for LibTorch's generic headers do.
"""

_BUILD = """\
cc_library(
    name = "torch",
    hdrs = glob({header_globs}),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
    target_compatible_with = select({{
        "@tara//third_party/arm64:cross": ["@platforms//:incompatible"],
        "@tara//third_party/torch:clang": ["@platforms//:incompatible"],
        "//conditions:default": [],
    }}),
    visibility = ["//visibility:public"],
)
"""

# Relative to the root: Debian's multiarch folders, and those of the archives.
_LIB_FOLDERS = ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib", "lib64"]

def _exists(repository_ctx, path):
    return repository_ctx.path(path).exists

def _root(repository_ctx):
    root = repository_ctx.os.environ.get("TARA_TORCH_ROOT", "") or "/usr"
    if not root.startswith("/"):
        fail("TARA_TORCH_ROOT is '%s'; expected an absolute path" % root)
    if not _exists(repository_ctx, root):
        fail("TARA_TORCH_ROOT is %s, which does not exist; " % root +
             "expected the folder with LibTorch's include and lib")
    return str(repository_ctx.path(root))

def _find_lib_folder(repository_ctx, root):
    for folder in _LIB_FOLDERS:
        lib = root + "/" + folder
        if _exists(repository_ctx, lib + "/libtorch.so"):
            return lib
    fail("No libtorch.so under %s in any of %s: install libtorch-dev, or set " %
         (root, ", ".join(_LIB_FOLDERS)) +
         "TARA_TORCH_ROOT to the root of another LibTorch.")

# The folders under `include` with LibTorch's own headers. Their API includes no
# others.
_HEADER_FOLDERS = ["ATen", "c10", "caffe2", "torch"]

# The oldest that compiles.
_OLDEST_VERSION = (1, 13)

# The number that a header defines, or 0.
def _defined_number(header, name):
    for line in header.splitlines():
        if line.startswith("#define %s " % name):
            return int(line.split(" ")[2])
    return 0

def _check_version(repository_ctx, root, api):
    # The second is where later versions have it.
    for path in [
        api + "/torch/version.h",
        root + "/include/torch/headeronly/version.h",
    ]:
        if not _exists(repository_ctx, path):
            continue
        header = repository_ctx.read(path)
        version = (
            _defined_number(header, "TORCH_VERSION_MAJOR"),
            _defined_number(header, "TORCH_VERSION_MINOR"),
        )
        if version > (0, 0) and version < _OLDEST_VERSION:
            fail("LibTorch under %s is %d.%d; expected %d.%d or later" %
                 ((root,) + version + _OLDEST_VERSION))
    config = root + "/share/cmake/Torch/TorchConfig.cmake"
    if (_exists(repository_ctx, config) and
        "_GLIBCXX_USE_CXX11_ABI=0" in repository_ctx.read(config)):
        fail("LibTorch under %s has the C++ ABI of before GCC 5, " % root +
             "with which Debian's libraries do not link; expected a build " +
             "with the cxx11 ABI")

# The folder `crt` of the toolkit's headers for compilers, which Python's
# packages have apart from the runtime's, for CUDA 12 in another folder. None:
# CUDA graphs do not compile.
def _find_crt(repository_ctx, cuda):
    if not _exists(repository_ctx, cuda + "/include/cuda_runtime.h"):
        return None
    for crt in [
        cuda + "/include/crt",
        cuda + "/../cuda_nvcc/include/crt",
    ]:
        if _exists(repository_ctx, crt + "/host_config.h"):
            return crt
    return None

# The folder of CUDA's toolkit that belongs to LibTorch, or None.
def _find_cuda(repository_ctx, root):
    cuda = repository_ctx.os.environ.get("TARA_CUDA_ROOT", "")
    if cuda:
        if not _find_crt(repository_ctx, cuda):
            fail("TARA_CUDA_ROOT is %s, but there is no %s; expected %s" % (
                cuda,
                "include/cuda_runtime.h with include/crt",
                "the folder of CUDA's toolkit",
            ))
        return cuda
    candidates = ["/usr/local/cuda"]

    # nvidia/cu13, or nvidia/cuda_runtime before CUDA 13.
    packages = repository_ctx.path(root + "/../nvidia")
    if packages.exists:
        candidates = [
            str(folder)
            for folder in packages.readdir()
            if folder.basename.startswith("cu")
        ] + candidates
    for candidate in candidates:
        if _find_crt(repository_ctx, candidate):
            return candidate
    return None

# The flags that link CUDA's runtime, which Python's packages have without the
# link that -lcudart looks for.
def _cuda_runtime_linkopts(repository_ctx, cuda):
    for folder in ["lib64", "lib"]:
        lib = repository_ctx.path(cuda + "/" + folder)
        if not lib.exists:
            continue
        names = sorted([
            file.basename
            for file in lib.readdir()
            if file.basename.startswith("libcudart.so")
        ])
        if names:
            return [
                "-L%s" % lib,
                "-Wl,-rpath,%s" % lib,
                "-l:%s" % names[0],
            ]
    fail("No libcudart.so under %s in lib64 or lib; expected that of " % cuda +
         "the toolkit with which LibTorch was built")

def _torch_repository_impl(repository_ctx):
    root = _root(repository_ctx)
    lib = _find_lib_folder(repository_ctx, root)
    include = root + "/include"
    api = include + "/torch/csrc/api/include"
    if not _exists(repository_ctx, api + "/torch/torch.h"):
        fail("No torch/torch.h under %s; expected LibTorch with its headers" %
             api)
    _check_version(repository_ctx, root, api)

    # Bazel refuses headers at absolute paths that the compiler does not search
    # by default, so they are reached through symlinks in this repository.
    repository_ctx.symlink(api, "api")
    header_globs = ["api/**/*.h"]
    includes = ["api"]
    linkopts = []
    if root != "/usr":
        for folder in _HEADER_FOLDERS:
            if _exists(repository_ctx, include + "/" + folder):
                repository_ctx.symlink(
                    include + "/" + folder,
                    "include/" + folder,
                )
        header_globs.append("include/**")
        includes.append("include")
        linkopts += ["-L%s" % lib, "-Wl,-rpath,%s" % lib]

    # LibTorch finds its CUDA backend through static registration: no symbol
    # refers to these libraries, so the linker must be told to keep them.
    libraries = ["torch", "torch_cpu", "c10"]
    cuda_libraries = [
        library
        for library in ["torch_cuda", "c10_cuda"]
        if _exists(repository_ctx, "%s/lib%s.so" % (lib, library))
    ]
    libraries += cuda_libraries
    defines = []
    cuda = _find_cuda(repository_ctx, root) if cuda_libraries else None
    if cuda:
        repository_ctx.symlink(cuda + "/include", "cuda")
        repository_ctx.symlink(_find_crt(repository_ctx, cuda), "cuda_crt/crt")
        header_globs += ["cuda/**", "cuda_crt/**"]
        includes += ["cuda", "cuda_crt"]
        defines.append("TARA_TORCH_CUDA")

        # Inline functions of LibTorch's headers call the runtime.
        linkopts += _cuda_runtime_linkopts(repository_ctx, cuda)
    linkopts.append("-Wl,--push-state,--no-as-needed")

    # libstdc++ comes first, so that its symbols count: some of PyPI's LibTorch
    # export a std::filesystem of their own, which calls functions that they lack.
    linkopts.append("-lstdc++")
    linkopts += ["-l%s" % library for library in libraries]
    linkopts.append("-Wl,--pop-state")

    repository_ctx.file("BUILD", _BUILD.format(
        defines = repr(defines),
        header_globs = repr(header_globs),
        includes = repr(includes),
        linkopts = repr(linkopts),
    ))

torch_repository = repository_rule(
    implementation = _torch_repository_impl,
    environ = [
        "TARA_CUDA_ROOT",
        "TARA_TORCH_ROOT",
    ],
    local = True,
)
