#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/atomic_file.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/playouts/mass_playouts.h"
#include "tara/eval/playouts/variant_statistics.h"

namespace tara::cli {
namespace {

constexpr int64_t kMaxGames = 1000000000000;

struct StatsOptions {
  GameFlags game;
  int64_t games = 1000000;  // a variant
  int threads = 0;          // all cores
  uint64_t seed = 1;
  std::string format = "text";
  std::string html;  // a file for the page; none if empty
};

// Columns of the bar.
constexpr int kBarWidth = 24;

// A line such as
//   high_kings_l1 [=========>              ]  38 %  2.4 M games/s  3s left
// `rate` is in games per second, `left` the time for all variants.
std::string ProgressLine(absl::string_view variant, double share, double rate,
                         absl::Duration left) {
  const int filled =
      std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  return absl::StrFormat(
      "%s [%s] %3d %%  %.2f M games/s  %s left", variant, bar,
      static_cast<int>(100 * share), rate / 1e6,
      absl::FormatDuration(absl::Ceil(left, absl::Seconds(1))));
}

// Shows how far a command has come, over all its variants.
class Progress {
 public:
  Progress(int64_t games, size_t variants, Console& console)
      : all_games_(static_cast<double>(games) * static_cast<double>(variants)),
        status_line_(console) {}

  void StartVariant(absl::string_view variant, double games_before) {
    variant_ = variant;
    games_before_ = games_before;
    variant_start_ = SteadyTime();
  }

  // Thread-safe.
  void Show(int64_t games_done) {
    const absl::Time now = SteadyTime();
    const double done = games_before_ + static_cast<double>(games_done);
    const double seconds =
        std::max(1e-9, absl::ToDoubleSeconds(now - variant_start_));
    status_line_.Show(ProgressLine(
        variant_, done / all_games_, static_cast<double>(games_done) / seconds,
        (now - start_) * ((all_games_ - done) / done)));
  }

  void Clear() { status_line_.Clear(); }

 private:
  const double all_games_;
  const absl::Time start_ = SteadyTime();
  absl::string_view variant_;
  double games_before_ = 0;
  absl::Time variant_start_;
  StatusLine status_line_;
};

// Plays random games of one variant or of all and reports their statistics. An
// interrupt (Ctrl-C) ends it with a report of the games finished by then.
absl::StatusOr<int> RunStats(const StatsOptions& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  TARA_RETURN_IF_ERROR(CheckHtmlFlag(options.html));
  // The last is the fastest; all play the same games.
  const InstructionSet instruction_set = SupportedInstructionSets().back();

  const StopCheck stop = StopOnSignals();
  Progress progress(options.games, starts.size(), console);
  std::vector<eval::VariantStatistics> rows;
  for (size_t i = 0; i < starts.size() && !stop(); ++i) {
    const State& start = starts[i];
    progress.StartVariant(
        Info(start.variant).id,
        static_cast<double>(options.games) * static_cast<double>(i));
    const PlayoutStatistics sums = eval::PlayRandomGames(
        options.games, ResolveThreads(options.threads),
        [&](int64_t first_game, int64_t games) {
          return PlayRandomGames(start.variant, start.options, options.seed,
                                 first_game, games, instruction_set);
        },
        [&](int64_t games_done) {
          progress.Show(games_done);
          return !stop();
        });
    if (sums.games == 0) break;  // stopped before the first chunk's end
    rows.push_back(eval::Summarize(start.variant, start.options, sums));
  }
  progress.Clear();
  console.out << (options.format == "json"
                      ? eval::VariantStatisticsJson(rows) + "\n"
                      : eval::VariantStatisticsText(rows));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(WriteFileAtomically(
        options.html, eval::StatisticsPage(rows, options.seed)));
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterStats(Command& root) {
  Command& command = root.AddCommand(
      "stats", "summarize random play: lengths, results, endings");
  StatsOptions* const options = command.SetRun(RunStats);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"--games N", Counted{&options->games}, 1, kMaxGames,
       "games per variant; k, M and G stand for thousands, millions and "
       "billions"},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed,
                 "random seed; reproducible on any number of threads"),
      FormatOption(&options->format),
      HtmlOption(&options->html),
  });
  command.SetNotes(
      "Every action is chosen uniformly among the legal ones. The first side "
      "is Red.\nScore counts a draw as half a win; intervals are 95 % "
      "confidence intervals.\nCtrl-C ends the command with a report of the "
      "finished games.");
  command.SetExamples(
      {"stats --variant all --games 100M --html stats.html",
       "stats --variant high_kings_l1 --games 5M --option no_progress_limit=60",
       "stats --variant four_treasures --games 10k --format=json"});
}

}  // namespace tara::cli
