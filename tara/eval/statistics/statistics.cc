#include "tara/eval/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/option_table.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"

namespace tara::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// More do not help, and their tails take long to compute.
constexpr double kMaxTrials = 1e8;
// Largest difference of values that count as equal.
constexpr double kRounding = 1e-12;

struct Cluster {
  double count = 0;
  double sum = 0;

  double mean() const { return sum / count; }
};

// REQUIRES: one value per cluster number, or no clusters.
std::vector<Cluster> Clustered(absl::Span<const double> values,
                               Clusters clusters) {
  TARA_CHECK(clusters.empty() || clusters.size() == values.size(),
             "each value has a cluster");
  std::vector<Cluster> all;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t of = clusters.empty() ? i : static_cast<size_t>(clusters[i]);
    if (of >= all.size()) all.resize(of + 1);
    ++all[of].count;
    all[of].sum += values[i];
  }
  std::erase_if(all, [](const Cluster& each) { return each.count == 0; });
  return all;
}

// A mean score, and the number of wins and losses that vary as it does: n*.
struct ScoreTrials {
  double score;
  double trials;
};

// REQUIRES: at least one score.
ScoreTrials TrialsOf(const ScoreSums& sums) {
  const double n = sums.count;
  const double mean = (sums.sum + 1) / (n + 2);
  const double variance = (sums.squares + 1) / (n + 2) - mean * mean;
  const double trials = n * mean * (1 - mean) / variance;
  return {.score = std::clamp(sums.sum / n, 0.0, 1.0),
          .trials = std::min(trials, kMaxTrials)};
}

// Returns the sums of the effective number of independent scores.
ScoreSums SumScores(absl::Span<const double> scores, Clusters clusters) {
  ScoreSums sums = {.count = EffectiveCount(scores.size(), clusters)};
  const double unit = sums.count / static_cast<double>(scores.size());
  for (const Cluster& each : Clustered(scores, clusters)) {
    sums.sum += unit * each.sum;
    sums.squares += unit * each.count * each.mean() * each.mean();
  }
  return sums;
}

}  // namespace

std::vector<int> MakeClusters(absl::Span<const uint64_t> keys) {
  std::unordered_map<uint64_t, int> numbers;
  std::vector<int> clusters;
  int next = 0;
  for (const uint64_t key : keys) {
    if (key == 0) {
      clusters.push_back(next++);
      continue;
    }
    const auto [found, is_new] = numbers.emplace(key, next);
    next += is_new;
    clusters.push_back(found->second);
  }
  return clusters;
}

int DifferentIn(Clusters clusters) {
  return clusters.empty()
             ? 0
             : 1 + *std::max_element(clusters.begin(), clusters.end());
}

double EffectiveCount(size_t values, Clusters clusters) {
  const auto n = static_cast<double>(values);
  if (clusters.empty()) return n;
  double squares = 0;
  const std::vector<double> ones(values, 1);
  for (const Cluster& each : Clustered(ones, clusters)) {
    squares += each.count * each.count;
  }
  return n * n / squares;
}

Interval MeanInterval(absl::Span<const double> values, Clusters clusters) {
  if (values.empty()) return {0, -kInfinity, kInfinity};
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  const double n = EffectiveCount(values.size(), clusters);
  const double unit = n / static_cast<double>(values.size());
  double squares = 0;
  bool alike = true;
  for (const Cluster& each : Clustered(values, clusters)) {
    const double deviation = each.mean() - mean;
    squares += each.count * unit * deviation * deviation;
    alike = alike && std::abs(deviation) <= kRounding * (1 + std::abs(mean));
  }
  if (n < 2 || (alike && n < kMinEqualValues))
    return {mean, -kInfinity, kInfinity};
  const double half_width =
      StudentQuantile95(n - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half_width, mean + half_width};
}

Interval WilsonInterval(double proportion, double trials) {
  TARA_CHECK(proportion >= 0 && proportion <= 1, "not a proportion");
  TARA_CHECK(trials > 0, "a proportion without trials");
  const double z2 = kNormalQuantile95 * kNormalQuantile95;
  const double middle = proportion + z2 / (2 * trials);
  const double half_width =
      kNormalQuantile95 * std::sqrt(proportion * (1 - proportion) / trials +
                                    z2 / (4 * trials * trials));
  const double scale = 1 + z2 / trials;
  // At 0 and 1 an end is the proportion itself; rounding must not move it.
  return {proportion, proportion == 0 ? 0 : (middle - half_width) / scale,
          proportion == 1 ? 1 : (middle + half_width) / scale};
}

