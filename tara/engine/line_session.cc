#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <streambuf>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/option_table.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/base/version.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"

namespace tara::engine {

bool ReadLine(std::istream& in, size_t most, InputLine& line) {
  line.text.clear();
  line.too_long = false;
  std::streambuf* const buffer = in.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int next = buffer->sbumpc();
  if (next == kEnd) return false;
  for (; next != kEnd && next != '\n'; next = buffer->sbumpc()) {
    if (line.text.size() < most) {
      line.text.push_back(static_cast<char>(next));
    } else {
      line.too_long = true;
    }
  }
  line.text = PlainText(line.text);
  return true;
}

void LineQueue::Push(InputLine line) {
  absl::MutexLock lock(&mutex_);
  bytes_ += line.text.size();
  lines_.push_back(std::move(line));
}

void LineQueue::AwaitRoom() {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<int64_t>(lines_.size()) < most_lines_ &&
           bytes_ < kMaxWaitingBytes;
  };
  mutex_.Await(absl::Condition(&has_room));
}

void LineQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_.store(true, std::memory_order_relaxed);
}

std::optional<InputLine> LineQueue::Pop() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](LineQueue* queue)
           ABSL_NO_THREAD_SAFETY_ANALYSIS { return queue->ReadyLocked(); },
      this));
  if (lines_.empty()) return std::nullopt;
  InputLine line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= line.text.size();
  return line;
}

bool LineQueue::ready() const {
  absl::MutexLock lock(&mutex_);
  return ReadyLocked();
}

OutputQueue::OutputQueue(std::ostream* out)
    : lines_(std::numeric_limits<int64_t>::max()), thread_([this, out] {
        while (const std::optional<InputLine> line = lines_.Pop()) {
          *out << line->text << '\n';
          if (!lines_.ready()) out->flush();
        }
        out->flush();
      }) {}

OutputQueue::~OutputQueue() {
  lines_.Close();
  thread_.join();
}

