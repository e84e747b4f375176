#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/processors.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/playouts/mass_playouts.h"
#include "tara/eval/report/report_page.h"

namespace tara::cli {
namespace {

struct BenchCoreOptions {
  GameFlags game = {.variant = "all", .options = {}};
  double seconds = 2;  // a variant
  int64_t threads = 1;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kSeed = 1;

// The cores to compare take turns of this length: what else the machine does
// then slows them all alike, and their ratios hold.
constexpr double kTurnSeconds = 0.05;

// Games between two looks at the clock.
constexpr int64_t kScalarGames = 256;
constexpr int64_t kBatchedGames = 8192;

// Each thread plays games from its own index on.
constexpr int64_t kGamesOfThread = int64_t{1} << 40;

// Reads the processor's time-stamp counter, which runs at its nominal clock; 0
// where there is none.
uint64_t Cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

// The plies and time of one way of playing in a turn.
struct Turn {
  double plies_per_second = 0;  // of all threads together
  double games_per_second = 0;
  double cycles_per_ply = 0;  // 0 where there is no counter
};

// One way of playing, and what it has done.
struct Contestant {
  eval::PlayChunk play;
  int64_t chunk_games = 0;
  int64_t next_game = 0;  // of each thread
  std::vector<Turn> turns = {};

  // Returns the turn that only a quarter of them surpass. What else the machine
  // does slows turns and never hastens them, so this is steadier than a mean.
  // REQUIRES: there was a turn.
  Turn Typical() const {
    std::vector<Turn> sorted = turns;
    std::sort(sorted.begin(), sorted.end(), [](const Turn& x, const Turn& y) {
      return x.plies_per_second > y.plies_per_second;
    });
    return sorted[sorted.size() / 4];
  }
};

// A thread's plies and time in a turn.
struct Share {
  double plies = 0;
  int64_t games = 0;
  double seconds = 0;
  double cycles = 0;
};

// Plays chunks for the length of a turn, at least one. Counts the processor
// time of the thread, which other programs do not use up, if `own_core`:
// threads without a core each would count the same core several times.
Share PlayShare(const Contestant& contestant, int64_t first_game,
                bool own_core) {
  Share share;
  const absl::Time start = ThreadTime();
  const Clock::time_point clock_start = Clock::now();
  const uint64_t start_cycles = Cycles();
  double clock_seconds = 0;
  while (clock_seconds < kTurnSeconds) {
    const PlayoutStatistics chunk =
        contestant.play(first_game + share.games, contestant.chunk_games);
    share.plies += static_cast<double>(chunk.plies);
    share.games += chunk.games;
    clock_seconds =
        std::chrono::duration<double>(Clock::now() - clock_start).count();
  }
  const auto cycles = static_cast<double>(Cycles() - start_cycles);
  share.seconds =
      own_core ? absl::ToDoubleSeconds(ThreadTime() - start) : clock_seconds;
  share.cycles = cycles * (share.seconds / clock_seconds);
  return share;
}

// Plays a turn on all threads at once.
void PlayTurn(int threads, Contestant& contestant) {
  const bool own_core = threads <= UsableProcessors();
  std::vector<Share> shares(threads);
  RunOnThreads(threads, [&](int i) {
    shares[i] = PlayShare(contestant, i * kGamesOfThread + contestant.next_game,
                          own_core);
  });
  Turn turn;
  double plies = 0;
  double cycles = 0;
  int64_t most_games = 0;
  for (const Share& share : shares) {
    turn.plies_per_second += share.plies / share.seconds;
    turn.games_per_second += static_cast<double>(share.games) / share.seconds;
    plies += share.plies;
    cycles += share.cycles;
    most_games = std::max(most_games, share.games);
  }
  turn.cycles_per_ply = cycles / plies;
  contestant.turns.push_back(turn);
  contestant.next_game += most_games;
}

// The contestants of one variant.
struct Contest {
  Variant variant = Variant::kSacredHillL1;
  Contestant scalar;
  std::vector<Contestant> batched;  // by instruction set
};

Contest ContestOf(Variant variant, const RuleOptions& options,
                  const std::vector<InstructionSet>& instruction_sets) {
  Contest contest;
  contest.variant = variant;
  contest.scalar = {.play =
                        [=](int64_t first_game, int64_t games) {
                          return PlayRandomGamesByPublicRules(
                              variant, options, kSeed, first_game, games);
                        },
                    .chunk_games = kScalarGames};
  for (const InstructionSet set : instruction_sets) {
    contest.batched.push_back({.play =
                                   [=](int64_t first_game, int64_t games) {
                                     return PlayRandomGames(variant, options,
                                                            kSeed, first_game,
                                                            games, set);
                                   },
                               .chunk_games = kBatchedGames});
  }
  return contest;
}

// Lets them take turns until the time is up; at least one each. Returns false
// when stopped before that.
bool Hold(Contest& contest, double seconds, int threads,
          const StopCheck& stop) {
  const Clock::time_point start = Clock::now();
  do {
    PlayTurn(threads, contest.scalar);
    for (Contestant& contestant : contest.batched) {
      if (stop()) return false;
      PlayTurn(threads, contestant);
    }
  } while (!stop() &&
           std::chrono::duration<double>(Clock::now() - start).count() <
               seconds);
  return true;
}

// Returns the processor's name as the kernel has it.
std::string MachineName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (absl::StartsWith(line, "model name") && colon != std::string::npos) {
      return std::string(absl::StripAsciiWhitespace(
          absl::string_view(line).substr(colon + 1)));
    }
  }
  return "unknown processor";
}

std::string Millions(double number) {
  return absl::StrFormat("%.1f", number / 1e6);
}

std::string Report(const std::vector<Contest>& contests,
                   const std::vector<InstructionSet>& instruction_sets,
                   int threads) {
  std::string text = absl::StrFormat(
      "%s, %d thread%s: random games to their ends, million plies/s\n",
      MachineName(), threads, threads == 1 ? "" : "s");
  if (contests.empty()) return text;
  std::vector<Cells> table = {{"variant", "scalar"}};
  for (const InstructionSet set : instruction_sets) {
    table[0].push_back(std::string(InstructionSetName(set)));
  }
  for (const char* const heading :
       {"ratio", "M games/s", "cycles/ply scalar", "batched"}) {
    table[0].push_back(heading);
  }
  for (const Contest& contest : contests) {
    const Turn scalar = contest.scalar.Typical();
    const Turn best = contest.batched.back().Typical();
    Cells& row = table.emplace_back();
    row = {std::string(Info(contest.variant).id),
           Millions(scalar.plies_per_second)};
    for (const Contestant& contestant : contest.batched) {
      row.push_back(Millions(contestant.Typical().plies_per_second));
    }
    row.push_back(absl::StrFormat(
        "%.1f", best.plies_per_second / scalar.plies_per_second));
    row.push_back(absl::StrFormat("%.2f", best.games_per_second / 1e6));
    for (const Turn& turn : {scalar, best}) {
      row.push_back(turn.cycles_per_ply == 0
                        ? "-"
                        : absl::StrFormat("%.1f", turn.cycles_per_ply));
    }
  }
  return absl::StrCat(text, eval::TextTable(table, 1));
}

Json CyclesToJson(const Turn& turn) {
  if (turn.cycles_per_ply == 0) return nullptr;
  return turn.cycles_per_ply;
}

std::string ReportJson(const std::vector<Contest>& contests,
                       const std::vector<InstructionSet>& instruction_sets,
                       int threads) {
  const std::string machine = MachineName();
  Json list = Json::array();
  for (const Contest& contest : contests) {
    const Turn scalar = contest.scalar.Typical();
    for (size_t i = 0; i < instruction_sets.size(); ++i) {
      const Turn batched = contest.batched[i].Typical();
      list.push_back(
          {{"variant", std::string(Info(contest.variant).id)},
           {"isa", std::string(InstructionSetName(instruction_sets[i]))},
           {"scalar_plies_per_s", scalar.plies_per_second},
           {"batched_plies_per_s", batched.plies_per_second},
           {"ratio", batched.plies_per_second / scalar.plies_per_second},
           {"games_per_s", batched.games_per_second},
           {"scalar_games_per_s", scalar.games_per_second},
           {"scalar_cycles_per_ply", CyclesToJson(scalar)},
           {"batched_cycles_per_ply", CyclesToJson(batched)},
           {"threads", threads},
           {"machine", machine}});
    }
  }
  return eval::JsonText(list, 2);
}

// Measures how fast the core plays random games to their ends: one by one, and
// many in step with each instruction set that the processor has.
absl::StatusOr<int> RunBenchCore(const BenchCoreOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  const std::vector<InstructionSet> instruction_sets =
      SupportedInstructionSets();
  std::vector<Contest> contests;
  for (const State& start : starts) {
    contests.push_back(
        ContestOf(start.variant, start.options, instruction_sets));
  }
  const int threads = ThreadsOr(options.threads);

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  size_t held = 0;
  for (; held < contests.size() && !stop(); ++held) {
    status_line.Show(absl::StrFormat("%s (%d of %d)",
                                     Info(contests[held].variant).id, held + 1,
                                     contests.size()));
    if (!Hold(contests[held], options.seconds, threads, stop)) break;
  }
  status_line.Clear();
  contests.resize(held);
  console.out << (options.format == "json"
                      ? ReportJson(contests, instruction_sets, threads) + "\n"
                      : Report(contests, instruction_sets, threads));
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the variants measured by then\n";
  return kExitInterrupted;
}

}  // namespace

