#ifndef TARA_EVAL_BOOK_BOOK_H_
#define TARA_EVAL_BOOK_BOOK_H_

// An opening book: the first positions of games with the results of their
// searches, and the continuations in stored games. Positions that differ by a
// symmetry (RepresentativeSymmetry) are one. OpeningBook is the file,
// OpeningTree its content for the games from one start.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/book.pb.h"
#include "proto/game.pb.h"
#include "tara/base/sqlite.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/state_hash.h"

namespace tara::eval {

// The number of actions of a game that a book stores.
inline constexpr int kBookPlies = 16;

// A position that was searched.
struct SearchedPosition {
  State state;  // its own representative
  proto::BookPosition search = {};
};

// The player that searched the positions of a book: just one.
struct BookPlayer {
  std::string spec;      // as WithPrecision returns it
  std::string identity;  // PlayerIdentity
};

// A book in an SQLite file. Killing the process loses nothing, a power failure
// at most the last additions. Not thread-safe; other processes may read.
class OpeningBook {
 public:
  // Errors of OpenSqliteFile; DATA_LOSS for malformed positions or games.
  static absl::StatusOr<OpeningBook> Open(const std::string& path,
                                          SqliteDatabase::Mode mode);

  // FileLock.warning (tara/base/files.h) of a book opened exclusively.
  const std::string& lock_warning() const { return db_.lock_warning(); }
  // The player of the searches; none before the first SetPlayer.
  const std::optional<BookPlayer>& player() const { return player_; }
  // In the order in which they were added.
  const std::vector<SearchedPosition>& positions() const { return positions_; }
  const std::vector<proto::BookGame>& games() const { return games_; }
  // Returns the starts of the games, and the searched positions without a
  // ringfort or king, by variant, then by options.
  std::vector<State> Starts() const;

  // Errors of the file. REQUIRES: the book has no player.
  absl::Status SetPlayer(const BookPlayer& player);
  // Adds all or, on an error of the file, none. REQUIRES: none is in the book.
  absl::Status AddPositions(absl::Span<const SearchedPosition> positions);
  // Adds the games that are not in the book, and returns their number. Errors
  // of the file, and of Replay for an invalid record.
  absl::StatusOr<int64_t> AddGames(absl::Span<const proto::GameRecord> games);

 private:
  explicit OpeningBook(SqliteDatabase db) : db_(std::move(db)) {}
  absl::Status Load();

  SqliteDatabase db_;
  std::optional<BookPlayer> player_;
  std::vector<SearchedPosition> positions_;
  std::vector<proto::BookGame> games_;
};

// Games that continued with an action. Scores are for the side that played it.
struct ActionGames {
  int64_t wins = 0;
  int64_t draws = 0;
  int64_t losses = 0;
  int64_t chosen = 0;  // by the players, not drawn to open the game

  int64_t games() const { return wins + draws + losses; }
};

// A book's content for an action and those like it by a symmetry of the
// position. Scores and points are for the side to move.
struct OpeningAction {
  std::vector<Action> actions = {};  // in the order of LegalSet::ForEach
  // Whether the position after it was searched or is final, so that the score
  // is backed up from there. Otherwise it is the best one less the difference
  // in the search of the position before.
  bool known = false;
  // None if it was neither searched nor visited.
  std::optional<double> score = {};
  std::optional<double> margin = {};  // only of what is known
  double loss = 0;                    // of score, against the best
  double prior = 0;
  int64_t visits = 0;
  ActionGames games = {};
  // The book's best line, starting with this action.
  std::vector<Action> line = {};
  // The index in the tree of the position after it; -1: not in the tree. By
  // action the symmetry that maps its representative to that position.
  int node = -1;
  std::vector<Symmetry> from_node = {};
};

// A book's content for a position.
struct OpeningPosition {
  State state;
  int simulations = 0;  // of its search; 0: not searched
  // Backed up from later positions, for the side to move. None: not searched.
  std::optional<double> score = {};
  std::optional<double> margin = {};
  // Best first: by score, then by games, then by priors.
  std::vector<OpeningAction> actions = {};

  // Whether the book has neither a search nor a game of the position.
  bool empty() const;
};

// A book's content for the games from one start. Values are backed up by
// minimax: once the most visited action of a position has been searched, its
// value is that of its best searched action. Until then, and for lines that
// return to an earlier ply (High Kings), it is that of its own search.
class OpeningTree {
 public:
  // Copies the content below `start` from the book. `also` is a position that
  // may have games but no search; ignored if finished.
  OpeningTree(const OpeningBook& book, const State& start,
              const std::optional<State>& also = std::nullopt);

