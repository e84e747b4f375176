#include "tara/eval/balance/compensation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tara/base/check.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

constexpr int kReplicates = 1000;

// Games by margin, from the least on: all that fair points depend on.
class MarginCounts {
 public:
  // Of margins from `least` to `most`.
  MarginCounts(int least, int most)
      : least_(least), counts_(most - least + 1) {}

  void Clear() { std::fill(counts_.begin(), counts_.end(), 0); }
  void Add(int margin) { ++counts_[margin - least_]; }

  int least() const { return least_; }
  int most() const { return least_ + static_cast<int>(counts_.size()) - 1; }

  double FairPoints() const {
    double games = 0;
    for (const int count : counts_) games += count;
    double below = 0;
    double last_middle = 0;
    int last_margin = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const int margin = least_ + static_cast<int>(i);
      const double middle = (below + counts_[i] / 2.0) / games;
      if (middle >= 0.5) {
        if (below == 0) return margin;
        return last_margin + (margin - last_margin) * (0.5 - last_middle) /
                                 (middle - last_middle);
      }
      below += counts_[i];
      last_middle = middle;
      last_margin = margin;
    }
    return last_margin;
  }

 private:
  const int least_;
  std::vector<int> counts_;
};

MarginCounts CountsFor(absl::Span<const int> margins) {
  const auto [least, most] =
      std::minmax_element(margins.begin(), margins.end());
  return MarginCounts(*least, *most);
}

// The first side's points of a game after compensation.
double ScoreWith(int margin, double points) {
  return margin > points ? 1 : (margin < points ? 0 : 0.5);
}

double MeanScoreWith(absl::Span<const int> margins, double points) {
  double sum = 0;
  for (const int margin : margins) sum += ScoreWith(margin, points);
  return sum / static_cast<double>(margins.size());
}

// The multiple of one half that comes nearest to even. Scores fall as points
// grow, so that it lies next to the fair points.
double PracticalPoints(absl::Span<const int> margins) {
  const auto [least, most] =
      std::minmax_element(margins.begin(), margins.end());
  double best = 0;
  double best_distance = std::abs(MeanScoreWith(margins, 0) - 0.5);
  for (int halves = 2 * *least; halves <= 2 * *most; ++halves) {
    const double points = halves / 2.0;
    const double distance = std::abs(MeanScoreWith(margins, points) - 0.5);
    const bool nearer_to_zero = std::abs(points) < std::abs(best);
    if (distance < best_distance ||
        (distance == best_distance && nearer_to_zero)) {
      best = points;
      best_distance = distance;
    }
  }
  return best;
}

double Mean(absl::Span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// P(|v - 1/2| <= band) of a normal v; of no deviation, whether it is so.
double ShareWithin(double mean, double deviation, double band) {
  if (deviation == 0) return std::abs(mean - 0.5) <= band ? 1 : 0;
  const auto below = [&](double value) {
    return std::erfc((mean - value) / deviation / M_SQRT2) / 2;
  };
  return below(0.5 + band) - below(0.5 - band);
}

// What SpreadOfFirstActions says, but for the interval.
FirstActionSpread Shrink(absl::Span<const FirstActionGames> classes,
                         double band) {
  std::vector<double> means;
  double squares = 0;
  double freedom = 0;
  for (const FirstActionGames& each : classes) {
    means.push_back(Mean(each.scores));
    for (const double score : each.scores) {
      squares += (score - means.back()) * (score - means.back());
    }
    freedom += static_cast<double>(each.scores.size()) - 1;
  }
  // Without two games of any class, a game's variance is that of win or loss.
  const double variance = freedom > 0 ? squares / freedom : 0.25;
  const double middle = Mean(means);
  double between = 0;
  double error = 0;
  for (size_t i = 0; i < means.size(); ++i) {
    between += (means[i] - middle) * (means[i] - middle);
    error += variance / static_cast<double>(classes[i].scores.size());
  }
  const auto count = static_cast<double>(means.size());
  between /= std::max(1.0, count - 1);
  const double t2 = std::max(0.0, between - error / count);
  FirstActionSpread spread = {.deviation = std::sqrt(t2)};
  double actions = 0;
  double within = 0;
  for (size_t i = 0; i < means.size(); ++i) {
    const double s2 = variance / static_cast<double>(classes[i].scores.size());
    const double trust = t2 + s2 > 0 ? t2 / (t2 + s2) : 0;
    const double value = middle + trust * (means[i] - middle);
    spread.shrunk.push_back(value);
    actions += classes[i].size;
    within += classes[i].size * ShareWithin(value, std::sqrt(trust * s2), band);
    if (std::abs(value - 0.5) < std::abs(spread.shrunk[spread.fairest] - 0.5)) {
      spread.fairest = static_cast<int>(i);
    }
  }
  spread.within_band.mean = within / actions;
  return spread;
}

}  // namespace

