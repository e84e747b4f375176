#include "tests/nn/plain_features.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// Appends planes one after the other.
class PlaneWriter {
 public:
  explicit PlaneWriter(float* planes) : next_(planes) {}

  void Add(Board board) { AddSum({board}, 1); }

  // A plane of the number of ringforts adjacent to each hill, over 4.
  void AddNeighbours(Board ringforts) {
    AddSum(
        {North(ringforts), South(ringforts), East(ringforts), West(ringforts)},
        0.25f);
  }

  const float* end() const { return next_; }

 private:
  void AddSum(std::initializer_list<Board> boards, float value) {
    std::fill_n(next_, kNumSquares, 0.0f);
    for (const Board board : boards) {
      ForEachHill(board, [&](Hill hill) { next_[SquareOf(hill)] += value; });
    }
    next_ += kNumSquares;
  }

  float* next_;
};

// In doubles seat 0 is South: it acts on ranks 1 to 4 (rules section 5).
Board Area(const State& state) {
  if (Info(state.variant).seats == 2) return kAllHills;
  return RankBoard(0) | RankBoard(1) | RankBoard(2) | RankBoard(3);
}

// Hills to which the kings of each side have a way (High Kings), and of them
// those to which it is the shorter one.
struct KingWays {
  Board own = 0, enemy = 0;
  Board own_nearer = 0, enemy_nearer = 0;
};

constexpr int kNoWay = kNumHills;

// Returns by hill the number of moves of the side's shortest way, or kNoWay.
std::array<int, kNumHills> WaysOf(const State& state, Side side) {
  Board open = state.vacant();
  if (state.phase != Phase::kBattle) open &= ~Adjacent(state.ringforts[side]);
  std::array<int, kNumHills> moves;
  moves.fill(kNoWay);
  Board reached = state.kings[side];
  for (int move = 1; reached != 0; ++move) {
    reached = KnightMoves(reached) & open;
    open &= ~reached;
    ForEachHill(reached, [&](Hill hill) { moves[hill] = move; });
  }
  return moves;
}

KingWays FindKingWays(const State& state) {
  KingWays ways;
  if (!TraitsOf(state.variant).kings_move) return ways;
  const Side side = state.side();
  const std::array<int, kNumHills> own = WaysOf(state, side);
  const std::array<int, kNumHills> enemy = WaysOf(state, Opponent(side));
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    if (own[hill] != kNoWay) ways.own |= BoardOf(hill);
    if (enemy[hill] != kNoWay) ways.enemy |= BoardOf(hill);
    if (own[hill] != kNoWay && own[hill] <= enemy[hill]) {
      ways.own_nearer |= BoardOf(hill);
    }
    if (enemy[hill] < own[hill]) ways.enemy_nearer |= BoardOf(hill);
  }
  return ways;
}

// Returns the ringforts of a side that no link joins to another (rules section
// 1).
Board Singles(const State& state, Side side) {
  const Board own = state.ringforts[side];
  if (!TraitsOf(state.variant).has_links) {
    return own & ~Adjacent(own);
  }
  return own & ~(state.links_east | East(state.links_east) | state.links_north |
                 North(state.links_north));
}

// Returns where the other side may go in Manoeuvres, or nearly so: the rules
// themselves decide when it is its turn.
Board EnemyReach(const State& state, Side enemy) {
  const Board ringforts = state.ringforts[enemy];
  if (TraitsOf(state.variant).kings_move) {
    return state.vacant() & KnightMoves(state.kings[enemy]) &
           ~Adjacent(ringforts);
  }
  return state.vacant() & KnightMoves(ringforts) & ~Adjacent(ringforts) &
         ~Diagonal(ringforts) & ~TwoStepsStraight(ringforts);
}

