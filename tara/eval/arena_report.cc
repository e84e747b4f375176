#include "tara/eval/arena_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tara/eval/text_table.h"

namespace tara {
namespace {

using Cells = std::vector<std::string>;

std::string Percent(double share) {
  return absl::StrFormat("%.1f", 100 * share);
}

std::string Elo(double elo) {
  if (std::isinf(elo)) return elo > 0 ? "+inf" : "-inf";
  return absl::StrFormat("%+.0f", elo);
}

std::string Margin(double margin) {
  if (std::isinf(margin)) return margin > 0 ? "+inf" : "-inf";
  return absl::StrFormat("%+.2f", margin);
}

std::string Range(const std::string& low, const std::string& high) {
  return absl::StrCat("[", low, ", ", high, "]");
}

const Cells& NumberHeadings() {
  static const auto* const headings = new Cells{
      "games", "wins",   "draws", "losses",   "score %",   "95 %",  "Elo",
      "95 %",  "margin", "95 %",  "as Red %", "as Blue %", "length"};
  return *headings;
}

Cells NumberCells(const ArenaResult& r) {
  return {absl::StrCat(r.games),
          absl::StrCat(r.wins),
          absl::StrCat(r.draws),
          absl::StrCat(r.losses),
          Percent(r.score),
          Range(Percent(r.score_low), Percent(r.score_high)),
          Elo(r.elo),
          Range(Elo(r.elo_low), Elo(r.elo_high)),
          Margin(r.mean_margin),
          Range(Margin(r.mean_margin_low), Margin(r.mean_margin_high)),
          Percent(r.score_as_red),
          Percent(r.score_as_blue),
          absl::StrFormat("%.1f", r.mean_length)};
}

bool SamePlayers(absl::Span<const ArenaReportRow> rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const ArenaReportRow& row) {
    return row.player_a == rows[0].player_a && row.player_b == rows[0].player_b;
  });
}

// JSON has no infinity.
nlohmann::ordered_json Number(double number) {
  if (!std::isfinite(number)) return nullptr;
  return number;
}

}  // namespace

std::string ArenaReportText(absl::Span<const ArenaReportRow> rows) {
  if (rows.empty()) return "no games\n";
  const bool same_players = SamePlayers(rows);
  Cells names = {"variant"};
  std::string text;
  if (same_players) {
    absl::StrAppend(&text, "A: ", rows[0].player_a, "\nB: ", rows[0].player_b,
                    "\n");
  } else {
    names.insert(names.end(), {"A", "B"});
  }
  std::vector<Cells> table = {names};
  std::vector<ArenaGame> all_games;
  for (const ArenaReportRow& row : rows) {
    Cells cells = {std::string(Info(row.variant).id)};
    if (!same_players) {
      cells.insert(cells.end(), {row.player_a, row.player_b});
    }
    table.push_back(std::move(cells));
    all_games.insert(all_games.end(), row.result.played.begin(),
                     row.result.played.end());
  }
  const auto add_numbers = [](Cells& row, const Cells& numbers) {
    row.insert(row.end(), numbers.begin(), numbers.end());
  };
  add_numbers(table[0], NumberHeadings());
  for (size_t i = 0; i < rows.size(); ++i) {
    add_numbers(table[i + 1], NumberCells(rows[i].result));
  }
  if (same_players && rows.size() > 1) {
    table.push_back({"total"});
    add_numbers(table.back(), NumberCells(SummarizeGames(all_games)));
  }
  return absl::StrCat(text, TextTable(table, names.size()));
}

std::string ArenaReportJson(absl::Span<const ArenaReportRow> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ArenaReportRow& row : rows) {
    const ArenaResult& r = row.result;
    list.push_back({{"variant", std::string(Info(row.variant).id)},
                    {"player_a", row.player_a},
                    {"player_b", row.player_b},
                    {"games", r.games},
                    {"wins", r.wins},
                    {"draws", r.draws},
                    {"losses", r.losses},
                    {"score", Number(r.score)},
                    {"score_low", Number(r.score_low)},
                    {"score_high", Number(r.score_high)},
                    {"elo", Number(r.elo)},
                    {"elo_low", Number(r.elo_low)},
                    {"elo_high", Number(r.elo_high)},
                    {"mean_margin", Number(r.mean_margin)},
                    {"mean_margin_low", Number(r.mean_margin_low)},
                    {"mean_margin_high", Number(r.mean_margin_high)},
                    {"mean_length", Number(r.mean_length)},
                    {"games_as_red", r.games_as_red},
                    {"wins_as_red", r.wins_as_red},
                    {"draws_as_red", r.draws_as_red},
                    {"score_as_red", Number(r.score_as_red)},
                    {"score_as_blue", Number(r.score_as_blue)}});
  }
  // Specs may hold any bytes: a path that is no UTF-8 must not throw.
  return list.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tara
