#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

constexpr int kOutcomes = 5;
constexpr double kUnseenCount = 1e-3;
constexpr double kMaxElo = 1000;
// Beyond it the likeliest distributions are not found.
constexpr double kMaxNormalizedElo = 230;
// Far more than either iteration takes.
constexpr int kMaxRootSteps = 200;
constexpr int kMaxTiltSteps = 100;

// By outcome of a pair. Scores are means of the two games: 0, 1/4, ... 1.
using Outcomes = std::array<double, kOutcomes>;

double ScoreOfOutcome(int outcome) { return outcome / (kOutcomes - 1.0); }

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

// Returns the distribution  p_i / (1 + x b_i)  under which b has mean 0.
Outcomes Tilt(const Outcomes& p, const Outcomes& b) {
  const double x = SolveMultiplier(p, b);
  Outcomes tilted;
  for (int i = 0; i < kOutcomes; ++i) tilted[i] = p[i] / (1 + x * b[i]);
  return tilted;
}

// Returns the likeliest distribution with mean score `score`.
Outcomes LikeliestWithScore(const Outcomes& observed, double score) {
  Outcomes b;
  for (int i = 0; i < kOutcomes; ++i) b[i] = ScoreOfOutcome(i) - score;
  return Tilt(observed, b);
}

// Returns the likeliest distribution with (mean - 1/2) = t * deviation. The
// constraint is linearized about the last distribution, over and over: the
// derivative of the deviation by p_i is (1 + ((a_i - mean) / deviation)^2) *
// deviation / 2, with the distribution's sum held.
Outcomes LikeliestWithTValue(const Outcomes& observed, double t) {
  Outcomes p;
  p.fill(1.0 / kOutcomes);
  for (int step = 0; step < kMaxTiltSteps; ++step) {
    double mean = 0;
    double variance = 0;
    for (int i = 0; i < kOutcomes; ++i) mean += p[i] * ScoreOfOutcome(i);
    for (int i = 0; i < kOutcomes; ++i) {
      variance += p[i] * std::pow(ScoreOfOutcome(i) - mean, 2);
    }
    const double deviation = std::sqrt(variance);
    Outcomes b;
    for (int i = 0; i < kOutcomes; ++i) {
      const double z = (ScoreOfOutcome(i) - mean) / deviation;
      b[i] = ScoreOfOutcome(i) - 0.5 - t * deviation * (1 + z * z) / 2;
    }
    const Outcomes next = Tilt(observed, b);
    double change = 0;
    for (int i = 0; i < kOutcomes; ++i) {
      change = std::max(change, std::abs(next[i] - p[i]));
    }
    p = next;
    if (change < 1e-12) break;
  }
  return p;
}

Outcomes Likeliest(const Outcomes& observed, double elo, EloScale scale) {
  if (scale == EloScale::kLogistic) {
    return LikeliestWithScore(observed, 1 / (1 + std::pow(10, -elo / 400)));
  }
  // A pair's mean varies less than a game's result, by the root of 2.
  return LikeliestWithTValue(observed, std::sqrt(2) * elo * std::log(10) / 800);
}

absl::Status CheckErrorRate(absl::string_view name, double rate) {
  if (rate > 0 && rate < 0.5) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("SPRT: ", name, " is ", rate,
                   "; expected a rate of errors between 0 and 0.5"));
}

absl::Status CheckElo(absl::string_view name, double elo, EloScale scale) {
  const double most =
      scale == EloScale::kNormalized ? kMaxNormalizedElo : kMaxElo;
  if (std::abs(elo) <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("SPRT: ", name, " is ", elo, "; expected ",
                   EloScaleName(scale), " Elo between ", -most, " and ", most));
}

absl::Status SetField(absl::string_view text, absl::string_view name,
                      absl::string_view value, SprtOptions& options) {
  if (name == "scale") {
    for (const EloScale scale : {EloScale::kLogistic, EloScale::kNormalized}) {
      if (value != EloScaleName(scale)) continue;
      options.scale = scale;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("SPRT '", Shown(text), "': scale is '", Shown(value),
                     "'; expected logistic or normalized"));
  }
  double* const field = name == "elo0"    ? &options.elo0
                        : name == "elo1"  ? &options.elo1
                        : name == "alpha" ? &options.alpha
                        : name == "beta"  ? &options.beta
                                          : nullptr;
  if (field == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("SPRT '", Shown(text), "': no option '", Shown(name),
                     "'; expected elo0, elo1, alpha, beta or scale"));
  }
  if (!ParseDecimal(value, field)) {
    return absl::InvalidArgumentError(
        absl::StrCat("SPRT '", Shown(text), "': ", name, " is '", Shown(value),
                     "'; expected a number"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view EloScaleName(EloScale scale) {
  return scale == EloScale::kLogistic ? "logistic" : "normalized";
}

absl::Status CheckSprtOptions(const SprtOptions& options) {
  TARA_RETURN_IF_ERROR(CheckElo("elo0", options.elo0, options.scale));
  TARA_RETURN_IF_ERROR(CheckElo("elo1", options.elo1, options.scale));
  if (!(options.elo1 > options.elo0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("SPRT: elo1 is ", options.elo1, " and elo0 is ",
                     options.elo0, "; expected elo1 greater than elo0"));
  }
  TARA_RETURN_IF_ERROR(CheckErrorRate("alpha", options.alpha));
  return CheckErrorRate("beta", options.beta);
}

absl::StatusOr<SprtOptions> ParseSprtOptions(absl::string_view text) {
  SprtOptions options;
  const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(text);
  if (!list.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("SPRT '", Shown(text), "': ", list.status().message()));
  }
  for (const OptionText& option : *list) {
    if (!option.has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("SPRT '", Shown(text), "': '", Shown(option.text),
                       "' is not of the form NAME=VALUE; expected for "
                       "example elo0=0,elo1=10"));
    }
    TARA_RETURN_IF_ERROR(SetField(text, option.name, option.value, options));
  }
  TARA_RETURN_IF_ERROR(CheckSprtOptions(options));
  return options;
}

std::string SprtOptionsText(const SprtOptions& options) {
  return absl::StrCat("elo0=", options.elo0, ",elo1=", options.elo1,
                      ",alpha=", options.alpha, ",beta=", options.beta,
                      ",scale=", EloScaleName(options.scale));
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
  const Outcomes p0 = Likeliest(observed, options.elo0, options.scale);
  const Outcomes p1 = Likeliest(observed, options.elo1, options.scale);
  double llr = 0;
  for (int i = 0; i < kOutcomes; ++i) {
    llr += pairs * observed[i] * std::log(p1[i] / p0[i]);
  }
  return llr;
}

absl::string_view SprtDecisionName(SprtDecision decision) {
  switch (decision) {
    case SprtDecision::kUndecided:
      return "undecided";
    case SprtDecision::kAcceptH0:
      return "H0";
    case SprtDecision::kAcceptH1:
      return "H1";
  }
  return "";
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
  int64_t pairs = 0;
  for (const int64_t count : counts_) pairs += count;
  return pairs;
}

}  // namespace tara::eval