// The order is that of kPlanes.
void EncodePlanes(const State& state, const LegalSet& legal, float* out) {
  const Side own = state.side();
  const Side enemy = Opponent(own);
  const auto& ringforts = state.ringforts;
  const auto& kings = state.kings;
  PlaneWriter planes(out);
  planes.Add(kAllHills);
  planes.Add(state.vacant());
  planes.Add(ringforts[own]);
  planes.Add(ringforts[enemy]);
  planes.Add(kings[own]);
  planes.Add(kings[enemy]);
  planes.Add(kings[own] & ringforts[enemy]);
  planes.Add(kings[enemy] & ringforts[own]);
  const KingWays ways = FindKingWays(state);
  planes.Add(state.links_east | ways.own);
  planes.Add(state.links_north | ways.enemy);
  Board origins = 0, destinations = 0, sacrifices = 0;
  for (const LegalSet::KingMoves& king : legal.kings) {
    if (king.moves != 0) origins |= BoardOf(king.origin);
    destinations |= king.moves;
    sacrifices |= king.sacrifices;
  }
  planes.Add(legal.hills);
  planes.Add(origins);
  planes.Add(destinations);
  planes.Add(sacrifices);
  planes.Add(legal.links_east | ways.own_nearer);
  planes.Add(legal.links_north | ways.enemy_nearer);
  planes.Add(Area(state));
  planes.Add(Besieged(ringforts[own]));
  planes.Add(Besieged(ringforts[enemy]));
  planes.Add(Singles(state, own));
  planes.Add(Singles(state, enemy));
  planes.AddNeighbours(ringforts[own]);
  planes.AddNeighbours(ringforts[enemy]);
  planes.Add(EnemyReach(state, enemy));
  TARA_DCHECK(planes.end() == out + kNumPlanes * kNumSquares,
              "one value for each square of each plane");
}

void EncodeGlobals(const State& state, const LegalSet& legal, float* globals) {
  const Side own = state.side();
  const Side enemy = Opponent(own);
  for (const VariantInfo& info : kVariants) {
    globals[kVariantGlobals[static_cast<int>(info.variant)]] =
        info.variant == state.variant;
  }
  for (size_t i = 0; i < kRuleOptions.size(); ++i) {
    globals[kOptionGlobals[i]] =
        static_cast<float>(kRuleOptions[i].get(state.options)) /
        static_cast<float>(OptionDivisor(kRuleOptions[i]));
  }
  // The others, in their order.
  float* out = globals + GlobalIndex("placement");
  for (const Phase phase :
       {Phase::kPlacement, Phase::kManoeuvres, Phase::kBattle, Phase::kLink}) {
    *out++ = phase == state.phase;
  }
  *out++ = Info(state.variant).seats == 4;
  out = globals + GlobalIndex("no_progress");
  *out++ = static_cast<float>(state.no_progress) /
           static_cast<float>(state.options.no_progress_limit);
  for (const Ending ending :
       {Ending::kOut, Ending::kPassed, Ending::kBoardFull}) {
    *out++ = ending == state.ending;
  }
  *out++ = state.turns_left / 3.0f;
  *out++ = state.kings_captured[own] / 3.0f;
  *out++ = state.kings_captured[enemy] / 3.0f;
  *out++ = Count(state.vacant()) / 45.0f;
  const Outcome standing = Score(state);
  for (const Side side : {own, enemy})
    *out++ = standing.territory[side] / 23.0f;
  for (const Side side : {own, enemy}) *out++ = standing.kingdoms[side] / 10.0f;
  for (const Side side : {own, enemy}) *out++ = standing.bridges[side] / 40.0f;
  const int margin = own == kRed ? standing.margin() : -standing.margin();
  *out++ = margin / 10.0f;
  *out++ = static_cast<float>(ResultForMover(state, margin));
  *out++ = legal.Count() / 45.0f;
  *out++ = legal.pass;
  TARA_DCHECK(out == globals + GlobalIndex("legal_pass") + 1,
              "one value for each global");
}

}  // namespace

void EncodeFeatures(const State& state, const Symmetry& symmetry,
                    absl::Span<float> planes, absl::Span<float> globals) {
  TARA_CHECK(planes.size() == kNumPlanes * kNumSquares, "planes: size");
  TARA_CHECK(globals.size() == kNumGlobals, "globals: size");
  const State turned = TransformState(symmetry, state);
  TARA_CHECK(turned.seat == 0, "the symmetry must bring the seat to seat 0");
  const LegalSet legal = LegalActions(turned);
  EncodePlanes(turned, legal, planes.data());
  EncodeGlobals(turned, legal, globals.data());
}

}  // namespace tara::nn
