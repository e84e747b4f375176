// The bytes of a checkpoint; checkpoint.cc has its content.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/files.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::nn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the file is written as the machine holds its numbers");

constexpr absl::string_view kMagic = "TaraNet\n";
// Towers have the format that they always had.
constexpr uint32_t kTowerFormat = 2;
constexpr uint32_t kFormatVersion = 3;
constexpr size_t kHeaderSize = 24;
constexpr uint32_t kMaxNameSize = 1000;
constexpr uint32_t kMaxAxes = 8;

template <typename T>
void Append(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Takes a payload apart; past its end everything fails.
class PayloadReader {
 public:
  explicit PayloadReader(absl::string_view payload) : payload_(payload) {}

  template <typename T>
  bool Read(T& value) {
    return ReadBytes(&value, sizeof(value));
  }
  bool ReadBytes(void* out, size_t size) {
    if (size > left()) return false;
    if (size == 0) return true;  // `out` may be null then
    std::memcpy(out, payload_.data() + position_, size);
    position_ += size;
    return true;
  }
  size_t left() const { return payload_.size() - position_; }
  size_t position() const { return position_; }

 private:
  absl::string_view payload_;
  size_t position_ = 0;
};

std::string EncodePayload(const Checkpoint& checkpoint) {
  std::string payload;
  const TrainingProgress& progress = checkpoint.progress;
  for (const int64_t number :
       {int64_t{kFeatureVersion}, int64_t{kPolicyVersion},
        int64_t{kValueVersion}, int64_t{checkpoint.shape.channels},
        int64_t{checkpoint.shape.blocks}, progress.step,
        int64_t{progress.generation}, progress.samples,
        checkpoint.optimizer_steps}) {
    Append(number, payload);
  }
  if (checkpoint.shape.kind != NetworkKind::kTower) {
    Append(static_cast<int64_t>(checkpoint.shape.kind), payload);
  }
  Append(static_cast<uint32_t>(checkpoint.tensors.size()), payload);
  for (const NamedTensor& tensor : checkpoint.tensors) {
    Append(static_cast<uint32_t>(tensor.name.size()), payload);
    payload += tensor.name;
    Append(static_cast<uint32_t>(tensor.shape.size()), payload);
    for (const int64_t axis : tensor.shape) Append(axis, payload);
    payload.append(reinterpret_cast<const char*>(tensor.values.data()),
                   tensor.values.size() * sizeof(float));
  }
  return payload;
}

bool ReadTensor(PayloadReader& reader, NamedTensor& tensor) {
  uint32_t size = 0;
  if (!reader.Read(size) || size > kMaxNameSize) return false;
  tensor.name.resize(size);
  if (!reader.ReadBytes(tensor.name.data(), size)) return false;
  if (!reader.Read(size) || size > kMaxAxes) return false;
  tensor.shape.resize(size);
  const uint64_t most = reader.left() / sizeof(float);
  uint64_t elements = 1;
  for (int64_t& axis : tensor.shape) {
    if (!reader.Read(axis) || axis < 0) return false;
    // Both factors are at most the size of the file: no product overflows.
    if (static_cast<uint64_t>(axis) > most) return false;
    elements *= static_cast<uint64_t>(axis);
    if (elements > most) return false;
  }
  tensor.values.resize(elements);
  return reader.ReadBytes(tensor.values.data(), elements * sizeof(float));
}

absl::Status VersionError(const std::string& path, absl::string_view what,
                          int64_t found, int64_t expected) {
  return absl::FailedPreconditionError(
      absl::StrCat("Checkpoint ", path, " has ", what, " version ", found,
                   "; this program reads version ", expected));
}

absl::Status DamagedError(const std::string& path, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("Checkpoint ", path, " is damaged: ", what));
}

