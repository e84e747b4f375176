#include "tara/base/file_kind.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tara/base/atomic_file.h"

namespace tara {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<absl::string_view, absl::string_view> kBeginnings[] = {
    {"SQLite format 3", kDatabaseFile}, {"TaraNet\n", "a checkpoint"},
    {"PK\x03\x04", kBundleFile},        {"{\"event\":", "the metrics of a run"},
    {"{\"variant\":", kGamesFile},      {"{\"tara_", "a test set"},
};

absl::string_view KindOfBeginning(const std::string& path) {
  // To close a file gives up the locks that the process has on it: one that
  // may be a store to be is not opened.
  std::error_code error;
  if (fs::file_size(path, error) == 0 || error) return "";
  char begin[32];
  std::ifstream file(path, std::ios::binary);
  file.read(begin, sizeof(begin));
  const absl::string_view found(begin, static_cast<size_t>(file.gcount()));
  for (const auto& [beginning, kind] : kBeginnings) {
    if (absl::StartsWith(found, beginning)) return kind;
  }
  return "";
}

// Whether a file is of a kind that a run writes into its folder
// (tara/train/folder/run_folder.h).
bool IsOfRun(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  const fs::path below = folder.filename();
  const bool is_below = below == "checkpoints" || below == "tensorboard";
  const fs::path name = file.filename();
  return fs::exists(
             (is_below ? folder.parent_path() : folder) / "config.textproto",
             error) &&
         (is_below || name == "lock" || name == "metrics.jsonl" ||
          name == "fleet_games.jsonl");
}

}  // namespace

absl::string_view KindOfFile(const std::string& path) {
  const std::string file = BehindLinks(path);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return "";
  for (const absl::string_view ending : {"-wal", "-shm", "-journal"}) {
    absl::string_view store = file;
    if (absl::ConsumeSuffix(&store, ending) &&
        KindOfBeginning(std::string(store)) == kDatabaseFile) {
      return "the log of a store or a book";
    }
  }
  if (absl::EndsWith(file, ".textproto")) return "a config or a run's state";
  const absl::string_view kind = KindOfBeginning(file);
  return kind.empty() && IsOfRun(file) ? "a file of a run" : kind;
}

}  // namespace tara
