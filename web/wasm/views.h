#ifndef TARA_WEB_WASM_VIEWS_H_
#define TARA_WEB_WASM_VIEWS_H_

// What the engine shows of the core, as plain JavaScript objects. Their types
// stand in web/src/engine/core.ts. Pairs are Red's, then Blue's; hills and
// actions are indices, and -1 stands for none.

#include <emscripten/val.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/state.h"

namespace tara::web {

// A field of an object: its name and its value.
struct Field {
  template <typename T>
  Field(const char* name, const T& value) : name(name), value(value) {}
  Field(const char* name, absl::string_view text)
      : Field(name, std::string(text)) {}

  const char* name;
  emscripten::val value;
};

emscripten::val Object(std::initializer_list<Field> fields);

// Returns the array of make(0) to make(count - 1).
template <typename Make>
emscripten::val Array(size_t count, Make make) {
  emscripten::val array = emscripten::val::array();
  for (size_t i = 0; i < count; ++i) array.set(i, make(static_cast<int>(i)));
  return array;
}

template <typename T>
emscripten::val ToArray(const std::vector<T>& values) {
  return Array(values.size(), [&](int i) { return values[i]; });
}

template <typename T>
emscripten::val ToPair(const T& red, const T& blue) {
  return ToArray(std::vector<T>{red, blue});
}

// Returns {value} or {error: text}: the result of a call from JavaScript with
// input from outside.
template <typename T, typename ToVal>
emscripten::val Answer(const absl::StatusOr<T>& result, ToVal to_val) {
  return result.ok() ? Object({{"value", to_val(*result)}})
                     : Object({{"error", result.status().message()}});
}

// Returns {geometry, variants, actions, and versions}: what never changes.
emscripten::val Catalogue();

// Returns everything that the page shows of a position.
emscripten::val ViewOf(const State& state);

}  // namespace tara::web

#endif  // TARA_WEB_WASM_VIEWS_H_
