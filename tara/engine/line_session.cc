#include "tara/engine/line_session.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/base/version.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/analysis_request.h"
#include "tara/engine/engine_options.h"
#include "tara/engine/line_io.h"
#include "tara/mcts/utility.h"

namespace tara::engine {
namespace {

// Of the processor's time, for a search once the input has ended: enough for
// what scripts ask for by simulations, also on a busy machine.
constexpr absl::Duration kTimeWhenClosed = absl::Seconds(1);

std::string Answer(absl::string_view mark, absl::string_view id,
                   absl::string_view text) {
  std::string lines(absl::StripTrailingAsciiWhitespace(text));
  // Twice, because replacements do not overlap.
  for (int i = 0; i < 2; ++i)
    lines = absl::StrReplaceAll(lines, {{"\n\n", "\n \n"}});
  return absl::StrCat(mark, id, lines.empty() ? "" : " ", lines, "\n\n");
}

}  // namespace

LineCommand ParseLineCommand(absl::string_view line) {
  std::string text(line.substr(0, line.find('#')));
  std::replace(text.begin(), text.end(), '\t', ' ');
  text.erase(std::remove_if(text.begin(), text.end(), absl::ascii_iscntrl),
             text.end());
  std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  LineCommand command;
  auto next = words.begin();
  if (next != words.end() &&
      std::all_of(next->begin(), next->end(), absl::ascii_isdigit)) {
    command.id = *next++;
  }
  if (next != words.end()) command.name = *next++;
  command.arguments.assign(next, words.end());
  return command;
}

std::string LineAnswer(absl::string_view id, absl::string_view text) {
  return Answer("=", id, text);
}

std::string LineError(absl::string_view id, const absl::Status& status) {
  return Answer("?", id, absl::StrReplaceAll(status.message(), {{"\n", " "}}));
}

namespace {

constexpr absl::string_view kAnalyze = "analyze";
constexpr int kMaxArguments = 1000;

absl::StatusOr<double> ParseSeconds(absl::string_view text) {
  double seconds;
  if (ParseDecimal(text, &seconds)) return seconds;
  return absl::InvalidArgumentError(absl::StrCat(
      "'", Shown(text), "' is not a time; expected a number of seconds"));
}

}  // namespace

LineSession::LineSession(EngineModel* model, const EngineOptions& options,
                         const State& start)
    : model_(model), options_(options), game_(start) {
  KeepMarginsIfNeeded();
}

void LineSession::KeepMarginsIfNeeded() {
  if (mcts::Utility(options_.search.utility).needs_margins())
    model_->KeepMargins();
}

absl::Span<const LineSession::CommandInfo> LineSession::Commands() {
  using S = LineSession;
  static constexpr CommandInfo kCommands[] = {
      {"protocol_version", "",
       "the version of the Go Text Protocol that this follows", 0, 0,
       &S::ProtocolVersion},
      {"name", "", "the engine's name", 0, 0, &S::Name},
      {"version", "", "the engine's version", 0, 0, &S::Version},
      {"list_commands", "", "the names of all commands, one a line", 0, 0,
       &S::ListCommands},
      {"known_command", "NAME", "true or false", 1, 1, &S::KnownCommand},
      {"help", "[NAME]", "a description of each command", 0, 1, &S::Help},
      {"list_variants", "", "the identifiers of all variants, one a line", 0, 0,
       &S::ListVariants},
      {"variant", "[ID] [OPTION=VALUE,...]",
       "begins a game of a variant, with the rule options given; without "
       "arguments: the variant and options of the game",
       0, 2, &S::SetVariant},
      {"clear_board", "", "starts the game again", 0, 0, &S::ClearBoard},
      {"set_position", "TEXT", "begins a game from a position", 1,
       kMaxArguments, &S::SetPosition},
      {"play", "ACTION", "plays an action for the seat to move", 1, 1,
       &S::Play},
      {"genmove", "", "chooses an action for the seat to move and plays it", 0,
       0, &S::GenerateMove},
      {"undo", "", "undoes the last action", 0, 0, &S::Undo},
      {"history", "", "the actions so far", 0, 0, &S::History},
      {"showboard", "", "draws the position", 0, 0, &S::ShowBoard},
      {"legal_actions", "", "the legal actions; nothing when the game is over",
       0, 0, &S::LegalActions},
      {"position", "", "the position as text", 0, 0, &S::Position},
      {"to_move", "", "the seat to move, from 0; none when the game is over", 0,
       0, &S::ToMove},
      {"time_settings", "MAIN_S INCREMENT_S",
       "seconds of each side for the game, and more after each action; 0 S: "
       "for each action; 0 0: no clocks",
       2, 2, &S::TimeSettings},
      {"time_left", "SECONDS", "the time left of the side to move", 1, 1,
       &S::TimeLeft},
      {"final_score", "", "the winner and its margin: Red+3, Blue+1, 0", 0, 0,
       &S::FinalScore},
      {"result", "", "the result in full", 0, 0, &S::Result},
      {"set_option", "NAME VALUE", "sets an option of the search", 2, 2,
       &S::SetOption},
      {"list_options", "", "the options, a line each", 0, 0, &S::ListOptions},
      {kAnalyze, "[INTERVAL] [simulations N] [actions N]",
       "searches until the next line, with a report every INTERVAL hundredths "
       "of a second",
       0, 7, &S::Analyze},
      {"quit", "", "ends the engine", 0, 0, &S::Quit},
  };
  return kCommands;
}

const LineSession::CommandInfo* LineSession::Find(absl::string_view name) {
  for (const CommandInfo& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

bool LineSession::IsQuit(absl::string_view line) {
  const LineCommand command = ParseLineCommand(line);
  return command.name == "quit" && command.arguments.empty();
}

void LineSession::Refuse(absl::string_view line, std::ostream& out) {
  out << LineError(ParseLineCommand(line.substr(0, 20)).id,
                   absl::InvalidArgumentError("the line is too long"))
      << std::flush;
}

bool LineSession::Execute(absl::string_view line, const Input& input,
                          std::ostream& out) {
  const LineCommand command = ParseLineCommand(line);
  if (command.is_nothing()) return true;
  input_ = &input;
  bool goes_on = true;
  const absl::Status status = CatchExhaustion([&] {
    goes_on = ExecuteCommand(command, out);
    return absl::OkStatus();
  });
  if (!status.ok()) {
    search_.reset();  // it may have been left anyhow, and has the memory
    out << LineError(command.id, status) << std::flush;
  }
  return goes_on;
}

bool LineSession::ExecuteCommand(const LineCommand& command,
                                 std::ostream& out) {
  const Answer answer = Run(command);
  if (!answer.ok()) {
    out << LineError(command.id, answer.status()) << std::flush;
    return true;
  }
  if (command.name == kAnalyze) {
    StreamAnalysis(command, out);
    return true;
  }
  out << LineAnswer(command.id, *answer) << std::flush;
  return command.name != "quit";
}

LineSession::Answer LineSession::Run(const LineCommand& command) {
  const CommandInfo* const info = Find(command.name);
  if (info == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown command '", Shown(command.name),
                     "'; list_commands lists them"));
  }
  const auto count = static_cast<int>(command.arguments.size());
  if (count < info->least || count > info->most) {
    return absl::InvalidArgumentError(absl::StrCat(
        command.name, " has ", count, count == 1 ? " argument" : " arguments",
        "; expected: ", info->name, info->arguments.empty() ? "" : " ",
        info->arguments));
  }
  return (this->*info->run)(command.arguments);
}

void LineSession::Begin(const State& start) {
  game_ = EngineGame(start);
  clocks_.Restart();
  DropSearch();
}

void LineSession::DropSearch() {
  search_.reset();
  drawn_ = 0;
}

uint64_t LineSession::DrawSeed() {
  return DeriveSeed(options_.seed, drawn_++, StreamPurpose::kArena);
}

mcts::SearchSession& LineSession::SearchHere(bool by_time) {
  mcts::SessionOptions options = {.search = options_.search,
                                  .reuse = options_.reuse,
                                  .threads = options_.threads,
                                  .leaves_per_game = options_.leaves,
                                  .confidence_z = options_.confidence_z,
                                  .temperature = options_.temperature,
                                  .value_margin = options_.value_margin};
  // A Gumbel root plans for a number of simulations.
  options.search.gumbel = options_.search.gumbel && !by_time;
  if (!search_.has_value() ||
      search_->options().search.gumbel != options.search.gumbel) {
    search_.emplace(options, model_, &solver_);
  }
  search_->GoTo(game_.state(), game_.actions(), [this] { return DrawSeed(); });
  return *search_;
}

absl::StatusOr<Action> LineSession::Choose(
    std::optional<mcts::MoveBudget> budget) {
  const absl::Time start = SteadyTime();
  const LegalSet legal = tara::LegalActions(game_.state());
  if (legal.Count() == 1) return legal.Nth(0);
  // Players below full strength are limited by simulations, not by time.
  if (options_.value_margin > 0) budget.reset();
  const mcts::SearchTime time = {
      .budget = budget, .start = start, .time = options_.time};
  mcts::SearchSession& search = SearchHere(time.limited());
  std::atomic<int64_t> closed_at = 0;  // time of the clock; 0: not closed
  TARA_RETURN_IF_ERROR(search.Search(time, [&] {
    if (!input_->closed()) return false;
    const int64_t now = absl::ToUnixNanos(ProcessTime());
    int64_t since = 0;
    if (closed_at.compare_exchange_strong(since, now)) return false;
    return absl::Nanoseconds(now - since) >= kTimeWhenClosed;
  }));
  const std::vector<mcts::RootAction> actions = search.tree().root_actions();
  const bool is_searched =
      search.tree().settled() ||
      std::any_of(actions.begin(), actions.end(),
                  [](const auto& action) { return action.visits > 0; });
  if (!is_searched) {
    return absl::CancelledError("the input ended before an action was found");
  }
  Random random(DrawSeed());
  return search.Choose(random);
}

absl::Status LineSession::CheckNotFinished() const {
  if (!game_.state().finished()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the game is over (", EndingName(game_.state().ending),
                   "); expected undo or a new game first"));
}

LineSession::Answer LineSession::ProtocolVersion(const Arguments&) {
  return absl::StrCat(kLineProtocolVersion);
}

LineSession::Answer LineSession::Name(const Arguments&) { return kEngineName; }

LineSession::Answer LineSession::Version(const Arguments&) { return kVersion; }

LineSession::Answer LineSession::ListCommands(const Arguments&) {
  return absl::StrJoin(Commands(), "\n",
                       [](std::string* text, const CommandInfo& command) {
                         absl::StrAppend(text, command.name);
                       });
}

LineSession::Answer LineSession::KnownCommand(const Arguments& arguments) {
  return Find(arguments[0]) != nullptr ? "true" : "false";
}

LineSession::Answer LineSession::Help(const Arguments& arguments) {
  std::string text;
  for (const CommandInfo& command : Commands()) {
    if (!arguments.empty() && arguments[0] != command.name) continue;
    absl::StrAppend(&text, command.name, command.arguments.empty() ? "" : " ",
                    command.arguments, ": ", command.help, "\n");
  }
  if (!text.empty()) return text;
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown command '", Shown(arguments[0]), "'; list_commands lists them"));
}

LineSession::Answer LineSession::ListVariants(const Arguments&) {
  return absl::StrJoin(kVariants, "\n",
                       [](std::string* text, const VariantInfo& info) {
                         absl::StrAppend(text, info.id);
                       });
}

LineSession::Answer LineSession::SetVariant(const Arguments& arguments) {
  if (arguments.empty()) {
    const State& state = game_.start();
    const std::string options = FormatRuleOptions(state.options);
    return absl::StrCat(Info(state.variant).id, options == "-" ? "" : " ",
                        options == "-" ? "" : options);
  }
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(arguments[0]));
  RuleOptions options;
  if (arguments.size() > 1) {
    TARA_ASSIGN_OR_RETURN(options, ParseRuleOptions(variant, arguments[1]));
  }
  const State start = InitialState(variant, options);
  TARA_RETURN_IF_ERROR(model_->CheckLearned(start));
  Begin(start);
  return "";
}

