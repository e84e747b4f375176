#include "tara/core/position_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/state.h"

namespace tara {
namespace {

constexpr std::array<absl::string_view, 9> kFieldNames = {
    "variant",        "board",       "seat",   "phase",  "links",
    "kings captured", "no progress", "ending", "options"};
enum FieldIndex {
  kVariantField,
  kBoardField,
  kSeatField,
  kPhaseField,
  kLinksField,
  kCapturedField,
  kNoProgressField,
  kEndingField,
  kOptionsField,
};

// Meaning of a letter of the board; sides or -1.
struct Piece {
  char letter;
  int ringfort;
  int king;
};
constexpr Piece kPieces[] = {{'r', kRed, -1},    {'b', kBlue, -1},
                             {'R', kRed, kRed},  {'B', kBlue, kBlue},
                             {'S', kBlue, kRed}, {'T', kRed, kBlue}};

absl::Status FieldError(FieldIndex field, absl::string_view text,
                        absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("position field ", static_cast<int>(field) + 1, " (",
                   kFieldNames[field], ") is '", Shown(text), "'; ", expected));
}

char LetterAt(const State& state, Board hill) {
  for (const Piece& piece : kPieces) {
    if ((state.ringforts[piece.ringfort] & hill) == 0) continue;
    const int king = (state.kings[kRed] & hill) != 0    ? kRed
                     : (state.kings[kBlue] & hill) != 0 ? kBlue
                                                        : -1;
    if (king == piece.king) return piece.letter;
  }
  return '?';
}

std::string BoardText(const State& state) {
  std::string text;
  for (int rank = kBoardSize - 1; rank >= 0; --rank) {
    int vacant = 0;
    const auto flush = [&] {
      if (vacant > 0) absl::StrAppend(&text, vacant);
      vacant = 0;
    };
    ForEachHill(RankBoard(rank), [&](Hill hill) {
      if ((state.vacant() & BoardOf(hill)) != 0) {
        ++vacant;
        return;
      }
      flush();
      text.push_back(LetterAt(state, BoardOf(hill)));
    });
    flush();
    if (rank > 0) text.push_back('/');
  }
  return text;
}

std::string LinksText(const State& state) {
  const LegalSet links = {.links_east = state.links_east,
                          .links_north = state.links_north};
  std::vector<std::string> parts;
  links.ForEach([&](Action link) { parts.push_back(ActionToText(link)); });
  return parts.empty() ? "-" : absl::StrJoin(parts, ",");
}

std::array<std::string, 9> FieldTexts(const State& state) {
  return {std::string(Info(state.variant).id),
          BoardText(state),
          state.finished() ? "-" : absl::StrCat(state.seat),
          std::string(PhaseName(state.phase)),
          LinksText(state),
          absl::StrCat(state.kings_captured[kRed], ",",
                       state.kings_captured[kBlue]),
          absl::StrCat(state.no_progress),
          state.ending == Ending::kNone
              ? "-"
              : absl::StrCat(EndingName(state.ending), ":", state.turns_left),
          FormatRuleOptions(state.options)};
}

absl::Status ParseRank(int rank, absl::string_view text, State& state) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank + 1, " of the position's board, '", Shown(text),
        "', has ", what, "; expected ", Count(RankBoard(rank)),
        " hills as r, b, R, B, S, T or runs of vacant hills 1 to 7"));
  };
  Board rest = RankBoard(rank);
  for (const char letter : text) {
    int steps = 1;
    if (letter >= '1' && letter <= '7') steps = letter - '0';
    if (Count(rest) < steps) return error("too many hills");
    const Board hill = FirstBit(rest);
    for (int i = 0; i < steps; ++i) rest &= rest - 1;
    if (letter >= '1' && letter <= '7') continue;
    const Piece* found = nullptr;
    for (const Piece& piece : kPieces) {
      if (piece.letter == letter) found = &piece;
    }
    if (found == nullptr) {
      return error(
          absl::StrCat("'", Shown(absl::string_view(&letter, 1)), "'"));
    }
    state.ringforts[found->ringfort] |= hill;
    if (found->king >= 0) state.kings[found->king] |= hill;
  }
  return rest == 0 ? absl::OkStatus() : error("too few hills");
}

absl::Status ParseBoard(absl::string_view text, State& state) {
  const std::vector<absl::string_view> ranks = absl::StrSplit(text, '/');
  if (ranks.size() != kBoardSize) {
    return FieldError(
        kBoardField, text,
        absl::StrCat(ranks.size(), " ranks; expected 7, separated by '/'"));
  }
  for (int i = 0; i < kBoardSize; ++i) {
    TARA_RETURN_IF_ERROR(ParseRank(kBoardSize - 1 - i, ranks[i], state));
  }
  return absl::OkStatus();
}

