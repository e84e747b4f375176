#ifndef TARA_TRAIN_STORE_RECORD_BLOB_H_
#define TARA_TRAIN_STORE_RECORD_BLOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/game.pb.h"

namespace tara::train {

// Returns a record as zstd-compressed Protobuf with a checksum.
std::string EncodeRecord(const proto::GameRecord& record);

// The inverse of EncodeRecord. Returns DATA_LOSS, saying what is wrong, for
// bytes that it did not make.
absl::StatusOr<proto::GameRecord> DecodeRecord(absl::string_view blob);

}  // namespace tara::train

#endif  // TARA_TRAIN_STORE_RECORD_BLOB_H_
