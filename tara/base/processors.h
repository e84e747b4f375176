#ifndef TARA_BASE_PROCESSORS_H_
#define TARA_BASE_PROCESSORS_H_

#include <string>

namespace tara {

// Returns the number of processors that this process may use, at least 1: the
// ones that it is bound to (affinity), or fewer if its control group or one
// above it (cgroup v1 or v2) has a quota of processor time, which is rounded
// up. The files of the kernel are read under `root`.
// std::thread::hardware_concurrency counts the processors of the machine.
int UsableProcessors(const std::string& root = "/");

}  // namespace tara

#endif  // TARA_BASE_PROCESSORS_H_