LineSession::Answer LineSession::ClearBoard(const Arguments&) {
  Begin(InitialState(game_.start().variant, game_.start().options));
  return "";
}

LineSession::Answer LineSession::SetPosition(const Arguments& arguments) {
  TARA_ASSIGN_OR_RETURN(const State state,
                        ParsePosition(absl::StrJoin(arguments, " ")));
  TARA_RETURN_IF_ERROR(model_->CheckLearned(state));
  Begin(state);
  return "";
}

LineSession::Answer LineSession::Play(const Arguments& arguments) {
  TARA_RETURN_IF_ERROR(game_.Play(arguments[0]));
  return "";
}

LineSession::Answer LineSession::GenerateMove(const Arguments&) {
  TARA_RETURN_IF_ERROR(CheckNotFinished());
  const absl::Time start = SteadyTime();
  const State& state = game_.state();
  const Side side = state.side();
  TARA_ASSIGN_OR_RETURN(const Action action,
                        Choose(clocks_.BudgetFor(
                            state, static_cast<int>(game_.actions().size()))));
  const std::string text = ActionToText(action, state);
  game_.Play(action);
  clocks_.Spend(side, SteadyTime() - start);
  return text;
}

LineSession::Answer LineSession::Undo(const Arguments&) {
  if (game_.Undo()) return "";
  return absl::FailedPreconditionError(
      "cannot undo: nothing was played since the game began");
}

