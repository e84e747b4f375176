#ifndef TARA_ENGINE_ENGINE_VERSION_H_
#define TARA_ENGINE_ENGINE_VERSION_H_

namespace tara::engine {

inline constexpr char kEngineName[] = "Tara";
inline constexpr char kEngineVersion[] = "0.1.0";
// Of the line protocol: that of the Go Text Protocol whose manner it has.
inline constexpr int kLineProtocolVersion = 2;
// Of the JSON protocol; raised when what clients rely on changes.
inline constexpr int kJsonProtocolVersion = 1;

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_VERSION_H_
