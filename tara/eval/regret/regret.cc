#include "tara/eval/regret/regret.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/files.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::eval {
namespace {

// Positions before the end of a game that are looked at.
constexpr size_t kLastPlies = 24;

// Games without a position, in succession, after which the search is given up.
constexpr int kBarrenGames = 200;

// The streams of a set: its games, and what a player draws.
constexpr uint64_t kGameStream = 0;
constexpr uint64_t kPlayerStream = 1;

uint64_t StreamSeed(uint64_t seed, uint64_t stream, uint64_t index) {
  return DeriveSeed(DeriveSeed(seed, stream, StreamPurpose::kArena), index,
                    StreamPurpose::kArena);
}

// Returns the last positions of a game with something to choose, from the end.
std::deque<State> EndOfGame(const SolvedPositionOptions& options,
                            Random& random, AlphaBeta& search) {
  std::deque<State> last;
  State state = InitialState(options.variant, options.rule_options);
  while (!state.finished()) {
    if (LegalActions(state).Count() > 1) last.push_front(state);
    if (last.size() > kLastPlies) last.pop_back();
    const bool errs = random.Below(4) == 0;
    const Action action = errs ? RandomAction(state, random)
                               : search.Search(state, {.depth = 1}).action;
    ApplyAction(action, state);
  }
  return last;
}

// Returns the earliest of a game's last positions that can be solved and that
// leaves something to lose.
std::optional<SolvedPosition> Earliest(const std::deque<State>& last,
                                       mcts::EndgameSolver& solver) {
  std::optional<SolvedPosition> found;
  for (const State& state : last) {
    const auto values = solver.SolveActions(state);
    if (!values.has_value()) break;
    SolvedPosition position = {.state = state, .margins = {}};
    for (const mcts::EndgameSolver::ActionValue& value : *values) {
      position.margins.push_back(state.side() == kRed ? value.red_margin
                                                      : -value.red_margin);
    }
    const auto [least, most] =
        std::minmax_element(position.margins.begin(), position.margins.end());
    if (*least < *most) found = std::move(position);
  }
  return found;
}

// The score of the side to move, by its margin.
double ScoreMargin(const State& state, int margin) {
  return (1 + ResultForMover(state, margin)) / 2.0;
}

// Results of the positions, one value each.
struct Sums {
  std::vector<double> points;
  std::vector<double> results;
  int best = 0;
  std::vector<double> policy;
  std::vector<double> value_errors;

  void Add(const SolvedPosition& position, Action action,
           const SearchReport& report) {
    const int most =
        *std::max_element(position.margins.begin(), position.margins.end());
    size_t place = 0;
    double mass = 0;
    LegalActions(position.state).ForEach([&](Action legal) {
      const int margin = position.margins[place];
      if (legal == action) {
        points.push_back(most - margin);
        results.push_back(ScoreMargin(position.state, most) -
                          ScoreMargin(position.state, margin));
        best += margin == most;
      }
      if (!report.policy.empty() && margin == most) {
        mass += report.policy[place];
      }
      ++place;
    });
    if (!report.policy.empty()) policy.push_back(std::min(1.0, mass));
    if (report.value.has_value()) {
      const double score = (1 + static_cast<double>(*report.value)) / 2;
      value_errors.push_back(
          std::abs(score - ScoreMargin(position.state, most)));
    }
  }
};

}  // namespace

std::vector<SolvedPosition> MakeSolvedPositions(
    const SolvedPositionOptions& options) {
  AlphaBeta search;
  mcts::EndgameSolver solver({.node_limit = options.node_limit});
  std::vector<SolvedPosition> positions;
  int barren = 0;
  for (uint64_t game = 0;
       static_cast<int>(positions.size()) < options.positions &&
       barren < kBarrenGames && (!options.keep_going || options.keep_going());
       ++game) {
    Random random(StreamSeed(options.seed, kGameStream, game));
    std::optional<SolvedPosition> position =
        Earliest(EndOfGame(options, random, search), solver);
    ++barren;
    if (!position.has_value()) continue;
    positions.push_back(*std::move(position));
    barren = 0;
  }
  return positions;
}