LineSession::Answer LineSession::History(const Arguments&) {
  return absl::StrJoin(LineToTexts(game_.actions(), game_.start()), " ");
}

LineSession::Answer LineSession::ShowBoard(const Arguments&) {
  // The board begins on a new line, so that its columns are aligned.
  return absl::StrCat("\n", DrawBoard(game_.state(), {.unicode = false}));
}

LineSession::Answer LineSession::LegalActions(const Arguments&) {
  return absl::StrJoin(LegalActionTexts(game_.state()), " ");
}

LineSession::Answer LineSession::Position(const Arguments&) {
  return PositionToText(game_.state());
}

LineSession::Answer LineSession::ToMove(const Arguments&) {
  const State& state = game_.state();
  if (state.finished()) return "none";
  return absl::StrCat(int{state.seat}, " ",
                      SeatName(state.variant, state.seat));
}

LineSession::Answer LineSession::TimeSettings(const Arguments& arguments) {
  TARA_ASSIGN_OR_RETURN(const double main_s, ParseSeconds(arguments[0]));
  TARA_ASSIGN_OR_RETURN(const double increment_s, ParseSeconds(arguments[1]));
  TARA_RETURN_IF_ERROR(clocks_.Set(main_s, increment_s));
  return "";
}

LineSession::Answer LineSession::TimeLeft(const Arguments& arguments) {
  TARA_RETURN_IF_ERROR(CheckNotFinished());
  TARA_ASSIGN_OR_RETURN(const double left_s, ParseSeconds(arguments[0]));
  TARA_RETURN_IF_ERROR(clocks_.SetLeft(game_.state().side(), left_s));
  return "";
}

