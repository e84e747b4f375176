#ifndef TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
#define TARA_CORE_BATCH_HIGH_KINGS_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/patterns.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::batch {

// High Kings, Levels 1 and 2, in lanes: the rules of tara/core/rules/
// high_kings.h by formulas without branches on a lane.
//
// In every step each lane plays one ply (or, next to never, skips a turn), so
// that all lanes change sides together: step parity says which of the two
// roles moves, and nothing is swapped. A lane whose game has ended goes on
// with the next one in the next step; in which role Red then plays is kept
// beside the game. Lanes are in different phases: what some lane needs is
// computed for all, and masks select.
template <InstructionSet kSet, int kLevel>
class HighKingsLanes {
 public:
  static void PlayAll(const PlayoutRequest& request, PlayoutSums& sums) {
    HighKingsLanes lanes(request);
    lanes.PlayToTheEnds(sums);
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kLanes = W::kLanes;
  // Several vectors, so that one computes while another waits for memory.
  static constexpr int kVectors = 4;

  static constexpr uint64_t kDoubleCapture =
      static_cast<uint64_t>(Ending::kDoubleCapture);
  static constexpr uint64_t kPassed = static_cast<uint64_t>(Ending::kPassed);
  static constexpr uint64_t kBoardFull =
      static_cast<uint64_t>(Ending::kBoardFull);
  static constexpr uint64_t kNoProgress =
      static_cast<uint64_t>(Ending::kNoProgress);

  // What a game has come to is counted in one word: legal actions, ringforts
  // captured, plies of Manoeuvres, plies.
  static constexpr int kCapturesShift = 24;
  static constexpr int kManoeuvresShift = 37;
  static constexpr int kPliesShift = 43;
  static constexpr uint64_t kPlacementPlies = 6;

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

  explicit TARA_INLINE HighKingsLanes(const PlayoutRequest& request)
      : request_(request), next_game_(0), fresh_(0), finished_(0) {}

  TARA_INLINE void PlayToTheEnds(PlayoutSums& sums) {
    for (Games& games : games_) {
      games = {};
      for (int lane = 0; lane < kLanes; ++lane) StartGame(lane, 0, games);
    }
    while (playing_ > 0) {
      for (Games& games : games_) Step<0>(games, sums);
      for (Games& games : games_) Step<1>(games, sums);
    }
    ScoreFinished(sums);
  }

  // Begins the next game, if one is left, in a lane; `role` moves first.
  TARA_INLINE void StartGame(int lane, int role, Games& games) {
    if (next_game_ == request_.games) {
      games.playing.v[lane] = 0;
      return;
    }
    if (fresh_ == 0) {
      streams_ = RandomLanes<kSet>(
          request_.seed,
          static_cast<uint64_t>(request_.first_game + next_game_));
      fresh_ = kLanes;
    }
    games.random.CopyLane(lane, streams_, kLanes - fresh_--);
    ++next_game_;
    ++playing_;
    Position& position = games.position;
    for (int i = 0; i < 2; ++i) {
      position.ringforts[i].v[lane] = 0;
      position.kings[i].v[lane] = 0;
      position.captured[i].v[lane] = 0;
    }
    position.ending.v[lane] = 0;
    position.tally.v[lane] = 0;
    games.no_progress.v[lane] = 0;
    games.battle.v[lane] = 0;
    games.red_role.v[lane] = static_cast<uint64_t>(role);
    games.playing.v[lane] = 1;
  }

  // One turn of `kRole` in each lane.
  template <int kRole>
  TARA_INLINE void Step(Games& games, PlayoutSums& sums) {
    Position& position = games.position;
    const W zero(uint64_t{0});
    const W one(1);
    const W own = position.ringforts[kRole];
    const W enemy = position.ringforts[1 - kRole];
    const W own_kings = position.kings[kRole];
    const W enemy_kings = position.kings[1 - kRole];
    const W tally = position.tally;
    const W vacant = W(kAllHills) & ~(own | enemy);
    const W near_kings = Adjacent(own_kings);

    // Who may move where.
    const M placement =
        Less(tally, W(kPlacementPlies << kPliesShift));
    W stranded = zero;
    W movers = own_kings;
    if constexpr (kLevel == 2) {
      stranded = own_kings & enemy;
      movers = Select(NonZero(stranded), stranded, movers);
    }
    movers = KeepIf(~placement, movers);
    const W king1 = LowestBit(movers);
    const W later = movers ^ king1;
    const W king2 = LowestBit(later);
    const W king3 = later ^ king2;
    const W moves1 = KnightMovesOfOne(king1);
    const W moves2 = KnightMovesOfOne(king2);
    const W moves3 = KnightMovesOfOne(king3);
    const W reached = moves1 | moves2 | moves3;
    const W apart = vacant & ~Adjacent(own);
    const M battle =
        NonZero(games.battle) | (IsZero(reached & apart) & ~placement);
    const W build_hills = Select(battle, vacant & ~near_kings, apart);
    const M immobile = IsZero(reached & build_hills) & ~placement;

    W targets = build_hills;
    W sacrifices = zero;
    M may_pass(false);
    if (Any(immobile)) {
      const W besieged = Besieged(own);
      const W free = ~(own_kings | enemy_kings | near_kings);
      const W backtracks = own & free;
      const W captures = enemy & besieged & free;
      targets = Select(immobile, backtracks | captures, targets);
      const W enemy_mobile =
          KnightMoves(enemy_kings) & vacant & ~Adjacent(enemy_kings);
      may_pass = immobile & IsZero(stranded) & NonZero(own_kings) &
                 IsZero(enemy_mobile);
      if constexpr (kLevel == 2) {
        const M may_sacrifice =
            immobile & Equal(position.captured[1 - kRole], one);
        sacrifices =
            KeepIf(may_sacrifice, backtracks & Besieged(enemy) & reached);
      }
    }

    // The choice: by origin, then destination; sacrifices; pass.
    const W choices1 = Select(placement, targets, moves1 & targets);
    const W choices2 = moves2 & targets;
    const W choices3 = moves3 & targets;
    const W count1 = PopCount(choices1);
    const W count12 = count1 + PopCount(choices2);
    const W count123 = count12 + PopCount(choices3);
    W count = count123 + KeepIf(may_pass, one);
    W sacrifice_counts[3];
    bool any_sacrifice = false;
    if constexpr (kLevel == 2) {
      any_sacrifice = Any(NonZero(sacrifices));
      if (any_sacrifice) {
        sacrifice_counts[0] = PopCount(sacrifices & moves1);
        sacrifice_counts[1] = PopCount(sacrifices & moves2);
        sacrifice_counts[2] = PopCount(sacrifices & moves3);
        count += sacrifice_counts[0] + sacrifice_counts[1] +
                 sacrifice_counts[2];
      }
    }
    const M skipped = IsZero(count);
    const RandomLanes<kSet> before = games.random;
    W n = games.random.Below(count);
    const M not_first = ~Less(n, count1);
    const M third = ~Less(n, count12);
    W choices = Select(third, choices3, Select(not_first, choices2, choices1));
    W origin = Select(third, king3, Select(not_first, king2, king1));
    M sacrifice(false);
    W left = n - Select(third, count12, KeepIf(not_first, count1));
    if constexpr (kLevel == 2) {
      if (any_sacrifice) {
        const M beyond = ~Less(n, count123);
        const W m = n - count123;
        const W sum12 = sacrifice_counts[0] + sacrifice_counts[1];
        const M s2 = ~Less(m, sacrifice_counts[0]);
        const M s3 = ~Less(m, sum12);
        // The pass lies beyond all of them and finds no bit.
        sacrifice = beyond & Less(m, sum12 + sacrifice_counts[2]);
        choices = Select(
            beyond,
            sacrifices & Select(s3, moves3, Select(s2, moves2, moves1)),
            choices);
        origin =
            Select(beyond, Select(s3, king3, Select(s2, king2, king1)), origin);
        left = Select(
            beyond, m - Select(s3, sum12, KeepIf(s2, sacrifice_counts[0])),
            left);
      }
    }
    const W arrival = NthBit(choices, left);  // none: a pass

    // The move, and whom it captures.
    const M passed = IsZero(arrival);
    W new_own = own | arrival;
    W new_enemy = enemy & ~arrival;
    W new_kings = KeepIf(~passed, (own_kings & ~origin) | arrival);
    W captured = enemy_kings & new_enemy & Besieged(new_own) &
                 Adjacent(arrival);
    if (!request_.options.placement_captures_kings) {
      captured = KeepIf(~placement, captured);
    }
    const W captures = position.captured[kRole] + PopCount(captured);
    const M double_capture = NonZero(captures & W(2));  // two or three
    M progress = NonZero((arrival & ~own) | captured);
    if constexpr (kLevel == 2) {
      if (any_sacrifice) {
        progress = progress | sacrifice;
        const W replaced = KeepIf(sacrifice & ~double_capture, arrival);
        new_own &= ~replaced;
        new_enemy |= replaced;
      }
    }
    W no_progress = KeepIf(~progress, games.no_progress + one);
    W plied = count + W(uint64_t{1} << kPliesShift) +
              KeepIf(~battle & ~placement, W(uint64_t{1} << kManoeuvresShift)) +
              KeepIf(NonZero(arrival & enemy) , W(uint64_t{1} << kCapturesShift));
    M announced = passed;

    const M closing = NonZero(position.ending);
    M finished = double_capture | closing;
    if (Any(skipped)) {
      // The lane's turn passes with nothing done and nothing drawn.
      games.random.Restore(skipped, before);
      new_kings = Select(skipped, own_kings, new_kings);
      no_progress = Select(skipped, games.no_progress, no_progress);
      plied = KeepIf(~skipped, plied);
      announced = announced & ~skipped;
      finished = finished | (skipped & NonZero(stranded));
    }
    const M stalled =
        ~Less(no_progress, W(request_.options.no_progress_limit)) & ~closing & ~skipped;
    finished = finished | stalled;
    const M filled = NonZero(vacant) & IsZero(vacant & ~arrival);
    W ending = position.ending;
    ending = Select(closing, ending,
                    Select(announced, W(kPassed), KeepIf(filled, W(kBoardFull))));

    position.ringforts[kRole] = new_own;
    position.ringforts[1 - kRole] = new_enemy;
    position.kings[kRole] = new_kings;
    position.kings[1 - kRole] = enemy_kings ^ captured;
    position.captured[kRole] = captures;
    position.tally = tally + plied;
    games.no_progress = no_progress;
    games.battle = KeepIf(battle, one);
    position.ending = ending;
    const unsigned ended = Bits(finished & NonZero(games.playing));
    if (ended != 0) [[unlikely]] {
      ending = Select(stalled, W(kNoProgress), ending);
      ending = Select(double_capture, W(kDoubleCapture), ending);
      position.ending = ending;
      EndGames(ended, 1 - kRole, games, sums);
    }
  }

  // Notes the games that have ended and starts the next in their lanes.
  TARA_INLINE void EndGames(unsigned ended, int next_role, Games& games,
                            PlayoutSums& sums) {
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
      --playing_;
      StartGame(lane, next_role, games);
      if (++finished_ == kLanes) ScoreFinished(sums);
    }
  }

