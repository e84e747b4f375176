#ifndef TARA_BASE_VERSION_H_
#define TARA_BASE_VERSION_H_

namespace tara {

// Of all that this repository builds; a release of CHANGELOG.md.
inline constexpr char kVersion[] = "0.2.0";

}  // namespace tara

#endif  // TARA_BASE_VERSION_H_
