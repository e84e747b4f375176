#include "tara/eval/arena/arena_result.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"
#include "tara/base/text.h"
#include "tara/core/board.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

double ScoreOf(double margin) {
  return margin > 0 ? 1 : (margin < 0 ? 0 : 0.5);
}

void AddClock(const TimeUse& use, bool forfeit, ClockResult& result) {
  result.forfeits += forfeit;
  result.use.moves += use.moves;
  result.use.time += use.time;
}

// Returns the games in independent parts: the games of the pairs, or of the
// pairs of matches, of one opening, which are adjacent.
std::vector<absl::Span<const ArenaGame>> IndependentParts(
    absl::Span<const ArenaGame> games, int pairs_per_opening) {
  const auto part_of = [&](const ArenaGame& game) {
    return (game.match < 0 ? game.pair : game.match / 2) / pairs_per_opening;
  };
  std::vector<absl::Span<const ArenaGame>> parts;
  for (size_t begin = 0, i = 1; i <= games.size(); ++i) {
    // The next of two successive results begins with an earlier game.
    if (i < games.size() && part_of(games[i]) == part_of(games[begin]) &&
        std::pair(games[i - 1].pair, !games[i - 1].a_is_red) <
            std::pair(games[i].pair, !games[i].a_is_red)) {
      continue;
    }
    parts.push_back(games.subspan(begin, i - begin));
    begin = i;
  }
  return parts;
}

// Returns the result of the matches that games are of, all of them whole.
MatchResult SummarizeMatches(
    absl::Span<const absl::Span<const ArenaGame>> parts,
    Clusters cluster_of_part) {
  MatchResult result;
  std::vector<double> scores;  // of matches
  std::vector<double> leads;
  std::vector<int> clusters;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::map<int, double> lead_of;  // of A, by match
    for (const ArenaGame& game : parts[i]) lead_of[game.match] += game.margin;
    for (const auto& [match, lead] : lead_of) {
      ++result.matches;
      result.wins += lead > 0;
      result.draws += lead == 0;
      result.losses += lead < 0;
      scores.push_back(ScoreOf(lead));
      leads.push_back(lead);
      clusters.push_back(cluster_of_part[i]);
    }
  }
  result.score = ScoreInterval(scores, clusters);
  result.lead = MeanInterval(leads, clusters);
  return result;
}

}  // namespace

ArenaGame ArenaGameOf(const proto::GameRecord& record) {
  const proto::GameResult& result = record.result();
  const bool a_is_red = record.place() % 2 == 0;
  ArenaGame game = {
      .pair = static_cast<int>(record.place() / 2),
      .match = record.has_match() ? static_cast<int>(record.match()) : -1,
      .a_is_red = a_is_red,
      .margin = (a_is_red ? 1 : -1) *
                (record::RedMargin(record) -
                 record::CompensationHalves(record.rule_options()) / 2.0),
      .length = record::LengthOf(record),
      .adjudication = result.adjudication(),
      .fault = Printable(result.fault()),
      .same_game = record::SameGameKey(record)};
  const Side side_of_a = a_is_red ? kRed : kBlue;
  if (result.has_forfeited_by()) {
    game.forfeit = result.forfeited_by() == static_cast<uint32_t>(side_of_a)
                       ? Forfeit::kByA
                       : Forfeit::kByB;
  }
  const auto use_of = [&](Side side) {
    return TimeUse{.moves = static_cast<int>(record.moves(side)),
                   .time = absl::Microseconds(record.time_us(side))};
  };
  if (record.moves_size() == 2 && record.time_us_size() == 2) {
    game.time_a = use_of(side_of_a);
    game.time_b = use_of(Opponent(side_of_a));
  }
  return game;
}

