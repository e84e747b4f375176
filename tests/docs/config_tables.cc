#include "tests/docs/config_tables.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/option_table.h"
#include "tara/eval/players/player_spec.h"
#include "tara/mcts/options/search_options.h"
#include "tara/train/config/config.h"

namespace tara {
namespace {

using Cells = std::vector<std::string>;

constexpr absl::string_view kFieldHeader =
    "| field | type | range | default | meaning |";
constexpr absl::string_view kSearchHeader =
    "| search option | values | default | meaning |";
constexpr absl::string_view kPlayerHeader =
    "| player option | values | default | meaning |";

// Returns a cell without accents, and with the texts alone of its links.
std::string Plain(absl::string_view cell) {
  std::string text = absl::StrReplaceAll(cell, {{"`", ""}});
  size_t middle;
  while ((middle = text.find("](")) != std::string::npos) {
    text.erase(middle, text.find(')', middle) + 1 - middle);
    text.erase(text.rfind('[', middle), 1);
  }
  return text;
}

std::string Accented(absl::string_view text) {
  return absl::StrCat("`", text, "`");
}

Cells CellsOf(absl::string_view row) {
  Cells cells = absl::StrSplit(row, '|');
  // Nothing stands before the first bar and after the last.
  cells.erase(cells.begin());
  cells.pop_back();
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  return cells;
}

// --- The rows of the code ----------------------------------------------------

// Returns the rows of a section's fields, by the page's headings: "Run" has the
// fields of no message.
std::map<std::string, std::vector<Cells>> FieldRows() {
  std::map<std::string, std::vector<Cells>> rows;
  for (const train::ConfigField& field : train::ConfigFields()) {
    const proto::FieldInfo& info = field.info;
    const size_t dot = field.path.find('.');
    rows[dot == std::string::npos ? "Run" : field.path.substr(0, dot)]
        .push_back(
            {absl::StrCat(Accented(field.path), info.fixed() ? " *" : ""),
             train::FieldType(*field.field), info.values(),
             info.has_default_() ? Accented(info.default_()) : info.computed(),
             info.help()});
  }
  return rows;
}

std::vector<Cells> OptionRows(absl::Span<const Option> table) {
  std::vector<Cells> rows;
  for (const Option& option : table) {
    const std::string range = option.Range();
    std::string value = option.Get();
    double number;
    if (!absl::SimpleAtod(value, &number)) {
      value = Accented(value);
    } else if (!range.empty() && number < option.low) {
      value = "none";
    }
    rows.push_back({Accented(option.name),
                    range.empty() ? option.Expected() : range, value,
                    std::string(option.help)});
  }
  return rows;
}

// --- The page ----------------------------------------------------------------

// Replaces the cells of a field's row that mean something else.
void Renew(const Cells& of_code, Cells& cells) {
  for (size_t i = 0; i < of_code.size(); ++i) {
    if (Plain(cells[i]) != Plain(of_code[i])) cells[i] = of_code[i];
  }
}

// The same of an option's, of which the page words values that are no range,
// and the meaning.
void RenewOption(const Cells& of_code, Cells& cells) {
  const char first = of_code[1][0];  // of "0 to 100", or of "on or off"
  if (absl::ascii_isdigit(first) || first == '-') cells[1] = of_code[1];
  std::pair<std::string, std::string> value =
      absl::StrSplit(cells[2], absl::MaxSplits(';', 1));
  if (Plain(value.first) == Plain(of_code[2])) return;
  cells[2] = of_code[2];
  if (!value.second.empty()) absl::StrAppend(&cells[2], ";", value.second);
}

// Appends the rows of a table; `old` are its rows so far. A row of several
// names, or of a value, is none of the code's, and stays.
void AppendRows(const std::vector<Cells>& of_code,
                const std::vector<Cells>& old,
                void (*renew)(const Cells& of_code, Cells& cells),
                std::vector<std::string>& page) {
  const auto append = [&page](const Cells& cells) {
    std::string row = "|";
    for (const std::string& cell : cells)
      absl::StrAppend(&row, " ", cell, " |");
    page.push_back(row);
  };
  const auto name_of = [](const Cells& cells) {
    const std::string name = Plain(cells[0]);
    return std::string(absl::StripSuffix(name, " *"));
  };
  for (Cells cells : of_code) {
    for (const Cells& before : old) {
      if (name_of(before) != name_of(cells)) continue;
      Cells renewed = before;
      renew(cells, renewed);
      cells = std::move(renewed);
    }
    append(cells);
  }
  for (const Cells& cells : old) {
    if (name_of(cells).find_first_of(",=") != std::string::npos) append(cells);
  }
}

}  // namespace

absl::StatusOr<std::string> RenewConfigPage(absl::string_view page) {
  std::map<std::string, std::vector<Cells>> fields = FieldRows();
  bool has_search = false;
  bool has_player = false;
  std::string section;
  std::vector<std::string> renewed;
  const std::vector<std::string> lines = absl::StrSplit(page, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    renewed.push_back(lines[i]);
    if (absl::StartsWith(lines[i], "## ")) section = lines[i].substr(3);
    const bool is_fields = lines[i] == kFieldHeader;
    const bool is_search = lines[i] == kSearchHeader;
    const bool is_player = lines[i] == kPlayerHeader;
    if (!is_fields && !is_search && !is_player) continue;
    renewed.push_back(lines[++i]);  // the line below the header
    std::vector<Cells> old;
    while (i + 1 < lines.size() && absl::StartsWith(lines[i + 1], "|")) {
      old.push_back(CellsOf(lines[++i]));
    }
    if (is_fields) {
      AppendRows(fields[section], old, Renew, renewed);
      fields.erase(section);
    } else if (is_search) {
      mcts::SearchOptions defaults;
      AppendRows(OptionRows(mcts::SearchOptionTable(defaults)), old,
                 RenewOption, renewed);
      has_search = true;
    } else {
      eval::PlayerSpec defaults;
      AppendRows(OptionRows(eval::SearchPlayerOptionTable(defaults)), old,
                 RenewOption, renewed);
      has_player = true;
    }
  }
  if (!fields.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "no section '## ", fields.begin()->first, "' with the table '",
        kFieldHeader, "', for ", Plain(fields.begin()->second[0][0])));
  }
  if (!has_search || !has_player) {
    return absl::NotFoundError(absl::StrCat(
        "no table '", has_search ? kPlayerHeader : kSearchHeader, "'"));
  }
  return absl::StrJoin(renewed, "\n");
}

}  // namespace tara