Interval ClopperPearsonInterval(double proportion, double trials) {
  TARA_CHECK(proportion >= 0 && proportion <= 1, "not a proportion");
  TARA_CHECK(trials > 0, "a proportion without trials");
  constexpr double kTail = 0.025;
  const double successes = proportion * trials;
  const double failures = (1 - proportion) * trials;
  return {
      proportion,
      proportion == 0 ? 0 : BetaQuantile(successes, failures + 1, kTail),
      proportion == 1 ? 1 : BetaQuantile(successes + 1, failures, 1 - kTail)};
}

ScoreSums SumsOfGames(double games, double wins, double draws) {
  return {.count = games, .sum = wins + draws / 2, .squares = wins + draws / 4};
}

Interval ScoreIntervalOf(const ScoreSums& sums) {
  if (sums.count == 0) return {0.5, 0, 1};
  const auto [score, trials] = TrialsOf(sums);
  return ClopperPearsonInterval(score, trials);
}

Interval ScoreInterval(absl::Span<const double> scores, Clusters clusters) {
  return ScoreIntervalOf(SumScores(scores, clusters));
}

double EvenScoreTest(absl::Span<const double> scores, Clusters clusters) {
  if (scores.empty()) return 1;
  const ScoreSums sums = SumScores(scores, clusters);
  const auto [score, trials] = TrialsOf(sums);
  // P(X >= more) for that many trials with probability 1/2; the other tail
  // mirrors it.
  const double more = std::max(score, 1 - score) * trials;
  return std::min(1.0, 2 * IncompleteBeta(more, trials - more + 1, 0.5));
}

void RatioSums::Add(double numerator, double denominator) {
  ++games;
  x += numerator;
  y += denominator;
  xx += numerator * numerator;
  xy += numerator * denominator;
  yy += denominator * denominator;
}

Interval RatioInterval(const RatioSums& sums) {
  TARA_CHECK(sums.y > 0, "a ratio to nothing");
  const double ratio = sums.x / sums.y;
  if (sums.games < 2) return {ratio, -kInfinity, kInfinity};
  // Rounding must not make it negative where the ratios do not vary.
  const double squared_deviations =
      std::max(0.0, sums.xx - 2 * ratio * sums.xy + ratio * ratio * sums.yy);
  const double mean_y = sums.y / sums.games;
  const double half_width =
      kNormalQuantile95 *
      std::sqrt(squared_deviations / (sums.games - 1) / sums.games) / mean_y;
  return {ratio, ratio - half_width, ratio + half_width};
}

double EloDifference(double score) {
  TARA_CHECK(score >= 0 && score <= 1, "not a score");
  if (score == 0) return -kInfinity;
  if (score == 1) return kInfinity;
  return 400 * std::log10(score / (1 - score));
}

Interval EloOf(const Interval& score) {
  return {EloDifference(score.mean), EloDifference(score.low),
          EloDifference(score.high)};
}

Interval EntropyOfCounts(absl::Span<const int64_t> counts) {
  const auto n_log_n = [](double n) { return n > 0 ? n * std::log(n) : 0; };
  double n = 0;
  double logs = 0;
  for (const int64_t count : counts) {
    TARA_CHECK(count > 0, "a kind without observations");
    n += static_cast<double>(count);
    logs += n_log_n(static_cast<double>(count));
  }
  if (n < 2) return {0, 0, kInfinity};
  const double entropy = std::log(n) - logs / n;
  const auto without = [&](double count) {
    return std::log(n - 1) -
           (logs - n_log_n(count) + n_log_n(count - 1)) / (n - 1);
  };
  double mean = 0;
  for (const int64_t count : counts) {
    const auto number = static_cast<double>(count);
    mean += number / n * without(number);
  }
  double squares = 0;
  for (const int64_t count : counts) {
    const auto number = static_cast<double>(count);
    const double deviation = without(number) - mean;
    squares += number * deviation * deviation;
  }
  const double estimate = std::max(0.0, n * entropy - (n - 1) * mean);
  const double half_width =
      kNormalQuantile95 * std::sqrt((n - 1) / n * squares);
  if (half_width < kRounding && n < kMinEqualValues) {
    return {estimate, 0, kInfinity};
  }
  return {estimate, std::max(0.0, estimate - half_width),
          estimate + half_width};
}

Interval EquivalentChoices(const Interval& entropy) {
  return {std::exp(entropy.mean), std::exp(entropy.low),
          std::exp(entropy.high)};
}

