#ifndef TARA_ENGINE_LINE_SESSION_H_
#define TARA_ENGINE_LINE_SESSION_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/engine/engine_game.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::engine {

// A line of the line protocol, taken apart:  [ID] NAME [ARGUMENT...] [# ...]
// Source of the form: Farnebäck 2002, "Specification of the Go Text Protocol,
// version 2", sections 2.3 and 2.5.
struct LineCommand {
  std::string id;    // digits; empty: none
  std::string name;  // empty: the line is empty or only an id
  std::vector<std::string> arguments;

  // Whether the line gets no answer: it is empty, or a comment.
  bool is_nothing() const { return id.empty() && name.empty(); }
};

// Takes a line apart. Control characters but tabs, which part words, are left
// out; what follows '#' is a comment. Any bytes make some command.
LineCommand ParseLineCommand(absl::string_view line);

// Returns the answer with the blank line that ends it: "=ID text" or, of an
// error, "?ID message". Blank lines within the text become lines of a space,
// for a blank line ends an answer.
std::string LineAnswer(absl::string_view id, absl::string_view text);
std::string LineError(absl::string_view id, const absl::Status& status);

// The line protocol of docs/reference/protocol.md: executes one line after
// another. Not thread-safe.
class LineSession {
 public:
  // The model must outlive it. `start` is the first game's; REQUIRES: the model
  // may evaluate it (EngineModel::CheckLearned).
  LineSession(EngineModel* model, const EngineOptions& options,
              const State& start);

  // The input that arrives while a line is executed. Thread-safe functions.
  struct Input {
    // Whether another line has arrived or the input has ended, which ends an
    // analysis.
    std::function<bool()> ready = [] { return false; };
    // Whether none will: nobody may be there any more, so a search for an
    // action gets a second of the processor's time yet, counted from its
    // beginning where that is later.
    std::function<bool()> closed = [] { return false; };
  };

  // Executes a line and writes its answer, flushed. Whatever the line holds is
  // answered. Returns false when the line was to quit.
  bool Execute(absl::string_view line, const Input& input, std::ostream& out);

  // Answers a line that was too long to be read.
  static void Refuse(absl::string_view line, std::ostream& out);

  // Whether a line is a command to quit: nothing needs to be read after it.
  static bool IsQuit(absl::string_view line);

 private:
  using Arguments = std::vector<std::string>;
  using Answer = absl::StatusOr<std::string>;

  struct CommandInfo {
    absl::string_view name;
    absl::string_view arguments;
    absl::string_view help;
    int least;  // number of arguments
    int most;
    Answer (LineSession::*run)(const Arguments&);
  };
  static absl::Span<const CommandInfo> Commands();
  static const CommandInfo* Find(absl::string_view name);

  bool ExecuteCommand(const LineCommand& command, std::ostream& out);
  Answer Run(const LineCommand& command);
  void Begin(const State& start);
  void KeepMarginsIfNeeded();
  // Drops the search and its draws: the game or the options have changed.
  void DropSearch();
  uint64_t DrawSeed();
  // Returns the search, at the game's position; `by_time`: time ends it, and no
  // number of simulations.
  mcts::SearchSession& SearchHere(bool by_time);
  // Returns the action to play, within `budget` if there is one.
  absl::StatusOr<Action> Choose(std::optional<mcts::MoveBudget> budget);
  absl::Status CheckNotFinished() const;

  Answer ProtocolVersion(const Arguments& arguments);
  Answer Name(const Arguments& arguments);
  Answer Version(const Arguments& arguments);
  Answer ListCommands(const Arguments& arguments);
  Answer KnownCommand(const Arguments& arguments);
  Answer Help(const Arguments& arguments);
  Answer SetVariant(const Arguments& arguments);
  Answer ListVariants(const Arguments& arguments);
  Answer ClearBoard(const Arguments& arguments);
  Answer SetPosition(const Arguments& arguments);
  Answer Play(const Arguments& arguments);
  Answer GenerateMove(const Arguments& arguments);
  Answer Undo(const Arguments& arguments);
  Answer History(const Arguments& arguments);
  Answer ShowBoard(const Arguments& arguments);
  Answer LegalActions(const Arguments& arguments);
  Answer Position(const Arguments& arguments);
  Answer ToMove(const Arguments& arguments);
  Answer TimeSettings(const Arguments& arguments);
  Answer TimeLeft(const Arguments& arguments);
  Answer FinalScore(const Arguments& arguments);
  Answer Result(const Arguments& arguments);
  Answer SetOption(const Arguments& arguments);
  Answer ListOptions(const Arguments& arguments);
  Answer Analyze(const Arguments& arguments);
  Answer Quit(const Arguments& arguments);

  // Analyses and streams: the answer is written piece by piece.
  void StreamAnalysis(const LineCommand& command, std::ostream& out);

  EngineModel* const model_;
  const Input* input_ = nullptr;  // while a line is executed
  EngineOptions options_;
  EngineGame game_;
  EngineClocks clocks_;
  mcts::SharedSolver solver_;
  // The search of the game with the options, once there has been one.
  std::optional<mcts::SearchSession> search_;
  uint64_t drawn_ = 0;  // streams that were begun since the game was
};

// Speaks the line protocol until the command `quit` or the end of the input;
// lines read by then are executed. The calling thread reads, another one
// executes, so that an analysis notices the next line.
void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_LINE_SESSION_H_
