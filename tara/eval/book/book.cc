#include "tara/eval/book/book.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/book/book_page_body.h"
#include "tara/eval/book/book_page_script.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

// --- The file ----------------------------------------------------------------

// Games are identified by their origin and all of their stored content.
constexpr SqliteSchema kSchema = {
    .kind = "opening book",
    .application_id = 0x54524f42,  // "TROB"
    .version = 1,
    .tables = R"sql(
  CREATE TABLE IF NOT EXISTS book (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS positions (
    place INTEGER PRIMARY KEY,
    position TEXT NOT NULL UNIQUE,
    search BLOB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS games (
    origin TEXT NOT NULL,
    game BLOB NOT NULL,
    PRIMARY KEY (origin, game)
  ) WITHOUT ROWID;
)sql",
    .probe = "SELECT COUNT(search) FROM (SELECT * FROM positions LIMIT 1)"};

// Positions searched between two visits to the file.
constexpr int kRound = 64;

// Cached evaluations: those of a position and of the next one overlap.
constexpr int64_t kCachePositions = 1 << 16;

// Actions of a line that is shown.
constexpr size_t kMaxLineLength = 10;

State RepresentativeOf(const State& state) {
  return TransformState(RepresentativeSymmetry(state), state);
}

// Returns whether a search can be of this position.
absl::Status CheckSearch(const State& state,
                         const proto::BookPosition& search) {
  const auto error = [](absl::string_view what) {
    return absl::InvalidArgumentError(what);
  };
  if (state.finished()) return error("the position is finished");
  if (RepresentativeOf(state) != state) {
    return error("the position is not the one that stands for its like");
  }
  const int legal = LegalActions(state).Count();
  if (search.prior_size() != legal || search.visits_size() != legal ||
      search.action_score_size() != legal) {
    return error(absl::StrCat(search.visits_size(),
                              " actions; expected the legal ones, ", legal));
  }
  if (search.simulations() == 0) return error("no simulations");
  const auto is_score = [](float x) { return x >= 0 && x <= 1; };
  if (!is_score(search.score()) || !std::isfinite(search.margin()) ||
      !std::all_of(search.prior().begin(), search.prior().end(), is_score) ||
      !std::all_of(search.action_score().begin(), search.action_score().end(),
                   is_score)) {
    return error("a score or prior is outside of 0 to 1");
  }
  return absl::OkStatus();
}

// Returns the start of a game, or the errors of record::InitialStateOf.
absl::StatusOr<State> StartOf(const proto::BookGame& game) {
  proto::GameRecord record;
  record.set_schema_version(record::kGameSchemaVersion);
  record.set_rules_version(kRulesVersion);
  record.set_variant(game.variant());
  record.set_rule_options(game.rule_options());
  return record::InitialStateOf(record);
}

// Returns INVALID_ARGUMENT if this is not the beginning of a game.
absl::Status CheckGame(const proto::BookGame& game) {
  TARA_ASSIGN_OR_RETURN(State state, StartOf(game));
  if (game.red_half_points() > 2) {
    return absl::InvalidArgumentError("the result is missing");
  }
  for (const uint32_t index : game.action()) {
    const Action action = static_cast<Action>(index);
    if (index >= kNumActions || !PlayAction(action, state).ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("action ", index, " is not legal"));
    }
  }
  return absl::OkStatus();
}

absl::Status Damaged(const SqliteDatabase& db, absl::string_view what,
                     const absl::Status& why) {
  return absl::DataLossError(
      absl::StrCat(db.path(), ": damaged ", what, ": ", why.message()));
}

}  // namespace

absl::StatusOr<OpeningBook> OpeningBook::Open(const std::string& path,
                                              SqliteDatabase::Mode mode) {
  TARA_ASSIGN_OR_RETURN(SqliteDatabase db, OpenSqliteFile(path, mode, kSchema));
  OpeningBook book(std::move(db));
  TARA_RETURN_IF_ERROR(book.Load());
  return book;
}