absl::StatusOr<Regret> MeasureRegret(absl::Span<const SolvedPosition> positions,
                                     uint64_t seed, Player& player,
                                     const StopCheck& stop) {
  std::vector<Random> streams;
  std::vector<SearchReport> reports(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    streams.emplace_back(StreamSeed(seed, kPlayerStream, i));
  }
  std::vector<Turn> turns;
  for (size_t i = 0; i < positions.size(); ++i) {
    turns.push_back({.state = positions[i].state,
                     .random = &streams[i],
                     .game = i,
                     .report = &reports[i],
                     .stop = stop ? &stop : nullptr});
  }
  std::vector<Action> actions(positions.size());
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  Sums sums;
  for (size_t i = 0; i < positions.size(); ++i) {
    player.EndGame(turns[i].game);
    sums.Add(positions[i], actions[i], reports[i]);
  }
  Regret regret = {.positions = static_cast<int>(positions.size())};
  if (positions.empty()) return regret;
  const auto all = static_cast<double>(positions.size());
  regret.points = MeanInterval(sums.points);
  regret.points.low = std::max(0.0, regret.points.low);
  regret.results = ScoreInterval(sums.results);
  regret.best = WilsonInterval(sums.best / all, all);
  if (!sums.policy.empty()) regret.policy = ScoreInterval(sums.policy);
  if (!sums.value_errors.empty()) {
    regret.value_error = ScoreInterval(sums.value_errors);
  }
  return regret;
}

namespace {

using Json = nlohmann::ordered_json;
using Rows = absl::Span<const RegretRow>;

// Below the table of a page.
constexpr absl::string_view kMeaning =
    "Points lost: the difference to the best action, in points of the margin. "
    "Results lost: wins and draws given away; a draw is half a win. Best "
    "action: how often an action was chosen that is best in points, and how "
    "much of the policy is on such actions. Value error: the distance of the "
    "player's value from the true one, as an expected score.";

// A share that not every player gives.
ReportField OptionalField(absl::string_view name, absl::string_view heading,
                          const std::optional<Interval>& share) {
  return share.has_value() ? ShareField(name, heading, *share)
                           : NoField(name, heading);
}

ReportRow FieldsOf(const RegretRow& row) {
  const Regret& regret = row.regret;
  ReportRow fields = {VariantField("variant", "regret", row.variant),
                      TextField("name", "", Info(row.variant).name),
                      TextField("player", "player", row.player)};
  fields.back().text += NotLearnedMark(row.not_learned);
  if (row.point.has_value()) {
    fields.push_back(TextField("run", "", row.point->run));
    fields.push_back(CountField("generation", "", row.point->generation));
  } else {
    fields.insert(fields.end(), 2, NoField("", ""));
  }
  return Joined(
      {fields,
       {CountField("positions", "positions", regret.positions),
        MeanField("points", "points lost", regret.points),
        ShareField("results", "results lost %", regret.results),
        ShareField("best", "best action %", regret.best),
        OptionalField("policy", "policy on it %", regret.policy),
        OptionalField("value_error", "value error %", regret.value_error)}});
}

std::vector<ReportRow> TableOf(Rows rows) {
  std::vector<ReportRow> table;
  for (const RegretRow& row : rows) table.push_back(FieldsOf(row));
  return table;
}

std::string NotLearnedLines(Rows rows) {
  std::string lines;
  for (const RegretRow& row : rows) {
    lines +=
        NotLearnedLine(absl::StrCat(Info(row.variant).id, " by ", row.player),
                       row.not_learned);
  }
  return lines;
}

}  // namespace

