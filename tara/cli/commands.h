#ifndef TARA_CLI_COMMANDS_H_
#define TARA_CLI_COMMANDS_H_

// The commands of `tara`. Learning and export need LibTorch, whose libraries
// take longer to load than most commands take to run. So there are two
// programs: `tara`, without LibTorch, and `tara_torch` next to it, with all
// commands. `tara` becomes `tara_torch` if a command needs LibTorch (main.cc).

#include <string>

#include "absl/types/span.h"
#include "tara/cli/command_line.h"
#include "tara/record/game_store.h"

namespace tara::cli {

struct CommandName {
  const char* name;
  const char* summary;
};

// Commands that only tara_torch has; both programs list them.
inline constexpr CommandName kTrainCommand = {
    "train", "train a network by self-play, as a config describes"};
inline constexpr CommandName kExportCommand = {
    "export", "write a trained network as a model bundle for other programs"};
inline constexpr CommandName kFleetWorkerCommand = {
    "fleet-worker", "play games for `tara fleet` on a device"};
inline constexpr CommandName kBenchSelfPlayCommand = {
    "selfplay", "self-play compared with the bare network, over whole games"};
inline constexpr CommandName kBenchInferenceCommand = {
    "inference",
    "evaluations per second of a network, by backend and precision"};
inline constexpr CommandName kBenchLearnerCommand = {
    "learner",
    "samples and steps per second of learning, with the share of each stage"};

// Each adds its command, with its options and help, to the program.
void RegisterArena(Command& root);
void RegisterBalance(Command& root);
void RegisterCrossPlay(Command& root);
void RegisterEngine(Command& root);
void RegisterExplore(Command& root);
void RegisterExport(Command& root);
void RegisterFleetWorker(Command& root);
void RegisterGames(Command& root);
void RegisterModel(Command& root);
void RegisterPerft(Command& root);
void RegisterPlay(Command& root);
void RegisterPuzzles(Command& root);
void RegisterRate(Command& root);
void RegisterReview(Command& root);
void RegisterSelfPlay(Command& root);
void RegisterShow(Command& root);
void RegisterSolve(Command& root);
void RegisterStats(Command& root);
void RegisterTrain(Command& root);
void RegisterLevels(Command& root);
void RegisterVariants(Command& root);
void RegisterVerify(Command& root);
void RegisterWeb(Command& root);

// Adds the command `bench` and returns it; the others add its parts.
Command& RegisterBench(Command& root);
void RegisterBenchInference(Command& bench);
void RegisterBenchLearner(Command& bench);
void RegisterBenchSelfPlay(Command& bench);

// Returns the rows as `tara games list --format=json` prints them, without the
// last line's end.
std::string GameRowsJson(absl::Span<const record::GameRow> rows);

}  // namespace tara::cli

#endif  // TARA_CLI_COMMANDS_H_
