// Which layer may include what, and which room of a layer: the arrows of the
// design, as data, and a function that finds the #include lines that go against
// them.

#ifndef TESTS_LAYERING_LAYERING_H_
#define TESTS_LAYERING_LAYERING_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara {

// Returns one sentence "PATH:LINE: includes X, which ..." for each #include of
// `source` that its layer or room may not have. `path` is the file's path from
// the root of the workspace (tara/core/board.h); a file under tara/ whose
// folder is not a known layer, or not a room of one that has rooms, is itself a
// violation. Pure.
std::vector<std::string> FindLayerViolations(absl::string_view path,
                                             absl::string_view source);

// Returns one sentence for each layer or room that may use one that is not
// listed before it. Without any, none can depend on itself. Pure.
std::vector<std::string> FindForwardUses();

}  // namespace tara

#endif  // TESTS_LAYERING_LAYERING_H_