LineSession::Answer LineSession::FinalScore(const Arguments&) {
  const State& state = game_.state();
  if (!state.finished()) {
    return absl::FailedPreconditionError(
        "the game is not over; expected a finished game");
  }
  const double lead =
      Score(state).margin() - state.options.compensation_halves / 2.0;
  if (lead == 0) return "0";
  return absl::StrCat(lead > 0 ? "Red+" : "Blue+", std::abs(lead));
}

LineSession::Answer LineSession::Result(const Arguments&) {
  if (!game_.state().finished()) {
    return absl::FailedPreconditionError(
        "the game is not over; expected a finished game");
  }
  return ResultText(game_.state());
}

LineSession::Answer LineSession::SetOption(const Arguments& arguments) {
  TARA_RETURN_IF_ERROR(SetEngineOption(arguments[0], arguments[1], options_));
  KeepMarginsIfNeeded();
  DropSearch();
  return "";
}

LineSession::Answer LineSession::ListOptions(const Arguments&) {
  return ListEngineOptions(options_);
}

// Only checks the arguments: StreamAnalysis does the rest.
LineSession::Answer LineSession::Analyze(const Arguments& arguments) {
  TARA_RETURN_IF_ERROR(CheckNotFinished());
  TARA_RETURN_IF_ERROR(ParseAnalyzeArguments(arguments).status());
  return "";
}

LineSession::Answer LineSession::Quit(const Arguments&) { return ""; }

void LineSession::StreamAnalysis(const LineCommand& command,
                                 std::ostream& out) {
  AnalyzeArguments arguments = *ParseAnalyzeArguments(command.arguments);
  arguments.text.confidence_z = options_.confidence_z;
  arguments.text.not_learned = model_->NotLearnedOf(game_.state());
  out << "=" << command.id << "\n" << std::flush;
  const absl::Status status =
      SearchHere(/*by_time=*/true)
          .Analyze(
              arguments.limits, input_->ready, [&](const mcts::Tree& tree) {
                out << AnalysisLine(tree, arguments.text) << "\n" << std::flush;
              });
  if (!status.ok()) out << "error " << status.message() << "\n";
  out << "\n" << std::flush;
}

namespace {

constexpr size_t kMaxLineBytes = size_t{1} << 16;

}  // namespace

void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out) {
  LineQueue lines;
  std::thread obeying([&] {
    LineSession session(&model, options, start);
    const LineSession::Input input = {.ready = [&] { return lines.ready(); },
                                      .closed = [&] { return lines.closed(); }};
    bool goes_on = true;
    while (goes_on) {
      const std::optional<InputLine> line = lines.Pop();
      if (!line.has_value()) break;
      if (line->too_long) {
        LineSession::Refuse(line->text, out);
      } else {
        goes_on = session.Execute(line->text, input, out);
      }
    }
  });
  const absl::Cleanup end = [&] {
    lines.Close();
    obeying.join();
  };
  InputLine line;
  while (ReadLine(in, kMaxLineBytes, line)) {
    const bool quits = !line.too_long && LineSession::IsQuit(line.text);
    lines.Push(std::move(line));
    // Nothing more is read: the client may keep the pipe open.
    if (quits) break;
    line = {};
  }
}

}  // namespace tara::engine