  const State& start() const { return start_; }
  // Searched positions that lines from the start reach.
  int positions() const { return positions_; }
  int64_t games() const { return games_; }
  // Different games up to symmetry, which the counts of actions use.
  int64_t distinct_games() const { return distinct_games_; }
  int deepest() const { return deepest_; }  // plies to the last of them

  // Adds positions. REQUIRES: the tree contains none of them.
  void Add(absl::Span<const SearchedPosition> positions);

  // Returns the representatives of the positions to search next, by priority:
  // the start; the positions after each first action; then those whose line
  // gives away the least, with kPlyCost of score added per ply. Returns fewer
  // than `most` only if there are no more.
  std::vector<State> Wanted(int most) const;

  // Returns the content for a position; none if it is not in the tree.
  std::optional<OpeningPosition> At(const State& state) const;
  // Returns the representative of node `node`, from 0 to size() - 1. Node 0 is
  // that of the start, which every tree contains.
  const State& representative(int node) const { return nodes_[node].state; }
  int size() const { return static_cast<int>(nodes_.size()); }

 private:
  // Actions that lead to positions of one representative.
  struct Edge {
    std::vector<Action> actions = {};  // in the representative
    State next;              // representative; the end itself if finished
    bool same_side = false;  // to move afterwards
    double prior = 0;
    int64_t visits = 0;
    double visited_score = 0;  // by the search of the position before
    ActionGames games = {};
    int node = -1;
    // Set by Evaluate.
    bool known = false;
    double score = 0, margin = 0;  // of what is known
    double loss = 0;
  };
  struct Node {
    State state;
    int simulations = 0;
    double own_score = 0, own_margin = 0;  // by its own search
    std::vector<Edge> edges;
    int depth = -1;  // plies from the start; -1: no line leads here
    double score = 0, margin = 0;
    size_t best = 0;  // edge: the best known, or else the most visited
  };
  struct HashOfState {
    size_t operator()(const State& state) const {
      return mcts::HashState(state);
    }
  };

  int AddNode(const State& representative);
  // Returns the index of the edge that has an action of the representative.
  static size_t EdgeOf(const Node& node, Action action);
  void SetSearch(const proto::BookPosition& search, Node& node);
  void CountGame(const proto::BookGame& game);
  // Sets depths, values and losses of all nodes and edges.
  void Evaluate();
  void EvaluateNode(Node& node) const;
  // Returns the best line from a position, to the end of the tree.
  std::vector<Action> LineFrom(State state) const;

  const State start_;
  std::vector<Node> nodes_;
  std::unordered_map<State, int, HashOfState> places_;  // by representative
  int positions_ = 0;
  int deepest_ = 0;
  int64_t games_ = 0;
  int64_t distinct_games_ = 0;
  std::unordered_set<uint64_t> seen_;  // BookGame.same_game
};

// The cost in score of one more ply when the positions to search are chosen.
inline constexpr double kPlyCost = 0.02;

struct GrowBookOptions {
  int positions = 1000;  // searched ones that the tree is to have
  mcts::SearchPositionsOptions search = {};
  // Called often, by several threads, with the number of positions.
  std::function<void(int positions)> on_progress = {};
};

// Searches the positions that the tree wants and adds them to the tree and the
// book, until the tree has `positions` searched ones or there are no more, by
// any number of threads the same. Returns CANCELLED when search.stop returns
// true, or errors of the evaluator or the file; completed rounds are kept.
absl::Status GrowBook(const GrowBookOptions& options,
                      mcts::Evaluator& evaluator, OpeningBook& book,
                      OpeningTree& tree);

// Data of a report in addition to the tree.
struct BookSource {
  std::string book;    // its file
  std::string player;  // of the searches; empty: none
  // The rules that its network has not learned; empty: none.
  std::string not_learned = {};
};

// Returns what the book has, in a line.
std::string BookLine(const OpeningTree& tree, const BookSource& source);

// Returns a report. Its text: the board of the position, with `colour` for a
// terminal, and a table of its actions, best first.
// docs/how-to/explore_openings.md documents its JSON, an object on a line. Its
// page has all positions of the tree, from its start.
Report ReportBook(const OpeningTree& tree, const OpeningPosition& position,
                  const BookSource& source, bool colour = false);

}  // namespace tara::eval

#endif  // TARA_EVAL_BOOK_BOOK_H_
