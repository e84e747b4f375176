#ifndef TARA_CLI_VERSION_H_
#define TARA_CLI_VERSION_H_

namespace tara::cli {

// What `tara --version` says.
inline constexpr char kVersion[] = "tara 0.1.0";

}  // namespace tara::cli

#endif  // TARA_CLI_VERSION_H_
