"""Text files as part of a program."""

def embed_text(name, src, function, **kwargs):
    """A library whose header NAME.h declares a function that returns a file.

    Args:
      name: of the library.
      src: the file; must not contain the characters )_EMBED".
      function: declared as `absl::string_view FUNCTION();` in namespace tara.
      **kwargs: of the cc_library.
    """
    header = name + ".h"
    source = name + "_text.cc"
    guard = "TARA_EMBEDDED_%s_H_" % name.upper()
    native.genrule(
        name = name + "_sources",
        srcs = [src],
        outs = [
            header,
            source,
        ],
        cmd = """
if grep -qF ')_EMBED"' $(SRCS); then
  echo "$(SRCS) holds )_EMBED\\"" >&2
  exit 1
fi
cat >$(location {header}) <<'END'
#ifndef {guard}
#define {guard}
#include "absl/strings/string_view.h"
namespace tara {{
// The text of {src}.
absl::string_view {function}();
}}  // namespace tara
#endif  // {guard}
END
{{
  echo '#include "{package}/{header}"'
  echo 'namespace tara {{'
  echo 'absl::string_view {function}() {{'
  printf 'static constexpr char kText[] = R"_EMBED('
  cat $(SRCS)
  echo ')_EMBED";'
  echo 'return {{kText, sizeof(kText) - 1}};'
  echo '}}'
  echo '}}  // namespace tara'
}} >$(location {source})
""".format(
            function = function,
            guard = guard,
            header = header,
            package = native.package_name(),
            source = source,
            src = src,
        ),
    )
    native.cc_library(
        name = name,
        srcs = [source],
        hdrs = [header],
        deps = ["//third_party/absl"],
        **kwargs
    )
