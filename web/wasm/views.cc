#include "web/wasm/views.h"

#include <array>
#include <optional>

#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/levels/levels.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::web {
namespace {

using emscripten::val;

constexpr absl::string_view kFamilyNames[] = {"sacred_hill", "four_treasures",
                                              "high_kings", "poisoned_chalice",
                                              "stone_of_destiny"};
constexpr absl::string_view kKindNames[] = {"hill", "king_move", "sacrifice",
                                            "link", "pass"};

std::string Text(absl::string_view text) { return std::string(text); }

val HillsOf(Board board) {
  std::vector<int> hills;
  ForEachHill(board, [&](Hill hill) { hills.push_back(hill); });
  return ToArray(hills);
}

val Geometry() {
  val hills = val::array();
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    val view = val::object();
    view.set("index", hill);
    view.set("name", HillToText(hill));
    view.set("file", FileOf(hill));
    view.set("rank", RankOf(hill));
    view.set("neighbours", HillsOf(Adjacent(BoardOf(hill))));
    view.set("knightMoves", HillsOf(KnightMoves(BoardOf(hill))));
    hills.set(hill, view);
  }
  val geometry = val::object();
  geometry.set("size", kBoardSize);
  geometry.set("hills", hills);
  return geometry;
}

val Seats(const VariantInfo& info) {
  val seats = val::array();
  for (Seat seat = 0; seat < info.seats; ++seat) {
    val view = val::object();
    view.set("index", seat);
    view.set("side", SideOf(seat));
    view.set("name", SeatName(info.variant, seat));
    seats.set(seat, view);
  }
  return seats;
}

val Options(const VariantInfo& info) {
  val options = val::array();
  int count = 0;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(info)) continue;
    val view = val::object();
    view.set("name", Text(option.name));
    view.set("help", Text(option.help));
    const double unit = option.kind == RuleOptionKind::kHalves ? 0.5 : 1;
    view.set("isSwitch", option.is_switch());
    view.set("step", unit);
    view.set("min", unit * option.min_value);
    view.set("max", unit * option.max_value);
    view.set("defaultValue", unit * option.DefaultValue());
    options.set(count++, view);
  }
  return options;
}

val Variants() {
  val variants = val::array();
  for (int i = 0; i < kNumVariants; ++i) {
    const VariantInfo& info = kVariants[i];
    val view = val::object();
    view.set("id", Text(info.id));
    view.set("name", Text(info.name));
    view.set("family", Text(kFamilyNames[static_cast<int>(info.family)]));
    view.set("level", info.level);
    view.set("seats", Seats(info));
    view.set("options", Options(info));
    variants.set(i, view);
  }
  return variants;
}

val Actions() {
  val actions = val::array();
  for (int i = 0; i < kNumActions; ++i) {
    const auto action = static_cast<Action>(i);
    const ActionParts parts = Parts(action);
    val view = val::object();
    view.set("index", i);
    view.set("notation", ActionToText(action));
    view.set("kind", Text(kKindNames[static_cast<int>(parts.kind)]));
    view.set("from", parts.from < 0 ? val::null() : val(int{parts.from}));
    view.set("to", parts.to < 0 ? val::null() : val(int{parts.to}));
    actions.set(i, view);
  }
  return actions;
}

val Levels() {
  val levels = val::array();
  for (int number = 1; number <= mcts::kNumLevels; ++number) {
    val elo = val::object();
    for (const VariantInfo& info : kVariants) {
      const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, number);
      val view = val::object();
      view.set("elo", measured.elo);
      view.set("interval", measured.interval);
      elo.set(Text(info.id), view);
    }
    val level = val::object();
    level.set("id", "level:" + std::to_string(number));
    level.set("name", "Level " + std::to_string(number));
    level.set("simulations", mcts::kLevels[number - 1].simulations);
    level.set("elo", elo);
    levels.set(number - 1, level);
  }
  return levels;
}

val OwnerOf(const std::array<Board, 2>& boards, Hill hill) {
  for (const Side side : {kRed, kBlue}) {
    if ((boards[side] & BoardOf(hill)) != 0) return val(side);
  }
  return val::null();
}