absl::Status OpeningBook::Load() {
  const auto for_each_row = [this](const char* sql,
                                   const auto& read) -> absl::Status {
    TARA_ASSIGN_OR_RETURN(SqliteStatement rows, db_.Prepare(sql));
    while (true) {
      TARA_ASSIGN_OR_RETURN(const bool row, rows.Step("cannot read"));
      if (!row) return absl::OkStatus();
      TARA_RETURN_IF_ERROR(read(rows));
    }
  };
  std::map<std::string, std::string> values;
  TARA_RETURN_IF_ERROR(for_each_row("SELECT name, value FROM book",
                                    [&](const SqliteStatement& row) {
                                      values[row.Bytes(0)] = row.Bytes(1);
                                      return absl::OkStatus();
                                    }));
  if (values.contains("player")) {
    player_ = BookPlayer{values["player"], values["identity"]};
  }
  TARA_RETURN_IF_ERROR(for_each_row(
      "SELECT position, search FROM positions ORDER BY place",
      [&](const SqliteStatement& row) {
        const absl::StatusOr<State> state = ParsePosition(row.Bytes(0));
        if (!state.ok()) return Damaged(db_, "position", state.status());
        SearchedPosition position = {.state = *state};
        const absl::Status status =
            position.search.ParseFromString(row.Bytes(1))
                ? CheckSearch(*state, position.search)
                : absl::InvalidArgumentError("not a BookPosition");
        if (!status.ok()) return Damaged(db_, "position", status);
        positions_.push_back(std::move(position));
        return absl::OkStatus();
      }));
  return for_each_row("SELECT game FROM games",
                      [&](const SqliteStatement& row) {
                        proto::BookGame game;
                        const absl::Status status =
                            game.ParseFromString(row.Bytes(0))
                                ? CheckGame(game)
                                : absl::InvalidArgumentError("not a BookGame");
                        if (!status.ok()) return Damaged(db_, "game", status);
                        games_.push_back(std::move(game));
                        return absl::OkStatus();
                      });
}

std::vector<State> OpeningBook::Starts() const {
  std::map<std::pair<Variant, std::string>, State> starts;
  const auto add = [&](const State& start) {
    starts.emplace(std::pair(start.variant, FormatRuleOptions(start.options)),
                   start);
  };
  for (const SearchedPosition& position : positions_) {
    const State& state = position.state;
    if (state == InitialState(state.variant, state.options)) add(state);
  }
  for (const proto::BookGame& game : games_) add(*StartOf(game));
  std::vector<State> list;
  for (const auto& [name, start] : starts) list.push_back(start);
  return list;
}

absl::Status OpeningBook::SetPlayer(const BookPlayer& player) {
  TARA_RETURN_IF_ERROR(db_.InTransaction("cannot write", [&]() -> absl::Status {
    for (const auto& [name, value] : {std::pair("player", player.spec),
                                      std::pair("identity", player.identity)}) {
      TARA_ASSIGN_OR_RETURN(SqliteStatement insert,
                            db_.Prepare("INSERT INTO book VALUES (?, ?)"));
      insert.BindText(1, name);
      insert.BindText(2, value);
      TARA_RETURN_IF_ERROR(insert.Step("cannot write").status());
    }
    return absl::OkStatus();
  }));
  player_ = player;
  return absl::OkStatus();
}

