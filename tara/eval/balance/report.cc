#include "tara/eval/balance/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/balance/measures.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/combinations.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLinePlies[] = {1, 2, 4, 8};
constexpr NumberFormat kScoreChange = {.scale = 100,
                                       .digits = 1,
                                       .sign = true,
                                       .above = "better",
                                       .below = "worse"};

// A sample with its scores.
struct Scored {
  const Sample* sample;
  Scores scores;
  double p_all = 1;              // among the samples of its part (Holm)
  double q = 1;                  // Benjamini and Hochberg
  const Scored* base = nullptr;  // the games by the usual rules
  Interval change = {};          // of the score, from there
  Interval margin_change = {};
};

// The samples of a study, scored, by part.
class Figures {
 public:
  explicit Figures(const StudyResults& results) {
    for (const Sample& sample : results.samples) {
      if (sample.games.empty()) continue;
      parts_[std::string(sample.part)].push_back(
          {.sample = &sample, .scores = ScoresOf(sample.games)});
    }
    Correct(parts_[std::string(part::kGames)],
            [](const Scored& each) { return each.scores.p_even; });
    std::vector<Scored>& options = parts_[std::string(part::kOption)];
    for (Scored& option : options) {
      option.base = BaseOf(*option.sample);
      if (option.base == nullptr) continue;
      option.change =
          Difference(option.base->scores.score, option.scores.score);
      option.margin_change =
          Difference(option.base->scores.margin, option.scores.margin);
    }
    std::erase_if(options, [](const Scored& each) { return !each.base; });
    Correct(options, [](const Scored& each) { return PValueOf(each.change); });
  }

  const std::vector<Scored>& Of(absl::string_view part) const {
    static const std::vector<Scored>* const none = new std::vector<Scored>();
    const auto found = parts_.find(std::string(part));
    return found == parts_.end() ? *none : found->second;
  }

  // The games of the same variant, player and budget by the usual rules.
  const Scored* BaseOf(const Sample& sample) const {
    return Find(part::kGames, sample, [](const Sample&) { return true; });
  }

  template <typename Condition>
  const Scored* Find(absl::string_view part, const Sample& like,
                     Condition condition) const {
    for (const Scored& each : Of(part)) {
      if (each.sample->variant == like.variant &&
          each.sample->player == like.player &&
          each.sample->simulations == like.simulations &&
          condition(*each.sample)) {
        return &each;
      }
    }
    return nullptr;
  }

 private:
  template <typename Probability>
  static void Correct(std::vector<Scored>& all, Probability probability) {
    std::vector<double> p;
    for (const Scored& each : all) p.push_back(probability(each));
    const std::vector<double> holm = HolmAdjusted(p);
    const std::vector<double> q = BenjaminiHochbergAdjusted(p);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].p_all = holm[i];
      all[i].q = q[i];
    }
  }

  std::map<std::string, std::vector<Scored>> parts_;
};

Interval SecondSides(const Interval& score) {
  return {1 - score.mean, 1 - score.high, 1 - score.low};
}

// The samples of one variant and player, by simulations.
std::vector<std::vector<const Scored*>> ByPlayer(
    const std::vector<Scored>& all) {
  std::map<std::pair<Variant, std::string>, std::map<int, const Scored*>>
      groups;
  for (const Scored& each : all) {
    groups[{each.sample->variant, each.sample->player}]
          [each.sample->simulations] = &each;
  }
  std::vector<std::vector<const Scored*>> sorted;
  for (const auto& [player, by_simulations] : groups) {
    sorted.emplace_back();
    for (const auto& [simulations, each] : by_simulations) {
      sorted.back().push_back(each);
    }
  }
  return sorted;
}

// The change of the score by each doubling of the simulations, and by the last
// step of the budgets.
struct Trend {
  const Sample* last;
  Interval slope, margin_slope, last_step;
};

