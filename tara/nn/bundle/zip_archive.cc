#include "tara/nn/bundle/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"

namespace tara::nn {
namespace {

// 1 January 1980, where the times of zip files begin; noon, so that it is that
// day in every time zone.
constexpr time_t kFirstTime = 315576000;

std::string TextOf(zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return text;
}

// An object of libzip with the function that frees it.
template <typename Object, auto kFree>
struct Freed {
  void operator()(Object* object) const { kFree(object); }
};
template <typename Object, auto kFree>
using Pointer = std::unique_ptr<Object, Freed<Object, kFree>>;

absl::Status WriteError(absl::string_view what, zip_t* archive) {
  return absl::InternalError(absl::StrCat("cannot write a zip archive: ", what,
                                          ": ", zip_strerror(archive)));
}

absl::Status AddEntry(const ZipEntry& entry, zip_t* archive) {
  zip_source_t* const source = zip_source_buffer(
      archive, entry.contents.data(), entry.contents.size(), /*freep=*/0);
  if (source == nullptr) return WriteError(entry.name, archive);
  const zip_int64_t index =
      zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return WriteError(entry.name, archive);
  }
  const auto at = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, at, ZIP_CM_DEFLATE, /*level=*/9) != 0 ||
      zip_file_set_mtime(archive, at, kFirstTime, 0) != 0) {
    return WriteError(entry.name, archive);
  }
  return absl::OkStatus();
}

// Returns all that a closed archive has written to `source`.
absl::StatusOr<std::string> ContentsOf(zip_source_t* source) {
  zip_stat_t info;
  if (zip_source_stat(source, &info) == 0 && zip_source_open(source) == 0) {
    std::string bytes(info.size, '\0');
    const zip_int64_t read =
        zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (read == static_cast<zip_int64_t>(bytes.size())) return bytes;
  }
  return absl::InternalError("cannot read the zip archive just written");
}

}  // namespace

absl::StatusOr<std::string> MakeZip(const std::vector<ZipEntry>& entries) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source =
      zip_source_buffer_create(nullptr, 0, /*freep=*/0, &error);
  if (source == nullptr) return absl::ResourceExhaustedError(TextOf(&error));
  Pointer<zip_t, zip_discard> archive(
      zip_open_from_source(source, ZIP_TRUNCATE, &error));
  if (archive == nullptr) {
    zip_source_free(source);
    return absl::InternalError(TextOf(&error));
  }
  zip_source_keep(source);  // outlives the archive, to read what it wrote
  const Pointer<zip_source_t, zip_source_free> kept(source);
  for (const ZipEntry& entry : entries) {
    const absl::Status added = AddEntry(entry, archive.get());
    if (!added.ok()) return added;
  }
  if (zip_close(archive.get()) != 0) {
    return WriteError("at its end", archive.get());
  }
  static_cast<void>(archive.release());  // freed by zip_close
  return ContentsOf(source);
}

void ZipReader::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}