absl::Status ParseNumber(FieldIndex field, absl::string_view whole,
                         absl::string_view text, uint8_t& result) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 0 ||
      number > std::numeric_limits<uint8_t>::max()) {
    return FieldError(
        field, whole,
        absl::StrCat("'", Shown(text), "' is not a number from 0 to 255"));
  }
  result = static_cast<uint8_t>(number);
  return absl::OkStatus();
}

absl::Status ParseSeat(absl::string_view text, State& state) {
  if (text == "-") return absl::OkStatus();
  const int seats = Info(state.variant).seats;
  if (text.size() != 1 || text[0] < '0' || text[0] >= '0' + seats) {
    return FieldError(
        kSeatField, text,
        absl::StrCat("expected 0 to ", seats - 1, ", or - in a finished game"));
  }
  state.seat = static_cast<uint8_t>(text[0] - '0');
  return absl::OkStatus();
}

absl::Status ParsePhase(absl::string_view text, State& state) {
  for (int i = 0; i <= static_cast<int>(Phase::kFinished); ++i) {
    if (PhaseName(static_cast<Phase>(i)) != text) continue;
    state.phase = static_cast<Phase>(i);
    return absl::OkStatus();
  }
  return FieldError(kPhaseField, text,
                    "expected placement, manoeuvres, battle, link or finished");
}

absl::Status ParseLinks(absl::string_view text, State& state) {
  if (text == "-") return absl::OkStatus();
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<Action> link = ParseAction(part);
    if (!link.ok()) {
      return FieldError(kLinksField, text, link.status().message());
    }
    const ActionParts parts = Parts(*link);
    if (parts.kind != ActionKind::kLink) {
      return FieldError(
          kLinksField, text,
          absl::StrCat("'", Shown(part), "' is not a link; expected D4=E4"));
    }
    const Board first = BoardOf(parts.from);
    const bool east = BoardOf(parts.to) == East(first);
    (east ? state.links_east : state.links_north) |= first;
  }
  return absl::OkStatus();
}

absl::Status ParseCaptured(absl::string_view text, State& state) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != 2) {
    return FieldError(kCapturedField, text,
                      "expected Red's and Blue's number, such as 0,1");
  }
  for (const Side side : {kRed, kBlue}) {
    TARA_RETURN_IF_ERROR(ParseNumber(kCapturedField, text, parts[side],
                                     state.kings_captured[side]));
  }
  return absl::OkStatus();
}

absl::Status ParseEnding(absl::string_view text, State& state) {
  if (text == "-") return absl::OkStatus();
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  for (int i = 1;
       parts.size() == 2 && i <= static_cast<int>(Ending::kNoProgress); ++i) {
    if (EndingName(static_cast<Ending>(i)) != parts[0]) continue;
    state.ending = static_cast<Ending>(i);
    return ParseNumber(kEndingField, text, parts[1], state.turns_left);
  }
  return FieldError(kEndingField, text,
                    "expected - or out, double_capture, passed, board_full or "
                    "no_progress with the turns left, such as out:1");
}

absl::Status ParseOptions(absl::string_view text, State& state) {
  const absl::StatusOr<RuleOptions> options =
      ParseRuleOptions(state.variant, text);
  if (!options.ok()) {
    return FieldError(kOptionsField, text, options.status().message());
  }
  state.options = *options;
  return absl::OkStatus();
}

using Fields = std::array<absl::string_view, 9>;

// Returns the fields of a text that has at least the first `least` of them; the
// fields that it lacks are `missing`.
absl::StatusOr<Fields> FieldsOf(absl::string_view text,
                                int least = kFieldNames.size(),
                                absl::string_view missing = "") {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ' ');
  Fields fields;
  if (parts.size() < static_cast<size_t>(least) ||
      parts.size() > fields.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "position '", Shown(text), "' has ", parts.size(), " fields; expected ",
        least < 9 ? absl::StrCat(least, " to ") : "",
        "9, separated by single spaces: ", absl::StrJoin(kFieldNames, ", ")));
  }
  fields.fill(missing);
  std::copy(parts.begin(), parts.end(), fields.begin());
  return fields;
}

// Returns the position of the fields, valid or not.
absl::StatusOr<State> ParseFields(const Fields& fields) {
  const absl::StatusOr<Variant> variant = ParseVariant(fields[kVariantField]);
  if (!variant.ok()) {
    return FieldError(kVariantField, fields[kVariantField],
                      variant.status().message());
  }
  State state = {};
  state.variant = *variant;
  TARA_RETURN_IF_ERROR(ParseBoard(fields[kBoardField], state));
  TARA_RETURN_IF_ERROR(ParseSeat(fields[kSeatField], state));
  TARA_RETURN_IF_ERROR(ParsePhase(fields[kPhaseField], state));
  TARA_RETURN_IF_ERROR(ParseLinks(fields[kLinksField], state));
  TARA_RETURN_IF_ERROR(ParseCaptured(fields[kCapturedField], state));
  TARA_RETURN_IF_ERROR(ParseNumber(kNoProgressField, fields[kNoProgressField],
                                   fields[kNoProgressField],
                                   state.no_progress));
  TARA_RETURN_IF_ERROR(ParseEnding(fields[kEndingField], state));
  TARA_RETURN_IF_ERROR(ParseOptions(fields[kOptionsField], state));
  return state;
}

