#ifndef TARA_BASE_VERSION_H_
#define TARA_BASE_VERSION_H_

namespace tara {

// The version of everything in this repository; a release in CHANGELOG.md.
inline constexpr char kVersion[] = "0.2.0";

}  // namespace tara

#endif  // TARA_BASE_VERSION_H_
