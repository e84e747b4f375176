#ifndef TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
#define TARA_CORE_BATCH_HIGH_KINGS_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/high_kings_rules.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/state.h"

namespace tara::batch {

// Plays games of High Kings in lanes. In every step each lane plays one ply
// (or, next to never, skips a turn), so that the parity of the step says which
// of the two roles moves. A lane whose game has ended goes on with the next
// one in the next step; which role Red plays there is kept beside the game.
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
  using Rules = HighKingsRules<kSet, kLevel>;
  using Position = typename Rules::Position;
  using Games = typename Rules::Games;
  static constexpr int kLanes = W::kLanes;
  // Several vectors, so that one computes while another waits for memory.
  static constexpr int kVectors = 4;
  static constexpr uint64_t kDoubleCapture =
      static_cast<uint64_t>(Ending::kDoubleCapture);

  explicit TARA_INLINE HighKingsLanes(const PlayoutRequest& request)
      : request_(request), rules_(request.options) {}

  TARA_INLINE void PlayToTheEnds(PlayoutSums& sums) {
    for (Games& games : games_) {
      games = {};
      for (int lane = 0; lane < kLanes; ++lane) StartGame(lane, 0, games);
    }
    while (playing_ > 0) {
      Step<0>(sums);
      Step<1>(sums);
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
  TARA_INLINE void Step(PlayoutSums& sums) {
    typename Rules::Turns turns[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      rules_.template Choose<kRole>(games_[i], turns[i]);
    }
    for (int i = 0; i < kVectors; ++i) {
      const M finished = rules_.template Apply<kRole>(turns[i], games_[i]);
      const unsigned ended = Bits(finished & NonZero(games_[i].playing));
      if (ended != 0) [[unlikely]] {
        EndGames(ended, 1 - kRole, games_[i], sums);
      }
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
    const W lead = KingdomLead<kSet>(done_.ringforts[0], done_.ringforts[1]);
    const W territory =
        PopCount(done_.ringforts[0]) - PopCount(done_.ringforts[1]);
    const W kings = captured[0] - captured[1];
    // A full tie is one point each, captured kings not counted.
    const W level = TwoTierMargin(lead, territory);
    W margin = level + KeepIf(NonZero(level), kings);
    // Two kings or three count alone.
    margin = Select(NonZero((captured[0] | captured[1]) & W(2)), kings, margin);

    const W tally = done_.tally;
    const W plies = tally >> Rules::kPliesShift;
    AddGames(mask,
             {.length = plies,
              .legal_actions = tally & W(Rules::kLegalMask),
              .margin = margin,
              .ending = ending},
             sums);
    const W ringforts =
        (tally >> Rules::kCapturesShift) & W(Rules::kCapturesMask);
    const W manoeuvres =
        (tally >> Rules::kManoeuvresShift) & W(Rules::kManoeuvresMask);
    const W placement = Select(Less(plies, W(Rules::kPlacementPlies)), plies,
                               W(Rules::kPlacementPlies));
    sums.captures += Sum(KeepIf(mask, ringforts));
    sums.kings_captured += Sum(KeepIf(mask, captured[0] + captured[1]));
    sums.phase_plies[0] += Sum(KeepIf(mask, placement));
    sums.phase_plies[1] += Sum(KeepIf(mask, manoeuvres));
    sums.phase_plies[2] += Sum(KeepIf(mask, plies - placement - manoeuvres));
  }

  const PlayoutRequest request_;
  const Rules rules_;
  int64_t next_game_ = 0;
  int64_t playing_ = 0;
  int fresh_ = 0;  // streams not yet taken: the last of streams_
  RandomLanes<kSet> streams_;
  int finished_ = 0;    // games noted in done_
  Position done_ = {};  // arrays by side
  Games games_[kVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
