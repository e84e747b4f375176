#ifndef TARA_NN_BUNDLE_ZIP_ARCHIVE_H_
#define TARA_NN_BUNDLE_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

struct zip;  // libzip's

namespace tara::nn {

struct ZipEntry {
  std::string name;  // "folder/file"
  std::string contents;
};

// Returns a zip archive of the entries, in this order, deflated. Depends on
// the entries only: the time of its files is the earliest of the format.
// Returns INTERNAL or RESOURCE_EXHAUSTED if it cannot be made.
absl::StatusOr<std::string> MakeZip(const std::vector<ZipEntry>& entries);

// A zip archive that is read entry by entry. Not thread-safe.
class ZipReader {
 public:
  // Limit of the size of an entry, in bytes...
  static constexpr uint64_t kMaxEntrySize = uint64_t{1} << 30;
  // ... and entries of more than this if they have more than kMaxGrowth times
  // the bytes of the archive: a small file cannot fill the memory. The
  // large entries of bundles are weights, which hardly deflate.
  static constexpr uint64_t kSmallEntrySize = uint64_t{8} << 20;
  static constexpr uint64_t kMaxGrowth = 20;

  // Returns DATA_LOSS, with the reason, if `bytes` is damaged or not a zip
  // archive.
  static absl::StatusOr<ZipReader> Open(std::string bytes);

  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const;
  // Size within the archive, in bytes. REQUIRES: Has(name).
  uint64_t CompressedSize(absl::string_view name) const;

  // Returns the contents, whose checksum is right; NOT_FOUND for a missing
  // entry; DATA_LOSS if it is damaged, encrypted or larger than the limits
  // above and `max_size` bytes. Never holds more than that.
  absl::StatusOr<std::string> Read(absl::string_view name,
                                   uint64_t max_size = kMaxEntrySize) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };
  ZipReader() = default;

  std::unique_ptr<std::string> bytes_;  // which archive_ reads from
  std::unique_ptr<zip, Discard> archive_;
};

// NumPy's file of one array, format version 1.0, float32 in C order
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).

std::string ToNpy(const std::vector<int64_t>& shape,
                  absl::Span<const float> values);

// Returns the values of a file of that shape and type, as ToNpy writes it, or
// DATA_LOSS, saying what there is instead.
absl::StatusOr<std::vector<float>> FromNpy(absl::string_view file,
                                           const std::vector<int64_t>& shape);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_ZIP_ARCHIVE_H_