absl::StatusOr<Checkpoint> DecodePayload(const std::string& path,
                                         uint32_t format,
                                         absl::string_view payload) {
  PayloadReader reader(payload);
  int64_t numbers[9];
  int64_t kind = 0;
  uint32_t tensor_count = 0;
  if (!reader.Read(numbers) || (format > kTowerFormat && !reader.Read(kind))) {
    return DamagedError(path, "its description is incomplete");
  }
  for (const auto& [name, found, expected] :
       {std::tuple("feature", numbers[0], kFeatureVersion),
        std::tuple("policy", numbers[1], kPolicyVersion),
        std::tuple("value", numbers[2], kValueVersion)}) {
    if (found != expected) return VersionError(path, name, found, expected);
  }
  if (numbers[3] < 1 || numbers[3] > 1024 || numbers[4] < 1 ||
      numbers[4] > 100) {
    return DamagedError(
        path, absl::StrCat("a network of ", numbers[3], " channels and ",
                           numbers[4], " blocks is impossible"));
  }
  if (format > kTowerFormat &&
      kind != static_cast<int64_t>(NetworkKind::kLight)) {
    return DamagedError(path,
                        absl::StrCat("unknown kind ", kind, " of networks"));
  }
  Checkpoint checkpoint = {
      .shape = {.channels = static_cast<int>(numbers[3]),
                .blocks = static_cast<int>(numbers[4]),
                .kind = static_cast<NetworkKind>(kind)},
      .progress = {.step = numbers[5],
                   .generation = static_cast<int>(numbers[6]),
                   .samples = numbers[7]},
      .optimizer_steps = numbers[8],
      .tensors = {}};
  if (!reader.Read(tensor_count)) {
    return DamagedError(path, "its list of tensors is missing");
  }
  for (uint32_t i = 0; i < tensor_count; ++i) {
    const size_t begin = kHeaderSize + reader.position();
    NamedTensor tensor;
    if (!ReadTensor(reader, tensor)) {
      return DamagedError(path, absl::StrCat("no tensor at byte ", begin));
    }
    checkpoint.tensors.push_back(std::move(tensor));
  }
  if (reader.left() != 0) {
    return DamagedError(
        path, absl::StrCat(reader.left(), " bytes follow its last tensor"));
  }
  absl::Status status = CheckFinite(checkpoint);
  if (!status.ok()) return DamagedError(path, status.message());
  status = AddNewInputs(checkpoint);
  if (status.ok()) return checkpoint;
  return absl::Status(
      status.code(), absl::StrCat("Checkpoint ", path, ": ", status.message()));
}

}  // namespace

std::string EncodeCheckpoint(const Checkpoint& checkpoint) {
  const std::string payload = EncodePayload(checkpoint);
  std::string header(kMagic);
  Append(checkpoint.shape.kind == NetworkKind::kTower ? kTowerFormat
                                                      : kFormatVersion,
         header);
  Append(uint32_t{crc32c::Crc32c(payload.data(), payload.size())}, header);
  Append(uint64_t{payload.size()}, header);
  return header + payload;
}

absl::Status WriteCheckpoint(const std::string& path,
                             const Checkpoint& checkpoint) {
  return WriteFileAtomically(path, EncodeCheckpoint(checkpoint));
}

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  const absl::StatusOr<std::string> contents = ReadWholeFile(path);
  if (!contents.ok()) {
    return absl::Status(
        contents.status().code(),
        absl::StrCat("Cannot open checkpoint: ", contents.status().message()));
  }
  return DecodeCheckpoint(path, *contents);
}

absl::StatusOr<Checkpoint> DecodeCheckpoint(const std::string& name,
                                            absl::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::DataLossError(
        absl::StrCat(name,
                     " is not a checkpoint of Tara: it does not begin with "
                     "\"TaraNet\""));
  }
  PayloadReader header(bytes);
  char magic[8];
  uint32_t format = 0, checksum = 0;
  uint64_t size = 0;
  if (!header.Read(magic) || !header.Read(format) || !header.Read(checksum) ||
      !header.Read(size)) {
    return DamagedError(name, "it ends within its header");
  }
  if (format == 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Checkpoint ", name,
        " has format version 1: its network has only the expected margin. "
        "This program reads version ",
        kTowerFormat,
        ", whose networks predict a distribution of margins; train again in "
        "another run_dir"));
  }
  if (format != kTowerFormat && format != kFormatVersion) {
    return VersionError(name, "format", format, kFormatVersion);
  }
  const absl::string_view payload = bytes.substr(kHeaderSize);
  if (payload.size() != size) {
    return DamagedError(name, absl::StrCat("it has ", bytes.size(),
                                           " bytes; its header announces ",
                                           kHeaderSize + size));
  }
  if (crc32c::Crc32c(payload.data(), payload.size()) != checksum) {
    return DamagedError(name, "its checksum does not match");
  }
  return DecodePayload(name, format, payload);
}

}  // namespace tara::nn
