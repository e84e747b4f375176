#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tara/core/rules.h"
#include "tara/eval/balance/study.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLinePlies[] = {1, 2, 4, 8};

// A sample with its scores.
struct Scored {
  const Sample* sample;
  Scores scores;
  double p_all = 1;              // among the samples of its part (Holm)
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
      option.base = Find(part::kGames, *option.sample);
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

  // The first games of a part of the same variant, player and budget, with this
  // compensation or any; null if there are none.
  const Scored* Find(absl::string_view part, const Sample& like,
                     std::optional<int> halves = {}) const {
    for (const Scored& each : Of(part)) {
      if (each.sample->variant == like.variant &&
          each.sample->player == like.player &&
          each.sample->simulations == like.simulations &&
          each.sample->rules.compensation_halves ==
              halves.value_or(each.sample->rules.compensation_halves)) {
        return &each;
      }
    }
    return nullptr;
  }

 private:
  static void Correct(std::vector<Scored>& all,
                      double (*probability)(const Scored&)) {
    std::vector<double> p;
    for (const Scored& each : all) p.push_back(probability(each));
    const std::vector<double> holm = HolmAdjusted(p);
    for (size_t i = 0; i < all.size(); ++i) all[i].p_all = holm[i];
  }

  std::map<std::string, std::vector<Scored>> parts_;
};

Interval SecondSides(const Interval& score) {
  return {1 - score.mean, 1 - score.high, 1 - score.low};
}

// The samples of one variant, player and detail, by simulations.
std::vector<std::vector<const Scored*>> ByPlayer(
    const std::vector<Scored>& all) {
  std::map<std::tuple<Variant, std::string, std::string>,
           std::map<int, const Scored*>>
      groups;
  for (const Scored& each : all) {
    const Sample& sample = *each.sample;
    groups[{sample.variant, sample.player, sample.detail}][sample.simulations] =
        &each;
  }
  std::vector<std::vector<const Scored*>> sorted;
  for (const auto& [group, by_simulations] : groups) {
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

// One variant and player after another, each by simulations, or `last_only`.
std::vector<Confirmed> CompensationsOf(const Figures& figures,
                                       bool last_only = false) {
  std::vector<Confirmed> all;
  for (const auto& group : ByPlayer(figures.Of(part::kGames))) {
    std::vector<Confirmed> of_group;
    for (const Scored* base : group) {
      const Sample& sample = *base->sample;
      if (!sample.compensation.has_value()) continue;
      const int halves = sample.compensation->halves;
      Confirmed& confirmed = of_group.emplace_back();
      confirmed = {.base = &sample, .found = &*sample.compensation};
      const Scored* const step =
          halves == sample.rules.compensation_halves
              ? base
              : figures.Find(part::kLadder, sample, halves);
      if (step != nullptr) {
        confirmed.other_half = ScoresOf(HalfOf(step->sample->games, 1));
      }
      const Scored* const fresh = figures.Find(part::kFresh, sample, halves);
      if (fresh != nullptr) confirmed.fresh = fresh->scores;
    }
    if (last_only && !of_group.empty()) of_group = {of_group.back()};
    all.insert(all.end(), of_group.begin(), of_group.end());
  }
  return all;
}

// --- Tables ------------------------------------------------------------------

// A player, on the page without the folder and the ending of its file.
ReportField PlayerField(absl::string_view name, absl::string_view heading,
                        const std::string& player) {
  ReportField field = TextField(name, heading, player);
  const size_t folder = player.rfind('/');
  if (folder != std::string::npos) {
    field.label =
        std::string(absl::StripSuffix(player.substr(folder + 1), ".tara"));
  }
  return field;
}

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
          PlayerField("player", "player", sample.player),
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
          CountField("distinct_games", "different", scores.distinct),
          NumberField("effective_games", "count as", scores.effective,
                      {.digits = 0})};
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
  row.insert(row.begin() + 4, PlayerField("second_player", "second player",
                                          each.second->player));
  return Joined({row,
                 {EstimateField("score_difference", "score % more", each.score,
                                kScoreChange),
                  EstimateField("margin_difference", "margin more", each.margin,
                                kMargin)}});
}

ReportField PointsField(double points) {
  return NumberField("compensation", "points", points,
                     {.digits = 1, .sign = true});
}

