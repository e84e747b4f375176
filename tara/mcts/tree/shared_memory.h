#ifndef TARA_MCTS_TREE_SHARED_MEMORY_H_
#define TARA_MCTS_TREE_SHARED_MEMORY_H_

// Access to plain memory that either one thread owns (kShared false: ordinary
// reads and writes, at no cost) or several share (kShared true: atomic ones).
// The compiler's builtins rather than std::atomic_ref, which the standard
// library of the WebAssembly toolchain lacks.

#include <type_traits>

namespace tara::mcts {

// Reads a value; of a shared one, what was written before it was stored is
// seen too (acquire).
template <bool kShared, typename T>
T Load(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (kShared) {
    T loaded;
    __atomic_load(const_cast<T*>(&value), &loaded, __ATOMIC_ACQUIRE);
    return loaded;
  } else {
    return value;
  }
}

// Writes a value (release).
template <bool kShared, typename T>
void Store(T& value, std::type_identity_t<T> stored) {
  if constexpr (kShared) {
    __atomic_store(&value, &stored, __ATOMIC_RELEASE);
  } else {
    value = stored;
  }
}

// Adds to an integer; returns what it was.
template <bool kShared, typename T>
T Add(T& value, std::type_identity_t<T> added) {
  if constexpr (kShared) {
    return __atomic_fetch_add(&value, added, __ATOMIC_ACQ_REL);
  } else {
    const T before = value;
    value = static_cast<T>(before + added);
    return before;
  }
}

// Replaces a value by change(value), in one step as others see it. Returns
// what it was. `change` may be called several times. With one owner it is
// stored for others to read: of the part of a tree that a thread has to itself
// they may still look at the topmost node (shared_walker.h).
template <bool kShared, typename T, typename Change>
T Update(T& value, Change&& change) {
  T before = Load<kShared>(value);
  if constexpr (kShared) {
    T after = change(before);
    while (!__atomic_compare_exchange(&value, &before, &after,
                                      /*weak=*/true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
      after = change(before);
    }
  } else {
    Store<true>(value, change(before));
  }
  return before;
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SHARED_MEMORY_H_