Report ReportRegret(Rows rows) {
  Json array = Json::array();
  for (const RegretRow& row : rows) {
    Json& object = array.emplace_back(RowJson(FieldsOf(row)));
    if (!row.not_learned.empty()) object["not_learned"] = row.not_learned;
  }
  return {.text = rows.empty()
                      ? "no positions\n"
                      : NotLearnedLines(rows) + TableText(TableOf(rows)),
          .json = JsonText(array, 2),
          .page = [rows] {
            return SectionsPage(
                "Regret on solved endgames",
                absl::StrCat("Solved endgames of Tara, the same for each "
                             "player. Intervals are 95 %.\n",
                             NotLearnedLines(rows)),
                {{.heading = "At a glance",
                  .rows = TableOf(rows),
                  .notes = std::string(kMeaning),
                  .plots = "estimates"}});
          }};
}

namespace {

constexpr char kKind[] = "tara_solved_endgames";
constexpr int kVersion = 1;

// Returns the number of positions that the first line promises.
absl::StatusOr<size_t> ParseHead(absl::string_view line) {
  const Json head = ParseJson<Json>(line).value_or(Json());
  if (!head.is_object() || !head.contains(kKind)) {
    return absl::FailedPreconditionError(
        absl::StrCat("no file of solved endgames; expected a first line {\"",
                     kKind, "\": ", kVersion, ", ...}"));
  }
  if (head[kKind] != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("solved endgames of version ", ShownJson(head[kKind]),
                     "; this program reads ", kVersion));
  }
  const auto count = head.find("positions");
  if (count == head.end() || !count->is_number_unsigned()) {
    return absl::DataLossError("the first line has no number \"positions\"");
  }
  return count->get<size_t>();
}

// Returns the margins if they are possible for the position.
absl::StatusOr<std::vector<int>> ParseMargins(const Json& json,
                                              const State& state) {
  std::vector<int> margins;
  if (json.is_array()) {
    for (const Json& margin : json) {
      if (!margin.is_number_integer() || margin < -kMaxMargin ||
          margin > kMaxMargin) {
        return absl::DataLossError(absl::StrCat("margin ", ShownJson(margin),
                                                "; expected -", kMaxMargin,
                                                " to ", kMaxMargin));
      }
      margins.push_back(margin.get<int>());
    }
  }
  const auto legal = static_cast<size_t>(LegalActions(state).Count());
  if (margins.size() != legal) {
    return absl::DataLossError(
        absl::StrCat(margins.size(), " margins for ", legal, " legal actions"));
  }
  return margins;
}

absl::StatusOr<SolvedPosition> ParseLine(absl::string_view line) {
  const absl::StatusOr<Json> parsed = ParseJson<Json>(line);
  if (!parsed.ok()) return absl::DataLossError(parsed.status().message());
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains("position") ||
      !json.at("position").is_string() || !json.contains("margins")) {
    return absl::DataLossError(
        "expected {\"position\": \"...\", \"margins\": [...]}");
  }
  const absl::StatusOr<State> state =
      ParsePosition(json.at("position").get_ref<const std::string&>());
  if (!state.ok()) return absl::DataLossError(state.status().message());
  if (state->finished()) return absl::DataLossError("the game is finished");
  TARA_ASSIGN_OR_RETURN(std::vector<int> margins,
                        ParseMargins(json.at("margins"), *state));
  return SolvedPosition{.state = *state, .margins = std::move(margins)};
}

absl::Status In(const std::string& path, size_t line,
                const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ":", line, ": ", status.message()));
}

}  // namespace

absl::Status WriteSolvedSet(const std::string& path,
                            absl::Span<const SolvedPosition> positions) {
  std::string text = absl::StrCat(
      Json({{kKind, kVersion}, {"positions", positions.size()}}).dump(), "\n");
  for (const SolvedPosition& position : positions) {
    absl::StrAppend(&text,
                    Json({{"position", PositionToText(position.state)},
                          {"margins", position.margins}})
                        .dump(),
                    "\n");
  }
  return WriteFileAtomically(path, text);
}

absl::StatusOr<std::vector<SolvedPosition>> ReadSolvedSet(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  const absl::StatusOr<size_t> count =
      ParseHead(lines.empty() ? absl::string_view() : lines.front());
  if (!count.ok()) return In(path, 1, count.status());
  if (lines.size() != *count + 1) {
    return absl::DataLossError(absl::StrCat(path, ": ", lines.size() - 1,
                                            " positions; expected ", *count,
                                            ", as the first line says"));
  }
  std::vector<SolvedPosition> positions;
  for (size_t i = 1; i < lines.size(); ++i) {
    absl::StatusOr<SolvedPosition> position = ParseLine(lines[i]);
    if (!position.ok()) return In(path, i + 1, position.status());
    positions.push_back(*std::move(position));
  }
  return positions;
}