double FairPoints(absl::Span<const int> margins) {
  TARA_CHECK(!margins.empty(), "a compensation of no games");
  MarginCounts counts = CountsFor(margins);
  for (const int margin : margins) counts.Add(margin);
  return counts.FairPoints();
}

Compensation FairCompensation(absl::Span<const int> margins, Random& random,
                              Clusters clusters) {
  TARA_CHECK(!margins.empty(), "a compensation of no games");
  Compensation compensation;
  MarginCounts counts = CountsFor(margins);
  std::vector<std::vector<int>> drawn;  // margins that are drawn together
  for (size_t i = 0; i < margins.size(); ++i) {
    const size_t of = clusters.empty() ? i : static_cast<size_t>(clusters[i]);
    if (of == drawn.size()) drawn.emplace_back();
    drawn[of].push_back(margins[i]);
  }
  compensation.points = BootstrapInterval(
      static_cast<int>(drawn.size()), kReplicates,
      [&](absl::Span<const int> indices) {
        counts.Clear();
        for (const int index : indices) {
          for (const int margin : drawn[index]) counts.Add(margin);
        }
        return counts.FairPoints();
      },
      random);
  if (counts.least() == counts.most() && drawn.size() < kFewestAlike) {
    compensation.points.low = -std::numeric_limits<double>::infinity();
    compensation.points.high = std::numeric_limits<double>::infinity();
  }
  compensation.practical = PracticalPoints(margins);
  std::vector<double> scores;
  double draws = 0;
  for (const int margin : margins) {
    scores.push_back(ScoreWith(margin, compensation.practical));
    draws += margin == compensation.practical;
  }
  compensation.score = ScoreInterval(scores, clusters);
  compensation.draws = draws / static_cast<double>(margins.size());
  return compensation;
}

FirstActionSpread SpreadOfFirstActions(
    absl::Span<const FirstActionGames> classes, double band, Random& random) {
  TARA_CHECK(!classes.empty(), "no first actions");
  TARA_CHECK(band > 0, "no band");
  FirstActionSpread spread = Shrink(classes, band);
  std::vector<double> shares;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    std::vector<FirstActionGames> drawn(classes.begin(), classes.end());
    for (size_t i = 0; i < drawn.size(); ++i) {
      const auto& scores = classes[i].scores;
      for (double& score : drawn[i].scores) {
        score = scores[random.Below(static_cast<uint32_t>(scores.size()))];
      }
    }
    shares.push_back(Shrink(drawn, band).within_band.mean);
  }
  std::sort(shares.begin(), shares.end());
  spread.within_band.low =
      std::min(spread.within_band.mean, Quantile(shares, 0.025));
  spread.within_band.high =
      std::max(spread.within_band.mean, Quantile(shares, 0.975));
  return spread;
}

Interval ChoosersScore(const Interval& first_side_score) {
  const auto& [mean, low, high] = first_side_score;
  const bool may_be_even = low <= 0.5 && high >= 0.5;
  const double low_end = std::max(low, 1 - low);
  const double high_end = std::max(high, 1 - high);
  return {std::max(mean, 1 - mean),
          may_be_even ? 0.5 : std::min(low_end, high_end),
          std::max(low_end, high_end)};
}

}  // namespace tara::eval
