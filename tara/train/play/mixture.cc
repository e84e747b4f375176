#include "tara/train/play/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"

namespace tara::train {
namespace {

constexpr double kMaxWeight = 1e6;

absl::Status BadWeight(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("mixture.weight: '", text, "': ", why));
}

// Returns the weights of the config, 1 for variants without one.
absl::StatusOr<std::vector<double>> Weights(const proto::TrainConfig& config) {
  std::vector<double> weights(config.variant_size(), 1.0);
  std::vector<bool> named(config.variant_size(), false);
  for (const std::string& text : config.mixture().weight()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    const auto found = std::find(config.variant().begin(),
                                 config.variant().end(), parts.first);
    if (found == config.variant().end()) {
      return BadWeight(text,
                       absl::StrCat("expected variant=weight, of ",
                                    absl::StrJoin(config.variant(), ", ")));
    }
    const auto v = found - config.variant().begin();
    if (named[v]) return BadWeight(text, "this variant has a weight already");
    named[v] = true;
    // Written so that NaN fails too.
    if (!absl::SimpleAtod(parts.second, &weights[v]) ||
        !(weights[v] > 0 && weights[v] <= kMaxWeight)) {
      return BadWeight(text,
                       "expected a number above 0 and of at most 1000000");
    }
  }
  return weights;
}

std::vector<double> AdaptiveShares(
    const proto::TrainConfig& config,
    absl::Span<const proto::VariantScore> scores) {
  const int variants = config.variant_size();
  std::vector<double> needs(variants, -1.0);
  double sum = 0;
  int known = 0;
  for (int v = 0; v < variants; ++v) {
    for (const proto::VariantScore& score : scores) {
      if (score.variant() != config.variant(v)) continue;
      needs[v] = std::clamp(1.0 - score.score(), 0.0, 1.0);
      sum += needs[v];
      ++known;
    }
  }
  const double mean = known > 0 ? sum / known : 0;
  sum = 0;
  for (double& need : needs) {
    if (need < 0) need = mean;
    sum += need;
  }
  const double kept = config.mixture().min_share();
  std::vector<double> shares;
  for (const double need : needs) {
    const double relative = sum > 0 ? variants * need / sum : 1.0;
    shares.push_back((kept + (1.0 - kept) * relative) / variants);
  }
  return shares;
}

// Returns the variants in the order in which they take turns from `begin` on.
std::vector<int> TurnsFrom(uint64_t begin, int variants) {
  std::vector<int> turns(variants);
  for (int i = 0; i < variants; ++i) {
    turns[i] = static_cast<int>((begin + i) % variants);
  }
  return turns;
}

}  // namespace

absl::StatusOr<std::vector<double>> MixtureShares(
    const proto::TrainConfig& config,
    absl::Span<const proto::VariantScore> scores) {
  TARA_ASSIGN_OR_RETURN(std::vector<double> shares, Weights(config));
  const std::string& mode = config.mixture().mode();
  if (mode != "weights" && config.mixture().weight_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("mixture.weight: given, but mixture.mode is ", mode,
                     "; expected mode weights"));
  }
  if (mode == "adaptive") return AdaptiveShares(config, scores);
  if (mode != "equal" && mode != "weights") {
    return absl::InvalidArgumentError(absl::StrCat(
        "mixture.mode: '", mode, "'; expected equal, weights or adaptive"));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<int64_t> DivideGames(int64_t games, absl::Span<const double> shares,
                                 uint64_t begin) {
  std::vector<int64_t> divided;
  std::vector<int64_t> fractions;  // in millionths: exactly comparable
  int64_t left = games;
  for (const double share : shares) {
    const double exact = share * static_cast<double>(games);
    // What rounding errors have put just below a whole number is that number.
    const double whole = std::floor(exact + 1e-6);
    divided.push_back(static_cast<int64_t>(whole));
    fractions.push_back(std::llround((exact - whole) * 1e6));
    left -= divided.back();
  }
  std::vector<int> turns = TurnsFrom(begin, static_cast<int>(shares.size()));
  std::stable_sort(turns.begin(), turns.end(),
                   [&](int a, int b) { return fractions[a] > fractions[b]; });
  for (int64_t i = 0; i < left; ++i) ++divided[turns[i % turns.size()]];
  return divided;
}

std::vector<int> VariantOrder(absl::Span<const int64_t> games, uint64_t begin) {
  const int64_t total = std::accumulate(games.begin(), games.end(), int64_t{0});
  const std::vector<int> turns =
      TurnsFrom(begin, static_cast<int>(games.size()));
  // How far each variant is behind its share, in parts of a game of 1 / total.
  std::vector<int64_t> behind(games.size(), 0);
  std::vector<int> order;
  order.reserve(total);
  for (int64_t i = 0; i < total; ++i) {
    int next = turns[0];
    for (const int v : turns) {
      behind[v] += games[v];
      if (behind[v] > behind[next]) next = v;
    }
    behind[next] -= total;
    order.push_back(next);
  }
  return order;
}

}  // namespace tara::train