ArenaResult SummarizeGames(absl::Span<const ArenaGame> games,
                           int pairs_per_opening) {
  TARA_CHECK(games.size() % 2 == 0, "games come in pairs");
  ArenaResult result;
  result.pairs_per_opening = pairs_per_opening;
  result.played.assign(games.begin(), games.end());
  const std::vector<absl::Span<const ArenaGame>> parts =
      IndependentParts(games, pairs_per_opening);
  std::vector<uint64_t> keys;
  for (const absl::Span<const ArenaGame> part : parts) {
    keys.push_back(SameGamesKey(part));
  }
  const std::vector<int> cluster_of_part = MakeClusters(keys);
  std::vector<double> scores;
  std::vector<double> margins;
  std::vector<int> clusters;
  std::vector<uint64_t> games_keys;
  double points_as_red = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const ArenaGame& game : parts[i]) {
      scores.push_back(ScoreOf(game.margin));
      margins.push_back(game.margin);
      clusters.push_back(cluster_of_part[i]);
      games_keys.push_back(SameGamesKey(absl::MakeConstSpan(&game, 1)));
      result.wins += game.margin > 0;
      result.draws += game.margin == 0;
      result.losses += game.margin < 0;
      result.mean_length += game.length;
      result.adjudicated += !game.adjudication.empty();
      const bool on_time = game.fault.empty();
      const bool by_a = game.forfeit == Forfeit::kByA;
      const bool by_b = game.forfeit == Forfeit::kByB;
      AddClock(game.time_a, by_a && on_time, result.clock_a);
      AddClock(game.time_b, by_b && on_time, result.clock_b);
      result.faults_a += by_a && !on_time;
      result.faults_b += by_b && !on_time;
      if (!game.a_is_red) continue;
      ++result.games_as_red;
      result.wins_as_red += game.margin > 0;
      result.draws_as_red += game.margin == 0;
      points_as_red += scores.back();
    }
  }
  result.games = static_cast<int>(games.size());
  TARA_CHECK(2 * result.games_as_red == result.games,
             "games come in pairs, once with each side as Red");
  result.score = ScoreInterval(scores, clusters);
  result.margin = MeanInterval(margins, clusters);
  if (games.empty()) return result;
  result.distinct_games = DifferentIn(MakeClusters(games_keys));
  if (games[0].match >= 0) {
    result.matches = SummarizeMatches(parts, cluster_of_part);
  }
  result.mean_length /= result.games;
  result.score_as_red = points_as_red / result.games_as_red;
  result.score_as_blue = 2 * result.score.mean - result.score_as_red;
  return result;
}

uint64_t SameGamesKey(absl::Span<const ArenaGame> games) {
  uint64_t key = 0;
  for (const ArenaGame& game : games) {
    if (game.same_game == 0) return 0;
    // A sum, because games end in any order.
    key += MixBits(game.same_game ^ (game.a_is_red ? 1 : 0));
  }
  return key;
}

int HalfPointsOfPair(absl::Span<const ArenaGame> games) {
  double lead[2] = {};  // of A: by match, or by game
  for (const ArenaGame& game : games) {
    lead[game.match < 0 ? game.a_is_red : game.match % 2] += game.margin;
  }
  return static_cast<int>(2 * (ScoreOf(lead[0]) + ScoreOf(lead[1])));
}

namespace {

using Json = nlohmann::ordered_json;
using Rows = absl::Span<const ArenaReportRow>;

// Number of faults that their table lists.
constexpr int kFaultsShown = 10;

// Under the table of scores where sequential tests ended the games.
constexpr absl::string_view kSequentialNote =
    "Intervals of a sequential test are naive: they assume a number of games "
    "fixed\nbeforehand. On average, score, Elo and margin are further from "
    "even than the truth.\n";

// Under the games that repeat each other.
constexpr absl::string_view kRepetitionNote =
    "Intervals and sequential tests count games that repeat others once.\n";

bool SamePlayers(Rows rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const ArenaReportRow& row) {
    return row.player_a == rows[0].player_a && row.player_b == rows[0].player_b;
  });
}

bool HasMatches(const ArenaReportRow& row) {
  return row.result.matches.matches > 0;
}

bool HasClocks(const ArenaReportRow& row) { return !row.time_control.empty(); }

bool HasFaults(const ArenaReportRow& row) {
  return row.result.faults_a + row.result.faults_b > 0;
}

bool HasSprt(const ArenaReportRow& row) { return row.result.sprt.has_value(); }

// How the columns of the two players are called if they have some.
struct PlayerNames {
  absl::string_view a = "A";
  absl::string_view b = "B";
};
constexpr PlayerNames kNoColumns = {.a = "", .b = ""};