// Counts the king of High Kings that the board lacks as captured; where more
// are missing the game would be over, so that none is. In the placement none
// can be captured but by a rule option.
void CountLostKings(State& state) {
  if (!TraitsOf(state.variant).kings_move) return;
  const bool placing = state.phase == Phase::kPlacement;
  if (placing && !state.options.placement_captures_kings) return;
  for (const Side side : {kRed, kBlue}) {
    const int had = placing ? Count(state.ringforts[side])
                            : TraitsOf(state.variant).kings_per_side;
    state.kings_captured[Opponent(side)] =
        had - Count(state.kings[side]) == 1 ? 1 : 0;
  }
}

// Returns whether ringforts of one side are adjacent although only Battle can
// make them so: not in Stone of Destiny or without a proximity rule.
bool ShowsBattle(const State& state) {
  return !TraitsOf(state.variant).has_links &&
         state.options.proximity_bound > 1 &&
         absl::c_any_of(state.ringforts,
                        [](Board own) { return (own & Adjacent(own)) != 0; });
}

// Returns the phase that a board would be in by the number of its ringforts.
Phase LikelyPhase(const State& state) {
  const int built = kNumHills - Count(state.vacant());
  const Family family = Info(state.variant).family;
  if (family == Family::kHighKings && built < 6) return Phase::kPlacement;
  const bool manoeuvres =
      (family == Family::kPoisonedChalice &&
       built < rules::PoisonedChalice::kManoeuvresTurns) ||
      (family == Family::kStoneOfDestiny && built < kNumHills);
  return manoeuvres ? Phase::kManoeuvres : Phase::kBattle;
}

}  // namespace

std::string PositionToText(const State& state) {
  return absl::StrJoin(FieldTexts(state), " ");
}

absl::StatusOr<State> ParsePosition(absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const Fields fields, FieldsOf(text));
  TARA_ASSIGN_OR_RETURN(const State state, ParseFields(fields));
  // One position has one text: other spellings ("23" for five vacant hills,
  // links out of order, options at their defaults) are refused.
  const std::array<std::string, 9> canonical = FieldTexts(state);
  for (int i = 0; i < static_cast<int>(canonical.size()); ++i) {
    if (canonical[i] == fields[i]) continue;
    return FieldError(
        static_cast<FieldIndex>(i), fields[i],
        absl::StrCat("expected it written as '", canonical[i], "'"));
  }
  TARA_RETURN_IF_ERROR(ValidatePosition(state));
  return state;
}

absl::StatusOr<State> CompletePosition(absl::string_view text) {
  constexpr absl::string_view kOpen = "?";
  TARA_ASSIGN_OR_RETURN(const Fields given, FieldsOf(text, kPhaseField, kOpen));
  const auto is_open = [&](FieldIndex field) { return given[field] == kOpen; };
  Fields fields = given;
  // Values of open fields until they are known.
  constexpr Fields kStandIns = {"",    "",  "",  "battle", "-",
                                "0,0", "0", "-", "-"};
  for (int i = kPhaseField; i <= kOptionsField; ++i) {
    if (is_open(static_cast<FieldIndex>(i))) fields[i] = kStandIns[i];
  }
  TARA_ASSIGN_OR_RETURN(const State parsed, ParseFields(fields));
  const auto in_phase = [&](Phase phase) {
    State state = parsed;
    state.phase = phase;
    if (is_open(kCapturedField)) CountLostKings(state);
    if (is_open(kEndingField) && phase == Phase::kBattle &&
        TraitsOf(state.variant).kings_move && state.vacant() == 0) {
      state.ending = Ending::kBoardFull;
      state.turns_left = 1;
    }
    return state;
  };
  if (is_open(kPhaseField)) {
    for (const Phase phase : {Phase::kPlacement, Phase::kManoeuvres,
                              Phase::kBattle, Phase::kLink}) {
      const State state = in_phase(phase);
      if (phase == Phase::kManoeuvres && ShowsBattle(state)) continue;
      if (ValidatePosition(state).ok()) return state;
    }
  }
  const State state =
      in_phase(is_open(kPhaseField) ? LikelyPhase(parsed) : parsed.phase);
  TARA_RETURN_IF_ERROR(ValidatePosition(state));
  return state;
}

}  // namespace tara
