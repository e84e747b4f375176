#ifndef TARA_BASE_ATOMIC_FILE_H_
#define TARA_BASE_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

// The ending that WriteFileAtomically appends to a path while it writes.
inline constexpr absl::string_view kTemporaryEnding = ".tmp";

// Replaces the file `path`, or that of a link, so that, whatever happens
// meanwhile, it holds either its old contents or `contents` whole: writes
// `path`.tmp, syncs it, renames it, syncs the folder. Errors name the file or
// folder and the system's reason. After an error the old file is unchanged,
// unless it was the sync of the folder that failed: then the file is the new
// one, which a power failure may take back. REQUIRES: no other thread or
// process writes the same path meanwhile.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view contents);

// Returns the error of the last system call, which was to do this to the file:
// "cannot write x: No space left on device".
absl::Status SystemError(absl::string_view doing, const std::string& path);

// Returns the contents of a file. NOT_FOUND if there is none, else the
// system's error; the message names the file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace tara

#endif  // TARA_BASE_ATOMIC_FILE_H_