ReportRow CompensationRow(const Confirmed& each) {
  const Scores none;
  const Scores& fresh = each.fresh.value_or(none);
  const bool has_fresh = each.fresh.has_value();
  return Joined(
      {Head(*each.base, "fair compensation"),
       {PointsField(each.found->halves / 2.0),
        EstimateField("even_points", "even at", each.found->fit.even_points,
                      {.digits = 1, .sign = true}),
        CountField("other_games", "other half", each.other_half.games),
        EstimateField("other_score", "score %", each.other_half.score, kScore),
        CountField("fresh_games", "fresh games", fresh.games),
        has_fresh
            ? EstimateField("fresh_score", "fresh score %", fresh.score, kScore)
            : NoField("fresh_score", "fresh score %"),
        has_fresh ? ShareField("fresh_draws", "fresh draws %", fresh.draws)
                  : NoField("fresh_draws", "fresh draws %")}});
}

std::vector<ReportRow> LadderRows(const Confirmed& each) {
  std::vector<ReportRow> rows;
  for (const LadderFit::Step& step : each.found->fit.steps) {
    rows.push_back(Joined(
        {Head(*each.base, "steps of the compensation"),
         {PointsField(step.points), CountField("games", "games", step.games),
          EstimateField("score", "score %", step.score, kScore),
          NumberField("curve", "curve %", step.curve, kPercent)}}));
  }
  return rows;
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
        ProbabilityField("p_all", "p of all", each.p_all)}});
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
  const Scored* const base = figures.Find(part::kGames, sample);
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
        base == nullptr ? 0 : ShareOf(base->sample->games, begins_so).mean;
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

std::vector<ReportRow> BestOf(std::vector<ReportRow> rows) {
  constexpr size_t kShown = 5;
  if (rows.size() > kShown) rows.resize(kShown);
  return rows;
}

ReportRow RestrictedRow(const Scored& each) {
  const Interval score = ScoreOfA(each.sample->games);
  return Joined({Head(*each.sample, "restricted play"),
                 {TextField("without", "without", each.sample->detail),
                  CountField("games", "games", each.scores.games),
                  EstimateField("score", "score without %", score, kScore)}});
}

ReportRow CourseRow(const Scored& each) {
  const std::vector<GameFacts>& games = each.sample->games;
  std::vector<GameFacts> told;
  std::copy_if(games.begin(), games.end(), std::back_inserter(told),
               [](const GameFacts& game) { return game.drama.has_value(); });
  const auto lead_changes = [](const auto& g) { return g.drama->lead_changes; };
  const auto decided = [](const auto& g) {
    return static_cast<double>(g.drama->decided_ply) / g.length;
  };
  const auto is_comeback = [](const auto& g) {
    return g.drama->lowest_score < 0.25;
  };
  const auto is_double_capture = [](const auto& g) {
    return g.ending == Ending::kDoubleCapture;
  };
  const auto if_told = [&](const ReportField& field) {
    return told.empty() ? NoField(field.name, field.heading) : field;
  };
  ReportRow row = Joined(
      {Head(*each.sample, "what a game is like"),
       {MeanField("length", "length", MeanOf(games, &GameFacts::length)),
        MeanField("branching", "choices", BranchingOf(games)),
        if_told(MeanField("lead_changes", "lead changes",
                          MeanOf(told, lead_changes))),
        if_told(ShareField("decided", "decided at %", MeanOf(told, decided))),
        if_told(
            ShareField("comebacks", "comebacks %", ShareOf(told, is_comeback))),
        ShareField("double_captures", "double captures %",
                   ShareOf(games, is_double_capture))}});
  for (int type = 0; type < kNumActionTypes; ++type) {
    const absl::string_view name =
        ActionTypeName(static_cast<ActionType>(type));
    const Interval mean =
        MeanOf(games, [=](const auto& g) { return g.types[type]; });
    row.push_back(mean.mean > 0 ? MeanField(name, name, mean)
                                : NoField(name, name));
  }
  return row;
}