absl::Status OpeningBook::AddPositions(
    absl::Span<const SearchedPosition> positions) {
  TARA_RETURN_IF_ERROR(db_.InTransaction("cannot write", [&]() -> absl::Status {
    TARA_ASSIGN_OR_RETURN(
        SqliteStatement insert,
        db_.Prepare("INSERT INTO positions (position, search) VALUES (?, ?)"));
    for (const SearchedPosition& position : positions) {
      insert.BindText(1, PositionToText(position.state));
      insert.BindBlob(2, position.search.SerializeAsString());
      TARA_RETURN_IF_ERROR(insert.Step("cannot add a position").status());
      insert.Reset();
    }
    return absl::OkStatus();
  }));
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> OpeningBook::AddGames(
    absl::Span<const proto::GameRecord> games) {
  std::vector<proto::BookGame> added;
  TARA_RETURN_IF_ERROR(db_.InTransaction("cannot write", [&]() -> absl::Status {
    TARA_ASSIGN_OR_RETURN(
        SqliteStatement insert,
        db_.Prepare("INSERT OR IGNORE INTO games VALUES (?, ?) RETURNING 1"));
    for (const proto::GameRecord& record : games) {
      TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                            record::Replay(record));
      proto::BookGame game;
      game.set_variant(record.variant());
      game.set_rule_options(record.rule_options());
      for (const proto::Step& step : record.steps()) {
        if (game.action_size() == kBookPlies) break;
        game.add_action(step.action());
      }
      game.set_opening_plies(std::min<uint32_t>(
          record.opening_plies(), static_cast<uint32_t>(game.action_size())));
      const int winner = replayed.outcome.winner();
      game.set_red_half_points(winner < 0 ? 1 : winner == kRed ? 2 : 0);
      game.set_same_game(record::SameGameKey(record));
      // Games of contests have no index of their own.
      insert.BindText(
          1, absl::StrCat(
                 record.model_id(), "/", record.seed(), "/",
                 record.has_contest() ? record.place() : record.game_index()));
      insert.BindBlob(2, game.SerializeAsString());
      TARA_ASSIGN_OR_RETURN(const bool is_new,
                            insert.Step("cannot add a game"));
      insert.Reset();
      if (is_new) added.push_back(std::move(game));
    }
    return absl::OkStatus();
  }));
  games_.insert(games_.end(), added.begin(), added.end());
  return static_cast<int64_t>(added.size());
}

// --- The tree ----------------------------------------------------------------

OpeningTree::OpeningTree(const OpeningBook& book, const State& start,
                         const std::optional<State>& also)
    : start_(start) {
  AddNode(RepresentativeOf(start));
  if (also.has_value() && !also->finished()) AddNode(RepresentativeOf(*also));
  for (const SearchedPosition& position : book.positions()) {
    if (position.state.variant != start.variant) continue;
    SetSearch(position.search, nodes_[AddNode(position.state)]);
  }
  for (const proto::BookGame& game : book.games()) CountGame(game);
  Evaluate();
}

int OpeningTree::AddNode(const State& representative) {
  const auto [found, is_new] =
      places_.emplace(representative, static_cast<int>(nodes_.size()));
  if (!is_new) return found->second;
  Node node;
  node.state = representative;
  LegalActions(representative).ForEach([&](Action action) {
    State next = representative;
    ApplyAction(action, next);
    const bool same_side = !next.finished() && next.side() == kRed;
    if (!next.finished()) next = RepresentativeOf(next);
    auto edge = std::find_if(
        node.edges.begin(), node.edges.end(), [&](const Edge& other) {
          return other.next == next && other.same_side == same_side;
        });
    if (edge == node.edges.end()) {
      edge = node.edges.insert(edge, {.next = next, .same_side = same_side});
      if (next.finished()) {
        const Outcome outcome = Score(next);
        edge->known = true;
        edge->score = (1 + outcome.result()) / 2.0;
        edge->margin = outcome.margin();
      }
    }
    edge->actions.push_back(action);
  });
  nodes_.push_back(std::move(node));
  return found->second;
}

size_t OpeningTree::EdgeOf(const Node& node, Action action) {
  const auto found = std::find_if(
      node.edges.begin(), node.edges.end(), [action](const Edge& edge) {
        return std::find(edge.actions.begin(), edge.actions.end(), action) !=
               edge.actions.end();
      });
  return static_cast<size_t>(found - node.edges.begin());
}

void OpeningTree::SetSearch(const proto::BookPosition& search, Node& node) {
  node.simulations = static_cast<int>(search.simulations());
  node.own_score = search.score();
  node.own_margin = search.margin();
  int i = 0;
  LegalActions(node.state).ForEach([&](Action action) {
    Edge& edge = node.edges[EdgeOf(node, action)];
    edge.prior += search.prior(i);
    edge.visits += search.visits(i);
    edge.visited_score +=
        search.visits(i) * static_cast<double>(search.action_score(i));
    ++i;
  });
  for (Edge& edge : node.edges) {
    if (edge.visits > 0) edge.visited_score /= static_cast<double>(edge.visits);
  }
}

void OpeningTree::Add(absl::Span<const SearchedPosition> positions) {
  for (const SearchedPosition& position : positions) {
    SetSearch(position.search, nodes_[AddNode(position.state)]);
  }
  Evaluate();
}

