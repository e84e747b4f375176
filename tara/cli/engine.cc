#include "tara/engine/engine.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/engine/sessions.h"
#include "tara/eval/players/make_player.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference_options.h"
#include "tara/train/folder/run_folder.h"

namespace tara::cli {
namespace {

struct EngineFlags {
  GameFlags game;     // without a variant: kFirstVariant, or what is learned
  std::string model;  // empty: best if it can play, else random games
  bool untrained = false;  // judge what the network has not learned, too
  nn::InferenceOptions inference;
  std::string search;          // "name=value,..."
  std::optional<int> threads;  // 0: one per core
  int cache = 1 << 16;
  bool json = false;
};

constexpr char kFirstVariant[] = "sacred_hill_l1";

// The model without a network: random games evaluate positions.
constexpr char kPlayoutsModel[] = "playouts";

// Returns the position of the first game: of the variant that is named, or of
// the first one.
absl::StatusOr<State> NamedStart(const EngineFlags& options) {
  GameFlags flags = options.game;
  if (flags.variant.empty()) flags.variant = kFirstVariant;
  return StartOf(flags);
}

// Returns the same, or, if no variant is given, the start of the first variant
// that the network has learned. A usage error if it may not play it.
absl::StatusOr<State> FirstStart(const EngineFlags& options,
                                 const std::string& file,
                                 const train::Learned& learned,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(State start, NamedStart(options));
  if (file.empty()) return start;
  const bool is_chosen =
      !options.game.variant.empty() || !options.game.options.empty();
  if (!is_chosen && !options.untrained && learned.has_value() &&
      !nn::NotLearned(*learned, start).empty()) {
    start = InitialState(learned->front().variant, learned->front().options);
  }
  TARA_RETURN_IF_ERROR(CheckModelLearned(options.model, file, learned, {start},
                                         options.untrained, console));
  return start;
}

// Ends the process once nobody has the other end of its standard output any
// more, as writing to it would: a client that is gone wants no answer, however
// long the search for it takes.
class ReaderWatch {
 public:
  // Throws std::system_error if a file or thread cannot be created.
  ReaderWatch() : wake_(NewEvent()), thread_([this] { Run(); }) {}
  ~ReaderWatch() {
    const uint64_t one = 1;
    TARA_CHECK(write(wake_, &one, sizeof(one)) == sizeof(one), "eventfd");
    thread_.join();
    close(wake_);
  }
  ReaderWatch(const ReaderWatch&) = delete;
  ReaderWatch& operator=(const ReaderWatch&) = delete;

 private:
  static int NewEvent() {
    const int file = eventfd(0, EFD_CLOEXEC);
    if (file >= 0) return file;
    throw std::system_error(errno, std::generic_category(),
                            "cannot watch the standard output");
  }

  void Run() const {
    pollfd files[] = {{.fd = STDOUT_FILENO, .events = 0, .revents = 0},
                      {.fd = wake_, .events = POLLIN, .revents = 0}};
    while (poll(files, 2, -1) < 0 && errno == EINTR) {
    }
    // The pipe or the socket has no reader.
    if ((files[0].revents & (POLLERR | POLLHUP)) != 0) kill(getpid(), SIGPIPE);
  }

  const int wake_;
  std::thread thread_;
};

absl::StatusOr<int> RunEngine(const EngineFlags& flags, Console& console) {
  EngineFlags options = flags;
  // Wrong arguments are reported before a network is loaded.
  engine::EngineOptions given;
  const absl::Status status = engine::SetEngineOptions(options.search, given);
  if (!status.ok()) {
    return UsageError("--search: ", status.message());
  }
  if (options.model.empty()) {
    TARA_ASSIGN_OR_RETURN(const State start, NamedStart(options));
    const bool by_network = options.untrained ? eval::FindReadyMadeModel().ok()
                                              : DefaultPlayer(start, console) ==
                                                    eval::kReadyMadeName;
    options.model = by_network ? eval::kReadyMadeName : kPlayoutsModel;
  }
  std::string file;  // of the network; empty without one
  if (options.model != kPlayoutsModel) {
    TARA_ASSIGN_OR_RETURN(file, eval::FindCheckpoint(options.model));
  }
  train::Learned learned;
  if (!file.empty()) learned = train::LearnedByModel(file);
  TARA_ASSIGN_OR_RETURN(const State start,
                        FirstStart(options, file, learned, console));
  std::unique_ptr<engine::EngineModel> model;
  if (file.empty()) {
    model = engine::EngineModel::OfPlayouts(given.seed, options.cache);
  } else {
    TARA_ASSIGN_OR_RETURN(model, engine::EngineModel::OfNetwork(
                                     file, options.inference, options.cache));
  }
  if (learned.has_value()) {
    model->SetLearned(*std::move(learned), options.untrained);
  }
  if (!model->precision().empty()) {
    console.err << "tara: " << model->name() << " computes in "
                << model->precision() << " by " << model->backend() << "\n";
  }
  engine::EngineOptions engine = model->default_options();
  if (options.threads.has_value() || options.json) {
    engine.threads = ResolveThreads(options.threads.value_or(0));
  }
  TARA_RETURN_IF_ERROR(
      AsUsageError(engine::SetEngineOptions(options.search, engine)));
  const ReaderWatch watch;
  if (options.json) {
    engine::RunJsonEngine(*model, engine, console.in, console.out);
  } else {
    engine::RunLineEngine(*model, engine, start, console.in, console.out);
  }
  return kExitOk;
}

}  // namespace

void RegisterEngine(Command& root) {
  const auto [command, options] = root.AddCommand(
      "engine", "serve other programs: line protocol or JSON lines", RunEngine);
  command.Add({
      {"--model FILE", &options->model,
       "evaluator of positions: a bundle, a checkpoint, or the folder of a run "
       "(its newest checkpoint); best, the ready-made network; or playouts, "
       "random games",
       Default("best, or playouts if that has not learned the rules of the "
               "first game")},
      {"--json", &options->json,
       "JSON lines instead of the line protocol: many positions at once"},
      UntrainedOption(&options->untrained),
      {"--search NAME=VALUE,...", &options->search,
       "search options, as listed below"},
      {"--threads N", &options->threads, 0, 1024,
       "number of threads; 0: one per core", Default("1; JSON: one per core")},
      {"--cache N", &options->cache, 0, 1 << 28,
       "capacity of the evaluation cache, in positions"},
  });
  AddGameFlags(command, &options->game,
               "variant of the first game, by its identifier in `tara "
               "variants` (default: sacred_hill_l1, or the first that the "
               "network has learned)",
               /*required=*/false);
  AddInferenceFlags(command, &options->inference);
  command.SetNotes(absl::StrCat(
      "docs/reference/protocol.md describes both protocols; the command `help` "
      "of the line protocol lists its commands.\n\n"
      "Options of --search, and of set_option (with random games: leaves ",
      mcts::kPlayoutLeaves, ", c_puct ", mcts::kPlayoutCPuct, "):\n",
      engine::EngineOptionsHelp()));
  command.SetExamples({"engine --variant high_kings_l1",
                       "engine --model runs/kings --search sims=400,graph=on",
                       "engine --json --model runs/kings < requests.jsonl"});
}

}  // namespace tara::cli