absl::StatusOr<ZipReader> ZipReader::Open(std::string bytes) {
  // libzip takes an empty file for an archive without entries.
  if (bytes.empty()) {
    return absl::DataLossError("is not a zip archive: it is empty");
  }
  ZipReader reader;
  reader.bytes_ = std::make_unique<std::string>(std::move(bytes));
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(
      reader.bytes_->data(), reader.bytes_->size(), /*freep=*/0, &error);
  if (source == nullptr) return absl::ResourceExhaustedError(TextOf(&error));
  reader.archive_.reset(
      zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (reader.archive_ == nullptr) {
    zip_source_free(source);
    return absl::DataLossError(absl::StrCat("is not a complete zip archive (",
                                            TextOf(&error), "); it has ",
                                            reader.bytes_->size(), " bytes"));
  }
  return reader;
}

std::vector<std::string> ZipReader::Names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name =
        zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

bool ZipReader::Has(absl::string_view name) const {
  return zip_name_locate(archive_.get(), std::string(name).c_str(), 0) >= 0;
}

uint64_t ZipReader::CompressedSize(absl::string_view name) const {
  zip_stat_t info;
  zip_stat_init(&info);
  zip_stat(archive_.get(), std::string(name).c_str(), 0, &info);
  return info.comp_size;
}

absl::StatusOr<std::string> ZipReader::Read(absl::string_view name,
                                            uint64_t max_size) const {
  zip_t* const archive = archive_.get();
  const std::string text(name);
  zip_stat_t info;
  zip_stat_init(&info);
  if (zip_stat(archive, text.c_str(), 0, &info) != 0) {
    return absl::NotFoundError(absl::StrCat("has no entry ", name));
  }
  const uint64_t most =
      std::min({max_size, kMaxEntrySize,
                std::max(kSmallEntrySize, kMaxGrowth * bytes_->size())});
  if (info.size > most) {
    return absl::DataLossError(absl::StrCat("entry ", name, " has ", info.size,
                                            " bytes; expected at most ", most,
                                            " in this archive"));
  }
  const Pointer<zip_file_t, zip_fclose> file(
      zip_fopen(archive, text.c_str(), 0));
  if (file == nullptr) {
    return absl::DataLossError(absl::StrCat(
        "entry ", name, " cannot be opened: ", zip_strerror(archive)));
  }
  std::string contents(info.size, '\0');
  // One byte more: the checksum is compared at the end of the entry.
  char beyond;
  const zip_int64_t read =
      zip_fread(file.get(), contents.data(), contents.size());
  const zip_int64_t after = zip_fread(file.get(), &beyond, 1);
  if (read != static_cast<zip_int64_t>(contents.size()) || after != 0) {
    return absl::DataLossError(absl::StrCat(
        "entry ", name, " is damaged: ", zip_file_strerror(file.get())));
  }
  return contents;
}

namespace {

// "\x93NUMPY", version 1.0; then two bytes of the size of the description.
constexpr absl::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kAlignment = 64;  // of the values within the file

size_t SizeOf(const std::vector<int64_t>& shape) {
  size_t size = 1;
  for (const int64_t axis : shape) size *= static_cast<size_t>(axis);
  return size;
}

// All that comes before the values.
std::string HeaderOf(const std::vector<int64_t>& shape) {
  std::string description = absl::StrCat(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (",
      absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")", ", }");
  const size_t bare = kMagic.size() + 2 + description.size() + 1;
  description.append((kAlignment - bare % kAlignment) % kAlignment, ' ');
  description += '\n';
  std::string header(kMagic);
  header += static_cast<char>(description.size() & 0xff);
  header += static_cast<char>(description.size() >> 8);
  return header + description;
}

}  // namespace

std::string ToNpy(const std::vector<int64_t>& shape,
                  absl::Span<const float> values) {
  TARA_CHECK(values.size() == SizeOf(shape), "one value for each element");
  std::string file = HeaderOf(shape);
  file.append(reinterpret_cast<const char*>(values.data()),
              values.size() * sizeof(float));
  return file;
}

absl::StatusOr<std::vector<float>> FromNpy(absl::string_view file,
                                           const std::vector<int64_t>& shape) {
  const std::string header = HeaderOf(shape);
  if (!absl::StartsWith(file, header)) {
    return absl::DataLossError(absl::StrCat("is not a NumPy file of float32 [",
                                            absl::StrJoin(shape, ", "), "]"));
  }
  file.remove_prefix(header.size());
  const size_t bytes = SizeOf(shape) * sizeof(float);
  if (file.size() != bytes) {
    return absl::DataLossError(absl::StrCat(
        "has ", file.size(), " bytes of values; expected ", bytes));
  }
  std::vector<float> values(SizeOf(shape));
  if (!file.empty()) std::memcpy(values.data(), file.data(), file.size());
  return values;
}

}  // namespace tara::nn