Interval BootstrapInterval(int size, int replicates,
                           const IndexStatistic& statistic, Random& random) {
  TARA_CHECK(size > 0 && replicates > 0, "nothing to draw from");
  std::vector<int> sample(size);
  std::vector<double> values(replicates);
  for (double& value : values) {
    for (int& index : sample) {
      index = static_cast<int>(random.Below(static_cast<uint32_t>(size)));
    }
    value = statistic(sample);
  }
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double p) {
    const double place = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) *
                               (values[above] - values[below]);
  };
  std::iota(sample.begin(), sample.end(), 0);
  return {statistic(sample), quantile(0.025), quantile(0.975)};
}

namespace {

// Returns the continued fraction F in I_x(a, b) = x^a (1 - x)^b / (a B(a, b))
// F: 1 / (1 + d_1 / (1 + d_2 / (1 + ...))) with
//   d_2m   =  m (b - m) x / ((a + 2m - 1) (a + 2m))
//   d_2m+1 = -(a + m) (a + b + m) x / ((a + 2m) (a + 2m + 1)),
// by the method of Lentz (1976, Applied Optics 15): `numerator` and
// `denominator` are the ratios of successive ones of the convergents.
double BetaFraction(double a, double b, double x) {
  constexpr double kPrecision = 1e-15;
  constexpr double kTiny = 1e-300;  // in place of 0
  constexpr int kMaxSteps = 1000000;
  const auto not_zero = [](double value) {
    return std::abs(value) < kTiny ? kTiny : value;
  };
  double numerator = 1;
  double denominator = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double d : {even, odd}) {
      denominator = 1 / not_zero(1 + d * denominator);
      numerator = not_zero(1 + d / numerator);
      factor = numerator * denominator;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < kPrecision) break;
  }
  return fraction;
}

}  // namespace

double IncompleteBeta(double a, double b, double x) {
  TARA_CHECK(a > 0 && b > 0, "not a beta distribution");
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double factor =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
               a * std::log(x) + b * std::log1p(-x));
  // Where the fraction converges fast; elsewhere by I_x(a, b) = 1 -
  // I_(1-x)(b, a).
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, 1 - x) / b;
}

double BetaQuantile(double a, double b, double p) {
  constexpr int kBits = 60;
  double low = 0;
  double high = 1;
  for (int bit = 0; bit < kBits; ++bit) {
    const double x = (low + high) / 2;
    (IncompleteBeta(a, b, x) < p ? low : high) = x;
  }
  return (low + high) / 2;
}

double StudentQuantile95(double degrees) {
  // t^2 / (degrees + t^2) has the beta distribution of 1/2 and degrees / 2.
  const double x = BetaQuantile(0.5, degrees / 2, 0.95);
  return std::sqrt(degrees * x / (1 - x));
}

std::vector<double> HolmAdjusted(absl::Span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return p_values[x] < p_values[y];
  });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

Interval LinearCombination(absl::Span<const double> coefficients,
                           absl::Span<const Interval> estimates) {
  TARA_CHECK(coefficients.size() == estimates.size(),
             "a coefficient for each estimate");
  double sum = 0, below = 0, above = 0;
  for (size_t i = 0; i < estimates.size(); ++i) {
    const double a = coefficients[i];
    const Interval& e = estimates[i];
    if (a == 0) continue;
    sum += a * e.mean;
    const double down = a * (e.mean - (a > 0 ? e.low : e.high));
    const double up = a * ((a > 0 ? e.high : e.low) - e.mean);
    below += down * down;
    above += up * up;
  }
  return {sum, sum - std::sqrt(below), sum + std::sqrt(above)};
}

Interval Difference(const Interval& first, const Interval& second) {
  return LinearCombination({-1, 1}, {first, second});
}

Interval SlopeOf(absl::Span<const double> x,
                 absl::Span<const Interval> estimates) {
  double mean = 0;
  for (const double each : x) mean += each / static_cast<double>(x.size());
  double squares = 0;
  for (const double each : x) squares += (each - mean) * (each - mean);
  TARA_CHECK(squares > 0, "a slope of one point");
  std::vector<double> coefficients;
  for (const double each : x) coefficients.push_back((each - mean) / squares);
  return LinearCombination(coefficients, estimates);
}

double PValueOf(const Interval& estimate, double null) {
  const double distance = std::abs(estimate.mean - null);
  const double half = estimate.mean > null ? estimate.mean - estimate.low
                                           : estimate.high - estimate.mean;
  if (distance == 0 || !std::isfinite(half)) return 1;
  if (half <= 0) return 0;
  return std::erfc(kNormalQuantile95 * distance / half / M_SQRT2);
}