namespace {

// Of the processor's time, for a search once the input has ended: enough for
// what scripts ask for by simulations, also on a busy machine.
constexpr absl::Duration kTimeWhenClosed = absl::Seconds(1);

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

// Returns the answer with the blank line that ends it: "=ID text" or, of an
// error, "?ID message". Blank lines within the text become lines of a space,
// for a blank line ends an answer.
std::string LineAnswer(absl::string_view mark, absl::string_view id,
                       absl::string_view text) {
  std::string lines(absl::StripTrailingAsciiWhitespace(text));
  // Twice, because replacements do not overlap.
  for (int i = 0; i < 2; ++i)
    lines = absl::StrReplaceAll(lines, {{"\n\n", "\n \n"}});
  return absl::StrCat(mark, id, lines.empty() ? "" : " ", lines, "\n\n");
}

std::string LineError(absl::string_view id, const absl::Status& status) {
  return LineAnswer("?", id,
                    absl::StrReplaceAll(status.message(), {{"\n", " "}}));
}

constexpr absl::string_view kAnalyze = "analyze";
constexpr absl::string_view kQuit = "quit";
constexpr int kMaxArguments = 1000;
constexpr double kMaxSeconds = 100 * 3600;

// When a command may be used.
enum class When { kAlways, kInGame, kFinished };

struct CommandInfo {
  absl::string_view name;
  absl::string_view help;
  absl::string_view arguments = "";
  int least = 0;  // number of arguments
  int most = 0;
  When when = When::kAlways;
};
constexpr CommandInfo kCommands[] = {
    {"protocol_version",
     "the version of the Go Text Protocol that this follows"},
    {"name", "the engine's name"},
    {"version", "the engine's version"},
    {"list_commands", "the names of all commands, one a line"},
    {"known_command", "true or false", "NAME", 1, 1},
    {"help", "a description of each command", "[NAME]", 0, 1},
    {"list_variants", "the identifiers of all variants, one a line"},
    {"variant",
     "begins a game of a variant, with the rule options given; without "
     "arguments: the variant and options of the game",
     "[ID] [OPTION=VALUE,...]", 0, 2},
    {"clear_board", "starts the game again"},
    {"set_position", "begins a game from a position", "TEXT", 1, kMaxArguments},
    {"play", "plays an action for the seat to move", "ACTION", 1, 1},
    {"genmove", "chooses an action for the seat to move and plays it", "", 0, 0,
     When::kInGame},
    {"undo", "undoes the last action"},
    {"history", "the actions so far"},
    {"showboard", "draws the position"},
    {"legal_actions", "the legal actions; nothing when the game is over"},
    {"position", "the position as text"},
    {"to_move", "the seat to move, from 0; none when the game is over"},
    {"time_settings",
     "seconds of each side for the game, and more after each action; 0 S: for "
     "each action; 0 0: no clocks",
     "MAIN_S INCREMENT_S", 2, 2},
    {"time_left", "the time left of the side to move", "SECONDS", 1, 1,
     When::kInGame},
    {"final_score", "the winner and its margin: Red+3, Blue+1, 0", "", 0, 0,
     When::kFinished},
    {"result", "the result in full", "", 0, 0, When::kFinished},
    {"set_option", "sets an option of the search", "NAME VALUE", 2, 2},
    {"list_options", "the options, a line each"},
    {kAnalyze,
     "searches until the next line, with a report every INTERVAL hundredths of "
     "a second",
     "[INTERVAL] [simulations N] [actions N]", 0, 7, When::kInGame},
    {kQuit, "ends the engine"},
};

absl::StatusOr<const CommandInfo*> Find(absl::string_view name) {
  for (const CommandInfo& command : kCommands) {
    if (command.name == name) return &command;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown command '", Shown(name), "'; list_commands lists them"));
}

absl::StatusOr<double> ParseSeconds(absl::string_view text) {
  double seconds;
  if (!ParseDecimal(text, &seconds)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", Shown(text), "' is not a time; expected a number of seconds"));
  }
  if (seconds >= 0 && seconds <= kMaxSeconds) return seconds;
  return absl::InvalidArgumentError(absl::StrCat(
      "a time of ", seconds, " s; expected 0 to ", kMaxSeconds, " s"));
}

// Returns the result of a finished game in words: "points 3,0 kingdoms 2,3
// territory 24,21 bridges 30,28 kings_captured 0,0 ended_by out".
std::string ResultText(const State& state) {
  const Outcome outcome = Score(state);
  const auto pair = [](const std::array<int, 2>& by_side) {
    return absl::StrCat(by_side[0], ",", by_side[1]);
  };
  return absl::StrCat(
      "points ", pair(outcome.points), " kingdoms ", pair(outcome.kingdoms),
      " territory ", pair(outcome.territory), " bridges ",
      pair(outcome.bridges), " kings_captured ", pair(outcome.kings_captured),
      " ended_by ", EndingName(outcome.ended_by));
}

// The arguments of the command `analyze`.
struct AnalyzeArguments {
  mcts::AnalysisLimits limits;
  int max_actions = 0;  // 0: all that were visited
};

// Reads [INTERVAL] [interval INTERVAL] [simulations N] [actions N]; intervals
// are in hundredths of a second. Returns INVALID_ARGUMENT with the expected
// form.
absl::StatusOr<AnalyzeArguments> ParseAnalyzeArguments(
    const std::vector<std::string>& words) {
  AnalyzeArguments parsed;
  std::optional<int> centiseconds;
  const OptionTable table = {
      {"interval", &centiseconds, 1, 360000, ""},
      {"simulations", &parsed.limits.simulations, 1, mcts::kMaxSimulations, ""},
      {"actions", &parsed.max_actions, 1, kNumActions, ""},
  };
  const auto set = [&](absl::string_view name, absl::string_view value) {
    const Option* const option = FindOption(table, name);
    return option != nullptr
               ? SetOption(*option, value)
               : absl::InvalidArgumentError(absl::StrCat(
                     "unknown argument '", Shown(name),
                     "'; expected interval, simulations or actions"));
  };
  auto next = words.begin();
  if (next != words.end() && absl::ascii_isdigit((*next)[0])) {
    TARA_RETURN_IF_ERROR(set("interval", *next++));
  }
  for (; next != words.end(); next += 2) {
    if (next + 1 == words.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", Shown(*next), "' has no value; expected NAME VALUE"));
    }
    TARA_RETURN_IF_ERROR(set(*next, *(next + 1)));
  }
  if (centiseconds.has_value()) {
    parsed.limits.interval = absl::Milliseconds(int64_t{10} * *centiseconds);
  }
  return parsed;
}

// Without the sign of a zero, which has no meaning.
std::string Number(double value) {
  std::string text = absl::StrFormat("%.4f", value);
  return text == "-0.0000" ? "0.0000" : text;
}

// Returns a search as one line of text, without its end, as in
// docs/reference/protocol.md:
//   root simulations N value V margin M not_learned RULES  info action A visits
//   N value V prior P lcb L order K pv A B C  info action ...
// `not_learned` are rules that the network has not learned; empty: none.
std::string AnalysisLine(const mcts::Tree& tree, int max_actions,
                         float confidence_z, absl::string_view not_learned) {
  std::string line = absl::StrCat("root simulations ", tree.root_visits(),
                                  " value ", Number(tree.root_value()),
                                  " margin ", Number(tree.root_margin()));
  const mcts::MarginBounds proved = tree.root_bounds();
  if (proved.low == proved.high) {
    absl::StrAppend(&line, " proved ", int{proved.low});
  }
  if (!not_learned.empty()) {
    absl::StrAppend(&line, " not_learned ", not_learned);
  }
  int order = 0;
  for (const mcts::RootAction& action : mcts::RankActions(tree, confidence_z)) {
    if (max_actions > 0 && order == max_actions) break;
    if (action.visits == 0 && order > 0) continue;
    absl::StrAppend(
        &line, " info action ", ActionToText(action.action, tree.root()),
        " visits ", action.visits, " value ", Number(action.mean_value),
        " prior ", Number(action.prior), " lcb ",
        Number(action.visits > 0
                   ? mcts::LowerConfidenceBound(action, confidence_z)
                   : -1),
        " order ", order, " pv");
    for (const std::string& next :
         LineToTexts(mcts::LineAfter(tree, action.action), tree.root())) {
      absl::StrAppend(&line, " ", next);
    }
    ++order;
  }
  return line;
}

class Session {
 public:
  // As NewLineSession.
  Session(EngineModel* model, const EngineOptions& options, const State& start)
      : model_(model), options_(options), states_({start}) {
    KeepMarginsIfNeeded();
  }

  // As LineSession.
  bool Execute(absl::string_view line, const LineInput& input,
               std::ostream& out) {
    const LineCommand command = ParseLineCommand(line);
    if (command.is_nothing()) return true;
    input_ = &input;
    bool goes_on = true;
    absl::Status status;
    const absl::Status exhaustion = CatchExhaustion([&] {
      status = Obey(command, out, goes_on);
      return absl::OkStatus();
    });
    if (!exhaustion.ok()) {
      search_.reset();  // it may have been left anyhow, and has the memory
      status = exhaustion;
    }
    if (!status.ok()) out << LineError(command.id, status) << std::flush;
    return goes_on;
  }

 private:
  using Arguments = std::vector<std::string>;
  using Answer = absl::StatusOr<std::string>;

  // Writes the answer of a command. Returns its error, which is not written.
  absl::Status Obey(const LineCommand& command, std::ostream& out,
                    bool& goes_on) {
    TARA_ASSIGN_OR_RETURN(const std::string answer, Run(command));
    if (command.name == kAnalyze) {
      StreamAnalysis(command, out);
      return absl::OkStatus();
    }
    out << LineAnswer("=", command.id, answer) << std::flush;
    goes_on = command.name != kQuit;
    return absl::OkStatus();
  }

  Answer Run(const LineCommand& command) {
    TARA_ASSIGN_OR_RETURN(const CommandInfo* const info, Find(command.name));
    const auto count = static_cast<int>(command.arguments.size());
    if (count < info->least || count > info->most) {
      return absl::InvalidArgumentError(absl::StrCat(
          command.name, " has ", count, count == 1 ? " argument" : " arguments",
          "; expected: ", info->name, info->arguments.empty() ? "" : " ",
          info->arguments));
    }
    if (info->when == When::kInGame && state().finished()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the game is over (", EndingName(state().ending),
                       "); expected undo or a new game first"));
    }
    if (info->when == When::kFinished && !state().finished()) {
      return absl::FailedPreconditionError(
          "the game is not over; expected a finished game");
    }
    return Do(info->name, command.arguments);
  }

  // Executes a command with as many arguments as it takes.
  Answer Do(absl::string_view name, const Arguments& arguments) {
    if (name == "protocol_version") return absl::StrCat(kLineProtocolVersion);
    if (name == "name") return kEngineName;
    if (name == "version") return kVersion;
    if (name == "list_commands")
      return Listed<CommandInfo>(kCommands, &CommandInfo::name);
    if (name == "known_command") {
      return Find(arguments[0]).ok() ? "true" : "false";
    }
    if (name == "help") return Help(arguments);
    if (name == "list_variants")
      return Listed<VariantInfo>(kVariants, &VariantInfo::id);
    if (name == "variant") return SetVariant(arguments);
    if (name == "clear_board") {
      const State& start = states_.front();
      return Begin(InitialState(start.variant, start.options));
    }
    if (name == "set_position") {
      TARA_ASSIGN_OR_RETURN(const State start,
                            ParsePosition(absl::StrJoin(arguments, " ")));
      return Begin(start);
    }
    if (name == "play") return Play(arguments[0]);
    if (name == "genmove") return GenerateMove();
    if (name == "undo") return Undo();
    if (name == "history") {
      return absl::StrJoin(LineToTexts(actions_, states_.front()), " ");
    }
    if (name == "showboard") {
      // The board begins on a new line, so that its columns are aligned.
      return absl::StrCat("\n", DrawBoard(state(), {.unicode = false}));
    }
    if (name == "legal_actions") {
      return absl::StrJoin(LegalActionTexts(state()), " ");
    }
    if (name == "position") return PositionToText(state());
    if (name == "to_move") {
      if (state().finished()) return "none";
      return absl::StrCat(int{state().seat}, " ",
                          SeatName(state().variant, state().seat));
    }
    if (name == "time_settings") return TimeSettings(arguments);
    if (name == "time_left") return TimeLeft(arguments[0]);
    if (name == "final_score") return FinalScore(state());
    if (name == "result") return ResultText(state());
    if (name == "set_option") return SetOption(arguments);
    if (name == "list_options") return ListEngineOptions(options_);
    // StreamAnalysis does the rest.
    if (name == kAnalyze) {
      TARA_RETURN_IF_ERROR(ParseAnalyzeArguments(arguments).status());
    }
    return "";
  }

  const State& state() const { return states_.back(); }

  // Begins a game, with its clocks wound up.
  Answer Begin(const State& start) {
    TARA_RETURN_IF_ERROR(model_->CheckLearned(start));
    states_ = {start};
    actions_.clear();
    RestartClocks();
    DropSearch();
    return "";
  }

  // Drops the search and its draws: the game or the options have changed.
  void DropSearch() {
    search_.reset();
    drawn_ = 0;
  }

  uint64_t DrawSeed() {
    return DeriveSeed(options_.seed, drawn_++, StreamPurpose::kArena);
  }

  // Returns the search, at the game's position; `by_time`: time ends it, and no
  // number of simulations.
  mcts::SearchSession& SearchHere(bool by_time) {
    mcts::SessionOptions options = options_;
    // A Gumbel root plans for a number of simulations.
    options.search.gumbel = options_.search.gumbel && !by_time;
    if (!search_.has_value() ||
        search_->options().search.gumbel != options.search.gumbel) {
      search_.emplace(options, model_, &solver_);
    }
    search_->GoTo(state(), actions_, [this] { return DrawSeed(); });
    return *search_;
  }

  // Returns the action to play, within `budget` if there is one.
  absl::StatusOr<Action> Choose(std::optional<mcts::MoveBudget> budget) {
    const absl::Time start = SteadyTime();
    const LegalSet legal = LegalActions(state());
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

  // Returns the names of a list, one a line.
  template <typename Info>
  static std::string Listed(absl::Span<const Info> infos,
                            absl::string_view Info::* name) {
    return absl::StrJoin(infos, "\n",
                         [name](std::string* text, const Info& info) {
                           absl::StrAppend(text, info.*name);
                         });
  }

  static Answer Help(const Arguments& arguments) {
    absl::Span<const CommandInfo> told = kCommands;
    if (!arguments.empty()) {
      TARA_ASSIGN_OR_RETURN(const CommandInfo* const info, Find(arguments[0]));
      told = absl::MakeConstSpan(info, 1);
    }
    std::string text;
    for (const CommandInfo& command : told) {
      absl::StrAppend(&text, command.name, command.arguments.empty() ? "" : " ",
                      command.arguments, ": ", command.help, "\n");
    }
    return text;
  }

  Answer SetVariant(const Arguments& arguments) {
    if (arguments.empty()) {
      const State& start = states_.front();
      const std::string options = FormatRuleOptions(start.options);
      const absl::string_view id = Info(start.variant).id;
      return options == "-" ? std::string(id) : absl::StrCat(id, " ", options);
    }
    TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(arguments[0]));
    RuleOptions options;
    if (arguments.size() > 1) {
      TARA_ASSIGN_OR_RETURN(options, ParseRuleOptions(variant, arguments[1]));
    }
    return Begin(InitialState(variant, options));
  }

  Answer Play(absl::string_view text) {
    State next = state();
    TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text, next));
    TARA_RETURN_IF_ERROR(PlayAction(action, next));
    states_.push_back(next);
    actions_.push_back(action);
    return "";
  }

  Answer GenerateMove() {
    const absl::Time start = SteadyTime();
    std::optional<mcts::TimeManager>& clock = clocks_[state().side()];
    std::optional<mcts::MoveBudget> budget;
    if (clock.has_value()) {
      budget = clock->BudgetFor(mcts::ExpectedActionsLeft(state()) / 2);
    }
    TARA_ASSIGN_OR_RETURN(const Action action, Choose(budget));
    const std::string text = ActionToText(action, state());
    states_.push_back(State(state()));
    ApplyAction(action, states_.back());
    actions_.push_back(action);
    if (clock.has_value()) clock->Spend(SteadyTime() - start);
    return text;
  }

  Answer Undo() {
    if (actions_.empty()) {
      return absl::FailedPreconditionError(
          "cannot undo: nothing was played since the game began");
    }
    actions_.pop_back();
    states_.pop_back();
    return "";
  }

  Answer TimeSettings(const Arguments& arguments) {
    TARA_ASSIGN_OR_RETURN(const double main_s, ParseSeconds(arguments[0]));
    TARA_ASSIGN_OR_RETURN(const double increment_s, ParseSeconds(arguments[1]));
    control_.reset();
    if (main_s > 0) {
      control_ = mcts::TimeControl{.per_game = absl::Seconds(main_s),
                                   .increment = absl::Seconds(increment_s)};
    } else if (increment_s > 0) {
      control_ = mcts::TimeControl{.per_move = absl::Seconds(increment_s)};
    }
    RestartClocks();
    return "";
  }

  Answer TimeLeft(absl::string_view seconds) {
    TARA_ASSIGN_OR_RETURN(const double left_s, ParseSeconds(seconds));
    if (!control_.has_value() || control_->is_per_move()) {
      return absl::FailedPreconditionError(
          "no time for the game was set; expected time_settings MAIN_S "
          "INCREMENT_S before, with a MAIN_S above 0");
    }
    clocks_[state().side()]->set_left(absl::Seconds(left_s));
    return "";
  }

  static Answer FinalScore(const State& state) {
    const double lead =
        Score(state).margin() - state.options.compensation_halves / 2.0;
    if (lead == 0) return "0";
    return absl::StrCat(lead > 0 ? "Red+" : "Blue+", std::abs(lead));
  }

  Answer SetOption(const Arguments& arguments) {
    TARA_RETURN_IF_ERROR(SetEngineOption(arguments[0], arguments[1], options_));
    KeepMarginsIfNeeded();
    DropSearch();
    return "";
  }

  // Analyses and streams: the answer is written piece by piece.
  void StreamAnalysis(const LineCommand& command, std::ostream& out) {
    const AnalyzeArguments arguments =
        *ParseAnalyzeArguments(command.arguments);
    const std::string not_learned = model_->NotLearnedOf(state());
    out << "=" << command.id << "\n" << std::flush;
    const absl::Status status =
        SearchHere(/*by_time=*/true)
            .Analyze(arguments.limits, input_->ready,
                     [&](const mcts::Tree& tree) {
                       out << AnalysisLine(tree, arguments.max_actions,
                                           options_.confidence_z, not_learned)
                           << "\n"
                           << std::flush;
                     });
    if (!status.ok()) out << "error " << status.message() << "\n";
    out << "\n" << std::flush;
  }

  void KeepMarginsIfNeeded() {
    if (mcts::Utility(options_.search.utility).needs_margins())
      model_->KeepMargins();
  }

  void RestartClocks() {
    for (std::optional<mcts::TimeManager>& clock : clocks_) {
      clock.reset();
      if (control_.has_value()) clock.emplace(*control_, mcts::TimeOptions());
    }
  }

  EngineModel* const model_;
  const LineInput* input_ = nullptr;  // while a line is executed
  EngineOptions options_;
  std::vector<State> states_;  // of the game: its start, one after each action
  std::vector<Action> actions_;
  std::optional<mcts::TimeControl> control_;                // none: no clocks
  std::array<std::optional<mcts::TimeManager>, 2> clocks_;  // by side
  mcts::SharedSolver solver_;
  // The search of the game with the options, once there has been one.
  std::optional<mcts::SearchSession> search_;
  uint64_t drawn_ = 0;  // streams that were begun since the game was
};

}  // namespace