ReportRow EndingRow(const Scored& each) {
  ReportRow row = Head(*each.sample, "endings");
  std::map<std::string, int64_t> margins;
  std::map<Ending, int64_t> endings;
  for (const GameFacts& game : each.sample->games) {
    ++margins[absl::StrCat(game.red_margin)];
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
  row.push_back(CountsField("margins", "margin, points", margins));
  return row;
}

std::vector<ReportRow> SeatRows(const Scored& each) {
  const std::vector<GameFacts>& games = each.sample->games;
  std::vector<ReportRow> rows;
  if (Info(each.sample->variant).seats != 4) return rows;
  for (int seat = 0; seat < 4; ++seat) {
    const auto actions = [=](const auto& g) { return g.seats[seat].actions; };
    const auto captures = [=](const auto& g) { return g.seats[seat].captures; };
    const auto is_out = [=](const auto& g) { return g.first_out == seat; };
    rows.push_back(Joined(
        {Head(*each.sample, "seats"),
         {JsonField("seat", "seat", absl::StrCat(seat + 1), seat + 1),
          MeanField("actions", "actions", MeanOf(games, actions)),
          MeanField("captures", "captures", MeanOf(games, captures)),
          ShareField("first_out", "first out %", ShareOf(games, is_out))}}));
  }
  return rows;
}

// The rows that `make` makes of each figure: one or several.
template <typename Figures, typename Make>
std::vector<ReportRow> RowsOf(const Figures& figures, Make make) {
  std::vector<ReportRow> rows;
  for (const auto& figure : figures) {
    auto made = make(figure);
    if constexpr (std::is_same_v<decltype(made), ReportRow>) {
      rows.push_back(std::move(made));
    } else {
      rows.insert(rows.end(), made.begin(), made.end());
    }
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

// Where an estimate lies.
enum Place { kAbove, kBelow, kEven, kOpen, kTooFew };

// Returns where it lies if it is shown not to be `even`, or else kOpen.
Place PlaceOf(const Interval& estimate, double even) {
  return estimate.low > even ? kAbove : estimate.high < even ? kBelow : kOpen;
}

// The same of a score, which may be even to within kEvenBand.
Place PlaceOfScore(const Interval& score) {
  return score.low >= 0.5 - kEvenBand && score.high <= 0.5 + kEvenBand
             ? kEven
             : PlaceOf(score, 0.5);
}

// The verdict on a variant: of each measure a sentence for each place, with all
// estimates that lie there.
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
    for (const Scored& each : Of(part::kGames)) {
      const Interval& score = each.scores.score;
      const Place place = PlaceOfScore(score);
      Add(each.p_all < 0.05 ? (score.mean > 0.5 ? kAbove : kBelow)
          : place == kEven  ? kEven
                            : kOpen,
          Points(score), *each.sample, each.scores);
    }
    Tell({"The first side is favoured: it scores ",
          "The second side is favoured: the first scores ",
          "Even to within 5 %: the first side scores ",
          "No side is shown to be favoured: the first scores "});

    const std::vector<Trend> trends = TrendsOf(figures_);
    for (const Trend& trend : trends) {
      if (trend.last->variant != variant_) continue;
      Add(PlaceOf(trend.slope, 0), Change(trend.slope) + By(*trend.last));
    }
    Tell({"Each doubling of simulations moves the score by ", "", "",
          "More simulations are not shown to move the score: each doubling "
          "by "});
    for (const Trend& trend : trends) {
      if (trend.last->variant != variant_) continue;
      Add(PlaceOf(trend.last_step, 0), Change(trend.last_step), *trend.last);
    }
    Tell(
        {"The last step still moves the score; expect other figures from "
         "stronger play: "});

    for (const BetweenPlayers& each : DifferencesOf(figures_)) {
      if (each.first->variant != variant_) continue;
      Add(PlaceOf(each.score, 0),
          absl::StrCat(each.second->player, " against ", each.first->player,
                       " by ", Change(each.score), With(*each.first)));
    }
    Tell({"The players disagree on the score, and a third can differ by more: ",
          "", "", "The players are not shown to disagree on the score: "});

    for (const Confirmed& each : CompensationsOf(figures_)) {
      if (each.base->variant != variant_) continue;
      const Scores& scores = each.fresh.value_or(each.other_half);
      Add(PlaceOfScore(scores.score),
          absl::StrFormat("%+.1f points, with which the first side scores %s "
                          "in %d %s games",
                          each.found->halves / 2.0, Points(scores.score),
                          scores.games,
                          each.fresh.has_value() ? "fresh" : "other"),
          *each.base, scores);
    }
    Tell({"No compensation that was tried makes it even; nearest to it are ",
          "", "Points for the second side make it even: ",
          "Points for the second side may make it even, which these games do "
          "not show: "});

    for (const Scored& each : Of(part::kPie)) {
      const Interval chooser = SecondSides(each.scores.score);
      Add(PlaceOfScore(chooser), Points(chooser), *each.sample, each.scores);
    }
    Tell({"The pie rule does not make it even: the chooser scores ", "",
          "The pie rule makes it even: the chooser scores ",
          "The pie rule may make it even, which these games do not show: the "
          "chooser scores "});

    for (const Scored& each : Of(part::kOption)) {
      Add(each.p_all < 0.05 ? kAbove : kOpen,
          absl::StrCat(each.sample->detail, " by ", Change(each.change)),
          *each.sample, each.scores);
    }
    Tell({"Rules that move the first side's score: ", "", "",
          "Rules that are not shown to move the score: "});

    for (const auto& group : ByPlayer(figures_.Of(part::kDoubling))) {
      const Sample& last = *group.back()->sample;
      if (last.variant != variant_) continue;
      const Interval elo = EloOf(ScoreOfA(last.games));
      const bool ends = elo.mean < kMinGain;
      Add(ends ? kBelow : kAbove,
          absl::StrFormat("%d simulations, where twice as many %s %+.0f Elo "
                          "[%+.0f, %+.0f]%s",
                          last.simulations / 2, ends ? "gain" : "still gain",
                          elo.mean, elo.low, elo.high, By(last)));
    }
    Tell({"Skill goes deeper than ", "Skill ends at about "});

    for (const Scored& each : Of(part::kRestricted)) {
      const Interval score = ScoreOfA(each.sample->games);
      Add(PlaceOf(score, 0.5),
          absl::StrCat("without ", each.sample->detail, " ", Points(score)),
          *each.sample);
    }
    Tell(
        {"A player that avoids a kind of action scores against one that does "
         "not: "});
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

  static std::string With(const Sample& sample) {
    return sample.simulations == 0
               ? ""
               : absl::StrCat(" with ", sample.simulations, " simulations");
  }
  std::string By(const Sample& sample) const {
    return several_players_ || sample.simulations == 0
               ? absl::StrCat(" by ", sample.player)
               : "";
  }

  void Add(Place place, std::string figure) {
    figures_of_[place].push_back(std::move(figure));
  }
  void Add(Place place, const std::string& figure, const Sample& sample) {
    Add(place, absl::StrCat(figure, With(sample), By(sample)));
  }
  void Add(Place place, const std::string& figure, const Sample& sample,
           const Scores& scores) {
    if (scores.enough()) return Add(place, figure, sample);
    Add(kTooFew,
        absl::StrFormat("%s, %d games that count as %.0f", sample.part,
                        scores.games, scores.effective),
        sample);
  }

  // Ends a measure: `words` are those of each place, "" where nothing is told;
  // without words of its own, what is below is told as what is above.
  void Tell(std::array<absl::string_view, kTooFew> words) {
    if (words[kBelow].empty()) words[kBelow] = words[kAbove];
    for (int place = 0; place <= kTooFew; ++place) {
      const std::string figures = absl::StrJoin(figures_of_[place], "; ");
      figures_of_[place].clear();
      if (figures.empty() || (place < kTooFew && words[place].empty())) {
        continue;
      }
      sentences_.push_back(absl::StrCat(
          place < kTooFew
              ? std::string(words[place])
              : absl::StrCat("Fewer than ", kMinGamesForVerdict,
                             " different games are no ground for a verdict: "),
          figures, "."));
    }
  }

  const Figures& figures_;
  const Variant variant_;
  bool several_players_ = false;
  std::array<std::vector<std::string>, kTooFew + 1> figures_of_;
  std::vector<std::string> sentences_;
};

}  // namespace

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
  // JSON has `all` rows, if they are more than text and page have.
  const auto add = [&](absl::string_view name, absl::string_view heading,
                       std::vector<ReportRow> rows, absl::string_view notes,
                       std::vector<ReportRow> all = {}) {
    if (rows.empty()) return;
    rows = WithoutEmptyColumns(std::move(rows));
    report.tables[std::string(name)] =
        RowsToJson(all.empty() ? rows : WithoutEmptyColumns(std::move(all)));
    report.sections.push_back({.heading = std::string(heading),
                               .rows = std::move(rows),
                               .notes = std::string(notes),
                               .plots = "marks"});
  };
  add("studies", "Is it fair?", RowsOf(figures.Of(part::kGames), ScoreRow),
      "A draw is half a win; 50 % is fair. p even: the chance of a score so "
      "far from 50 %\nbetween equal sides; p of all: corrected for the number "
      "of rows.\n");
  add("trends", "Does more thinking change it?",
      RowsOf(TrendsOf(figures), TrendRow),
      "An interval without 0 shows that stronger play moves the figure.\n");
  add("players", "Does it depend on the network?",
      RowsOf(DifferencesOf(figures), BetweenRow),
      "The second player's figure minus the first one's.\n");
  const std::vector<Confirmed> compensations = CompensationsOf(figures);
  add("compensations", "Points that make it even",
      RowsOf(compensations, CompensationRow),
      "Points go to the second side, negative ones to the first. They were "
      "found by one half\nof the games and tried on the other half and on "
      "fresh games. Even at: where the curve\nof the steps is even, with the "
      "interval by all games of the ladder.\n");
  add("ladder", "Steps of the compensation",
      RowsOf(CompensationsOf(figures, /*last_only=*/true), LadderRows),
      "With the most simulations; JSON has the others. Curve: the scores as a "
      "curve that never\nrises.\n",
      RowsOf(compensations, LadderRows));
  add("pie_rule", "The pie rule", RowsOf(figures.Of(part::kPie), PieRow),
      "The second player may take over the first action; 50 % is fair.\n");
  add("what_if", "Changed rules", RowsOf(figures.Of(part::kOption), OptionRow),
      "Figures with the change minus those without. p of all is corrected for "
      "the number of\nrows (Holm).\n");
  add("depth", "Depth of skill",
      RowsOf(figures.Of(part::kDoubling), DoublingRow),
      "The simulations shown against half as many. The curve ends where a "
      "doubling gains\nless than 20 Elo.\n");
  add("openings", "Variety of openings",
      RowsOf(figures.Of(part::kGames), OpeningRow),
      "Equally likely lines of 1, 2, 4 and 8 actions with the same variety. "
      "With an\ninfinite end the games do not bound it.\n");
  const auto first_actions = [&](const Scored& sample) {
    return FirstActionRows(figures, sample);
  };
  add("first_actions", "First actions",
      RowsOf(
          figures.Of(part::kFirst),
          [&](const Scored& sample) { return BestOf(first_actions(sample)); }),
      "The first side's score by first action, up to symmetry, and how often "
      "the player\nbegins so: the best five; JSON has all.\n",
      RowsOf(figures.Of(part::kFirst), first_actions));
  add("restricted", "Restricted play",
      RowsOf(figures.Of(part::kRestricted), RestrictedRow),
      "The player that never plays such an action if it has another does not "
      "plan for\nthat: the cost is an upper bound.\n");
  std::vector<Scored> last;  // of each player, with the most simulations
  for (const auto& group : ByPlayer(figures.Of(part::kGames))) {
    last.push_back(*group.back());
  }
  add("courses", "What a game is like", RowsOf(last, CourseRow),
      "With the most simulations. Choices: legal actions an action. Lead "
      "changes, decided and\ncomebacks (winners once below 25 %) are by the "
      "player's own values. Then: actions of\neach kind a game.\n");
  add("endings", "Endings", RowsOf(last, EndingRow), "Games by ending.\n");
  add("seats", "Seats in doubles", RowsOf(last, SeatRows), "");

  std::set<Variant> done;
  for (const Scored& sample : figures.Of(part::kGames)) {
    const Variant variant = sample.sample->variant;
    if (!done.insert(variant).second) continue;
    report.verdicts.push_back({variant, Sentences(figures, variant).All()});
  }
  for (const Sample& sample : results.samples) {
    if (static_cast<int>(sample.games.size()) < sample.wanted) {
      report.notes.push_back(absl::StrCat(
          Info(sample.variant).id, ", ", sample.spec, ", ", sample.part, ": ",
          sample.games.size(), " of ", sample.wanted, " games."));
    }
  }
  for (const auto& [player, rules] : results.not_learned) {
    report.notes.push_back(absl::StrCat(
        "Not learned", results.untrained ? ", in games of " : " by ", player,
        results.untrained ? ": " : ", so left out: ",
        absl::StrJoin(rules, "; "), "."));
  }
  return report;
}

std::string BalanceReportJson(const BalanceReport& report) {
  Json object = {{"verdicts", Json::array()}};
  for (const Verdict& verdict : report.verdicts) {
    object["verdicts"].push_back(
        {{"variant", std::string(Info(verdict.variant).id)},
         {"sentences", verdict.sentences}});
  }
  if (report.tables.is_object()) object.update(report.tables);
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
