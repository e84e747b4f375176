#ifndef TARA_EVAL_BALANCE_FAIR_SEARCH_H_
#define TARA_EVAL_BALANCE_FAIR_SEARCH_H_

// Which compensation makes a game even, found by games whose players know it.

#include <array>
#include <map>
#include <vector>

#include "absl/types/span.h"

namespace tara::eval {

// Half points of compensation that a search may try, both included; 0 is among
// them.
struct CompensationRange {
  int low = -24;
  int high = 24;

  friend bool operator==(const CompensationRange&,
                         const CompensationRange&) = default;
};

// What a search has found, in half points for the second side.
struct CompensationEstimate {
  // The compensation whose score is nearest to 1/2; of those that differ by
  // less than kScoreTolerance, the one next to 0.
  int halves = 0;
  // 95 % interval of it; beyond the range by 1 where it is open.
  int low = 0;
  int high = 0;
  // Whether all of the range is too little.
  bool beyond = false;
};

// Half points that are no more even than fewer by more than this are no better.
inline constexpr double kScoreTolerance = 0.01;

// Games with one compensation, which their players knew.
struct CompensationGames {
  int wins = 0;  // the first side's
  int draws = 0;
  int losses = 0;
  // The first side's score by the fitted curve.
  double fitted = 0;

  int games() const { return wins + draws + losses; }
};

// So many games to be played with a compensation.
struct CompensationBlock {
  int halves = 0;
  int games = 0;
};

// The search. With s(c) the first side's score when c points are given to the
// second, and s0(c) what it would have been in games played without if c had
// been given afterwards, the games are fitted by
//   logit s(c) = b (logit s0(c) - u),   1/4 <= b <= 4,
// the maximum of the likelihood, a draw being half a win and half a loss (less
// 0.005 u^2, which decides where the games do not): what
// players do who know of the points may move the curve and make it steeper or
// flatter. s0 has its steps where margins do not occur; five parts in a
// thousand are a logistic distribution, so that it falls everywhere. s(c) = 1/2
// where logit s0(c) = u, and the interval has all u whose likelihood, maximized
// over b, is no further below the maximum than
//   2 ln(L_max / L) <= 3.84,
// each by the half points that are nearest to even with it, and those that are
// as good (kScoreTolerance).
//
// Games are played by blocks of kSearchBlock, half of each at d below the
// estimate, half at d above: d is 3 points, and 2, 1 and 1/2 as the interval
// lies within them; within 1/2 all are at the estimate. That games are placed
// by the results of others leaves the likelihood as it is. Source: Wu 1985,
// "Efficient sequential designs with binary data", JASA 80. The tests have the
// coverage, by simulation. A value; not thread-safe.
inline constexpr int kSearchBlock = 32;

class FairSearch {
 public:
  // Begins with games played without compensation, by the first side's margins.
  // REQUIRES: not empty; range.low <= 0 <= range.high.
  FairSearch(absl::Span<const int> margins, const CompensationRange& range);

  // Returns what to play next, kSearchBlock games or `most`; nothing where the
  // interval has one compensation only.
  std::vector<CompensationBlock> Next(int most) const;

  // Counts a game: `result` is 1 where the first side won, -1 where it lost.
  // REQUIRES: halves is in the range. The estimate is as of the last Fit.
  void Add(int halves, int result);
  // Takes the games added since into account.
  void Fit();

  const CompensationEstimate& estimate() const { return estimate_; }
  const CompensationRange& range() const { return range_; }
  // By half points; those of the beginning are among them.
  const std::map<int, CompensationGames>& games() const { return games_; }

 private:
  struct Best {
    double log_likelihood;
    double slope;
  };

  double Predicted(int halves) const { return logits_[halves + 24]; }
  double LogLikelihood(double crossing, double slope) const;
  // Over slopes.
  Best MostLikely(double crossing) const;

  const CompensationRange range_;
  std::array<double, 49> logits_ = {};  // of s0, by half points from -24 on
  std::map<int, CompensationGames> games_;
  CompensationEstimate estimate_;
  // The interval without what is as good as its ends.
  int first_ = 0;
  int last_ = 0;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_FAIR_SEARCH_H_