ReportRow HeadFields(const ArenaReportRow& row, const PlayerNames& names) {
  return {VariantField("variant", "variant", row.variant, row.not_learned),
          TextField("player_a", names.a, row.player_a),
          TextField("player_b", names.b, row.player_b)};
}

// The score and its Elo, of games and of matches.
ReportRow ScoreFields(const Interval& score) {
  return {EstimateField("score", "score %", score, kScore),
          EstimateField("elo", "Elo", EloOf(score), kElo)};
}

ReportRow GameFields(const ArenaReportRow& row, const PlayerNames&) {
  const ArenaResult& r = row.result;
  return Joined(
      {{CountField("games", "games", r.games),
        CountField("distinct_games", "", r.distinct_games),
        CountField("wins", "wins", r.wins),
        CountField("draws", "draws", r.draws),
        CountField("losses", "losses", r.losses)},
       ScoreFields(r.score),
       {EstimateField("mean_margin", "margin", r.margin, kMargin),
        CountField("adjudicated", "", r.adjudicated),
        CountField("games_as_red", "", r.games_as_red),
        CountField("wins_as_red", "", r.wins_as_red),
        CountField("draws_as_red", "", r.draws_as_red),
        NumberField("score_as_red", "as Red %", r.score_as_red, kPercent),
        NumberField("score_as_blue", "as Blue %", r.score_as_blue, kPercent),
        NumberField("mean_length", "length", r.mean_length, {.digits = 1})}});
}

ReportRow MatchFields(const ArenaReportRow& row, const PlayerNames&) {
  const MatchResult& r = row.result.matches;
  return Joined({{CountField("matches", "matches", r.matches),
                  CountField("wins", "won", r.wins),
                  CountField("draws", "drawn", r.draws),
                  CountField("losses", "lost", r.losses)},
                 ScoreFields(r.score),
                 {EstimateField("mean_lead", "lead", r.lead, kMargin)}});
}

ReportRow ClockFields(const ArenaReportRow& row, const PlayerNames& names) {
  const ClockResult& a = row.result.clock_a;
  const ClockResult& b = row.result.clock_b;
  const auto seconds = [](const ClockResult& clock) {
    return absl::ToDoubleSeconds(clock.MeanMove());
  };
  return {
      TextField("time_control", "", row.time_control),
      CountField("", "games", row.result.games),
      NumberField("mean_move_s_a", absl::StrCat(names.a, " s/move"), seconds(a),
                  {.digits = 3}),
      NumberField("mean_move_s_b", absl::StrCat(names.b, " s/move"), seconds(b),
                  {.digits = 3}),
      CountField("moves_a", "", a.use.moves),
      CountField("moves_b", "", b.use.moves),
      CountField("forfeits_a", absl::StrCat(names.a, " on time"), a.forfeits),
      CountField("forfeits_b", absl::StrCat(names.b, " on time"), b.forfeits)};
}

ReportRow SprtFields(const Sprt& sprt) {
  const SprtOptions& options = sprt.options();
  const PairCounts& pairs = sprt.counts();
  return {NumberField("elo0", "", options.elo0),
          NumberField("elo1", "", options.elo1),
          NumberField("alpha", "", options.alpha),
          NumberField("beta", "", options.beta),
          TextField("scale", "", "logistic"),
          CountField("", "0", pairs[0]),
          CountField("", "1/2", pairs[1]),
          CountField("", "1", pairs[2]),
          CountField("", "3/2", pairs[3]),
          CountField("", "2", pairs[4]),
          NumberField("llr", "LLR", sprt.llr(), {.sign = true}),
          NumberField("lower_bound", "", sprt.lower_bound()),
          NumberField("upper_bound", "", sprt.upper_bound()),
          TextField("", "bounds",
                    absl::StrFormat("[%+.2f, %+.2f]", sprt.lower_bound(),
                                    sprt.upper_bound())),
          TextField("decision", "decision", SprtDecisionName(sprt.decision()))};
}

using FieldsOf = ReportRow (*)(const ArenaReportRow&, const PlayerNames&);

// Returns the sum of rows with the same players.
ArenaReportRow SumRows(Rows rows) {
  std::vector<ArenaGame> games;
  for (const ArenaReportRow& row : rows) {
    games.insert(games.end(), row.result.played.begin(),
                 row.result.played.end());
  }
  ArenaReportRow total = rows[0];
  total.result = SummarizeGames(games, rows[0].result.pairs_per_opening);
  total.not_learned.clear();
  return total;
}