namespace {

// Positions before the end of a game that are looked at.
constexpr size_t kLastPliesOfPuzzles = 12;
// Other ends of a game: random actions from at most kMostPliesBack plies before
// its end. Where nobody makes progress they would go on for ever.
constexpr int kOtherEnds = 8;
constexpr uint32_t kMostPliesBack = 10;
constexpr size_t kMostPlies = 100;
// Decisions of a puzzle.
constexpr int kFewest = 2;
constexpr int kMost = 3;
// First actions to choose from.
constexpr int kFewestActions = 3;
// The search for puzzles ends at this multiple of the number wanted.
constexpr size_t kSurplus = 2;
constexpr int kConcurrentGames = 64;

uint64_t StreamSeed(uint64_t seed, uint64_t index) {
  return DeriveSeed(seed, index, StreamPurpose::kArena);
}

// Finds the puzzles among positions.
class Finder {
 public:
  explicit Finder(int64_t node_limit) : solver_({.node_limit = node_limit}) {}

  std::optional<Puzzle> PuzzleAt(const State& state) {
    Puzzle puzzle = {.state = state, .line = {}};
    if (LegalActions(state).Count() < kFewestActions ||
        !Extend(state, state.side(), 0, puzzle.line)) {
      return std::nullopt;
    }
    return puzzle;
  }

 private:
  // Extends the line from `state`, after `decisions` of the side, up to the one
  // where several actions are right, or to the end of the game. Returns
  // false, with the line as it was, if it is no line of a puzzle, or the solver
  // gives up.
  bool Extend(const State& state, Side side, int decisions,
              std::vector<Action>& line) {
    if (state.finished()) return decisions >= kFewest;
    const auto values = solver_.SolveActions(state);
    if (!values.has_value()) return false;
    std::map<Action, int> margins;  // for the side to move
    int best = -kMaxMargin;
    for (const auto& [action, red_margin] : *values) {
      margins[action] = state.side() == kRed ? red_margin : -red_margin;
      best = std::max(best, margins[action]);
    }
    const int result = ResultForMover(state, best);
    const bool own = state.side() == side;
    std::vector<Action> good;
    for (const auto& [action, margin] : margins) {
      if (own ? ResultForMover(state, margin) == result : margin == best) {
        good.push_back(action);
      }
    }
    if (own && margins.size() > 1) {
      if (good.size() > 1 || result <= 0) return decisions >= kFewest;
      // Nobody looks for a pass on the board.
      if (good[0] == kPass || ++decisions > kMost) return false;
    }
    for (const Action action : good) {
      State next = state;
      ApplyAction(action, next);
      line.push_back(action);
      if (Extend(next, side, decisions, line)) return true;
      line.pop_back();
    }
    return false;
  }

  mcts::EndgameSolver solver_;
};

struct ErringGame : PlayedGame {
  ErringGame(uint64_t number, const State& start, uint64_t seed,
             const std::function<void(ErringGame&)>& finished)
      : PlayedGame(number, start, seed), finished(finished) {}

  Action Choose(const SearchReport& /*report*/, Action choice) override {
    states.push_back(state);
    return random.Below(8) == 0 ? RandomAction(state, random) : choice;
  }
  absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() override {
    finished(*this);
    return nullptr;
  }

