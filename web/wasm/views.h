#ifndef TARA_WEB_WASM_VIEWS_H_
#define TARA_WEB_WASM_VIEWS_H_

// What the engine shows of the core, as plain JavaScript objects. Their types
// stand in web/src/engine/core.ts. Pairs are Red's, then Blue's; hills and
// actions are indices, and -1 stands for none.

#include <emscripten/val.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/core/state.h"

namespace tara::web {

// Returns {geometry, variants, actions, and versions}: what never changes.
emscripten::val Catalogue();

// Returns everything that the page shows of a position.
emscripten::val ViewOf(const State& state);

// Returns {value} or {error: text}: the result of a call from JavaScript with
// input from outside.
template <typename T, typename ToVal>
emscripten::val Answer(const absl::StatusOr<T>& result, ToVal to_val) {
  emscripten::val answer = emscripten::val::object();
  if (result.ok()) {
    answer.set("value", to_val(*result));
  } else {
    answer.set("error", std::string(result.status().message()));
  }
  return answer;
}

template <typename T>
emscripten::val ToArray(const std::vector<T>& values) {
  emscripten::val array = emscripten::val::array();
  for (size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
  return array;
}

template <typename T>
emscripten::val ToPair(const T& red, const T& blue) {
  return ToArray(std::vector<T>{red, blue});
}

}  // namespace tara::web

#endif  // TARA_WEB_WASM_VIEWS_H_