// Returns a row each and, of several with the same two players, a total.
std::vector<ReportRow> TableOf(Rows rows, const PlayerNames& names,
                               FieldsOf fields_of) {
  const bool same_players = SamePlayers(rows);
  const PlayerNames& columns = same_players ? kNoColumns : names;
  std::vector<ReportRow> table;
  for (const ArenaReportRow& row : rows) {
    table.push_back(Joined({HeadFields(row, columns), fields_of(row, names)}));
  }
  if (!same_players || rows.size() == 1) return table;
  const bool marked = std::any_of(
      rows.begin(), rows.end(),
      [](const ArenaReportRow& row) { return !row.not_learned.empty(); });
  const ArenaReportRow total = SumRows(rows);
  table.push_back(
      Joined({HeadFields(total, columns), fields_of(total, names)}));
  table.back()[0] =
      TextField("", "variant", marked ? "total (not all learned)" : "total");
  return table;
}

// Title of the table of clocks.
std::string ClockTitle(Rows rows) {
  const bool same =
      std::all_of(rows.begin(), rows.end(), [&](const ArenaReportRow& row) {
        return row.time_control == rows[0].time_control;
      });
  return absl::StrCat("Clocks",
                      same ? absl::StrCat(" (", rows[0].time_control, ")") : "",
                      ", mean time of a move and games lost on time");
}

// A line for each row whose games repeat each other.
std::string RepetitionNotes(Rows rows) {
  std::string text;
  for (const ArenaReportRow& row : rows) {
    const ArenaResult& r = row.result;
    if (r.distinct_games == r.games) continue;
    absl::StrAppend(
        &text, Info(row.variant).id, NotLearnedMark(row.not_learned),
        SamePlayers(rows)
            ? ""
            : absl::StrCat(", ", row.player_a, " against ", row.player_b),
        ": ", r.games, " games, ", r.distinct_games,
        " different up to symmetry\n");
  }
  return text.empty() ? text : absl::StrCat(text, kRepetitionNote);
}

// The games that players lost by faults, the first of them by name.
ReportSection FaultsOf(Rows rows) {
  ReportSection section;
  int faults = 0;
  const bool same_players = SamePlayers(rows);
  for (const ArenaReportRow& row : rows) {
    const std::string a = same_players ? "A" : row.player_a;
    const std::string b = same_players ? "B" : row.player_b;
    for (const ArenaGame& game : row.result.played) {
      if (game.fault.empty() || ++faults > kFaultsShown) continue;
      const bool by_a = game.forfeit == Forfeit::kByA;
      const int opening = game.pair / row.result.pairs_per_opening;
      section.rows.push_back(
          {VariantField("", "variant", row.variant, row.not_learned),
           TextField("", "by", by_a ? a : b),
           TextField("", "opening", absl::StrCat(opening)),
           TextField("", "as", by_a == game.a_is_red ? "Red" : "Blue"),
           TextField("", "fault", game.fault)});
    }
  }
  section.title = absl::StrCat("Forfeits, ", faults, " in all (losses by ",
                               kForfeitMargin, " points)");
  if (faults > kFaultsShown) {
    section.notes = absl::StrCat("... and ", faults - kFaultsShown, " more\n");
  }
  return section;
}

// Results of the sequential tests, which have the same options.
ReportSection SprtsOf(Rows rows) {
  ReportSection section;
  for (const ArenaReportRow& row : rows) {
    if (!HasSprt(row)) continue;
    const Sprt& sprt = *row.result.sprt;
    section.title =
        absl::StrCat("Sequential test (", SprtOptionsText(sprt.options()),
                     "), pairs by points of A");
    section.rows.push_back(
        Joined({HeadFields(row, kNoColumns), SprtFields(sprt)}));
  }
  return section;
}

