#ifndef TARA_MCTS_TREE_MEMORY_H_
#define TARA_MCTS_TREE_MEMORY_H_

// Access to plain memory that either one thread owns (kShared false: ordinary
// reads and writes, at no cost) or several share (kShared true: atomic ones).
// The compiler's builtins rather than std::atomic_ref, which the standard
// library of the WebAssembly toolchain lacks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

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

// A growing array of plain values, addressed by index, whose memory is kept
// when it is cleared. New values are uninitialized: memory that was never
// written costs nothing (the kernel commits pages when they are touched), so
// that a large capacity may be reserved. Aligned to cache lines.
//
// Copyable. One owner; but once Reserve has made room for all that will come,
// nothing moves and several threads may call Extend<true>.
template <typename T>
class Pool {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Pool() = default;
  Pool(const Pool& other) { *this = other; }
  Pool(Pool&& other) noexcept { *this = std::move(other); }
  Pool& operator=(const Pool& other) {
    if (this == &other) return *this;
    size_ = 0;
    Reserve(other.size_);
    if (other.size_ > 0) {
      std::memcpy(data_.get(), other.data_.get(), other.size_ * sizeof(T));
    }
    size_ = other.size_;
    return *this;
  }
  Pool& operator=(Pool&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  T& operator[](uint32_t index) { return data_[index]; }
  const T& operator[](uint32_t index) const { return data_[index]; }

  template <bool kShared = false>
  uint32_t size() const {
    return Load<kShared>(size_);
  }
  uint32_t capacity() const { return capacity_; }

  // Appends `count` values; returns the index of the first.
  // REQUIRES: kShared: the capacity is not exceeded.
  template <bool kShared = false>
  uint32_t Extend(uint32_t count) {
    if constexpr (kShared) {
      return Add<true>(size_, count);
    } else {
      if (capacity_ - size_ < count) [[unlikely]] {
        Grow(size_ + count);
      }
      size_ += count;
      return size_ - count;
    }
  }

  // Makes room for `capacity` values; at least for twice as many as before,
  // where there is none, so that many calls move the values a few times only.
  void Reserve(uint32_t capacity) {
    if (capacity > capacity_) Grow(capacity);
  }

  // Appends what is missing to `size` values.
  void ExtendTo(uint32_t size) {
    if (size > size_) Extend(size - size_);
  }

  // Takes `count` values from what is left of the capacity, for one of several
  // threads. Returns the index of the first, or nothing where there are not as
  // many left.
  std::optional<uint32_t> Take(uint32_t count) {
    bool taken = false;
    const uint32_t before = Update<true>(size_, [&](uint32_t size) {
      taken = capacity_ - size >= count;
      return taken ? size + count : size;
    });
    if (!taken) return std::nullopt;
    return before;
  }

  // Becomes a view of another pool, which must outlive it, that appends in
  // the range of its values from `first` on, of `count`. No more must be
  // appended; what is there can be read and written.
  void Borrow(const Pool& other, uint32_t first, uint32_t count) {
    data_ = std::unique_ptr<T[], Free>(other.data_.get(), Free{.owns = false});
    size_ = first;
    capacity_ = first + count;
  }

  void Clear() { size_ = 0; }

 private:
  void Grow(uint32_t least) {
    const uint64_t doubled = uint64_t{capacity_} * 2;
    Move(static_cast<uint32_t>(std::clamp<uint64_t>(
        doubled, std::max<uint32_t>(least, 64), UINT32_MAX)));
  }

  void Move(uint32_t capacity) {
    std::unique_ptr<T[], Free> data(static_cast<T*>(
        ::operator new(size_t{capacity} * sizeof(T), kAlignment)));
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_ * sizeof(T));
    data_ = std::move(data);
    capacity_ = capacity;
  }

  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    bool owns = true;
    void operator()(T* memory) const {
      if (owns) ::operator delete(memory, kAlignment);
    }
  };

  std::unique_ptr<T[], Free> data_;
  uint32_t capacity_ = 0;
  // In a cache line of its own: several threads write it, and read the above.
  alignas(64) uint32_t size_ = 0;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_MEMORY_H_