std::vector<Trend> TrendsOf(const Figures& figures) {
  std::vector<Trend> trends;
  for (const auto& group : ByPlayer(figures.Of(part::kGames))) {
    std::vector<double> doublings;
    std::vector<Interval> scores, margins;
    const Sample* last = nullptr;
    for (const Scored* each : group) {
      if (each->sample->simulations == 0 || !each->scores.enough()) continue;
      last = each->sample;
      doublings.push_back(std::log2(last->simulations));
      scores.push_back(each->scores.score);
      margins.push_back(each->scores.margin);
    }
    if (doublings.size() < 2) continue;
    const size_t n = scores.size();
    trends.push_back({.last = last,
                      .slope = SlopeOf(doublings, scores),
                      .margin_slope = SlopeOf(doublings, margins),
                      .last_step = Difference(scores[n - 2], scores[n - 1])});
  }
  return trends;
}

// Two players of one variant and budget.
struct BetweenPlayers {
  const Sample* first;
  const Sample* second;
  Interval score, margin;  // the second's minus the first's
};

std::vector<BetweenPlayers> DifferencesOf(const Figures& figures) {
  std::vector<BetweenPlayers> differences;
  const std::vector<Scored>& all = figures.Of(part::kGames);
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i + 1; j < all.size(); ++j) {
      const Sample& x = *all[i].sample;
      const Sample& y = *all[j].sample;
      if (x.variant != y.variant || x.simulations != y.simulations ||
          x.player == y.player || !all[i].scores.enough() ||
          !all[j].scores.enough()) {
        continue;
      }
      differences.push_back(
          {&x, &y, Difference(all[i].scores.score, all[j].scores.score),
           Difference(all[i].scores.margin, all[j].scores.margin)});
    }
  }
  return differences;
}

// What a ladder came to: its compensation in games that did not choose it.
struct Confirmed {
  const Sample* base;
  const Compensation* found;
  Scores other_half = {};
  std::optional<Scores> fresh = {};
};

std::vector<Confirmed> CompensationsOf(const Figures& figures) {
  std::vector<Confirmed> all;
  for (const Scored& base : figures.Of(part::kGames)) {
    if (!base.sample->compensation.has_value()) continue;
    const Compensation& found = *base.sample->compensation;
    const auto with = [&](const Sample& sample) {
      return sample.rules.compensation_halves == found.halves;
    };
    Confirmed confirmed = {.base = base.sample, .found = &found};
    const Scored* const step =
        found.halves == base.sample->rules.compensation_halves
            ? &base
            : figures.Find(part::kLadder, *base.sample, with);
    if (step != nullptr) {
      confirmed.other_half = ScoresOf(HalfOf(step->sample->games, 1));
    }
    if (const Scored* fresh = figures.Find(part::kFresh, *base.sample, with)) {
      confirmed.fresh = fresh->scores;
    }
    all.push_back(confirmed);
  }
  return all;
}

// --- Tables ------------------------------------------------------------------

// The first fields of a row; `heading` is that of the first column.
ReportRow Head(const Sample& sample, absl::string_view heading) {
  const std::string simulations = absl::StrCat(sample.simulations);
  RuleOptions usual = sample.rules;
  if (sample.part != part::kGames) usual.compensation_halves = 0;
  if (sample.part == part::kPie) usual.pie_rule = false;
  const std::string rules =
      sample.part == part::kOption ? "-" : FormatRuleOptions(usual);
  return {VariantField("variant", heading, sample.variant, sample.not_learned),
          TextField("rules", "rules", rules),
          TextField("player", "player", sample.player),
          TextField("spec", "", sample.spec),
          sample.simulations == 0 ? NoField("simulations", "simulations")
                                  : JsonField("simulations", "simulations",
                                              simulations, sample.simulations),
          sample.not_learned.empty()
              ? NoField("not_learned", "")
              : TextField("not_learned", "", sample.not_learned)};
}

ReportField ProbabilityField(absl::string_view name, absl::string_view heading,
                             double p) {
  ReportField field = NumberField(name, heading, p, {.digits = 4});
  if (p < 0.0001) field.text = "<0.0001";
  return field;
}

ReportRow Counts(const Scores& scores) {
  return {CountField("games", "games", scores.games),
          CountField("distinct_games", "different", scores.distinct)};
}

ReportRow ScoreRow(const Scored& each) {
  const Scores& s = each.scores;
  return Joined({Head(*each.sample, "score of the first side"),
                 Counts(s),
                 {EstimateField("first_side_score", "score %", s.score, kScore),
                  ShareField("draws", "draws %", s.draws),
                  EstimateField("margin", "margin", s.margin, kMargin),
                  ProbabilityField("p_even", "p even", s.p_even),
                  ProbabilityField("p_all", "p of all", each.p_all)}});
}

