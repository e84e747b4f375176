#ifndef TARA_BASE_STOP_H_
#define TARA_BASE_STOP_H_

#include <functional>

namespace tara {

// Says whether work should end early and cleanly. Asked often and from several
// threads: cheap and thread-safe.
using StopCheck = std::function<bool()>;

// From the first call on, SIGINT and SIGTERM no longer kill the process but
// make the returned check true; a second signal of the kind kills as usual.
// Call it once, from main.
StopCheck StopOnSignals();

// Returns what that check returns; false before StopOnSignals was called.
bool StopRequested();

}  // namespace tara

#endif  // TARA_BASE_STOP_H_