// Returns the tables; none without rows.
std::vector<ReportSection> ArenaSections(Rows rows,
                                         const PlayerNames& names = {}) {
  if (rows.empty()) return {};
  const auto any = [&](bool (*has)(const ArenaReportRow&)) {
    return std::any_of(rows.begin(), rows.end(), has);
  };
  std::vector<ReportSection> sections;
  if (any(HasMatches)) {
    sections.push_back(
        {.heading = "Matches", .rows = TableOf(rows, names, MatchFields)});
  }
  sections.push_back(
      {.title = any(HasMatches) ? "The games of the matches" : "",
       .heading = "Games",
       .rows = TableOf(rows, names, GameFields),
       .notes = absl::StrCat(RepetitionNotes(rows),
                             any(HasSprt) ? kSequentialNote : ""),
       .plots = "estimates"});
  if (any(HasClocks)) {
    sections.push_back(
        {.title = ClockTitle(rows), .rows = TableOf(rows, names, ClockFields)});
  }
  if (any(HasFaults)) sections.push_back(FaultsOf(rows));
  if (any(HasSprt)) sections.push_back(SprtsOf(rows));
  return sections;
}

Json FaultsToJson(const ArenaResult& r) {
  Json games = Json::array();
  for (const ArenaGame& game : r.played) {
    if (game.fault.empty()) continue;
    games.push_back({{"opening", game.pair / r.pairs_per_opening},
                     {"a_is_red", game.a_is_red},
                     {"by", game.forfeit == Forfeit::kByA ? "A" : "B"},
                     {"length", game.length},
                     {"fault", game.fault}});
  }
  return {{"a", r.faults_a}, {"b", r.faults_b}, {"games", games}};
}

// Rules that networks have not learned, one line per variant.
std::string NotLearnedLines(Rows rows) {
  std::string text;
  std::string last;
  for (const ArenaReportRow& row : rows) {
    const std::string line =
        NotLearnedLine(Info(row.variant).id, row.not_learned);
    if (line != last) text += line;
    last = line;
  }
  return text;
}

std::string PlayerLines(Rows rows) {
  return rows.empty() || !SamePlayers(rows)
             ? ""
             : absl::StrCat("A: ", rows[0].player_a, "\nB: ", rows[0].player_b,
                            "\n");
}

std::string ArenaText(Rows rows, const PlayerNames& names = {}) {
  if (rows.empty()) return "no games\n";
  const bool same_players = SamePlayers(rows);
  return absl::StrCat(PlayerLines(rows), NotLearnedLines(rows),
                      same_players ? ArenaVerdict(rows) : "",
                      same_players ? "\n" : "",
                      SectionsText(ArenaSections(rows, names)));
}

constexpr int kReplicates = 2000;

// The games of one match with one opening.
struct OpeningSums {
  uint64_t same_games = 0;  // SameGamesKey, or 0
  int games = 0;
  double points = 0;
  double margin = 0;
};

// By opening of all matches, and by match. Openings with the same games as
// another one are left out, because they add no information.
std::vector<std::vector<OpeningSums>> SharedOpenings(
    const CrossPlayStudy& study) {
  std::map<int, std::vector<OpeningSums>> by_opening;
  for (const CrossPlayMatch& match : study.matches) {
    std::map<int, std::vector<ArenaGame>> games;
    for (const ArenaGame& game : match.result.played) {
      games[game.pair / match.result.pairs_per_opening].push_back(game);
    }
    for (const auto& [opening, played] : games) {
      OpeningSums& sums = by_opening[opening].emplace_back();
      sums.same_games = SameGamesKey(played);
      sums.games = static_cast<int>(played.size());
      for (const ArenaGame& game : played) {
        sums.points += ScoreOf(game.margin);
        sums.margin += game.margin;
      }
    }
  }
  std::vector<std::vector<OpeningSums>> shared;
  std::set<std::vector<uint64_t>> seen;
  for (const auto& [opening, sums] : by_opening) {
    if (sums.size() != study.matches.size()) continue;
    std::vector<uint64_t> keys;
    for (const OpeningSums& sum : sums) keys.push_back(sum.same_games);
    const bool known = std::find(keys.begin(), keys.end(), 0) == keys.end();
    if (!known || seen.insert(keys).second) shared.push_back(sums);
  }
  return shared;
}

constexpr const char* kLetters[] = {"A", "B", "C"};

// The title of the table of worths and of its plot.
constexpr absl::string_view kWorthTitle =
    "A and B as partners, minus the mean of each with itself (below 0: they "
    "understand\neach other less well)";

