#ifndef TARA_CORE_BATCH_HILL_GAMES_H_
#define TARA_CORE_BATCH_HILL_GAMES_H_

// Games in which an action is a hill and a seat without one is out: Sacred
// Hill, Four Treasures, Poisoned Chalice.
//
// A few vectors of games start together and wait for the last, because lengths
// differ little. All lanes have the same seat to move (a seat that skips its
// turn waits for a round), and a group executes a phase only while it has games
// in it. Boards change sides every round: `own` is the side to move.

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

// `Rules` is a class of tara/core/rules with turns of one hill.
template <InstructionSet kSet, typename Rules>
class HillGames {
 public:
  using W = Word<kSet>;
  using M = Mask<kSet>;

  // As many as the processor overlaps, for the steps of a round depend on
  // each other and take longer to finish than to start. More would wait longer
  // for their last game.
  static constexpr int kVectors = 6;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kGames = kVectors * kLanes;

  static void PlayAll(const PlayoutRequest& request, PlayoutStatistics& sums) {
    for (int64_t done = 0; done < request.games; done += kGames) {
      const int64_t left = request.games - done;
      Play(request, request.first_game + done, left < kGames ? left : kGames,
           sums);
    }
  }

 private:
  // Plays the first `games` games of the run from `first_game` on.
  static void Play(const PlayoutRequest& request, int64_t first_game,
                   int64_t games, PlayoutStatistics& sums) {
    HillGames group(request, first_game, games);
    if (games == kGames) group.PlayInStep();
    group.PlayToTheEnd();
    group.Gather(games, sums);
  }

  struct Vector {
    TARA_INLINE Vector() { choice.Clear(); }

    RandomLanes<kSet> random;
    // The hill chosen in the last round: see BitChoice.
    BitChoice<kSet> choice;
    W own{uint64_t{0}};
    W enemy{uint64_t{0}};
    W legal_actions{uint64_t{0}};
    int rounds = 0;
    M manoeuvres{Rules::kHasManoeuvres};
    W manoeuvres_plies{uint64_t{0}};
    // Once a seat is out:
    W length{uint64_t{0}};
    W turns_left;
    M closing{false};
    M finished;
  };

