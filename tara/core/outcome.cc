#include "tara/core/outcome.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tara/core/state.h"

namespace tara {
namespace {

constexpr std::array<absl::string_view, 6> kEndingNames = {
    "-", "out", "double_capture", "passed", "board_full", "no_progress"};
constexpr std::array<absl::string_view, 5> kPhaseNames = {
    "placement", "manoeuvres", "battle", "link", "finished"};

// Red's and Blue's.
ComponentsOfBoth<Board> KingdomsOf(const State& state) {
  const auto& [red, blue] = state.ringforts;
  return TraitsOf(state.variant).has_links
             ? CountLinkedKingdoms(red, blue, state.links_east,
                                   state.links_north)
             : CountComponentsOfBoth(red, blue);
}

}  // namespace

int CountKingdoms(const State& state, Side side) {
  const auto [red, blue] = KingdomsOf(state);
  return side == kRed ? red : blue;
}

Outcome Score(const State& state) {
  const auto [red, blue] = KingdomsOf(state);
  return Score(state, red, blue);
}

Outcome Score(const State& state, int red_kingdoms, int blue_kingdoms) {
  Outcome outcome = {};
  outcome.kingdoms = {red_kingdoms, blue_kingdoms};
  for (Side side : {kRed, kBlue}) {
    outcome.territory[side] = Count(state.ringforts[side]);
    outcome.bridges[side] = CountBridges(state.ringforts[side]);
    outcome.kings_captured[side] = state.kings_captured[side];
  }
  outcome.ended_by = state.ending;
  outcome.compensation_halves = state.options.compensation_halves;
  const int first_lead = TraitsOf(state.variant).bridges_first
                             ? outcome.bridges[kRed] - outcome.bridges[kBlue]
                             : blue_kingdoms - red_kingdoms;
  const int territory_lead =
      state.options.territory_breaks_ties
          ? outcome.territory[kRed] - outcome.territory[kBlue]
          : 0;
  const Points<int> points = PointsOf<int>(
      {.first = first_lead, .territory = territory_lead},
      outcome.kings_captured[kRed], outcome.kings_captured[kBlue]);
  outcome.points = {points.own, points.enemy};
  return outcome;
}

std::string CompensationText(int compensation_halves) {
  if (compensation_halves == 0) return "";
  return absl::StrCat(" and ", compensation_halves / 2.0, " of compensation");
}

absl::string_view EndingName(Ending ending) {
  return kEndingNames[static_cast<int>(ending)];
}

absl::string_view PhaseName(Phase phase) {
  return kPhaseNames[static_cast<int>(phase)];
}

}  // namespace tara