ArenaReportRow RowOf(const CrossPlayReport& report, const CrossPlayStudy& study,
                     const CrossPlayMatch& match) {
  return {.variant = study.variant,
          .player_a = match.team,
          .player_b = match.opponents,
          .result = match.result,
          .time_control = report.time_control,
          .not_learned = study.not_learned};
}

std::vector<ArenaReportRow> RowsOf(const CrossPlayReport& report) {
  std::vector<ArenaReportRow> rows;
  for (const CrossPlayStudy& study : report.studies) {
    for (const CrossPlayMatch& match : study.matches) {
      rows.push_back(RowOf(report, study, match));
    }
  }
  return rows;
}

ReportRow WorthFields(const PartnershipWorth& worth) {
  return {EstimateField("score", "score %", worth.score, kScoreChange),
          EstimateField("elo", "Elo", worth.elo, kElo),
          EstimateField("margin", "margin", worth.margin, kMargin)};
}

ReportSection WorthSection(const CrossPlayReport& report) {
  ReportSection section = {.title = std::string(kWorthTitle),
                           .plots = "estimates"};
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const CrossPlayStudy& study = report.studies[i];
    const PartnershipWorth& worth = report.worths[i];
    section.rows.push_back(
        Joined({{VariantField("", "variant", study.variant, study.not_learned),
                 CountField("", "openings", worth.openings)},
                WorthFields(worth)}));
  }
  return section;
}

std::string PlayerLines(const CrossPlayReport& report) {
  std::string text;
  for (size_t i = 0; i < report.players.size(); ++i) {
    absl::StrAppend(&text, kLetters[i], ": ", report.players[i], "\n");
  }
  return text;
}

Json CrossPlayJson(const CrossPlayReport& report) {
  Json players = Json::object();
  for (size_t i = 0; i < report.players.size(); ++i) {
    players[kLetters[i]] = report.players[i];
  }
  Json studies = Json::array();
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const CrossPlayStudy& study = report.studies[i];
    Json matches = Json::array();
    for (const CrossPlayMatch& match : study.matches) {
      matches.push_back(ArenaRowJson(RowOf(report, study, match)));
      matches.back()["weight"] = match.weight;
    }
    studies.push_back({{"variant", std::string(Info(study.variant).id)},
                       {"openings", report.worths[i].openings},
                       {"worth", RowJson(WorthFields(report.worths[i]))},
                       {"matches", std::move(matches)}});
    if (!study.not_learned.empty()) {
      studies.back()["not_learned"] = study.not_learned;
    }
  }
  return {{"players", std::move(players)}, {"studies", std::move(studies)}};
}

}  // namespace

std::string ArenaVerdict(Rows rows) {
  if (rows.empty()) return "Nothing was played.";
  std::vector<std::string> undecided, decided;
  for (const ArenaReportRow& row : rows) {
    if (!HasSprt(row)) continue;
    const Sprt& sprt = *row.result.sprt;
    const std::string test =
        absl::StrCat(Info(row.variant).name, ", ", row.result.distinct_games,
                     " different games");
    if (sprt.decision() == SprtDecision::kUndecided) {
      undecided.push_back(test);
    } else {
      const bool stronger = sprt.decision() == SprtDecision::kAcceptH1;
      decided.push_back(
          absl::StrCat("A is stronger by ",
                       stronger ? sprt.options().elo1 : sprt.options().elo0,
                       " Elo rather than by ",
                       stronger ? sprt.options().elo0 : sprt.options().elo1,
                       " (", test, ")"));
    }
  }
  if (!undecided.empty()) {
    decided.push_back(absl::StrCat("the test is undecided (",
                                   absl::StrJoin(undecided, "; "), ")"));
  }
  if (!decided.empty()) {
    std::string text = absl::StrJoin(decided, "; ");
    text[0] = absl::ascii_toupper(text[0]);
    return text + ".";
  }
  return VerdictOn(TableOf(rows, {}, GameFields), "score",
                   {.above = "A is stronger: ",
                    .below = "A is weaker: ",
                    .neither = "these games do not show who is stronger: "});
}