ReportRow TrendRow(const Trend& trend) {
  return Joined({Head(*trend.last, "trend with simulations"),
                 {EstimateField("score_per_doubling", "score % per doubling",
                                trend.slope, kScoreChange),
                  EstimateField("margin_per_doubling", "margin per doubling",
                                trend.margin_slope, kMargin),
                  EstimateField("last_step", "score % by the last step",
                                trend.last_step, kScoreChange)}});
}

ReportRow BetweenRow(const BetweenPlayers& each) {
  ReportRow row = Head(*each.first, "difference between players");
  row.insert(row.begin() + 4,
             TextField("second_player", "second player", each.second->player));
  return Joined({row,
                 {EstimateField("score_difference", "score % more", each.score,
                                kScoreChange),
                  EstimateField("margin_difference", "margin more", each.margin,
                                kMargin)}});
}

ReportField PointsField(int halves) {
  return NumberField("compensation", "points", halves / 2.0,
                     {.digits = 1, .sign = true});
}

ReportRow CompensationRow(const Confirmed& each) {
  const Scores none;
  const Scores& fresh = each.fresh.value_or(none);
  const bool has_fresh = each.fresh.has_value();
  return Joined(
      {Head(*each.base, "fair compensation"),
       {PointsField(each.found->halves),
        EstimateField("even_points", "even by the curve",
                      each.found->fit.even_points, {.digits = 1, .sign = true}),
        CountField("other_games", "other half", each.other_half.games),
        EstimateField("other_score", "score %", each.other_half.score, kScore),
        CountField("fresh_games", "fresh games", fresh.games),
        has_fresh
            ? EstimateField("fresh_score", "fresh score %", fresh.score, kScore)
            : NoField("fresh_score", "fresh score %"),
        has_fresh ? ShareField("fresh_draws", "fresh draws %", fresh.draws)
                  : NoField("fresh_draws", "fresh draws %")}});
}

ReportRow LadderRow(const Scored& each) {
  return Joined(
      {Head(*each.sample, "steps of the compensation"),
       {PointsField(each.sample->rules.compensation_halves),
        CountField("games", "games", each.scores.games),
        EstimateField("score", "score %", each.scores.score, kScore)}});
}

ReportRow PieRow(const Scored& each) {
  return Joined({Head(*each.sample, "pie rule"),
                 Counts(each.scores),
                 {EstimateField("chooser_score", "chooser scores %",
                                SecondSides(each.scores.score), kScore),
                  ShareField("draws", "draws %", each.scores.draws)}});
}

ReportRow OptionRow(const Scored& each) {
  return Joined(
      {Head(*each.sample, "changed rules"),
       {TextField("change", "change", each.sample->detail)},
       Counts(each.scores),
       {EstimateField("score_change", "score % more", each.change,
                      kScoreChange),
        EstimateField("margin_change", "margin more", each.margin_change,
                      kMargin),
        EstimateField("draws_change", "draws % more",
                      Difference(each.base->scores.draws, each.scores.draws),
                      {.scale = 100, .digits = 1, .sign = true}),
        ProbabilityField("p", "p", PValueOf(each.change)),
        ProbabilityField("p_all", "p of all", each.p_all),
        ProbabilityField("q", "q", each.q)}});
}

ReportRow DoublingRow(const Scored& each) {
  const Interval score = ScoreOfA(each.sample->games);
  return Joined({Head(*each.sample, "depth of skill"),
                 {CountField("games", "games", each.scores.games),
                  EstimateField("score", "score against half %", score, kScore),
                  EstimateField("elo", "Elo gained", EloOf(score), kElo)}});
}

ReportRow OpeningRow(const Scored& each) {
  ReportRow row = Head(*each.sample, "effective number of openings");
  for (const int plies : kLinePlies) {
    row.push_back(MeanField(
        absl::StrCat("openings_", plies), absl::StrCat("of ", plies),
        EffectiveOpenings(each.sample->variant, each.sample->games, plies)));
  }
  return row;
}