val Hills(const State& state) {
  val hills = val::array();
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    val view = val::object();
    view.set("owner", OwnerOf(state.ringforts, hill));
    view.set("king", OwnerOf(state.kings, hill));
    hills.set(hill, view);
  }
  return hills;
}

val Bridges(const State& state) {
  const bool by_links = TraitsOf(state.variant).has_links;
  val bridges = val::array();
  int count = 0;
  const auto add = [&](Hill from, Board to, Board linked) {
    const Board both = BoardOf(from) | to;
    for (const Side side : {kRed, kBlue}) {
      if (to == 0 || (state.ringforts[side] & both) != both) continue;
      if (by_links && (linked & BoardOf(from)) == 0) continue;
      val view = val::object();
      view.set("from", from);
      view.set("to", FirstHill(to));
      view.set("side", side);
      bridges.set(count++, view);
    }
  };
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    add(hill, East(BoardOf(hill)), state.links_east);
    add(hill, North(BoardOf(hill)), state.links_north);
  }
  return bridges;
}

// The besieged ringforts, where they can be captured.
val BesiegedRingforts(const State& state) {
  if (state.finished() || TraitsOf(state.variant).has_links) return HillsOf(0);
  const auto& [red, blue] = state.ringforts;
  return HillsOf(BesiegedIn(red, blue) | BesiegedIn(blue, red));
}

val ScoreView(const State& state) {
  const Outcome outcome = Score(state);
  const auto pair = [](const std::array<int, 2>& numbers) {
    return ToPair(numbers[kRed], numbers[kBlue]);
  };
  val view = val::object();
  view.set("points", pair(outcome.points));
  view.set("compensation", outcome.compensation_halves / 2.0);
  view.set("kingdoms", pair(outcome.kingdoms));
  view.set("territory", pair(outcome.territory));
  view.set("bridges", pair(outcome.bridges));
  view.set("kingsCaptured", pair(outcome.kings_captured));
  view.set("winner",
           outcome.winner() < 0 ? val::null() : val(outcome.winner()));
  return view;
}

val LegalIndices(const State& state) {
  std::vector<int> legal;
  LegalActions(state).ForEach(
      [&](Action action) { legal.push_back(Index(action)); });
  return ToArray(legal);
}

}  // namespace

val Catalogue() {
  val view = val::object();
  view.set("geometry", Geometry());
  view.set("variants", Variants());
  view.set("actions", Actions());
  view.set("levels", Levels());
  view.set("ratedNetwork", Text(mcts::kRatedNetwork));
  view.set("rulesVersion", kRulesVersion);
  view.set("featureVersion", nn::kFeatureVersion);
  view.set("policyVersion", nn::kPolicyVersion);
  view.set("valueVersion", nn::kValueVersion);
  view.set("maxMargin", kMaxMargin);
  view.set("planes", nn::kNumPlanes);
  view.set("globals", nn::kNumGlobals);
  return view;
}

val ViewOf(const State& state) {
  const bool announced = state.ending != Ending::kNone;
  const RuleOptionInfo& limit = kRuleOptions[0];
  const bool counts_progress = limit.applies_to(Info(state.variant));
  val view = val::object();
  view.set("text", PositionToText(state));
  view.set("hills", Hills(state));
  view.set("bridges", Bridges(state));
  view.set("besieged", BesiegedRingforts(state));
  view.set("vacant", Count(state.vacant()));
  view.set("phase", Text(PhaseName(state.phase)));
  view.set("seat", state.finished() ? val::null() : val(int{state.seat}));
  view.set("side", state.finished() ? val::null() : val(state.side()));
  view.set("finished", state.finished());
  view.set("ending",
           announced ? val(Text(EndingName(state.ending))) : val::null());
  view.set("turnsLeft", announced && !state.finished()
                            ? val(int{state.turns_left})
                            : val::null());
  view.set("noProgress",
           counts_progress ? val(int{state.no_progress}) : val::null());
  view.set("noProgressLimit",
           counts_progress ? val(limit.get(state.options)) : val::null());
  view.set("score", ScoreView(state));
  view.set("legal", LegalIndices(state));
  view.set("description", DescribeState(state));
  return view;
}

}  // namespace tara::web