  TARA_INLINE HillGames(const PlayoutRequest& request, int64_t first_game,
                        int64_t games)
      : options_(request.start.options) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t first = v * kLanes;
      vectors_[v].random = RandomLanes<kSet>(
          request.seed, static_cast<uint64_t>(first_game + first));
      vectors_[v].turns_left =
          W(options_.last_turns ? uint64_t{Rules::kSeats - 1} : uint64_t{0});
      vectors_[v].finished = !FirstLanes<kSet>(games - first);
    }
  }

  // Plays as long as every game has an action and none is closing.
  TARA_INLINE void PlayInStep() {
    if constexpr (Rules::kHasManoeuvres) {
      PlayManoeuvres();
      for (Vector& vector : vectors_) {
        vector.manoeuvres_plies = W(static_cast<uint64_t>(vector.rounds));
      }
      if (!PlayOutOfManoeuvres()) return;
    }
    PlayBattle();
  }

  // The stages: rounds until a game leaves its phase. Those return with the
  // vector in question before its choice.

  void PlayManoeuvres() {
    while (true) {
      for (Vector& vector : vectors_) {
        BeginRound(vector);
        const rules::BoardView<W> view = ViewOf(vector);
        const W legal = Rules::ManoeuvresTargets(view);
        if (Any(Rules::ManoeuvresOver(legal, view))) return TakeBack(vector);
        Choose(legal, vector);
      }
    }
  }

  // Returns whether all are in Battle, and none has been out.
  bool PlayOutOfManoeuvres() {
    for (bool any_left = true; any_left;) {
      any_left = false;
      for (Vector& vector : vectors_) {
        BeginRound(vector);
        const W legal = LegalInAnyPhase(vector);
        if (Any(IsZero(legal))) {
          TakeBack(vector);
          return false;
        }
        vector.manoeuvres_plies += KeepIf(vector.manoeuvres, W(1));
        any_left |= Any(vector.manoeuvres);
        Choose(legal, vector);
      }
    }
    return true;
  }

  void PlayBattle() {
    while (true) {
      for (Vector& vector : vectors_) {
        BeginRound(vector);
        const W legal = Rules::BattleTargets(ViewOf(vector));
        if (Any(IsZero(legal))) return TakeBack(vector);
        Choose(legal, vector);
      }
    }
  }

  // Plays on unconditionally.
  void PlayToTheEnd() {
    for (Vector& vector : vectors_) {
      vector.length = W(static_cast<uint64_t>(vector.rounds));
    }
    for (bool playing = true; playing;) {
      playing = false;
      for (Vector& vector : vectors_) {
        if (!Any(!vector.finished)) continue;
        BeginRound(vector);
        const W legal = KeepIf(!vector.finished, LegalInAnyPhase(vector));
        const M acting = NonZero(legal);
        vector.length += KeepIf(acting, W(1));
        if (Any(vector.manoeuvres)) [[unlikely]] {
          vector.manoeuvres_plies += KeepIf(vector.manoeuvres & acting, W(1));
        }
        // A seat that is out announces the end; from then on every turn,
        // played or skipped, is one of those left.
        vector.turns_left -= KeepIf(vector.closing, W(1));
        vector.closing = vector.closing | !acting;
        vector.finished =
            vector.finished | (vector.closing & IsZero(vector.turns_left));
        playing |= Any(!vector.finished);
        // Only games whose seat acts draw a number.
        const RandomLanes<kSet> before = vector.random;
        Choose(legal, vector);
        vector.random.Restore(!acting, before);
      }
    }
    for (Vector& vector : vectors_) BeginRound(vector);
  }

  static TARA_INLINE void BeginRound(Vector& vector) {
    batch::BeginRound(vector.choice, vector.own, vector.enemy);
  }

  // Makes BeginRound begin the same round again.
  static TARA_INLINE void TakeBack(Vector& vector) {
    const W own = vector.own;
    vector.own = vector.enemy;
    vector.enemy = own;
    vector.choice.Clear();
  }

  static TARA_INLINE void Choose(W legal, Vector& vector) {
    const W count = Count(legal);
    vector.choice.Choose(legal, vector.random.Below(count));
    vector.legal_actions += count;
    ++vector.rounds;
  }

  TARA_INLINE rules::BoardView<W> ViewOf(const Vector& vector) const {
    return {.own = vector.own,
            .enemy = vector.enemy,
            .seat = vector.rounds % Rules::kSeats,
            .options = &options_};
  }

  TARA_INLINE W LegalInAnyPhase(Vector& vector) const {
    return batch::LegalInAnyPhase<Rules>(ViewOf(vector), vector.manoeuvres);
  }

  void Gather(int64_t games, PlayoutStatistics& sums) const {
    GameSums<kSet> game_sums;
    W manoeuvres(uint64_t{0});
    W ringforts(uint64_t{0});
    for (int i = 0; i < kVectors; ++i) {
      const Vector& vector = vectors_[i];
      const bool red_to_move = vector.rounds % 2 == 0;
      const W red = red_to_move ? vector.own : vector.enemy;
      const W blue = red_to_move ? vector.enemy : vector.own;
      game_sums.Add(vector.length, vector.legal_actions);
      manoeuvres += vector.manoeuvres_plies;
      ringforts += Count(red | blue);
      CountGames(games - i * kLanes, vector.length,
                 rules::Margin<Rules>(rules::BoardView<W>{
                     .own = red, .enemy = blue, .options = &options_}),
                 sums);
    }
    const int64_t plies = game_sums.AddTo(sums);
    sums.games += games;
    sums.endings[static_cast<int>(Ending::kOut)] += games;
    // Each ply builds a ringfort or replaces one.
    sums.captures += plies - Sum(ringforts);
    sums.phase_plies[static_cast<int>(Phase::kManoeuvres)] += Sum(manoeuvres);
    sums.phase_plies[static_cast<int>(Phase::kBattle)] +=
        plies - Sum(manoeuvres);
  }

  // Adds the first `games` lanes to the distributions.
  static TARA_INLINE void CountGames(int64_t games, W length, W margin,
                                     PlayoutStatistics& sums) {
    alignas(64) uint64_t lengths[kLanes];
    alignas(64) uint64_t margins[kLanes];
    StoreForLanes(length, lengths);
    StoreForLanes(margin, margins);
    for (int i = 0; i < kLanes && i < games; ++i) {
      const int64_t plies = static_cast<int64_t>(lengths[i]);
      if (plies > sums.max_length) sums.max_length = plies;
      ++sums.lengths[plies];  // at most two a hill
      ++sums.margins[static_cast<int64_t>(margins[i]) + kMaxMargin];
    }
  }

  const RuleOptions options_;
  Vector vectors_[kVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_GAMES_H_
