#ifndef TARA_CORE_BATCH_KING_GAMES_H_
#define TARA_CORE_BATCH_KING_GAMES_H_

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::batch {

// Turns of High Kings in lanes, by the formulas of Rules
// (tara/core/rules/high_kings.h) without branches on a lane. Lanes are in
// different phases: what some lane needs is computed for all, and masks select.
//
// All lanes change sides together; `kRole` says which of the two moves, and
// nothing is swapped. A turn is taken in two halves, Choose and Apply, so that
// other vectors of games can compute while the choice is under way.
template <InstructionSet kSet, typename Rules>
class KingTurns {
 public:
  using W = Word<kSet>;
  using M = Mask<kSet>;

  // What a game has come to is counted in one word, whose fields no game comes
  // near to filling: legal actions, ringforts captured, plies of Manoeuvres
  // (each builds on one of 45 hills), plies.
  static constexpr int kCapturesShift = 24;
  static constexpr int kManoeuvresShift = 37;
  static constexpr int kPliesShift = 43;
  static constexpr uint64_t kLegalMask = (uint64_t{1} << 24) - 1;
  static constexpr uint64_t kCapturesMask = (uint64_t{1} << 13) - 1;
  static constexpr uint64_t kManoeuvresMask = (uint64_t{1} << 6) - 1;

  // Positions by lane; arrays by role. Of a finished game, what scores it.
  struct Position {
    W ringforts[2];
    W kings[2];
    W captured[2];  // kings, by the capturing role
    W ending;       // announced; the turn to come is then the last
    W tally;
  };

  struct Games {
    Position position;
    W no_progress;
    W battle;    // 1 once Battle has started
    W red_role;  // the role that Red plays
    W playing;   // 0: no game is left for this lane
    RandomLanes<kSet> random;
  };

  // What was drawn for the turns to come.
  struct Draws {
    W origin;                     // of the king that moves, if one does
    BitChoice<kSet> destination;  // none: a pass
    W legal;                      // number of legal actions
    M placement;
    M manoeuvres;
    M sacrifice;
    M skipped;    // no legal action
    M defaulted;  // that of a stranded king, which is lost by it
  };

  explicit TARA_INLINE KingTurns(const RuleOptions& options)
      : options_(options) {}

  TARA_INLINE const RuleOptions& options() const { return options_; }

  // Draws an action of each lane.
  template <int kRole>
  TARA_INLINE void Choose(Games& games, Draws& turns) const {
    const rules::BoardView<W> view = ViewOf<kRole>(games.position);
    turns.placement = Less(games.position.tally,
                           W(uint64_t{Rules::kPlacements} << kPliesShift));
    const W stranded = Rules::Stranded(view);
    const Movers movers(
        KeepIf(!turns.placement, FirstNonEmpty(stranded, view.own_kings)));
    const W reached = movers.reached();
    const W apart = Rules::BuildHills(view, view.own);
    const M stuck = IsZero(reached & apart);
    const M battle = NonZero(games.battle) | (stuck & !turns.placement);
    games.battle = KeepIf(battle, W(1));
    turns.manoeuvres = !(battle | turns.placement);
    W targets = Select(battle, Rules::BuildHills(view, view.own_kings), apart);
    const M immobile = IsZero(reached & targets) & !turns.placement;
    // One lane or another nearly always is: no branch.
    targets = Select(immobile, Rules::ImmobileHills(view), targets);
    const M may_pass = immobile & Rules::MayPass(view);
    const W sacrifices = KeepIf(immobile, Rules::SacrificeHills(targets, view));
    const RandomLanes<kSet> before = games.random;
    Draw(movers, targets, sacrifices, may_pass, games.random, turns);
    turns.skipped = IsZero(turns.legal);
    turns.defaulted = turns.skipped & NonZero(stranded);
    if (Any(turns.skipped)) [[unlikely]] {
      games.random.Restore(turns.skipped, before);
    }
  }

  // Plays the actions drawn. Returns which games have ended.
  template <int kRole>
  TARA_INLINE M Apply(const Draws& turns, Games& games) const {
    Position& position = games.position;
    rules::BoardView<W> view = ViewOf<kRole>(position);
    const W own_kings = view.own_kings;
    const W enemy = view.enemy;
    const W vacant = view.vacant();
    const W arrival = turns.destination.Chosen();
    const M progress = Rules::MoveKing(
        {.from = turns.origin, .to = arrival, .sacrifice = turns.sacrifice},
        view);
    W no_progress = KeepIf(!progress, games.no_progress + W(1));
    W counted =
        turns.legal + W(uint64_t{1} << kPliesShift) +
        KeepIf(turns.manoeuvres, W(uint64_t{1} << kManoeuvresShift)) +
        KeepIf(NonZero(arrival & enemy), W(uint64_t{1} << kCapturesShift));
    M passed = IsZero(arrival);
    if (Any(turns.skipped)) [[unlikely]] {
      // Nothing was drawn and nothing done.
      view.own_kings = Select(turns.skipped, own_kings, view.own_kings);
      no_progress = Select(turns.skipped, games.no_progress, no_progress);
      counted = KeepIf(!turns.skipped, counted);
      passed = passed & !turns.skipped;
      Rules::LoseKings(KeepIf(turns.defaulted, Rules::Stranded(view)), view);
      position.captured[1 - kRole] = view.kings_lost;
    }
    position.ringforts[kRole] = view.own;
    position.ringforts[1 - kRole] = view.enemy;
    position.kings[kRole] = view.own_kings;
    position.kings[1 - kRole] = view.enemy_kings;
    position.captured[kRole] = view.kings_captured;
    position.tally += counted;
    games.no_progress = no_progress;

    const M open = IsZero(position.ending);
    const M double_capture = Rules::IsDoubleCapture(view);
    const M stalled = open & !Less(no_progress, W(options_.no_progress_limit));
    const M filled = NonZero(vacant) & IsZero(vacant & ~arrival);
    const W announced =
        Select(passed, W(kPassed), KeepIf(filled, W(kBoardFull)));
    W ending = Select(open, announced, position.ending);
    ending = Select(stalled, W(kNoProgress), ending);
    position.ending =
        Select(double_capture | turns.defaulted, W(kDoubleCapture), ending);
    const M over = options_.last_turns ? !open : NonZero(position.ending);
    return double_capture | stalled | over | turns.defaulted;
  }

 private:
  static constexpr uint64_t kDoubleCapture =
      static_cast<uint64_t>(Ending::kDoubleCapture);
  static constexpr uint64_t kPassed = static_cast<uint64_t>(Ending::kPassed);
  static constexpr uint64_t kBoardFull =
      static_cast<uint64_t>(Ending::kBoardFull);
  static constexpr uint64_t kNoProgress =
      static_cast<uint64_t>(Ending::kNoProgress);

  // The kings that may move, by increasing origin.
  struct Movers {
    W king[3];
    W moves[3];  // knight's moves; may have bits off the board

    explicit TARA_INLINE Movers(W kings) {
      king[0] = FirstBit(kings);
      const W later = kings ^ king[0];
      king[1] = FirstBit(later);
      king[2] = later ^ king[1];
      for (int i = 0; i < 3; ++i) moves[i] = KnightMovesOfOne(king[i]);
    }
    TARA_INLINE W reached() const { return moves[0] | moves[1] | moves[2]; }
  };

  template <int kRole>
  TARA_INLINE rules::BoardView<W> ViewOf(const Position& position) const {
    return {.own = position.ringforts[kRole],
            .enemy = position.ringforts[1 - kRole],
            .own_kings = position.kings[kRole],
            .enemy_kings = position.kings[1 - kRole],
            .kings_captured = position.captured[kRole],
            .kings_lost = position.captured[1 - kRole],
            .options = &options_};
  }

  // Draws from the legal actions: king moves by origin, then destination;
  // sacrifices in the same order; the pass. It and a sacrifice find no hill in
  // the third king's moves.
  static TARA_INLINE void Draw(const Movers& movers, W targets, W sacrifices,
                               M may_pass, RandomLanes<kSet>& random,
                               Draws& turns) {
    const W first = Select(turns.placement, targets, movers.moves[0] & targets);
    const W second = movers.moves[1] & targets;
    const W third = movers.moves[2] & targets;
    const W count1 = Count(first);
    const W count12 = count1 + Count(second);
    const W moves = count12 + Count(third);
    W unpassed = moves;
    if constexpr (Rules::kHasSacrifices) {
      for (int i = 0; i < 3; ++i) {
        unpassed += Count(movers.moves[i] & sacrifices);
      }
    }
    turns.legal = unpassed + KeepIf(may_pass, W(1));
    const W n = random.Below(turns.legal);
    const M is_first = Less(n, count1);
    const M is_early = Less(n, count12);
    W choices = Select(is_early, Select(is_first, first, second), third);
    W left = n - Select(is_early, KeepIf(!is_first, count1), count12);
    turns.origin =
        Select(is_early, Select(is_first, movers.king[0], movers.king[1]),
               movers.king[2]);
    if constexpr (Rules::kHasSacrifices) {
      turns.sacrifice = Less(n, unpassed) & !Less(n, moves);
      if (Any(turns.sacrifice)) [[unlikely]] {
        DrawSacrifice(movers, sacrifices, n - moves, choices, left, turns);
      }
    }
    turns.destination.Choose(choices, left);
  }

  // The n-th sacrifice where one was drawn.
  static TARA_INLINE void DrawSacrifice(const Movers& movers, W sacrifices, W n,
                                        W& choices, W& left, Draws& turns) {
    M open = turns.sacrifice;
    for (int i = 0; i < 3; ++i) {
      const W hills = movers.moves[i] & sacrifices;
      const W count = Count(hills);
      const M chosen = open & Less(n, count);
      choices = Select(chosen, hills, choices);
      left = Select(chosen, n, left);
      turns.origin = Select(chosen, movers.king[i], turns.origin);
      open = open & !chosen;
      n -= count;
    }
  }

  const RuleOptions options_;
};

// Plays games of High Kings in lanes. In every step each lane plays one ply
// (or, next to never, skips a turn), so that the parity of the step says which
// of the two roles moves. A lane whose game has ended continues with the next
// one in the next step. One vector computes while another waits for memory.
template <InstructionSet kSet, typename Rules, typename Jobs, int kVectors>
class KingLanes {
 public:
  using Results = typename Jobs::Results;

  TARA_INLINE KingLanes(const RuleOptions& options, const Jobs& jobs,
                        Results& results)
      : turns_(options), jobs_(jobs), results_(results) {}

  // Plays all games.
  TARA_INLINE void Play() {
    for (Games& games : games_) {
      games = {};
      for (int lane = 0; lane < kLanes; ++lane) StartGame(lane, 0, games);
    }
    while (playing_ > 0) {
      Step<0>();
      Step<1>();
    }
    if (finished_ > 0) ScoreFinished();
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  using Turns = KingTurns<kSet, Rules>;
  using Position = typename Turns::Position;
  using Games = typename Turns::Games;
  static constexpr int kLanes = W::kLanes;
  static constexpr uint64_t kDoubleCapture =
      static_cast<uint64_t>(Ending::kDoubleCapture);

  // Begins the next game, if one is left, in a lane; `role` moves first.
  TARA_INLINE void StartGame(int lane, int role, Games& games) {
    if (jobs_.empty()) {
      games.playing.v[lane] = 0;
      return;
    }
    const Job job = jobs_.Take(lane, games.random);
    const State& start = job.start;
    ++playing_;
    Position& position = games.position;
    const int red_role = role ^ (start.seat & 1);
    for (int side = 0; side < 2; ++side) {
      const int i = red_role ^ side;
      position.ringforts[i].v[lane] = At(start.ringforts, side);
      position.kings[i].v[lane] = At(start.kings, side);
      position.captured[i].v[lane] = At(start.kings_captured, side);
    }
    position.ending.v[lane] = static_cast<uint64_t>(start.ending);
    // Each ply of the placement has left a ringfort.
    const uint64_t plies =
        start.phase != Phase::kPlacement
            ? uint64_t{Rules::kPlacements}
            : static_cast<uint64_t>(__builtin_popcountll(
                  At(start.ringforts, 0) | At(start.ringforts, 1)));
    position.tally.v[lane] = plies << Turns::kPliesShift;
    games.no_progress.v[lane] = start.no_progress;
    games.battle.v[lane] = start.phase == Phase::kBattle;
    games.red_role.v[lane] = static_cast<uint64_t>(red_role);
    games.playing.v[lane] = 1;
    ids_[&games - games_][lane] = job.id;
  }

  // One turn of `kRole` in each lane.
  template <int kRole>
  TARA_INLINE void Step() {
    typename Turns::Draws turns[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      turns_.template Choose<kRole>(games_[i], turns[i]);
    }
    for (int i = 0; i < kVectors; ++i) {
      const M finished = turns_.template Apply<kRole>(turns[i], games_[i]);
      const unsigned ended = Bits(finished & NonZero(games_[i].playing));
      if (ended != 0) [[unlikely]] {
        EndGames(ended, 1 - kRole, games_[i]);
      }
    }
  }

  // Notes the games that have ended and starts the next in their lanes.
  TARA_INLINE void EndGames(unsigned ended, int next_role, Games& games) {
    const Position& position = games.position;
    for (; ended != 0; ended &= ended - 1) {
      const int lane = __builtin_ctz(ended);
      const int i = finished_;
      for (int side = 0; side < 2; ++side) {
        const int role = static_cast<int>(games.red_role.v[lane]) ^ side;
        done_.ringforts[side].v[i] = position.ringforts[role].v[lane];
        done_.kings[side].v[i] = position.kings[role].v[lane];
        done_.captured[side].v[i] = position.captured[role].v[lane];
      }
      done_.ending.v[i] = position.ending.v[lane];
      done_.tally.v[i] = position.tally.v[lane];
      done_ids_[i] = ids_[&games - games_][lane];
      --playing_;
      StartGame(lane, next_role, games);
      if (++finished_ == kLanes) ScoreFinished();
    }
  }

  // Scores the games that have been noted.
  [[gnu::noinline]] void ScoreFinished() {
    rules::BoardView<W> red = {.own = done_.ringforts[0],
                               .enemy = done_.ringforts[1],
                               .own_kings = done_.kings[0],
                               .enemy_kings = done_.kings[1],
                               .kings_captured = done_.captured[0],
                               .kings_lost = done_.captured[1],
                               .options = &turns_.options()};
    const W ending =
        Select(Rules::LoseStranded(red), W(kDoubleCapture), done_.ending);
    const W margin = rules::Margin<Rules>(red);
    if constexpr (Jobs::kStatistics) {
      AddStatistics(FirstLanes<kSet>(finished_),
                    red.kings_captured + red.kings_lost, margin, ending);
    } else {
      WriteMargins(margin, done_ids_, finished_, results_);
    }
    finished_ = 0;
  }

  TARA_INLINE void AddStatistics(M mask, W kings_captured, W margin, W ending) {
    PlayoutStatistics& sums = results_;
    const W tally = done_.tally;
    const W plies = tally >> Turns::kPliesShift;
    AddGames(mask,
             {.length = plies,
              .legal_actions = tally & W(Turns::kLegalMask),
              .margin = margin,
              .ending = ending},
             sums);
    const W ringforts =
        (tally >> Turns::kCapturesShift) & W(Turns::kCapturesMask);
    const W manoeuvres =
        (tally >> Turns::kManoeuvresShift) & W(Turns::kManoeuvresMask);
    const W placements(uint64_t{Rules::kPlacements});
    const W placement = Select(Less(plies, placements), plies, placements);
    sums.captures += Sum(KeepIf(mask, ringforts));
    sums.kings_captured += Sum(KeepIf(mask, kings_captured));
    sums.phase_plies[0] += Sum(KeepIf(mask, placement));
    sums.phase_plies[1] += Sum(KeepIf(mask, manoeuvres));
    sums.phase_plies[2] += Sum(KeepIf(mask, plies - placement - manoeuvres));
  }

  const Turns turns_;
  Jobs jobs_;
  Results& results_;
  int64_t playing_ = 0;
  int finished_ = 0;    // games noted in done_
  Position done_ = {};  // arrays by side
  uint64_t done_ids_[kLanes] = {};
  Games games_[kVectors];
  uint64_t ids_[kVectors][kLanes] = {};
};

template <InstructionSet kSet, typename Rules>
struct KingGames {
  static void PlayAll(const PlayoutRequest& request, PlayoutStatistics& sums) {
    KingLanes<kSet, Rules, RunJobs<kSet>, kMaxVectors> lanes(
        request.start.options, RunJobs<kSet>(request), sums);
    lanes.Play();
  }

  static void PlayFrom(const PlayoutsFromRequest& request) {
    const PositionJobs<kSet> jobs(request, 0, request.count);
    Margins margins = {request.margins};
    WithVectorsFor<kSet, kMaxVectors>(jobs.left(), [&]<int kVectors>() {
      KingLanes<kSet, Rules, PositionJobs<kSet>, kVectors> lanes(
          OptionsOf(request), jobs, margins);
      lanes.Play();
    });
  }

 private:
  static constexpr int kMaxVectors = 4;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KING_GAMES_H_