Interval BoundedMeanInterval(absl::Span<const double> values,
                             Clusters clusters) {
  if (values.empty()) return {0, -kInfinity, kInfinity};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double bound =
      std::max(std::abs(*least), std::abs(*most)) + (*least == *most ? 1 : 0);
  std::vector<double> scores;
  for (const double value : values) scores.push_back((1 + value / bound) / 2);
  const Interval score = ScoreInterval(scores, clusters);
  const auto scaled = [&](double s) { return bound * (2 * s - 1); };
  return {scaled(score.mean), scaled(score.low), scaled(score.high)};
}

const LadderFit::Step& LadderFit::Nearest() const {
  return *std::min_element(
      steps.begin(), steps.end(), [](const Step& x, const Step& y) {
        return std::pair(std::abs(x.curve - 0.5), std::abs(x.points)) <
               std::pair(std::abs(y.curve - 0.5), std::abs(y.points));
      });
}

LadderFit FitLadder(absl::Span<const LadderGame> games) {
  struct Block {  // steps with one score
    double weight;
    double sum;  // weight times score
    size_t steps;

    double score() const { return sum / weight; }
  };
  std::map<double, std::pair<std::vector<double>, std::vector<int>>> by_points;
  for (const LadderGame& game : games) {
    auto& [scores, clusters] = by_points[game.points];
    scores.push_back(game.score);
    clusters.push_back(game.cluster);
  }
  LadderFit fit = {.even_points = {0, -kInfinity, kInfinity}};
  std::vector<Block> blocks;
  for (const auto& [points, of] : by_points) {
    const auto& [scores, clusters] = of;
    fit.steps.push_back({.points = points,
                         .games = static_cast<int>(scores.size()),
                         .score = ScoreInterval(scores, clusters)});
    const double weight = EffectiveCount(scores.size(), clusters);
    blocks.push_back({weight, weight * fit.steps.back().score.mean, 1});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].score() <= blocks.back().score()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().weight += last.weight;
      blocks.back().sum += last.sum;
      blocks.back().steps += last.steps;
    }
  }
  auto step = fit.steps.begin();
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.steps; ++i) (step++)->curve = block.score();
  }

  for (const LadderFit::Step& each : fit.steps) {
    if (each.score.low <= 0.5) break;
    fit.even_points.low = each.points;
  }
  for (size_t i = fit.steps.size(); i-- > 0 && fit.steps[i].score.high < 0.5;) {
    fit.even_points.high = fit.steps[i].points;
  }
  const auto below = std::find_if(
      fit.steps.begin(), fit.steps.end(),
      [](const LadderFit::Step& each) { return each.curve < 0.5; });
  if (below == fit.steps.begin() || below == fit.steps.end()) {
    fit.even_points.mean = below == fit.steps.end() ? kInfinity : -kInfinity;
    return fit;
  }
  const LadderFit::Step& before = *std::prev(below);
  const LadderFit::Step& after = *below;
  fit.even_points.mean = before.points + (before.curve - 0.5) /
                                             (before.curve - after.curve) *
                                             (after.points - before.points);
  return fit;
}

namespace {

constexpr int kOutcomes = 5;
constexpr double kUnseenCount = 1e-3;
constexpr double kMaxElo = 1000;
constexpr int kMaxRootSteps = 200;  // far more than it takes

// By outcome of a pair. Scores are means of the two games: 0, 1/4, ... 1.
using Outcomes = std::array<double, kOutcomes>;

// Returns the x at which  sum p_i b_i / (1 + x b_i)  is 0: the multiplier of a
// constraint on the mean of b. The sum falls from +inf to -inf between the two
// poles next to 0. REQUIRES: p > 0; b has both signs.
double SolveMultiplier(const Outcomes& p, const Outcomes& b) {
  double low = -1 / *std::max_element(b.begin(), b.end());
  double high = -1 / *std::min_element(b.begin(), b.end());
  double x = 0;
  for (int step = 0; step < kMaxRootSteps; ++step) {
    double sum = 0;
    double slope = 0;
    for (int i = 0; i < kOutcomes; ++i) {
      const double ratio = b[i] / (1 + x * b[i]);
      sum += p[i] * ratio;
      slope -= p[i] * ratio * ratio;
    }
    (sum > 0 ? low : high) = x;
    double next = x - sum / slope;  // Newton, kept within the bracket
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - x) <= 1e-15 * (high - low) || next == x) return next;
    x = next;
  }
  return x;
}