Command& RegisterBench(Command& root) {
  Command& bench =
      root.AddCommand("bench", "how fast the parts of the program are");
  bench.SetExamples({"bench core", "bench search", "bench core --help"});
  RegisterBenchSearch(bench);
  Command& command = bench.AddCommand(
      "core", "plies and games a second of random play, by instruction set");
  const auto options = std::make_shared<BenchCoreOptions>();
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  command.AddNumber({.names = "--seconds",
                     .placeholder = "S",
                     .help = "time for each variant"},
                    0.001, 3600, &options->seconds);
  command.AddInteger({.names = "--threads",
                      .placeholder = "N",
                      .help = "threads; rates are those of all together"},
                     1, 1024, &options->threads);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(
      "Scalar play is one game at a time; batched play is many in step, with "
      "each\ninstruction set that this processor has. They take turns of a "
      "twentieth of a\nsecond, and a rate is one that a quarter of the turns "
      "reach. Seconds are those\nof each thread's processor time (of the wall "
      "clock with more threads than\ncores), so that rates hold on a busy "
      "machine too. Ratio, games and the last\ncolumn are of the last "
      "instruction set. Cycles are those of the time-stamp\ncounter, at the "
      "nominal clock.");
  command.SetExamples({"bench core", "bench core --variant high_kings_l1",
                       "bench core --threads 8 --format=json"});
  command.SetRun(
      [options](Console& console) { return RunBenchCore(*options, console); });
  return bench;
}

}  // namespace tara::cli