  std::vector<State> states;  // so far
  const std::function<void(ErringGame&)>& finished;
};

// Returns the longest puzzle among the last positions of a game.
std::optional<Puzzle> LastPuzzle(absl::Span<const State> states,
                                 Finder& finder) {
  std::optional<Puzzle> found;
  for (size_t back = 1; back <= std::min(states.size(), kLastPliesOfPuzzles);
       ++back) {
    auto puzzle = finder.PuzzleAt(states[states.size() - back]);
    if (puzzle.has_value()) found = std::move(puzzle);
  }
  return found;
}

// Returns a puzzle at the end of a game, or else at another end.
std::optional<Puzzle> PuzzleOf(ErringGame& game, Finder& finder) {
  const std::vector<State>& states = game.states;
  std::optional<Puzzle> found = LastPuzzle(states, finder);
  for (int end = 0; end < kOtherEnds && !found.has_value(); ++end) {
    const size_t back = 1 + game.random.Below(kMostPliesBack);
    if (back > states.size()) continue;
    State state = states[states.size() - back];
    std::vector<State> others;
    while (!state.finished() && others.size() < kMostPlies) {
      others.push_back(state);
      ApplyAction(RandomAction(state, game.random), state);
    }
    found = LastPuzzle(others, finder);
  }
  return found;
}

absl::Status CountTraps(uint64_t seed, Player& naive,
                        std::vector<Puzzle>& puzzles) {
  std::vector<Random> streams;
  streams.reserve(puzzles.size());
  std::vector<Turn> turns;
  for (const Puzzle& puzzle : puzzles) {
    const uint64_t i = turns.size();
    turns.push_back({.state = puzzle.state,
                     .random = &streams.emplace_back(StreamSeed(seed, i)),
                     .game = i});
  }
  std::vector<Action> actions(turns.size());
  TARA_RETURN_IF_ERROR(naive.ChooseActions(turns, absl::MakeSpan(actions)));
  for (size_t i = 0; i < puzzles.size(); ++i) {
    naive.EndGame(i);
    puzzles[i].traps += actions[i] != puzzles[i].line[0];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Puzzle>> MakePuzzles(
    const PuzzleOptions& options, Player& player,
    absl::Span<Player* const> naive) {
  Finder finder(options.node_limit);
  std::map<uint64_t, Puzzle> by_game;
  const std::function<void(ErringGame&)> finished = [&](ErringGame& game) {
    auto puzzle = PuzzleOf(game, finder);
    if (puzzle.has_value()) by_game[game.number] = *std::move(puzzle);
  };
  const auto wanted = static_cast<size_t>(options.puzzles);
  uint64_t number = 0;
  const GameSource next_game = [&]() -> std::unique_ptr<PlayedGame> {
    const bool enough = by_game.size() >= kSurplus * wanted;
    if (enough || number == static_cast<uint64_t>(options.games)) {
      return nullptr;
    }
    const uint64_t seed = StreamSeed(options.seed, number);
    return std::make_unique<ErringGame>(number++, options.start, seed,
                                        finished);
  };
  const auto stopped = [&] { return options.stop && options.stop(); };
  Player* const players[] = {&player};
  TARA_RETURN_IF_ERROR(
      PlayGames({.games = kConcurrentGames, .stop = options.stop}, players,
                next_game, [&] { return !stopped(); }));
  if (stopped()) return absl::CancelledError("interrupted");

  std::vector<Puzzle> puzzles;
  std::set<std::string> seen;
  for (auto& [game, puzzle] : by_game) {
    const State& state = puzzle.state;
    if (seen.insert(PositionToText(
                        TransformState(RepresentativeSymmetry(state), state)))
            .second) {
      puzzles.push_back(std::move(puzzle));
    }
  }
  for (Player* const each : naive) {
    TARA_RETURN_IF_ERROR(CountTraps(options.seed, *each, puzzles));
  }
  std::vector<size_t> order(puzzles.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return puzzles[a].traps > puzzles[b].traps;
  });
  order.resize(std::min(order.size(), wanted));
  std::sort(order.begin(), order.end());
  std::vector<Puzzle> chosen;
  for (const size_t i : order) chosen.push_back(std::move(puzzles[i]));
  return chosen;
}

std::string PuzzleToText(const Puzzle& puzzle) {
  return absl::StrCat(
      PositionToText(puzzle.state), " ",
      absl::StrJoin(LineToTexts(puzzle.line, puzzle.state), " "));
}

}  // namespace tara::eval