// Returns the likeliest distribution with the mean score that an Elo difference
// means: p_i / (1 + x (score_i - mean)).
Outcomes Likeliest(const Outcomes& observed, double elo) {
  const double mean = 1 / (1 + std::pow(10, -elo / 400));
  Outcomes b;
  for (int i = 0; i < kOutcomes; ++i) b[i] = i / (kOutcomes - 1.0) - mean;
  const double x = SolveMultiplier(observed, b);
  Outcomes likeliest;
  for (int i = 0; i < kOutcomes; ++i) {
    likeliest[i] = observed[i] / (1 + x * b[i]);
  }
  return likeliest;
}

}  // namespace

absl::Status CheckSprtOptions(const SprtOptions& options) {
  const auto error = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("SPRT: ", what...));
  };
  for (const auto& [name, elo] :
       {std::pair("elo0", options.elo0), std::pair("elo1", options.elo1)}) {
    if (std::abs(elo) <= kMaxElo) continue;
    return error(name, " is ", elo, "; expected Elo between ", -kMaxElo,
                 " and ", kMaxElo);
  }
  if (!(options.elo1 > options.elo0)) {
    return error("elo1 is ", options.elo1, " and elo0 is ", options.elo0,
                 "; expected elo1 greater than elo0");
  }
  for (const auto& [name, rate] :
       {std::pair("alpha", options.alpha), std::pair("beta", options.beta)}) {
    if (rate > 0 && rate < 0.5) continue;
    return error(name, " is ", rate,
                 "; expected a rate of errors between 0 and 0.5");
  }
  return absl::OkStatus();
}

absl::StatusOr<SprtOptions> ParseSprtOptions(absl::string_view text) {
  SprtOptions options;
  const OptionTable table = {{"elo0", &options.elo0, -kMaxElo, kMaxElo, ""},
                             {"elo1", &options.elo1, -kMaxElo, kMaxElo, ""},
                             {"alpha", &options.alpha, 0, 0.5, ""},
                             {"beta", &options.beta, 0, 0.5, ""}};
  TARA_ASSIGN_OR_RETURN(const std::vector<OptionText> list,
                        ParseOptionList(text));
  for (const OptionText& option : list) {
    const Option* const known = FindOption(table, option.name);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("SPRT: no option '", Shown(option.text), "'; expected ",
                       OptionNames(table), ", such as elo0=0,elo1=10"));
    }
    TARA_RETURN_IF_ERROR(SetOption(*known, option.value));
  }
  TARA_RETURN_IF_ERROR(CheckSprtOptions(options));
  return options;
}

std::string SprtOptionsText(const SprtOptions& options) {
  return absl::StrCat("elo0=", options.elo0, ",elo1=", options.elo1,
                      ",alpha=", options.alpha, ",beta=", options.beta);
}

double GsprtLlr(const PairCounts& counts, const SprtOptions& options) {
  TARA_CHECK(CheckSprtOptions(options).ok(), "impossible SPRT");
  Outcomes observed;
  double pairs = 0;
  bool any = false;
  for (int i = 0; i < kOutcomes; ++i) {
    TARA_CHECK(counts[i] >= 0, "negative count");
    any |= counts[i] > 0;
    observed[i] = std::max(static_cast<double>(counts[i]), kUnseenCount);
    pairs += observed[i];
  }
  if (!any) return 0;
  for (double& share : observed) share /= pairs;
  const Outcomes p0 = Likeliest(observed, options.elo0);
  const Outcomes p1 = Likeliest(observed, options.elo1);
  double llr = 0;
  for (int i = 0; i < kOutcomes; ++i) {
    llr += pairs * observed[i] * std::log(p1[i] / p0[i]);
  }
  return llr;
}

absl::string_view SprtDecisionName(SprtDecision decision) {
  constexpr absl::string_view kNames[] = {"undecided", "H0", "H1"};
  return kNames[static_cast<size_t>(decision)];
}

Sprt::Sprt(const SprtOptions& options)
    : options_(options),
      lower_bound_(std::log(options.beta / (1 - options.alpha))),
      upper_bound_(std::log((1 - options.beta) / options.alpha)) {
  TARA_CHECK(CheckSprtOptions(options).ok(), "impossible SPRT");
}

void Sprt::Add(int half_points) {
  TARA_CHECK(half_points >= 0 && half_points < kOutcomes,
             "not the points of a pair of games");
  ++counts_[half_points];
  llr_ = GsprtLlr(counts_, options_);
  if (decision_ != SprtDecision::kUndecided) return;
  if (llr_ <= lower_bound_) decision_ = SprtDecision::kAcceptH0;
  if (llr_ >= upper_bound_) decision_ = SprtDecision::kAcceptH1;
}

int64_t Sprt::pairs() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

}  // namespace tara::eval
