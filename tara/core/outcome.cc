#include "tara/core/outcome.h"

#include <algorithm>
#include <cstdlib>

namespace tara {
namespace {

constexpr std::array<absl::string_view, 6> kEndingNames = {
    "-", "out", "double_capture", "passed", "board_full", "no_progress"};
constexpr std::array<absl::string_view, 5> kPhaseNames = {
    "placement", "manoeuvres", "battle", "link", "finished"};

// Returns the hills reached from `group` over one bridge.
Board AcrossLinks(const State& state, Board group) {
  return East(group & state.links_east) | (West(group) & state.links_east) |
         North(group & state.links_north) | (South(group) & state.links_north);
}

// Whether every adjacent pair of the ringforts is linked.
bool AllLinked(const State& state, Board own) {
  return (own & West(own) & ~state.links_east) == 0 &&
         (own & South(own) & ~state.links_north) == 0;
}

// Returns the number of groups of ringforts that links connect.
int CountLinkedGroups(const State& state, Board own) {
  int groups = 0;
  for (Board rest = own; rest != 0; ++groups) {
    Board group = FirstBit(rest);
    for (Board grown = group;; group = grown) {
      grown |= AcrossLinks(state, group);
      if (grown == group) break;
    }
    rest &= ~group;
  }
  return groups;
}

// The rule of two tiers: more (or fewer) of the first count wins, else more
// territory, else one point each. Without branches: who leads is anyone's
// guess, a processor's too.
std::array<int, 2> TwoTierPoints(int first_lead, int territory_lead) {
  const int lead = first_lead != 0 ? first_lead : territory_lead;
  const int points = 1 + std::abs(lead) + int{lead != 0};
  return {points * int{lead >= 0}, points * int{lead <= 0}};
}

}  // namespace

int CountKingdoms(const State& state, Side side) {
  const Board own = state.ringforts[side];
  const bool by_links = Info(state.variant).family == Family::kStoneOfDestiny;
  return by_links && !AllLinked(state, own) ? CountLinkedGroups(state, own)
                                            : CountComponents(own);
}

Outcome Score(const State& state) {
  if (Info(state.variant).family == Family::kStoneOfDestiny) {
    return Score(state, CountKingdoms(state, kRed),
                 CountKingdoms(state, kBlue));
  }
  const auto [red, blue] =
      CountComponentsOfBoth(state.ringforts[kRed], state.ringforts[kBlue]);
  return Score(state, red, blue);
}

Outcome Score(const State& state, int red_kingdoms, int blue_kingdoms) {
  Outcome outcome = {};
  outcome.kingdoms = {red_kingdoms, blue_kingdoms};
  for (Side side : {kRed, kBlue}) {
    outcome.territory[side] = Count(state.ringforts[side]);
    outcome.bridges[side] =
        std::min(CountAdjacentPairs(state.ringforts[side]), kMaxBridges);
    outcome.kings_captured[side] = state.kings_captured[side];
  }
  outcome.ended_by = state.ending;
  const std::array<int, 2>& captured = outcome.kings_captured;
  if (captured[kRed] >= 2 || captured[kBlue] >= 2) {
    outcome.points = captured;  // decision 8: nothing for kingdoms
    return outcome;
  }
  const int territory_lead = outcome.territory[kRed] - outcome.territory[kBlue];
  const int first_lead = Info(state.variant).family == Family::kFourTreasures
                             ? outcome.bridges[kRed] - outcome.bridges[kBlue]
                             : outcome.kingdoms[kBlue] - outcome.kingdoms[kRed];
  outcome.points = TwoTierPoints(first_lead, territory_lead);
  // A full tie is one point each, captured kings not counted (decision 9).
  const int counts = (first_lead | territory_lead) != 0;
  for (Side side : {kRed, kBlue}) {
    outcome.points[side] += counts * captured[side];
  }
  return outcome;
}

absl::string_view EndingName(Ending ending) {
  return kEndingNames[static_cast<int>(ending)];
}

absl::string_view PhaseName(Phase phase) {
  return kPhaseNames[static_cast<int>(phase)];
}

}  // namespace tara
