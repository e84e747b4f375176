#include "tara/train/store/record_blob.h"

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"

namespace tara::train {
namespace {

constexpr int kCompressionLevel = 3;
// A record of the longest game is far smaller; more means a damaged blob.
constexpr uint64_t kMaxRecordBytes = 64 << 20;

absl::Status Damaged(absl::string_view why) {
  return absl::DataLossError(absl::StrCat("damaged record: ", why));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string EncodeRecord(const proto::GameRecord& record) {
  const std::string bytes = record.SerializeAsString();
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  TARA_CHECK(context != nullptr, "out of memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                         kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string blob(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), blob.data(), blob.size(),
                                     bytes.data(), bytes.size());
  TARA_CHECK(!ZSTD_isError(size), "the buffer holds the bound");
  blob.resize(size);
  return blob;
}

absl::StatusOr<proto::GameRecord> DecodeRecord(absl::string_view blob) {
  const uint64_t size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  // True as well of the values that stand for "unknown" and "error".
  if (size > kMaxRecordBytes) return Damaged("no zstd frame of a known size");
  std::string bytes(size, '\0');
  const size_t result =
      ZSTD_decompress(bytes.data(), bytes.size(), blob.data(), blob.size());
  if (ZSTD_isError(result)) return Damaged(ZSTD_getErrorName(result));
  if (result != size) return Damaged("the zstd frame is too short");
  proto::GameRecord record;
  if (!record.ParseFromString(bytes)) return Damaged("not a GameRecord");
  return record;
}

}  // namespace tara::train