// The games by first action, up to symmetry, best first.
std::vector<ReportRow> FirstActionRows(const Figures& figures,
                                       const Scored& each) {
  const Sample& sample = *each.sample;
  const Scored* const base = figures.BaseOf(sample);
  std::vector<std::pair<double, ReportRow>> rows;
  for (const std::vector<Action>& members :
       ActionsByClass(InitialState(sample.variant, sample.rules))) {
    const auto begins_so = [&](const GameFacts& game) {
      return std::find(members.begin(), members.end(), game.actions[0]) !=
             members.end();
    };
    std::vector<GameFacts> games;
    std::copy_if(sample.games.begin(), sample.games.end(),
                 std::back_inserter(games), begins_so);
    if (games.empty()) continue;
    const double chosen =
        base == nullptr ? 0
                        : static_cast<double>(std::count_if(
                              base->sample->games.begin(),
                              base->sample->games.end(), begins_so)) /
                              static_cast<double>(base->sample->games.size());
    const Scores scores = ScoresOf(games);
    std::string actions = ActionToText(members[0]);
    if (members.size() > 1) {
      absl::StrAppend(&actions, " (", members.size() - 1, " more)");
    }
    rows.emplace_back(
        -scores.score.mean,
        Joined({Head(sample, "first actions"),
                {TextField("action", "action", actions)},
                Counts(scores),
                {EstimateField("first_side_score", "score %", scores.score,
                               kScore),
                 NumberField("chosen", "chosen %", chosen, kPercent)}}));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return x.first < y.first;
  });
  std::vector<ReportRow> sorted;
  for (auto& [score, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

ReportRow RestrictedRow(const Scored& each) {
  const Interval score = ScoreOfA(each.sample->games);
  return Joined(
      {Head(*each.sample, "restricted play"),
       {TextField("without", "without", each.sample->detail),
        CountField("games", "games", each.scores.games),
        EstimateField("score", "score without %", score, kScore),
        EstimateField("cost", "costs a game %",
                      Difference(score, {0.5, 0.5, 0.5}), kScoreChange)}});
}

ReportRow CourseRow(const Scored& each) {
  const Course course = CourseOf(each.sample->games);
  const auto optional = [](absl::string_view name, absl::string_view heading,
                           const std::optional<Interval>& interval,
                           double scale) {
    return interval.has_value()
               ? EstimateField(name, heading, *interval,
                               {.scale = scale, .digits = kDigitsByInterval})
               : NoField(name, heading);
  };
  return Joined(
      {Head(*each.sample, "what a game is like"),
       {MeanField("length", "length", course.length),
        MeanField("branching", "choices", course.branching),
        optional("lead_changes", "lead changes", course.lead_changes, 1),
        optional("decided", "decided at %", course.decided, 100),
        optional("comebacks", "comebacks %", course.comebacks, 100),
        ShareField("double_captures", "double captures %",
                   course.double_captures)}});
}

ReportRow ActionRow(const Scored& each) {
  const Course course = CourseOf(each.sample->games);
  ReportRow row = Head(*each.sample, "actions a game");
  for (int type = 0; type < kNumActionTypes; ++type) {
    const absl::string_view name =
        ActionTypeName(static_cast<ActionType>(type));
    row.push_back(course.types[type].mean > 0
                      ? MeanField(name, name, course.types[type])
                      : NoField(name, name));
  }
  return row;
}

ReportRow EndingRow(const Scored& each) {
  ReportRow row = Head(*each.sample, "endings");
  std::map<int, int64_t> margins, lengths;
  std::map<Ending, int64_t> endings;
  for (const GameFacts& game : each.sample->games) {
    ++margins[game.red_margin];
    ++lengths[game.length];
    ++endings[game.ending];
  }
  for (const Ending ending :
       {Ending::kOut, Ending::kDoubleCapture, Ending::kPassed,
        Ending::kBoardFull, Ending::kNoProgress}) {
    const auto& name = EndingName(ending);
    row.push_back(endings.contains(ending)
                      ? CountField(name, name, endings[ending])
                      : NoField(name, name));
  }
  const auto counts = [](const std::map<int, int64_t>& of) {
    Json object = Json::object();
    for (const auto& [value, count] : of) object[absl::StrCat(value)] = count;
    return object;
  };
  row.push_back(CountsField("margins", "margin", counts(margins)));
  row.push_back(CountsField("lengths", "length", counts(lengths)));
  return row;
}

std::vector<ReportRow> SeatRows(const Scored& each) {
  std::vector<ReportRow> rows;
  if (Info(each.sample->variant).seats != 4) return rows;
  for (int seat = 0; seat < 4; ++seat) {
    const SeatFigures of = SeatOf(each.sample->games, seat);
    rows.push_back(
        Joined({Head(*each.sample, "seats"),
                {JsonField("seat", "seat", absl::StrCat(seat + 1), seat + 1),
                 MeanField("actions", "actions", of.actions),
                 MeanField("branching", "choices", of.branching),
                 MeanField("captures", "captures", of.captures),
                 ShareField("first_out", "first out %", of.first_out)}}));
  }
  return rows;
}

// --- Sentences ---------------------------------------------------------------

std::string Points(const Interval& score) {
  return absl::StrFormat("%.1f %% [%.1f, %.1f]", 100 * score.mean,
                         100 * score.low, 100 * score.high);
}
std::string Change(const Interval& change) {
  return absl::StrFormat("%+.1f %% [%+.1f, %+.1f]", 100 * change.mean,
                         100 * change.low, 100 * change.high);
}

bool Excludes(const Interval& interval, double value) {
  return interval.low > value || interval.high < value;
}
bool IsEven(const Interval& score) {
  return score.low >= 0.5 - kEvenBand && score.high <= 0.5 + kEvenBand;
}

class Sentences {
 public:
  Sentences(const Figures& figures, Variant variant)
      : figures_(figures), variant_(variant) {
    std::set<std::string> players;
    for (const Scored& each : Of(part::kGames)) {
      players.insert(each.sample->player);
    }
    several_players_ = players.size() > 1;
  }

  std::vector<std::string> All() {
    Balance();
    Trends();
    Networks();
    Compensations();
    Pie();
    Options();
    Depth();
    Restricted();
    return std::move(sentences_);
  }

 private:
  std::vector<Scored> Of(absl::string_view part) const {
    std::vector<Scored> own;
    for (const Scored& each : figures_.Of(part)) {
      if (each.sample->variant == variant_) own.push_back(each);
    }
    return own;
  }

  // "400 simulations", "best with 400 simulations", "greedy".
  std::string Where(const Sample& sample) const {
    const std::string simulations =
        sample.simulations == 0
            ? ""
            : absl::StrCat(sample.simulations, " simulations");
    if (simulations.empty()) return sample.player;
    return several_players_ ? absl::StrCat(sample.player, " with ", simulations)
                            : simulations;
  }

  void Say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  // Whether there are games enough for the sentence about them; else says so.
  bool Enough(const Scored& each, absl::string_view of) {
    if (each.scores.enough()) return true;
    Say(absl::StrFormat(
        "There are not enough different games for a verdict on %s (%s): %d of "
        "%d differ, expected %d.",
        of, Where(*each.sample), each.scores.distinct, each.scores.games,
        kFewestForVerdict));
    return false;
  }

  void Balance() {
    enum Kind { kFirst, kSecond, kEven, kOpen };
    std::map<Kind, std::vector<std::string>> places;
    for (const Scored& each : Of(part::kGames)) {
      if (!Enough(each, "the balance")) continue;
      const Interval& score = each.scores.score;
      const Kind kind = each.p_all < 0.05 ? score.mean > 0.5 ? kFirst : kSecond
                        : IsEven(score)   ? kEven
                                          : kOpen;
      places[kind].push_back(
          absl::StrCat(Points(score), " with ", Where(*each.sample),
                       kind <= kSecond && IsEven(score) ? " (by little)" : ""));
    }
    constexpr absl::string_view kWords[] = {
        "The first side is favoured: it scores ",
        "The second side is favoured: the first scores ",
        "Even to within 5 %: the first side scores ",
        "No side is shown to be favoured: the first scores "};
    for (const auto& [kind, texts] : places) {
      Say(absl::StrCat(kWords[kind], absl::StrJoin(texts, "; "), "."));
    }
    if (places.size() > 1) {
      Say("The answer is not the same for all players and simulations.");
    }
  }

  void Trends() {
    for (const Trend& trend : TrendsOf(figures_)) {
      if (trend.last->variant != variant_) continue;
      const std::string who =
          several_players_ ? absl::StrCat(" (", trend.last->player, ")") : "";
      if (Excludes(trend.slope, 0)) {
        Say(absl::StrCat("Each doubling of simulations moves the score by ",
                         Change(trend.slope), who, "."));
      } else {
        Say(absl::StrCat("More simulations are not shown to move the score: ",
                         Change(trend.slope), " per doubling", who, "."));
      }
      if (Excludes(trend.last_step, 0)) {
        Say(absl::StrCat("The last step, to ", trend.last->simulations,
                         " simulations, still moves it by ",
                         Change(trend.last_step), who,
                         ": expect other figures from stronger play."));
      }
    }
  }

  void Networks() {
    // Of the largest budget that both played.
    std::optional<BetweenPlayers> last;
    for (const BetweenPlayers& each : DifferencesOf(figures_)) {
      if (each.first->variant != variant_) continue;
      if (!last.has_value() ||
          each.first->simulations >= last->first->simulations) {
        last = each;
      }
    }
    if (!last.has_value()) return;
    const std::string between = absl::StrCat(
        last->second->player, " against ", last->first->player,
        last->first->simulations == 0
            ? ""
            : absl::StrCat(" with ", last->first->simulations, " simulations"));
    Say(absl::StrCat(Excludes(last->score, 0)
                         ? "The players disagree: the score of "
                         : "The players are not shown to disagree: the score "
                           "of ",
                     between, " is different by ", Change(last->score), "."));
  }

  // The words on whether a remedy makes the variant even, by its score.
  static std::string Remedy(const Interval& score, bool plural) {
    const bool holds = !Excludes(score, 0.5);
    if (IsEven(score)) {
      return absl::StrCat(plural ? "make" : "makes", " it ",
                          holds ? "even" : "nearly even");
    }
    return holds ? "may make it even, which these games do not show"
                 : absl::StrCat(plural ? "do" : "does", " not make it even");
  }

  void Compensations() {
    for (const Confirmed& each : CompensationsOf(figures_)) {
      if (each.base->variant != variant_) continue;
      const Scores& scores =
          each.fresh.has_value() ? *each.fresh : each.other_half;
      const int halves = each.found->halves;
      if (!scores.enough()) continue;
      std::string what = "No points for either side";
      if (halves != 0) {
        what = PointsInWords(std::abs(halves));
        what[0] = absl::ascii_toupper(what[0]);
        absl::StrAppend(&what, " for the ", halves > 0 ? "second" : "first",
                        " side");
      }
      Say(absl::StrCat(
          what, " ",
          Remedy(scores.score, std::abs(halves) != 2 && std::abs(halves) != 1),
          each.found->beyond ? ", and the ladder has no better step" : "", " (",
          Where(*each.base), "): the first side scores ", Points(scores.score),
          " in ", scores.games,
          each.fresh.has_value() ? " fresh games." : " other games."));
    }
  }

  void Pie() {
    for (const Scored& each : Of(part::kPie)) {
      if (!Enough(each, "the pie rule")) continue;
      const Interval chooser = SecondSides(each.scores.score);
      Say(absl::StrCat("The pie rule ", Remedy(chooser, false), " (",
                       Where(*each.sample), "): the chooser scores ",
                       Points(chooser), " in ", each.scores.games, " games."));
    }
  }

  void Options() {
    std::vector<std::string> unshown;
    for (const Scored& each : Of(part::kOption)) {
      if (!Enough(each, each.sample->detail)) continue;
      if (each.p_all < 0.05) {
        Say(absl::StrCat("With ", each.sample->detail,
                         " the first side's score changes by ",
                         Change(each.change), " (", Where(*each.sample), ")."));
      } else {
        unshown.push_back(each.sample->detail);
      }
    }
    if (unshown.empty()) return;
    std::sort(unshown.begin(), unshown.end());
    unshown.erase(std::unique(unshown.begin(), unshown.end()), unshown.end());
    Say(absl::StrCat("An effect on the score is not shown of ",
                     absl::StrJoin(unshown, "; "), "."));
  }

  void Depth() {
    for (const auto& group : ByPlayer(figures_.Of(part::kDoubling))) {
      const Sample& last = *group.back()->sample;
      if (last.variant != variant_) continue;
      const Interval elo = EloOf(ScoreOfA(last.games));
      const std::string who =
          several_players_ ? absl::StrCat(" (", last.player, ")") : "";
      const std::string gain = absl::StrFormat("%+.0f Elo [%+.0f, %+.0f]",
                                               elo.mean, elo.low, elo.high);
      Say(elo.mean < kLeastGain
              ? absl::StrCat("Skill ends at about ", last.simulations / 2,
                             " simulations", who, ": twice as many gain ", gain,
                             ".")
              : absl::StrCat("Skill goes deeper than ", last.simulations,
                             " simulations", who, ": the last doubling gains ",
                             gain, "."));
    }
  }

  void Restricted() {
    for (const Scored& each : Of(part::kRestricted)) {
      const Interval score = ScoreOfA(each.sample->games);
      if (!Excludes(score, 0.5)) continue;
      const std::string& kind = each.sample->detail;
      Say(absl::StrCat("A player that avoids ", kind,
                       kind == "pass" ? "es" : "s", " scores ", Points(score),
                       " against one that does not (", Where(*each.sample),
                       ")."));
    }
  }

  const Figures& figures_;
  const Variant variant_;
  bool several_players_ = false;
  std::vector<std::string> sentences_;
};

}  // namespace

std::string PointsInWords(int halves) {
  constexpr absl::string_view kNumbers[] = {
      "no",    "one",   "two",  "three", "four",   "five",  "six",
      "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  if (halves == 1) return "half a point";
  return absl::StrCat(kNumbers[halves / 2],
                      halves % 2 == 1 ? " and a half" : "",
                      halves == 2 ? " point" : " points");
}

BalanceReport ReportOf(const Study& study, const StudyResults& results) {
  const Figures figures(results);
  BalanceReport report;
  report.notes.push_back(absl::StrCat(
      "Openings: ", study.drawn_plies,
      " actions drawn from the player's policy at temperature ",
      study.temperature,
      study.opening_plies.value_or(0) == 0
          ? ""
          : absl::StrCat(" after ", *study.opening_plies, " random ones"),
      ". Seed ", study.seed, ". Intervals are 95 %."));
  const auto add = [&](absl::string_view name, absl::string_view heading,
                       std::vector<ReportRow> rows, absl::string_view notes,
                       absl::string_view plots = "",
                       absl::string_view unit = "") {
    if (rows.empty()) return;
    report.names.emplace_back(name);
    report.sections.push_back({.heading = std::string(heading),
                               .rows = WithoutEmptyColumns(std::move(rows)),
                               .notes = std::string(notes),
                               .plots = plots,
                               .unit = unit});
  };
  const auto each = [&](absl::string_view part, auto row) {
    std::vector<ReportRow> rows;
    for (const Scored& sample : figures.Of(part)) rows.push_back(row(sample));
    return rows;
  };
  const auto each_of = [&](absl::string_view part, auto rows_of) {
    std::vector<ReportRow> rows;
    for (const Scored& sample : figures.Of(part)) {
      for (ReportRow& row : rows_of(sample)) rows.push_back(std::move(row));
    }
    return rows;
  };
  const auto of = [](const auto& figures, auto row) {
    std::vector<ReportRow> rows;
    for (const auto& figure : figures) rows.push_back(row(figure));
    return rows;
  };
  add("studies", "Is it fair?", each(part::kGames, ScoreRow),
      "A draw is half a win; 50 % is fair. p even: the chance of a score so "
      "far from 50 %\nbetween equal sides; p of all: corrected for the number "
      "of "
      "rows.\n",
      "estimates");
  add("trends", "Does more thinking change it?",
      of(TrendsOf(figures), TrendRow),
      "An interval without 0 shows that stronger play moves the figure.\n",
      "estimates");
  add("players", "Does it depend on the network?",
      of(DifferencesOf(figures), BetweenRow),
      "The second player's figure minus the first one's.\n", "estimates");
  add("compensations", "Points that make it even",
      of(CompensationsOf(figures), CompensationRow),
      "Points go to the second side, negative ones to the first. They were "
      "found by one half\nof the games and tried on the other half and on "
      "fresh games.\n");
  add("ladder", "Steps of the compensation", each(part::kLadder, LadderRow),
      "");
  add("pie_rule", "The pie rule", each(part::kPie, PieRow),
      "The second player may take over the first action; 50 % is fair.\n",
      "estimates");
  add("what_if", "Changed rules", each(part::kOption, OptionRow),
      "Figures with the change minus those without. p of all is corrected for "
      "the number of\nrows (Holm); q is the expected share of false alarms "
      "among rows with this q or less.\n",
      "estimates");
  add("depth", "Depth of skill", each(part::kDoubling, DoublingRow),
      "The simulations shown against half as many. The curve ends where a "
      "doubling gains\nless than 20 Elo.\n",
      "estimates");
  add("openings", "Variety of openings", each(part::kGames, OpeningRow),
      "Equally likely lines of 1, 2, 4 and 8 actions with the same variety. "
      "inf: the games\ndo not bound it.\n");
  add("first_actions", "First actions",
      each_of(part::kFirst,
              [&](const Scored& sample) {
                return FirstActionRows(figures, sample);
              }),
      "The first side's score by first action, up to symmetry; and how often "
      "the player\nbegins so.\n");
  add("restricted", "Restricted play", each(part::kRestricted, RestrictedRow),
      "The player that never plays such an action if it has another does not "
      "plan for\nthat: the cost is an upper bound.\n",
      "estimates");
  add("courses", "What a game is like", each(part::kGames, CourseRow),
      "Choices: legal actions an action. Lead changes, decided and comebacks "
      "(winners once\nbelow 25 %) are by the player's own values.\n");
  add("actions", "Actions a game", each(part::kGames, ActionRow), "");
  add("endings", "Endings, margins and lengths", each(part::kGames, EndingRow),
      "Games by ending.\n");
  add("seats", "Seats in doubles", each_of(part::kGames, SeatRows), "");

  std::set<Variant> done;
  for (const Scored& sample : figures.Of(part::kGames)) {
    const Variant variant = sample.sample->variant;
    if (!done.insert(variant).second) continue;
    report.verdicts.push_back({variant, Sentences(figures, variant).All()});
  }
  for (const Sample& sample : results.samples) {
    if (!sample.not_learned.empty()) {
      report.notes.push_back(std::string(absl::StripSuffix(
          NotLearnedLine(
              VariantText(InitialState(sample.variant, sample.rules)),
              sample.not_learned),
          "\n")));
    }
    if (static_cast<int>(sample.games.size()) < sample.wanted) {
      report.notes.push_back(absl::StrCat(
          Info(sample.variant).id, ", ", sample.spec, ", ", sample.part, ": ",
          sample.games.size(), " of ", sample.wanted, " games."));
    }
  }
  report.notes.insert(report.notes.end(), results.left_out.begin(),
                      results.left_out.end());
  std::set<std::string> said;
  std::erase_if(report.notes, [&](const std::string& line) {
    return !said.insert(line).second;
  });
  return report;
}

std::string BalanceReportJson(const BalanceReport& report) {
  Json object = {{"verdicts", Json::array()}};
  for (const Verdict& verdict : report.verdicts) {
    object["verdicts"].push_back(
        {{"variant", std::string(Info(verdict.variant).id)},
         {"sentences", verdict.sentences}});
  }
  for (size_t i = 0; i < report.sections.size(); ++i) {
    Json& rows = object[report.names[i]] = Json::array();
    for (const ReportRow& row : report.sections[i].rows) {
      rows.push_back(RowJson(row));
    }
  }
  object["notes"] = report.notes;
  return JsonText(object, 2);
}

std::string BalancePage(const BalanceReport& report) {
  std::vector<std::string> verdict;
  for (const Verdict& each : report.verdicts) {
    verdict.push_back(absl::StrCat(Info(each.variant).name, "\n",
                                   absl::StrJoin(each.sentences, "\n")));
  }
  return SectionsPage("Balance of variants", absl::StrJoin(report.notes, "\n"),
                      report.sections, verdict);
}

}  // namespace tara::eval
