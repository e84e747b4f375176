#ifndef TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
#define TARA_CORE_BATCH_HIGH_KINGS_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/high_kings_rules.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_jobs.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/state.h"

namespace tara::batch {

// Plays games of High Kings in lanes. In every step each lane plays one ply
// (or, next to never, skips a turn), so that the parity of the step says which
// of the two roles moves. A lane whose game has ended goes on with the next
// one in the next step; which role Red plays there is kept beside the game.
//
// Several vectors, so that one computes while another waits for memory.
template <InstructionSet kSet, int kLevel, typename Jobs, int kVectors>
class HighKingsLanes {
 public:
  using Results = typename Jobs::Results;

  TARA_INLINE HighKingsLanes(const RuleOptions& options, const Jobs& jobs,
                             Results& results)
      : rules_(options), jobs_(jobs), results_(results) {}

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
  using Rules = HighKingsRules<kSet, kLevel>;
  using Position = typename Rules::Position;
  using Games = typename Rules::Games;
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
    const Start& start = job.start;
    ++playing_;
    Position& position = games.position;
    const int red_role = role ^ (start.seat & 1);
    for (int side = 0; side < 2; ++side) {
      const int i = red_role ^ side;
      position.ringforts[i].v[lane] = start.ringforts[side];
      position.kings[i].v[lane] = start.kings[side];
      position.captured[i].v[lane] = start.kings_captured[side];
    }
    position.ending.v[lane] = static_cast<uint64_t>(start.ending);
    // Each ply of the placement has left a ringfort.
    const uint64_t plies = start.phase != Phase::kPlacement
                               ? Rules::kPlacementPlies
                               : static_cast<uint64_t>(__builtin_popcountll(
                                     start.ringforts[0] | start.ringforts[1]));
    position.tally.v[lane] = plies << Rules::kPliesShift;
    games.no_progress.v[lane] = start.no_progress;
    games.battle.v[lane] = start.phase == Phase::kBattle;
    games.red_role.v[lane] = static_cast<uint64_t>(red_role);
    games.playing.v[lane] = 1;
    ids_[&games - games_][lane] = job.id;
  }

  // One turn of `kRole` in each lane.
  template <int kRole>
  TARA_INLINE void Step() {
    typename Rules::Turns turns[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      rules_.template Choose<kRole>(games_[i], turns[i]);
    }
    for (int i = 0; i < kVectors; ++i) {
      const M finished = rules_.template Apply<kRole>(turns[i], games_[i]);
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

    if constexpr (Jobs::kStatistics) {
      AddStatistics(FirstLanes<kSet>(finished_), captured, margin, ending);
    } else {
      WriteMargins(margin, done_ids_, finished_, results_);
    }
    finished_ = 0;
  }

  TARA_INLINE void AddStatistics(M mask, const W (&captured)[2], W margin,
                                 W ending) {
    PlayoutSums& sums = results_;
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

  const Rules rules_;
  Jobs jobs_;
  Results& results_;
  int64_t playing_ = 0;
  int finished_ = 0;    // games noted in done_
  Position done_ = {};  // arrays by side
  uint64_t done_ids_[kLanes] = {};
  Games games_[kVectors];
  uint64_t ids_[kVectors][kLanes] = {};
};

template <InstructionSet kSet, int kLevel>
struct HighKingsGames {
  static void PlayAll(const PlayoutRequest& request, PlayoutSums& sums) {
    HighKingsLanes<kSet, kLevel, RunJobs<kSet>, kMaxVectors> lanes(
        request.start.options, RunJobs<kSet>(request), sums);
    lanes.Play();
  }

  static void PlayFrom(const PlayoutsFromRequest& request) {
    const PositionJobs<kSet> jobs(request, 0, request.count);
    Margins margins = {request.margins};
    WithVectorsFor<kSet, kMaxVectors>(jobs.left(), [&]<int kVectors>() {
      HighKingsLanes<kSet, kLevel, PositionJobs<kSet>, kVectors> lanes(
          OptionsOf(request), jobs, margins);
      lanes.Play();
    });
  }

 private:
  static constexpr int kMaxVectors = 4;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HIGH_KINGS_LANES_H_
