#ifndef TARA_EVAL_BOOK_BOOK_H_
#define TARA_EVAL_BOOK_BOOK_H_

// An opening book: the first positions of games, what searches find of them,
// and how stored games went on. Positions that are the same but for a symmetry
// (RepresentativeSymmetry) are one.
//
// OpeningBook is the file. OpeningTree is what it knows of the games that begin
// from one start: values backed up from the last positions to the first, games
// counted by action, and what to search next.

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
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/book.pb.h"
#include "proto/game.pb.h"
#include "tara/base/sqlite.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/state_hash.h"

namespace tara::eval {

// The first actions of a game that a book keeps.
inline constexpr int kBookPlies = 16;

// A position that was searched.
struct SearchedPosition {
  State state;  // its own representative
  proto::BookPosition search;
};

// Who searched the positions of a book. Values of two players do not compare.
struct BookPlayer {
  std::string spec;      // as WithPrecision returns it
  std::string identity;  // PlayerIdentity
};

// A book in an SQLite file. What was added is there for good: killing the
// process loses nothing, a power failure the last additions at most. Not
// thread-safe; other processes may read meanwhile.
class OpeningBook {
 public:
  // kReadWrite creates the file. Errors as OpenSqliteFile, and DATA_LOSS for
  // what is no position or game, naming the file.
  static absl::StatusOr<OpeningBook> Open(const std::string& path,
                                          SqliteDatabase::Mode mode);

  // Of a book opened exclusively: FileLock.warning (tara/base/atomic_file.h).
  const std::string& lock_warning() const { return db_.lock_warning(); }
  // Of the searches; none before the first SetPlayer.
  const std::optional<BookPlayer>& player() const { return player_; }
  // In the order in which they were added.
  const std::vector<SearchedPosition>& positions() const { return positions_; }
  const std::vector<proto::BookGame>& games() const { return games_; }
  // Returns the starts of what is in the book: of the games, and the searched
  // positions without a ringfort or king; in order of variants, then options.
  std::vector<State> Starts() const;

  // Errors of the file. REQUIRES: there is none yet.
  absl::Status SetPlayer(const BookPlayer& player);
  // Adds all or, on an error of the file, none. REQUIRES: none is in the book.
  absl::Status AddPositions(absl::Span<const SearchedPosition> positions);
  // Adds the games that are not in the book, and returns how many those were.
  // Errors of the file, and of Replay for a record that cannot be.
  absl::StatusOr<int64_t> AddGames(absl::Span<const proto::GameRecord> games);

 private:
  explicit OpeningBook(SqliteDatabase db) : db_(std::move(db)) {}
  absl::Status Load();

  SqliteDatabase db_;
  std::optional<BookPlayer> player_;
  std::vector<SearchedPosition> positions_;
  std::vector<proto::BookGame> games_;
};

// Games that went on with an action. Scores are those of who played it.
struct ActionGames {
  int64_t wins = 0;
  int64_t draws = 0;
  int64_t losses = 0;
  int64_t chosen = 0;  // by the players, not drawn to open the game

  int64_t games() const { return wins + draws + losses; }
};

// What a book knows of an action, and of those that are the same by a symmetry
// of the position. Scores and points are for the side to move.
struct OpeningAction {
  std::vector<Action> actions;  // in the order of LegalSet::ForEach
  // Whether the position after it was searched, or is the end. The score is
  // then backed up from there; else it is what the search of the position
  // before found, as far below the best.
  bool known = false;
  // None where it was neither searched nor visited.
  std::optional<double> score;
  std::optional<double> margin;  // only of what is known
  double loss = 0;               // of score, against the best
  double prior = 0;
  int64_t visits = 0;
  ActionGames games;
  // Best play by the book from the action on; itself first.
  std::vector<Action> line;
  // The position after it, by its place in the tree; -1: not there. The
  // symmetries, by action, take that one's representative to the position after
  // the action.
  int node = -1;
  std::vector<Symmetry> from_node;
};

// What a book knows of a position.
struct OpeningPosition {
  State state;
  int simulations = 0;  // of its search; 0: there was none
  // Backed up from what follows, for the side to move. None: not searched.
  std::optional<double> score;
  std::optional<double> margin;
  // The best first: by score, then by games, then by priors.
  std::vector<OpeningAction> actions;

  // Whether the book has neither a search nor a game of it.
  bool empty() const;
};

// What a book knows of the games from one start. Values are backed up by
// minimax: a position is worth what its best action is worth, of those whose
// positions were searched, once the most visited one is among them; before, it
// is worth what its own search found. A line back to a position of an earlier
// ply (High Kings) counts as its own search has it.
class OpeningTree {
 public:
  // Takes from the book what begins with `start`. `also` is a position that may
  // have games without having been searched; finished ones are none.
  OpeningTree(const OpeningBook& book, const State& start,
              const std::optional<State>& also = std::nullopt);

  const State& start() const { return start_; }
  // Positions that were searched and that lines from the start reach.
  int positions() const { return positions_; }
  int64_t games() const { return games_; }
  // Up to symmetry: what the actions' games are counted from.
  int64_t distinct_games() const { return distinct_games_; }
  int deepest() const { return deepest_; }  // plies to the last of them

  // Adds positions to those of the book. REQUIRES: none is in the tree.
  void Add(absl::Span<const SearchedPosition> positions);

  // Returns the representatives of the positions to search next, the most
  // wanted first: the start; then those after each first action; then those to
  // which the line gives away the least, where each ply counts as kPlyCost of
  // score. Fewer than `most` only if there are no more.
  std::vector<State> Wanted(int most) const;

  // Returns what is known of a position; nothing if the tree does not have it.
  std::optional<OpeningPosition> At(const State& state) const;
  // Returns the representative at a place, from 0 to size() - 1. Place 0 is the
  // start's; it is there in every tree.
  const State& representative(int node) const { return nodes_[node].state; }
  int size() const { return static_cast<int>(nodes_.size()); }

 private:
  // Actions that lead to positions of one representative.
  struct Edge {
    std::vector<Action> actions;  // in the representative
    State next;                   // representative; the end itself if finished
    bool same_side = false;       // to move afterwards
    double prior = 0;
    int64_t visits = 0;
    double visited_score = 0;  // by the search of the position before
    ActionGames games;
    int node = -1;
    // As things stand (Evaluate).
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
  void SetSearch(const proto::BookPosition& search, Node& node);
  void CountGame(const proto::BookGame& game);
  // Sets depths, values and losses of all that is there.
  void Evaluate();
  void EvaluateNode(Node& node) const;
  // Returns best play from a position, as far as the tree goes.
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

// What a ply more of a line costs, in score, where positions are chosen to be
// searched: a line that gives away 10 % less may be so much deeper, five plies.
inline constexpr double kPlyCost = 0.02;

struct GrowBookOptions {
  int positions = 1000;  // searched ones that the tree is to have
  mcts::SearchPositionsOptions search = {};
  // Called often while searching, by several threads: the positions there are.
  std::function<void(int positions)> on_progress = {};
};

// Searches the positions that a tree of the book wants, and adds them to both,
// until the tree has as many as it is to have or there are no more. The same
// on any number of threads.
//
// Returns CANCELLED when search.stop says so, the evaluator's errors, or those
// of the file; all that was searched by rounds of some dozens stays.
absl::Status GrowBook(const GrowBookOptions& options,
                      mcts::Evaluator& evaluator, OpeningBook& book,
                      OpeningTree& tree);

}  // namespace tara::eval

#endif  // TARA_EVAL_BOOK_BOOK_H_