Json ArenaRowJson(const ArenaReportRow& row) {
  Json object =
      RowJson(Joined({HeadFields(row, kNoColumns), GameFields(row, {})}));
  if (!row.not_learned.empty()) object["not_learned"] = row.not_learned;
  if (HasSprt(row)) object["intervals"] = "naive, of a sequential test";
  if (HasMatches(row)) object["by_match"] = RowJson(MatchFields(row, {}));
  if (HasFaults(row)) object["forfeits"] = FaultsToJson(row.result);
  if (HasClocks(row)) object["clock"] = RowJson(ClockFields(row, {}));
  if (HasSprt(row)) {
    object["sprt"] = RowJson(SprtFields(*row.result.sprt));
    object["sprt"]["pairs"] = row.result.sprt->counts();
  }
  return object;
}

Report ReportArena(Rows rows) {
  Json list = Json::array();
  for (const ArenaReportRow& row : rows) list.push_back(ArenaRowJson(row));
  return {.text = ArenaText(rows), .json = JsonText(list, 2), .page = [rows] {
            return SectionsPage(
                "Matches of players",
                absl::StrCat(PlayerLines(rows), NotLearnedLines(rows)),
                ArenaSections(rows), {ArenaVerdict(rows)});
          }};
}

PartnershipWorth EstimateWorth(const CrossPlayStudy& study, Random& random) {
  const std::vector<std::vector<OpeningSums>> openings = SharedOpenings(study);
  const size_t matches = study.matches.size();
  std::vector<double> scores;
  std::vector<double> margins;
  for (const std::vector<OpeningSums>& opening : openings) {
    double score = -study.even_score;
    double margin = 0;
    for (size_t m = 0; m < matches; ++m) {
      const double weight = study.matches[m].weight;
      score += weight * (opening[m].points / opening[m].games);
      margin += weight * opening[m].margin / opening[m].games;
    }
    scores.push_back(score);
    margins.push_back(margin);
  }
  PartnershipWorth worth = {.openings = static_cast<int>(openings.size()),
                            .score = MeanInterval(scores),
                            .margin = MeanInterval(margins),
                            .elo = MeanInterval({})};
  if (openings.empty()) return worth;
  const auto elo_of = [&](absl::Span<const int> drawn) {
    double elo = 0;
    for (size_t m = 0; m < matches; ++m) {
      double points = 0.5;
      int games = 1;
      for (const int opening : drawn) {
        points += openings[opening][m].points;
        games += openings[opening][m].games;
      }
      elo += study.matches[m].weight * EloDifference(points / games);
    }
    return elo;
  };
  worth.elo = BootstrapInterval(worth.openings, kReplicates, elo_of, random);
  // If (nearly) all games are won, the strength has no upper bound.
  constexpr double kFewest = 5;
  constexpr int kMinOpenings = 6;
  bool all_known = worth.openings >= kMinOpenings;
  for (size_t m = 0; m < matches; ++m) {
    double won = 0, lost = 0;
    for (const std::vector<OpeningSums>& opening : openings) {
      won += opening[m].points;
      lost += opening[m].games - opening[m].points;
    }
    all_known = all_known && won >= kFewest && lost >= kFewest;
  }
  if (all_known) return worth;
  worth.elo.low = -std::numeric_limits<double>::infinity();
  worth.elo.high = std::numeric_limits<double>::infinity();
  return worth;
}

Report ReportCrossPlay(const CrossPlayReport& report) {
  static constexpr PlayerNames kNames = {.a = "team", .b = "opponents"};
  const std::string players = PlayerLines(report);
  return {
      .text = report.studies.empty()
                  ? players + "no games\n"
                  : absl::StrCat(players, ArenaText(RowsOf(report), kNames),
                                 "\n", SectionsText({WorthSection(report)})),
      .json = JsonText(CrossPlayJson(report), 2),
      .page = [&report, players] {
        std::vector<ReportSection> sections =
            ArenaSections(RowsOf(report), kNames);
        sections.insert(sections.begin(), WorthSection(report));
        return SectionsPage(
            "Matches of players", players, sections,
            {VerdictOn(
                sections[0].rows, "score",
                {.above = "A and B are stronger together than each with "
                          "itself: ",
                 .below = "A and B are weaker together than each with "
                          "itself: ",
                 .neither = "A and B are neither shown to be stronger nor "
                            "weaker together: "})});
      }};
}

}  // namespace tara::eval