LineSession NewLineSession(EngineModel* model, const EngineOptions& options,
                           const State& start) {
  return [session = std::make_shared<Session>(model, options, start)](
             absl::string_view line, const LineInput& input,
             std::ostream& out) { return session->Execute(line, input, out); };
}

void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out) {
  constexpr size_t kMaxLineBytes = size_t{1} << 16;
  LineQueue lines;
  std::thread obeying([&] {
    const LineSession session = NewLineSession(&model, options, start);
    const LineInput input = {.ready = [&] { return lines.ready(); },
                             .closed = [&] { return lines.closed(); }};
    bool goes_on = true;
    while (goes_on) {
      const std::optional<InputLine> line = lines.Pop();
      if (!line.has_value()) break;
      if (line->too_long) {
        out << LineError(ParseLineCommand(line->text.substr(0, 20)).id,
                         absl::InvalidArgumentError("the line is too long"))
            << std::flush;
      } else {
        goes_on = session(line->text, input, out);
      }
    }
  });
  const absl::Cleanup end = [&] {
    lines.Close();
    obeying.join();
  };
  InputLine line;
  while (ReadLine(in, kMaxLineBytes, line)) {
    const LineCommand command = ParseLineCommand(line.text);
    const bool quits =
        !line.too_long && command.name == kQuit && command.arguments.empty();
    lines.AwaitRoom();
    lines.Push(std::move(line));
    // Nothing more is read: the client may keep the pipe open.
    if (quits) break;
    line = {};
  }
}

}  // namespace tara::engine