  // Scores the games that have been noted.
  [[gnu::noinline]] void ScoreFinished(PlayoutSums& sums) {
    const M mask = FirstLanes<kSet>(finished_);
    finished_ = 0;
    W captured[2] = {done_.captured[0], done_.captured[1]};
    W ending = done_.ending;
    if constexpr (kLevel == 2) {
      // A king still stranded is captured by default (Finish of the rules).
      const M over = Equal(ending, W(kDoubleCapture));
      for (int side = 0; side < 2; ++side) {
        const W stranded =
            KeepIf(~over, done_.kings[side] & done_.ringforts[1 - side]);
        captured[1 - side] += PopCount(stranded);
        ending = Select(NonZero(stranded), W(kDoubleCapture), ending);
      }
    }
    const W lead = CountKingdoms(done_.ringforts[1]) -
                   CountKingdoms(done_.ringforts[0]);
    const W territory =
        PopCount(done_.ringforts[0]) - PopCount(done_.ringforts[1]);
    const W kings = captured[0] - captured[1];
    // A full tie is one point each, captured kings not counted.
    const W level = TwoTierMargin(lead, territory);
    W margin = level + KeepIf(NonZero(level), kings);
    // Two kings or three count alone.
    margin = Select(NonZero((captured[0] | captured[1]) & W(2)), kings, margin);

    const W tally = done_.tally;
    const W plies = tally >> kPliesShift;
    AddGames(mask,
             {.length = plies,
              .legal_actions = tally & W((uint64_t{1} << kCapturesShift) - 1),
              .margin = margin,
              .ending = ending},
             sums);
    const W ringforts = (tally >> kCapturesShift) & W(0x1fff);
    const W manoeuvres = (tally >> kManoeuvresShift) & W(0x3f);
    const W placement =
        Select(Less(plies, W(kPlacementPlies)), plies, W(kPlacementPlies));
    sums.captures += Sum(KeepIf(mask, ringforts));
    sums.kings_captured += Sum(KeepIf(mask, captured[0] + captured[1]));
    sums.phase_plies[0] += Sum(KeepIf(mask, placement));
    sums.phase_plies[1] += Sum(KeepIf(mask, manoeuvres));
    sums.phase_plies[2] += Sum(KeepIf(mask, plies - placement - manoeuvres));
  }

  const PlayoutRequest request_;
  int64_t next_game_;
  int64_t playing_ = 0;
  int fresh_;     // streams not yet taken: the last of streams_
  int finished_;  // games noted in done_
  RandomLanes<kSet> streams_;
  Position done_;  // arrays by side
  Games games_[kVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
