// Which layer may include what, which room of a layer, and in which namespace a
// layer defines its names: the design, as data, and functions that find the
// lines that go against it.

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

// Returns one sentence "PATH:LINE: ..." for each namespace that `source` opens
// at the beginning of a line and that is not its layer's: `tara` for base and
// core, `tara::LAYER` for the others, or one within. Forward declarations alone
// may stand in a namespace of others. Layers with namespaces of their own
// cannot define one name twice. Pure.
std::vector<std::string> FindNamespaceViolations(absl::string_view path,
                                                 absl::string_view source);

// Returns the full names of the classes, structs and enums that `source`
// defines in named namespaces, such as "tara::mcts::Tree", nested types left
// out. Reads formatted sources: a definition begins at the beginning of a line
// and has its brace on that line or a later one before any semicolon. Pure.
std::vector<std::string> FindTypeDefinitions(absl::string_view source);

// Returns one sentence for each layer or room that may use one that is not
// listed before it. Without any, none can depend on itself. Pure.
std::vector<std::string> FindForwardUses();

}  // namespace tara

#endif  // TESTS_LAYERING_LAYERING_H_
