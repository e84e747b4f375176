#ifndef TARA_EVAL_STATISTICS_SPRT_H_
#define TARA_EVAL_STATISTICS_SPRT_H_

// Sequential tests to find the stronger of two players: a match ends as soon as
// it has decided between two hypotheses, with known error rates.

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::eval {

// The scale of elo0 and elo1.
enum class EloScale : uint8_t {
  // Of the expected score s of a game: s = 1 / (1 + 10^(-elo/400)).
  kLogistic,
  // Of the expected score relative to the variation of results, 800/ln(10) *
  // (s - 1/2) / sigma with the deviation sigma of a game's result. The length
  // of a test then does not depend on the share of draws.
  // Source: Van den Bergh, "Normalized Elo"
  // (www.cantate.be/Fishtest/normalized_elo.pdf).
  kNormalized,
};

// Returns "logistic" or "normalized".
absl::string_view EloScaleName(EloScale scale);

// H0: the first player is stronger by elo0 (or less); H1: by elo1 (or more).
struct SprtOptions {
  double elo0 = 0;
  double elo1 = 10;
  double alpha = 0.05;  // probability of accepting H1 if H0 is true
  double beta = 0.05;   // probability of accepting H0 if H1 is true
  EloScale scale = EloScale::kLogistic;
};

// Returns INVALID_ARGUMENT, naming the value, if the test is impossible:
// elo1 <= elo0, alpha or beta outside (0, 0.5), Elo beyond +-1000.
absl::Status CheckSprtOptions(const SprtOptions& options);

// Parses "elo0=0,elo1=10" with alpha=, beta= and scale=logistic|normalized
// where they differ from the defaults. Returns INVALID_ARGUMENT for a text of
// another form, or the error of CheckSprtOptions.
absl::StatusOr<SprtOptions> ParseSprtOptions(absl::string_view text);

// Returns the text for ParseSprtOptions, with all fields.
std::string SprtOptionsText(const SprtOptions& options);

// Numbers of pairs of games by the first player's points: 0, 1/2, 1, 3/2, 2.
// (The two games of a pair share an opening with exchanged sides, so they are
// not independent; pairs are.)
using PairCounts = std::array<int64_t, 5>;

// Returns the generalized log-likelihood ratio of H1 to H0, between the most
// likely distribution with elo1 and the most likely one with elo0. No pair: 0.
// Counts of 0 are replaced by 0.001, so that unseen results are possible.
// Source: Van den Bergh, "The Generalized Sequential Probability Ratio Test for
// multinomial distributions" (www.cantate.be/Fishtest/support_MLE_multinomial
// .pdf), proposition 1.1, and "Normalized Elo, practical" (.../
// normalized_elo_practical.pdf), section 4.1; counts as in fishtest.
// REQUIRES: valid options, counts >= 0. Pure.
double GsprtLlr(const PairCounts& counts, const SprtOptions& options);

enum class SprtDecision : uint8_t { kUndecided, kAcceptH0, kAcceptH1 };

// Returns "undecided", "H0" or "H1".
absl::string_view SprtDecisionName(SprtDecision decision);

// A test in progress. A value; not thread-safe.
class Sprt {
 public:
  // REQUIRES: valid options.
  explicit Sprt(const SprtOptions& options);

  // Adds a pair of games in which the first player scored `half_points` half
  // points. A decision is final: pairs that end after it change the ratio, but
  // not the decision.
  // REQUIRES: 0 <= half_points <= 4.
  void Add(int half_points);

  const SprtOptions& options() const { return options_; }
  const PairCounts& counts() const { return counts_; }
  int64_t pairs() const;
  double llr() const { return llr_; }
  // H0 is accepted at or below ln(beta / (1 - alpha)), H1 at or above
  // ln((1 - beta) / alpha). Source: Wald 1945, "Sequential tests of statistical
  // hypotheses", Annals of Mathematical Statistics 16, section 3.
  double lower_bound() const { return lower_bound_; }
  double upper_bound() const { return upper_bound_; }
  SprtDecision decision() const { return decision_; }

 private:
  SprtOptions options_;
  double lower_bound_;
  double upper_bound_;
  PairCounts counts_ = {};
  double llr_ = 0;
  SprtDecision decision_ = SprtDecision::kUndecided;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_SPRT_H_
