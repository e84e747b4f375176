#ifndef TARA_MCTS_CHOICE_RESIGNATION_H_
#define TARA_MCTS_CHOICE_RESIGNATION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/board.h"

namespace tara::mcts {

struct ResignationOptions {
  // A side resigns if its root value has been at most this value, from -1
  // (certainly lost) to 0, for that many of its own turns in a row. Adaptation
  // may choose lower values, never higher ones. No value: no side resigns.
  std::optional<float> threshold = -0.9f;
  int turns = 3;
  // The share of games that are played to the end anyway, to measure how
  // often resigning would have been wrong.
  float played_on_share = 0.1f;
  // The target: of the games played on that would have been resigned, at most
  // this part is not lost in the end by the side that would have resigned.
  float max_false_positive_rate = 0.05f;
  // Rates of fewer games do not count.
  int min_games = 50;
};

// Counts of games that were played on: for each threshold of a grid, how many
// would have been resigned, and how many of these wrongly. Source of the
// method: Silver et al. 2017 (Nature 550), Methods, "Self-play".
//
// A value type. Counts of several workers add up (under a lock of theirs); as
// networks grow better, start afresh now and then.
class ResignationCounts {
 public:
  // Thresholds are 0, -0.01, ... -0.99.
  static constexpr int kNumThresholds = 100;
  static float Threshold(int index) {
    return -static_cast<float>(index) / kNumThresholds;
  }

  ResignationCounts() = default;
  // Of what the functions below return. REQUIRES: kNumThresholds numbers in
  // both spans.
  ResignationCounts(int64_t games, absl::Span<const int64_t> resigned,
                    absl::Span<const int64_t> wrong);

  ResignationCounts& operator+=(const ResignationCounts& other);

  // Games that were played on.
  int64_t games() const { return games_; }
  // The games that a threshold of the grid would have resigned, and those among
  // them that the resigning side did not lose.
  int64_t resigned(int index) const { return resigned_[index]; }
  int64_t wrong(int index) const { return wrong_[index]; }

  // Returns the highest threshold of the grid, up to options.threshold, at
  // which no more games are resigned wrongly than the target; or no value where
  // too few games remain for a rate: then nobody is to resign. Without enough
  // games for a rate of options.threshold, that one (rounded down to the grid).
  std::optional<float> ChooseThreshold(const ResignationOptions& options) const;

 private:
  friend class ResignationWatch;

  int64_t games_ = 0;
  std::array<int64_t, kNumThresholds> resigned_ = {};
  std::array<int64_t, kNumThresholds> wrong_ = {};
};

// Whether a game is played on even if a side would resign. `seed` is of the
// stream (run seed, game index, StreamPurpose::kResignation): it does not
// depend on who plays the game, and when.
bool IsPlayedOn(const ResignationOptions& options, uint64_t seed);

// Watches one game, from its first turn to its end.
class ResignationWatch {
 public:
  // `threshold` is the result of ChooseThreshold when the game starts; no
  // value: nobody resigns. REQUIRES: options.turns >= 1.
  ResignationWatch(const ResignationOptions& options,
                   std::optional<float> threshold, bool played_on);

  // Takes the root value of a turn's search, for the side to move, in [-1, 1].
  // Returns whether that side resigns now: never if the game is played on.
  bool Observe(Side side, float root_value);

  // Adds a game that was played on to `counts`; does nothing for other games.
  // `winner` is a side, or -1 for a draw. REQUIRES: the game is finished.
  void AddTo(ResignationCounts& counts, int winner) const;

  bool played_on() const { return played_on_; }

 private:
  int turns_;
  std::optional<float> threshold_;
  bool played_on_;
  // The last values of each side, at most `turns_`, the latest last.
  std::array<std::vector<float>, 2> recent_;
  // By threshold of the grid, the side that would have resigned first; -1 none.
  std::array<int8_t, ResignationCounts::kNumThresholds> first_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_RESIGNATION_H_
