#include "tara/eval/balance/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/balance_report.h"
#include "tara/eval/balance/fair_search.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

constexpr double kSignificant = 0.05;
// Per cent that are the errors of floating-point numbers.
constexpr double kRounding = 1e-9;

// --- Numbers -----------------------------------------------------------------

std::string Sentence(std::string text) {
  text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return absl::StrCat(text, ".");
}

// "18 % [16, 21]"; with a decimal where the interval is narrower than 5 %, or
// an end would be taken for 50.
std::string Percent(const Interval& share) {
  const auto looks_even = [](double end) {
    return std::lround(100 * end) == 50 && std::abs(100 * end - 50) > kRounding;
  };
  const bool decimal = 100 * (share.high - share.low) < 5 - kRounding ||
                       looks_even(share.low) || looks_even(share.high);
  return absl::StrFormat("%.*f %% [%.*f, %.*f]", decimal, 100 * share.mean,
                         decimal, 100 * share.low, decimal, 100 * share.high);
}

// "2,000".
std::string Thousands(int number) {
  std::string text = absl::StrCat(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

std::string Points(int halves) {
  return halves % 2 == 0 ? absl::StrCat(halves / 2)
                         : absl::StrFormat("%.1f", halves / 2.0);
}

// Who plays: without the pie rule the sides, with it the seats.
struct Names {
  absl::string_view first;
  absl::string_view second;
};
constexpr Names kSides = {"the first side", "the second side"};
constexpr Names kSeats = {"the player who begins", "the chooser"};

// "1.5 to 3 points", "0.5 points for the first side to 1 point for the second
// side", "9 to more than 12 points": what a search leaves open.
std::string PointsLeft(const FairReportRow& row, const Names& names) {
  const CompensationRange& range = row.range;
  const int low = std::max(row.estimate.low, range.low);
  const int high = std::min(row.estimate.high, range.high);
  const bool open =
      row.estimate.low < range.low || row.estimate.high > range.high;
  if (low == high && !open) return "no other";
  const auto points = [](int halves) {
    return std::abs(halves) == 2
               ? "1 point"
               : absl::StrCat(Points(std::abs(halves)), " points");
  };
  const auto amount = [&](int value, int estimate) {
    const std::string more = value == estimate ? "" : "more than ";
    if (value == 0) return absl::StrCat(more, "none");
    return absl::StrCat(more, points(value), " for ",
                        value > 0 ? names.second : names.first);
  };
  // Of one side: the side is that of the estimate.
  const bool first_side = row.estimate.halves < 0;
  const bool far_open = first_side ? row.estimate.low < range.low
                                   : row.estimate.high > range.high;
  if (row.estimate.halves == 0 || low * high < 0 || (open && !far_open)) {
    return absl::StrCat(amount(low, row.estimate.low), " to ",
                        amount(high, row.estimate.high));
  }
  const int near = first_side ? high : low;
  const int far = first_side ? low : high;
  return absl::StrCat(Points(std::abs(near)), " to ",
                      far_open ? "more than " : "", points(far));
}

// --- Evenness ----------------------------------------------------------------

enum class Evenness { kEven, kNearlyEven, kMayBeEven, kUneven };

bool WithinBand(const Interval& score) {
  return score.low >= 0.5 - kEvenBand && score.high <= 0.5 + kEvenBand;
}

Evenness EvennessOf(const Interval& score) {
  const bool holds_even = score.low <= 0.5 && score.high >= 0.5;
  if (WithinBand(score)) {
    return holds_even ? Evenness::kEven : Evenness::kNearlyEven;
  }
  return holds_even ? Evenness::kMayBeEven : Evenness::kUneven;
}

// "an advantage of up to 10 % for the second side or 4 % for the first side".
std::string PossibleAdvantages(const Interval& score, const Names& names) {
  const double second = 50 - 100 * score.low;
  const double first = 100 * score.high - 50;
  std::vector<std::string> parts;
  if (second > 0) {
    parts.push_back(absl::StrFormat(
        "%.0f %% for %s", std::ceil(second - kRounding), names.second));
  }
  if (first > 0) {
    parts.push_back(absl::StrFormat("%.0f %% for %s",
                                    std::ceil(first - kRounding), names.first));
  }
  return absl::StrCat("an advantage of up to ", absl::StrJoin(parts, " or "));
}

absl::string_view Favoured(const Interval& score) {
  return score.mean < 0.5 ? kSides.second : kSides.first;
}

std::string NoVerdict() {
  return absl::StrCat("there is no verdict with fewer than ", kFewestForVerdict,
                      " different games");
}

// What a study shows of its rules. `with` is "with OPTION=VALUE " or empty.
std::string StudySentence(const BalanceReportRow& row, size_t studies,
                          const std::string& with) {
  const Interval& score = row.statistics.score;
  const std::string scores = absl::StrCat("the first scores ", Percent(score));
  if (row.statistics.distinct_games < kFewestForVerdict) {
    return Sentence(absl::StrCat(with, NoVerdict(), ": ", scores));
  }
  if (row.p_even_holm < kSignificant) {
    return Sentence(absl::StrCat(with, Favoured(score), " is favoured",
                                 WithinBand(score) ? ", but by little: " : ": ",
                                 scores, " between players of this strength"));
  }
  if (WithinBand(score)) {
    return Sentence(absl::StrCat(with, "the sides are even to within 5 %: ",
                                 scores, " between players of this strength"));
  }
  const std::string nothing = absl::StrCat(
      with, "it is not shown that either side is favoured: ", scores);
  if (row.statistics.p_even < kSignificant) {
    return Sentence(absl::StrCat(
        nothing, ", which by itself would be a sign that ", Favoured(score),
        " is, but is not among the ", studies, " studies of this report"));
  }
  return Sentence(absl::StrCat(nothing, ", which leaves ",
                               PossibleAdvantages(score, kSides), " possible"));
}

// --- Strength ----------------------------------------------------------------

int SimulationsOf(const PlayerSpec& player) {
  return player.policy_alone ? 0 : player.search.search.simulations;
}

// What becomes of the first player's score with the last player.
std::string StrengthSentence(const BalanceReportRow& first,
                             const BalanceReportRow& last) {
  const Interval& from = first.statistics.score;
  const Interval& to = last.statistics.score;
  const int first_simulations = SimulationsOf(first.spec);
  const int last_simulations = SimulationsOf(last.spec);
  const bool ordered = DifferInSimulationsAlone(first.spec, last.spec) &&
                       first_simulations < last_simulations;
  const std::string change = absl::StrCat(Percent(from), " to ", Percent(to));
  const double half_widths =
      std::hypot((from.high - from.low) / 2, (to.high - to.low) / 2);
  if (std::abs(to.mean - from.mean) < half_widths) {
    return Sentence(
        absl::StrCat("that it depends on ",
                     ordered ? "strength" : "who of these players plays",
                     " is not shown (", change, " from ",
                     ordered ? absl::StrCat(first_simulations, " to ",
                                            last_simulations, " simulations")
                             : absl::StrCat(first.player, " to ", last.player),
                     ")"));
  }
  const bool other_side = (from.mean - 0.5) * (to.mean - 0.5) < 0;
  const bool further = std::abs(to.mean - 0.5) > std::abs(from.mean - 0.5);
  const absl::string_view what = other_side ? "to the other side"
                                 : further  ? "further from even"
                                            : "nearer to even";
  if (ordered) {
    return Sentence(absl::StrCat(
        "stronger players move it ", what, ": from ", change, " with ",
        last_simulations, " simulations instead of ", first_simulations));
  }
  return Sentence(absl::StrCat("with ", last.player, " instead of ",
                               first.player, " it moves ", what, ": from ",
                               change));
}

// --- Changes and remedies ----------------------------------------------------

std::string ChangeSentence(const BalanceReportChange& change) {
  const Interval& score = change.difference.score;
  const std::string by =
      absl::StrFormat("%+.1f %% [%+.1f, %+.1f]", 100 * score.mean,
                      100 * score.low, 100 * score.high);
  const bool shown = change.p_score_holm < kSignificant &&
                     change.difference.distinct_games >= kFewestForVerdict;
  return Sentence(shown
                      ? absl::StrCat("this change moves the first side's score "
                                     "by ",
                                     by)
                      : absl::StrCat("that this change moves the score is not "
                                     "shown (",
                                     by, ")"));
}

// What fresh games show: "make it even", or another verb form.
std::string Effect(Evenness evenness, bool plural) {
  switch (evenness) {
    case Evenness::kEven:
      return plural ? "make it even" : "makes it even";
    case Evenness::kNearlyEven:
      return plural ? "make it nearly even" : "makes it nearly even";
    case Evenness::kMayBeEven:
      return plural ? "may make it even, which is not shown"
                    : "may make it even, which is not shown";
    case Evenness::kUneven:
      return plural ? "do not make it even" : "does not make it even";
  }
  return "";
}

// "49.6 % [47.4, 51.8], 2,000 fresh games".
std::string Evidence(const FairReportRow& row, bool pie) {
  const Interval& score = row.score;
  const std::string games =
      absl::StrCat(", ", Thousands(row.games), " fresh games");
  if (!pie) return absl::StrCat(Percent(score), games);
  return absl::StrCat("the chooser scores ", Percent(SecondSideScore(score)),
                      games);
}

// What one remedy does. `with` as of StudySentence; `too`: one before it has
// made the variant even.
std::string RemedySentence(const FairReportRow& row, const std::string& with,
                           bool too) {
  const bool pie = row.options.rule_options.pie_rule;
  const Names& names = pie ? kSeats : kSides;
  const int halves = row.estimate.halves;
  const std::string games_with = absl::StrCat(
      with, "the games with ", pie ? "the pie rule" : "",
      pie && row.searched ? " and " : "", row.searched ? "compensation" : "");
  if (row.games < row.wanted_games) {
    return Sentence(absl::StrCat(
        games_with, " were broken off (", Thousands(row.games), " of ",
        Thousands(row.wanted_games), "): nothing is shown of it"));
  }
  if (row.distinct_games < kFewestForVerdict) {
    return Sentence(absl::StrCat(games_with, " are too few, as ", NoVerdict(),
                                 " (", Evidence(row, pie), ")"));
  }
  const Evenness evenness = EvennessOf(row.score);
  const std::string also = too && evenness == Evenness::kEven ? " too" : "";
  const std::string evidence = Evidence(row, pie);
  if (!row.searched) {
    return Sentence(absl::StrCat(with, "the pie rule ", Effect(evenness, false),
                                 also, ": ", evidence));
  }
  const std::string left =
      absl::StrCat("; the search leaves ", PointsLeft(row, names));
  if (halves == 0) {
    const absl::string_view beside = pie ? "beside the pie rule " : "";
    if (evenness == Evenness::kEven || evenness == Evenness::kNearlyEven) {
      return Sentence(
          absl::StrCat(with, beside, "no points are needed: without any it is ",
                       evenness == Evenness::kEven ? "even" : "nearly even",
                       " (", evidence, ")", left));
    }
    return Sentence(absl::StrCat(
        with, beside, "no points for either come nearer to even than none, ",
        evenness == Evenness::kUneven ? "which is not even"
                                      : "which may be even",
        " (", evidence, ")", left));
  }
  const absl::string_view side = halves > 0 ? names.second : names.first;
  const std::string points = PointsInWords(std::abs(halves));
  if (row.estimate.beyond && evenness == Evenness::kUneven) {
    const int end = halves > 0 ? row.range.high : row.range.low;
    return Sentence(absl::StrCat(
        with, pie ? "beside the pie rule " : "", "no compensation up to ",
        PointsInWords(std::abs(end)), " makes it even: with ", points, " for ",
        side, pie ? " " : " the first still scores ", evidence));
  }
  const bool plural = std::abs(halves) > 2;
  if (pie) {
    return Sentence(absl::StrCat(with, "the pie rule and ", points, " for ",
                                 side, " together ", Effect(evenness, true),
                                 also, " (", evidence, ")", left));
  }
  return Sentence(absl::StrCat(
      with, points, " for ", side, " ",
      evenness == Evenness::kUneven ? (plural ? "come" : "comes") : "",
      evenness == Evenness::kUneven ? " nearest to even, but that is not even"
                                    : Effect(evenness, plural),
      also, " (", evidence, ")", left));
}

// What is to be said against the figures of some games.
void AddCautions(const std::string& not_learned, int games, int distinct,
                 double fewest, std::vector<std::string>& sentences) {
  if (!not_learned.empty()) {
    sentences.push_back(Sentence(
        absl::StrCat("the network has not learned these rules (", not_learned,
                     "), so that this shows little of strong play")));
  }
  if (distinct < fewest * games) {
    sentences.push_back(Sentence(absl::StrCat(
        "of these ", Thousands(games), " games only ", Thousands(distinct),
        " differ, which makes the interval wider")));
  }
}

std::string OpeningSentence(const OpeningReportRow& row) {
  const BalanceGameOptions& options = row.options;
  if (!row.cost.has_value()) {
    return Sentence(
        "what the openings cost the sides is not known: the player draws no "
        "actions, or gives no values");
  }
  const auto cost = [](const Interval& side) {
    return absl::StrFormat("%.1f %% [%.1f, %.1f]", 100 * side.mean,
                           100 * side.low, 100 * side.high);
  };
  // In whole per cent: by searches of the player, not by games.
  const double added =
      std::round(100 * ((*row.cost)[1].mean - (*row.cost)[0].mean));
  const std::string effect =
      added == 0 ? ""
                 : absl::StrFormat(", and so %s some %g %% %s its score",
                                   added > 0 ? "adds" : "takes",
                                   std::abs(added), added > 0 ? "to" : "from");
  return Sentence(absl::StrFormat(
      "the first %d actions of a game are drawn from the player's policy at "
      "temperature %g, which by its own search costs the second side %s of a "
      "game and the first %s%s",
      options.drawn_plies, options.temperature, cost((*row.cost)[1]),
      cost((*row.cost)[0]), effect));
}

// --- Verdicts ----------------------------------------------------------------

bool SameRules(const BalanceGameOptions& x, const BalanceGameOptions& y) {
  return x.variant == y.variant && x.rule_options == y.rule_options;
}

// Writes the verdict of one variant and player.
class Writer {
 public:
  Writer(const BalanceReport& report, const BalanceReportRow& row)
      : report_(report), base_(row) {
    verdict_ = {.variant = row.options.variant, .player = row.player};
  }

  Verdict Write() {
    AddStudy(base_, "");
    AddStrength();
    AddRemedies(base_.options, "");
    for (const BalanceReportChange& change : report_.changes) {
      if (change.player != base_.player ||
          !SameRules(change.from, base_.options)) {
        continue;
      }
      const std::string with = absl::StrCat("with ", ChangedFrom(change), " ");
      for (const BalanceReportRow& row : report_.rows) {
        if (row.player == change.player && SameRules(row.options, change.to)) {
          AddStudy(row, with);
          break;
        }
      }
      verdict_.sentences.push_back(ChangeSentence(change));
      AddRemedies(change.to, with);
    }
    for (const OpeningReportRow& row : report_.openings) {
      if (row.player == base_.player && SameRules(row.options, base_.options)) {
        verdict_.sentences.push_back(OpeningSentence(row));
      }
    }
    return std::move(verdict_);
  }

 private:
  // The options by which the change differs, "a=1,b=2".
  static std::string ChangedFrom(const BalanceReportChange& change) {
    std::vector<std::string> parts;
    for (const RuleOptionInfo& info : kRuleOptions) {
      const int value = info.get(change.to.rule_options);
      if (value == info.get(change.from.rule_options)) continue;
      parts.push_back(
          absl::StrCat(info.name, "=", FormatRuleOptionValue(info, value)));
    }
    return absl::StrJoin(parts, ",");
  }

  void AddStudy(const BalanceReportRow& row, const std::string& with) {
    const BalanceStatistics& s = row.statistics;
    verdict_.sentences.push_back(StudySentence(row, report_.rows.size(), with));
    AddCautions(row.not_learned, s.games, s.distinct_games, kFewestDistinct,
                verdict_.sentences);
  }

  // Once for all players of the variant, with the last of them.
  void AddStrength() {
    const BalanceReportRow* first = nullptr;
    const BalanceReportRow* last = nullptr;
    for (const BalanceReportRow& row : report_.rows) {
      if (!SameRules(row.options, base_.options)) continue;
      if (first == nullptr) first = &row;
      last = &row;
    }
    if (last != &base_ || first == last ||
        std::min(first->statistics.distinct_games,
                 last->statistics.distinct_games) < kFewestForVerdict) {
      return;
    }
    verdict_.sentences.push_back(StrengthSentence(*first, *last));
  }

  void AddRemedies(const BalanceGameOptions& from, const std::string& with) {
    bool even = false;
    bool any = false;
    for (const FairReportRow& row : report_.fair) {
      if (row.player != base_.player || !SameRules(row.from, from)) continue;
      any = true;
      verdict_.sentences.push_back(RemedySentence(row, with, even));
      AddCautions(row.not_learned, row.games, row.distinct_games,
                  1 - kMostRepeated, verdict_.sentences);
      even = even || EvennessOf(row.score) == Evenness::kEven;
    }
    if (any && with.empty() && Info(from.variant).seats != 2) {
      verdict_.sentences.push_back(
          "The pie rule is for two seats, and was not tried.");
    }
  }

  const BalanceReport& report_;
  const BalanceReportRow& base_;
  Verdict verdict_;
};

}  // namespace

std::string PointsInWords(int halves) {
  constexpr std::array<absl::string_view, 13> kNumbers = {
      "no",    "one",   "two",  "three", "four",   "five",  "six",
      "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  TARA_CHECK(halves > 0 && halves <= 24, "points out of range");
  if (halves == 1) return "half a point";
  if (halves == 2) return "one point";
  return absl::StrCat(kNumbers[halves / 2],
                      halves % 2 == 1 ? " and a half" : "", " points");
}

std::vector<Verdict> VerdictsOf(const BalanceReport& report) {
  std::vector<Verdict> verdicts;
  for (const BalanceReportRow& row : report.rows) {
    const bool changed =
        std::any_of(report.changes.begin(), report.changes.end(),
                    [&](const BalanceReportChange& change) {
                      return change.player == row.player &&
                             SameRules(change.to, row.options);
                    });
    if (!changed) verdicts.push_back(Writer(report, row).Write());
  }
  return verdicts;
}

}  // namespace tara::eval