void OpeningTree::CountGame(const proto::BookGame& game) {
  if (game.variant() != Info(start_.variant).id ||
      game.rule_options() != FormatRuleOptions(start_.options)) {
    return;
  }
  ++games_;
  // The same game over again shows nothing new.
  if (game.same_game() != 0 && !seen_.insert(game.same_game()).second) return;
  ++distinct_games_;
  State state = start_;
  for (int ply = 0; ply < game.action_size(); ++ply) {
    const Action action = static_cast<Action>(game.action(ply));
    const Symmetry symmetry = RepresentativeSymmetry(state);
    const auto found = places_.find(TransformState(symmetry, state));
    if (found != places_.end()) {
      Node& node = nodes_[found->second];
      Edge& edge = node.edges[EdgeOf(node, TransformAction(symmetry, action))];
      const auto red = static_cast<int>(game.red_half_points());
      const int half_points = state.side() == kRed ? red : 2 - red;
      edge.games.wins += half_points == 2;
      edge.games.draws += half_points == 1;
      edge.games.losses += half_points == 0;
      edge.games.chosen += ply >= static_cast<int>(game.opening_plies());
    }
    ApplyAction(action, state);
  }
}

void OpeningTree::Evaluate() {
  for (Node& node : nodes_) {
    node.depth = -1;
    for (Edge& edge : node.edges) {
      if (edge.next.finished() || edge.node >= 0) continue;
      const auto found = places_.find(edge.next);
      if (found != places_.end()) edge.node = found->second;
    }
  }
  // Ordered by depth, the start first.
  std::vector<int> order = {0};
  nodes_[0].depth = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const int depth = nodes_[order[i]].depth;
    for (const Edge& edge : nodes_[order[i]].edges) {
      if (edge.node < 0 || nodes_[edge.node].depth >= 0) continue;
      nodes_[edge.node].depth = depth + 1;
      order.push_back(edge.node);
    }
  }
  positions_ = 0;
  deepest_ = 0;
  for (const int i : order) {
    if (nodes_[i].simulations == 0) continue;
    ++positions_;
    deepest_ = std::max(deepest_, nodes_[i].depth);
  }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    EvaluateNode(nodes_[*i]);
  }
  for (Node& node : nodes_) {
    if (node.depth < 0) EvaluateNode(node);
  }
}

void OpeningTree::EvaluateNode(Node& node) const {
  const Edge* most_visited = nullptr;
  const Edge* best = nullptr;
  for (Edge& edge : node.edges) {
    if (edge.node >= 0 && nodes_[edge.node].simulations > 0) {
      const Node& next = nodes_[edge.node];
      const bool deeper = next.depth > node.depth;
      const double score = deeper ? next.score : next.own_score;
      const double margin = deeper ? next.margin : next.own_margin;
      edge.known = true;
      edge.score = edge.same_side ? score : 1 - score;
      edge.margin = edge.same_side ? margin : -margin;
    }
    if (edge.known && (best == nullptr ||
                       std::tie(edge.score, edge.margin, edge.visits) >
                           std::tie(best->score, best->margin, best->visits))) {
      best = &edge;
    }
    if (most_visited == nullptr ||
        std::tie(edge.visits, edge.prior) >
            std::tie(most_visited->visits, most_visited->prior)) {
      most_visited = &edge;
    }
  }
  node.best = static_cast<size_t>((best != nullptr ? best : most_visited) -
                                  node.edges.data());
  if (node.simulations == 0) return;
  const bool backed_up = most_visited->known;
  node.score = backed_up ? best->score : node.own_score;
  node.margin = backed_up ? best->margin : node.own_margin;
  for (Edge& edge : node.edges) {
    const double best_score =
        edge.known ? node.score : most_visited->visited_score;
    const double score = edge.known ? edge.score : edge.visited_score;
    edge.loss = std::max(0.0, best_score - score);
  }
}

std::vector<State> OpeningTree::Wanted(int most) const {
  if (most <= 0) return {};
  if (nodes_[0].simulations == 0) return {nodes_[0].state};
  constexpr double kFirst = -1;  // before all others
  std::vector<double> cost(nodes_.size(), INFINITY);
  cost[0] = 0;
  // Dijkstra's algorithm: the cheapest line to each position.
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.emplace(0, 0);
  std::unordered_map<State, size_t, HashOfState> place_of;
  std::vector<std::pair<double, State>> wanted;
  while (!queue.empty()) {
    const auto [so_far, i] = queue.top();
    queue.pop();
    if (so_far > cost[i]) continue;
    for (const Edge& edge : nodes_[i].edges) {
      if (edge.next.finished()) continue;
      const double here = so_far + edge.loss + kPlyCost;
      if (edge.known) {
        if (here < cost[edge.node]) {
          cost[edge.node] = here;
          queue.emplace(here, edge.node);
        }
        continue;
      }
      if (i != 0 && edge.visits == 0) continue;
      const double wish = i == 0 ? kFirst : here;
      const auto [found, is_new] = place_of.emplace(edge.next, wanted.size());
      if (is_new) {
        wanted.emplace_back(wish, edge.next);
      } else {
        double& known = wanted[found->second].first;
        known = std::min(known, wish);
      }
    }
  }
  std::stable_sort(
      wanted.begin(), wanted.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (wanted.size() > static_cast<size_t>(most)) {
    wanted.resize(static_cast<size_t>(most));
  }
  std::vector<State> states;
  for (const auto& [wish, state] : wanted) states.push_back(state);
  return states;
}

std::vector<Action> OpeningTree::LineFrom(State state) const {
  std::vector<Action> line;
  while (!state.finished() && line.size() + 1 < kMaxLineLength) {
    const Symmetry symmetry = RepresentativeSymmetry(state);
    const auto found = places_.find(TransformState(symmetry, state));
    if (found == places_.end()) break;
    const Node& node = nodes_[found->second];
    if (node.simulations == 0) break;
    const Edge& best = node.edges[node.best];
    const Action action =
        TransformAction(Inverse(symmetry), best.actions.front());
    line.push_back(action);
    ApplyAction(action, state);
  }
  return line;
}

bool OpeningPosition::empty() const {
  return simulations == 0 &&
         std::all_of(actions.begin(), actions.end(), [](const auto& action) {
           return action.games.games() == 0;
         });
}

std::optional<OpeningPosition> OpeningTree::At(const State& state) const {
  if (state.finished()) return std::nullopt;
  const Symmetry symmetry = RepresentativeSymmetry(state);
  const auto found = places_.find(TransformState(symmetry, state));
  if (found == places_.end()) return std::nullopt;
  const Node& node = nodes_[found->second];
  // A position of games that begin differently.
  if (node.depth < 0 && node.simulations > 0) return std::nullopt;
  OpeningPosition position = {.state = state, .simulations = node.simulations};
  if (node.simulations > 0) {
    position.score = node.score;
    position.margin = node.margin;
  }
  for (const Edge& edge : node.edges) {
    OpeningAction action = {.known = edge.known,
                            .loss = edge.loss,
                            .prior = edge.prior,
                            .visits = edge.visits,
                            .games = edge.games};
    if (edge.known) {
      action.score = edge.score;
      action.margin = edge.margin;
      action.node = edge.node;
    } else if (edge.visits > 0) {
      action.score = std::max(0.0, node.score - edge.loss);
    }
    position.actions.push_back(std::move(action));
  }
  LegalActions(state).ForEach([&](Action action) {
    position.actions[EdgeOf(node, TransformAction(symmetry, action))]
        .actions.push_back(action);
  });
  for (OpeningAction& action : position.actions) {
    for (const Action each : action.actions) {
      State next = state;
      ApplyAction(each, next);
      if (action.node >= 0) {
        action.from_node.push_back(Inverse(RepresentativeSymmetry(next)));
      }
      if (!action.line.empty()) continue;
      action.line = LineFrom(next);
      action.line.insert(action.line.begin(), each);
    }
  }
  std::stable_sort(
      position.actions.begin(), position.actions.end(),
      [](const OpeningAction& a, const OpeningAction& b) {
        return std::tuple(a.score.value_or(-1), a.games.games(), a.prior) >
               std::tuple(b.score.value_or(-1), b.games.games(), b.prior);
      });
  return position;
}

// --- Growth ------------------------------------------------------------------

namespace {

SearchedPosition Searched(const mcts::Tree& tree) {
  SearchedPosition position = {.state = tree.root()};
  proto::BookPosition& search = position.search;
  const mcts::MarginBounds bounds = tree.root_bounds();
  search.set_score((1 + tree.root_value()) / 2);
  search.set_margin(
      std::clamp<float>(tree.root_margin(), bounds.low, bounds.high));
  search.set_simulations(
      static_cast<uint32_t>(std::max(1, tree.root_visits())));
  for (const mcts::RootAction& action : tree.root_actions()) {
    search.add_prior(action.prior);
    search.add_visits(static_cast<uint32_t>(action.visits));
    search.add_action_score((1 + action.mean_value) / 2);
  }
  return position;
}

}  // namespace

absl::Status GrowBook(const GrowBookOptions& options,
                      mcts::Evaluator& evaluator, OpeningBook& book,
                      OpeningTree& tree) {
  mcts::CachingEvaluator cache(&evaluator, kCachePositions);
  mcts::SearchCounters counters;
  while (tree.positions() < options.positions) {
    const std::vector<State> wanted =
        tree.Wanted(std::min(kRound, options.positions - tree.positions()));
    if (wanted.empty()) break;
    std::vector<SearchedPosition> found(wanted.size());
    std::atomic<int> searched = 0;
    mcts::SearchPositionsOptions search = options.search;
    search.on_progress = [&] {
      if (options.on_progress) options.on_progress(tree.positions() + searched);
    };
    TARA_RETURN_IF_ERROR(mcts::SearchPositions(
        wanted, search, cache,
        [&](size_t place, const mcts::Tree& searched_tree) {
          found[place] = Searched(searched_tree);
          ++searched;
        },
        counters));
    TARA_RETURN_IF_ERROR(book.AddPositions(found));
    tree.Add(found);
  }
  return absl::OkStatus();
}

// --- The report --------------------------------------------------------------

namespace {

using Json = nlohmann::ordered_json;

// Digits beyond these say nothing, and pages have thousands of numbers.
double Rounded(double number) { return std::round(number * 1e4) / 1e4; }

Json OrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(Rounded(*number)) : Json();
}

// A number that not all actions have: null in JSON.
ReportField OptionalField(Name name, Name heading,
                          const std::optional<double>& number,
                          const NumberFormat& format) {
  return number.has_value()
             ? NumberField(name, heading, Rounded(*number), format)
             : JsonField(name, heading, "", nullptr);
}

// Returns where the score of an action comes from.
std::string KnownBy(const OpeningAction& action) {
  if (action.known) return action.node >= 0 ? "book" : "end";
  return action.visits > 0 ? absl::StrCat(action.visits) : "";
}

// The fields of an action's games; without games but their number.
ReportRow GameFields(const ActionGames& games, int64_t chosen_of_all) {
  if (games.games() == 0) {
    return {JsonField("games", "games", "", 0), NoField("", "score %"),
            NoField("", "chosen %")};
  }
  const Interval score = ScoreIntervalOf(SumsOfGames(
      static_cast<double>(games.games()), static_cast<double>(games.wins),
      static_cast<double>(games.draws)));
  const double share = static_cast<double>(games.chosen) /
                       std::max(1.0, static_cast<double>(chosen_of_all));
  ReportField chosen = NumberField("chosen", "chosen %", share, kPercent);
  if (chosen_of_all == 0) chosen.text = "";
  chosen.value = games.chosen;
  return {CountField("games", "games", games.games()),
          ShareField(
              "score", "score %",
              {Rounded(score.mean), Rounded(score.low), Rounded(score.high)}),
          chosen, CountField("wins", "", games.wins),
          CountField("draws", "", games.draws)};
}

// The fields of an action of a position.
ReportRow ActionFields(const OpeningAction& action,
                       const OpeningPosition& position, int64_t chosen_of_all) {
  std::vector<std::string> names;
  for (const Action each : action.actions) {
    names.push_back(ActionToText(each, position.state));
  }
  const std::vector<std::string> line =
      LineToTexts(action.line, position.state);
  const std::optional<double> loss =
      action.score.has_value() ? std::optional(action.loss) : std::nullopt;
  ReportField prior =
      NumberField("prior", "prior %", Rounded(action.prior), kPercent);
  if (position.simulations == 0) prior.text = "";
  return Joined(
      {{JsonField("actions", "action", line.front(), names),
        JsonField("line", "line",
                  absl::StrJoin(line.begin() + 1, line.end(), " "), line),
        TextField("", "same",
                  names.size() > 1 ? absl::StrCat(names.size()) : ""),
        OptionalField("winning", "winning %", action.score, kPercent),
        OptionalField("winning_lost", "lost %", loss, kPercent),
        OptionalField("margin", "points", action.margin,
                      {.digits = 1, .sign = true}),
        JsonField("known", "by", KnownBy(action), action.known), prior,
        CountField("visits", "", action.visits)},
       GameFields(action.games, chosen_of_all)});
}

bool IsKnown(const OpeningAction& action) {
  return action.games.games() > 0 || action.score.has_value();
}

// Returns the actions with entries, or all.
std::vector<ReportRow> ActionRows(const OpeningPosition& position, bool all) {
  int64_t chosen = 0;
  for (const OpeningAction& action : position.actions) {
    chosen += action.games.chosen;
  }
  std::vector<ReportRow> rows;
  for (const OpeningAction& action : position.actions) {
    if (!all && !IsKnown(action)) continue;
    rows.push_back(ActionFields(action, position, chosen));
  }
  return rows;
}

Json PositionJson(const OpeningPosition& position) {
  Json json = {{"position", PositionToText(position.state)},
               {"seat", position.state.seat},
               {"simulations", position.simulations},
               {"winning", OrNull(position.score)},
               {"margin", OrNull(position.margin)}};
  json["actions"] = RowsToJson(ActionRows(position, /*all=*/true));
  return json;
}

Json HeadJson(const OpeningTree& tree, const BookSource& source) {
  const State& start = tree.start();
  Json json = {{"book", source.book},
               {"variant", std::string(Info(start.variant).id)},
               {"name", std::string(Info(start.variant).name)},
               {"options", RuleOptionsToJson(start.variant, start.options)},
               {"player", source.player.empty() ? Json() : Json(source.player)},
               {"positions", tree.positions()},
               {"deepest", tree.deepest()},
               {"games_in_book", tree.games()},
               {"distinct_games_in_book", tree.distinct_games()}};
  if (!source.not_learned.empty()) json["not_learned"] = source.not_learned;
  return json;
}

std::string BookText(const OpeningTree& tree, const OpeningPosition& position,
                     const BookSource& source, bool colour) {
  const State& state = position.state;
  std::string text = absl::StrCat(
      BookLine(tree, source),
      NotLearnedLine(VariantText(tree.start()), source.not_learned), "\n",
      DrawBoard(state, {.colour = colour}));
  if (position.score.has_value()) {
    absl::StrAppendFormat(
        &text, "Worth %s %% of winning and %+.1f points to the side to move.\n",
        Percent(*position.score), *position.margin);
  }
  const std::vector<ReportRow> rows = ActionRows(position, /*all=*/false);
  if (rows.empty()) {
    return absl::StrCat(text, "The book has no action of it.\n");
  }
  absl::StrAppend(&text, "\n", TableText(WithoutEmptyColumns(rows)));
  const size_t left = position.actions.size() - rows.size();
  if (left > 0) {
    absl::StrAppend(&text, left, " more, which neither searches nor games ",
                    "looked into\n");
  }
  return text;
}

// Returns the cells of an action that are the same however the board is turned,
// with their headings: all but the action and its line.
std::pair<Json, Json> CellsOf(const ReportRow& row, bool with_games) {
  Json headings = Json::array(), cells = Json::array();
  for (const ReportField& field : row) {
    if (field.heading.empty() || field.name == "actions" ||
        field.name == "line" || field.heading == "same") {
      continue;
    }
    if (!with_games && field.heading == "games") break;  // what follows, too
    headings.push_back(field.heading);
    cells.push_back(Typeset(field.range.empty() || field.range == "-"
                                ? field.text
                                : absl::StrCat(field.text, " ", field.range)));
  }
  return {headings, cells};
}

// Returns what the best first action is worth, and what the worst one loses.
std::string VerdictOf(const OpeningTree& tree) {
  const std::optional<OpeningPosition> start = tree.At(tree.start());
  const OpeningAction& best = start->actions.front();
  if (!best.score.has_value()) {
    return "The book has no searched action of the start.";
  }
  std::string text = absl::StrCat(
      "The best first action is ", ActionToText(best.actions[0], start->state),
      best.actions.size() > 1 ? " (or one like it)" : "", ", with ",
      Percent(*best.score), " % of winning for ",
      SeatName(tree.start().variant, tree.start().seat));
  const OpeningAction& worst = *std::find_if(
      start->actions.rbegin(), start->actions.rend(),
      [](const OpeningAction& action) { return action.score.has_value(); });
  if (worst.loss > 0) {
    absl::StrAppend(&text, "; ", ActionToText(worst.actions[0], start->state),
                    " gives away the most, ", Percent(worst.loss), " %");
  }
  return text + ".";
}

std::string BookPage(const OpeningTree& tree, const BookSource& source) {
  Json json = HeadJson(tree, source);
  json["seats"] = Json::array();
  for (int seat = 0; seat < Info(tree.start().variant).seats; ++seat) {
    json["seats"].push_back(
        SeatName(tree.start().variant, static_cast<Seat>(seat)));
  }
  // By place in the tree, each as its representative; null if no line leads
  // there. Omits actions without any data.
  json["places"] = Json::array();
  for (int node = 0; node < tree.size(); ++node) {
    std::optional<OpeningPosition> position =
        tree.At(tree.representative(node));
    if (!position.has_value()) {
      json["places"].push_back(nullptr);
      continue;
    }
    const size_t left = std::erase_if(
        position->actions,
        [](const OpeningAction& action) { return !IsKnown(action); });
    Json made = PositionJson(*position);
    made["left"] = left;
    if (position->score.has_value()) {
      const ReportField margin =
          NumberField("", "", *position->margin, {.digits = 1, .sign = true});
      made["shown"] = {Percent(*position->score), Typeset(margin.text)};
    }
    const std::vector<ReportRow> rows = ActionRows(*position, /*all=*/true);
    for (size_t i = 0; i < rows.size(); ++i) {
      Json& shown = made["actions"][i];
      std::tie(json["headings"], shown["cells"]) =
          CellsOf(rows[i], tree.games() > 0);
      const OpeningAction& action = position->actions[i];
      if (action.node < 0) continue;
      Json symmetries = Json::array();
      for (const Symmetry& symmetry : action.from_node) {
        symmetries.push_back({symmetry.board, symmetry.seat_shift});
      }
      shown["next"] = {{"place", action.node},
                       {"symmetries", std::move(symmetries)}};
    }
    json["places"].push_back(std::move(made));
  }
  // In JSON "<" occurs only in strings, where "</" could end the element.
  const std::string data =
      absl::StrReplaceAll(JsonText(json), {{"<", "\\u003c"}});
  return ReportPage(
      "Opening book",
      absl::StrCat("<div class=\"verdict\"><p>", VerdictOf(tree),
                   "</p></div>\n<p id=\"about\">",
                   Escaped(BookLine(tree, source)),
                   Escaped(NotLearnedLine(VariantText(tree.start()),
                                          source.not_learned)),
                   "</p>\n", BookPageBody(),
                   "<script type=\"application/json\" id=\"report\">", data,
                   "</script>\n"),
      BookPageScript());
}

}  // namespace

std::string BookLine(const OpeningTree& tree, const BookSource& source) {
  return absl::StrCat(
      source.book, ": ", VariantText(tree.start()), ", ", tree.positions(),
      " positions searched",
      source.player.empty() ? "" : absl::StrCat(" by ", source.player),
      tree.positions() > 0 ? absl::StrCat(", ", tree.deepest(), " plies deep")
                           : "",
      "; ", tree.games(), " games",
      tree.distinct_games() < tree.games()
          ? absl::StrCat(", ", tree.distinct_games(),
                         " different up to symmetry")
          : "",
      "\n");
}

Report ReportBook(const OpeningTree& tree, const OpeningPosition& position,
                  const BookSource& source, bool colour) {
  Json json = HeadJson(tree, source);
  json.update(PositionJson(position));
  return {.text = BookText(tree, position, source, colour),
          .json = JsonText(json),
          .page = [&] { return BookPage(tree, source); }};
}

}  // namespace tara::eval
