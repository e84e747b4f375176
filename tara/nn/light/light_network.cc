#include "tara/nn/light/light_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/bits.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/batch_encoder.h"

namespace tara::nn {
namespace {

constexpr auto MakePatterns() {
  std::array<std::array<std::array<int8_t, kPatternHills>, kNumHills>,
             kNumLightTables>
      patterns{};
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    int near = 0, knight = 0;
    for (int rank = -2; rank <= 2; ++rank) {
      for (int file = -2; file <= 2; ++file) {
        const int square = file * file + rank * rank;
        const Hill other = HillAt(FileOf(hill) + file, RankOf(hill) + rank);
        const auto entry = static_cast<int8_t>(other < 0 ? kNumHills : other);
        if (square <= 2) patterns[0][hill][near++] = entry;
        if (square == 0 || square == 5) patterns[1][hill][knight++] = entry;
      }
    }
  }
  return patterns;
}

std::array<PolicyPart, kNumPolicyOutputs> MakePolicyParts() {
  std::array<PolicyPart, kNumPolicyOutputs> all;
  for (int index = 0; index < kNumActions; ++index) {
    const auto action = static_cast<Action>(index);
    const auto [kind, from, to] = Parts(action);
    PolicyPart& part = all[PolicyOutput(action)];
    part = {.kind = PolicyPart::kHill, .from = from, .to = to};
    if (kind == ActionKind::kPass) {
      part.kind = PolicyPart::kPass;
    } else if (kind == ActionKind::kLink) {
      part.kind = PolicyPart::kPair;
      part.origin = part.destination = kLinkLogit;
      part.origin_vector = part.destination_vector = kLinkVector;
    } else if (from >= 0) {
      const bool sacrifice = kind == ActionKind::kSacrifice;
      const int direction = internal::KnightDirection(from, to);
      part.kind = PolicyPart::kPair;
      part.origin = static_cast<int8_t>(
          direction + (sacrifice ? kSacrificeOrigin : kMoveOrigin));
      part.destination = static_cast<int8_t>(
          direction + (sacrifice ? kSacrificeDestination : kMoveDestination));
      part.origin_vector = kOriginVector;
      part.destination_vector = kDestinationVector;
      part.direction = static_cast<int8_t>(8 * sacrifice + direction);
    }
  }
  return all;
}

// [flag]: the hills where it holds; and the kingdoms of each side.
struct KingdomFlags {
  std::array<Board, kNumLightFlags> flags{};
  int own = 0, enemy = 0;
};

// Adds the boards up: the hills on one or more, two or more, three or more.
struct Sums {
  Board one = 0, two = 0, three = 0;

  void Add(Board board) {
    three |= two & board;
    two |= one & board;
    one |= board;
  }
  // Adds the hills next to the hills of `board`.
  void AddBeside(Board board) {
    for (const Board beside :
         {North(board), South(board), East(board), West(board)}) {
      Add(beside);
    }
  }
};

KingdomFlags FlagsOf(Board own, Board enemy) {
  KingdomFlags result;
  auto& flags = result.flags;
  const Board vacant = kAllHills & ~(own | enemy);
  Sums liberties;  // of single hills
  liberties.AddBeside(vacant);
  for (const auto& [side, two, three, kingdoms] :
       {std::tuple(own, kOwnKingdoms2, kOwnKingdoms3, &result.own),
        std::tuple(enemy, kEnemyKingdoms2, kEnemyKingdoms3, &result.enemy)}) {
    // Kingdoms of one ringfort, all together.
    const Board singles = side & ~Adjacent(side);
    flags[kLiberties0] |= singles & ~liberties.one;
    flags[kLiberties1] |= singles & ~liberties.two;
    flags[kLiberties2] |= singles & ~liberties.three;
    flags[kLiberties4] |= singles;
    *kingdoms = Count(singles);
    Sums beside;  // kingdoms next to a hill
    beside.AddBeside(singles);
    // The others one by one.
    for (Board rest = side & ~singles; rest != 0;) {
      Board kingdom = rest & -rest;
      for (Board grown = kingdom;; kingdom = grown) {
        grown = (kingdom | Adjacent(kingdom)) & rest;
        if (grown == kingdom) break;
      }
      rest &= ~kingdom;
      ++*kingdoms;
      const Board around = Adjacent(kingdom) & vacant;
      beside.Add(around);
      const int count = Count(around);
      const int size = Count(kingdom);
      if (count <= 0) flags[kLiberties0] |= kingdom;
      if (count <= 1) flags[kLiberties1] |= kingdom;
      if (count <= 2) flags[kLiberties2] |= kingdom;
      if (count <= 4) flags[kLiberties4] |= kingdom;
      if (size >= 3) flags[kSize3] |= kingdom;
      if (size >= 8) flags[kSize8] |= kingdom;
    }
    flags[two] = beside.two & vacant;
    flags[three] = beside.three & vacant;
  }
  return result;
}

constexpr int8_t PlaneAt(absl::string_view name) {
  return static_cast<int8_t>(PlaneIndex(name));
}
constexpr int8_t FlagAt(LightFlag flag) {
  return static_cast<int8_t>(kNumPlanes + flag);
}

// [group][bit]; of the third group the flags of vacant hills.
constexpr std::array<std::array<int8_t, 8>, kLightGroups> kGroupInputs = {
    {{PlaneAt("own_king"), PlaneAt("enemy_king"), PlaneAt("own_stranded"),
      PlaneAt("enemy_stranded"), PlaneAt("link_east_or_own_way"),
      PlaneAt("link_north_or_enemy_way"),
      PlaneAt("legal_link_east_or_own_nearer"),
      PlaneAt("legal_link_north_or_enemy_nearer")},
     {PlaneAt("legal_hill"), PlaneAt("legal_origin"),
      PlaneAt("legal_destination"), PlaneAt("legal_sacrifice"), PlaneAt("area"),
      PlaneAt("own_single"), PlaneAt("enemy_single"), PlaneAt("enemy_reach")},
     {FlagAt(kOwnKingdoms2), FlagAt(kOwnKingdoms3), FlagAt(kEnemyKingdoms2),
      FlagAt(kEnemyKingdoms3), -1, -1, -1, -1}}};
constexpr std::array<int8_t, 8> kRingfortInputs = {FlagAt(kLiberties0),
                                                   FlagAt(kLiberties1),
                                                   FlagAt(kLiberties2),
                                                   FlagAt(kLiberties4),
                                                   FlagAt(kSize3),
                                                   FlagAt(kSize8),
                                                   -1,
                                                   -1};

int16_t RoundGlobal(float global) {
  // Such a sum has no bits below 1, and its integer in the lowest.
  constexpr float kWhole = 0x1.8p23f;
  return static_cast<int16_t>(
      absl::bit_cast<int32_t>(global * kGlobalUnit + kWhole));
}

}  // namespace

constinit const std::array<
    std::array<std::array<int8_t, kPatternHills>, kNumHills>, kNumLightTables>
    kLightPatterns = MakePatterns();

const std::array<PolicyPart, kNumPolicyOutputs> kPolicyParts =
    MakePolicyParts();

void ReadLightInput(const float* planes, const float* globals,
                    LightInput& input) {
  constexpr int kOwn = PlaneIndex("own_ringfort");
  constexpr int kEnemy = PlaneIndex("enemy_ringfort");
  input.own = input.enemy = 0;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    const float* const values = planes + kNumPlanes * SquareOf(hill);
    if (values[kOwn] != 0) input.own |= BoardOf(hill);
    if (values[kEnemy] != 0) input.enemy |= BoardOf(hill);
    int count = 0;
    for (int plane = 0; plane < kNumPlanes; ++plane) {
      // Written in any case, kept where it is not 0.
      input.rows[hill][count] = static_cast<uint8_t>(
          kLightLevels * plane + static_cast<int>(4 * values[plane]));
      count += values[plane] != 0;
    }
    input.num_rows[hill] = static_cast<uint8_t>(count);
  }
  const std::array<Board, kNumLightFlags> flags =
      FlagsOf(input.own, input.enemy).flags;
  for (int flag = 0; flag < kNumLightFlags; ++flag) {
    ForEachHill(flags[flag], [&](Hill hill) {
      input.rows[hill][input.num_rows[hill]++] = static_cast<uint8_t>(
          kLightLevels * (kNumPlanes + flag) + kLightLevels - 1);
    });
  }
  std::copy_n(globals, kNumGlobals, input.globals.begin());
}

const std::array<int8_t, 8>& LightGroupInputs(int group, int value) {
  return group == kLightGroups - 1 && (value & kRingfortBit) != 0
             ? kRingfortInputs
             : kGroupInputs[group];
}

LightBits LightBitsOf(const LightInput& input) {
  LightBits bits = {.own = input.own, .enemy = input.enemy, .groups = {}};
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    const bool vacant = ((input.own | input.enemy) & BoardOf(hill)) == 0;
    bits.groups[kLightGroups - 1][hill] = vacant ? 0 : kRingfortBit;
    for (int i = 0; i < input.num_rows[hill]; ++i) {
      for (int group = 0; group < kLightGroups; ++group) {
        uint8_t& value = bits.groups[group][hill];
        for (int bit = 0; bit < 8; ++bit) {
          if (LightGroupInputs(group, value)[bit] ==
              input.rows[hill][i] / kLightLevels) {
            value |= static_cast<uint8_t>(1 << bit);
          }
        }
      }
    }
  }
  for (int g = 0; g < kNumGlobals; ++g) {
    bits.globals[g] = RoundGlobal(input.globals[g]);
  }
  return bits;
}

void EncodeLightBits(const State& state, const Symmetry& symmetry,
                     const LegalSet& legal, LightBits& bits) {
  const Side side = state.side();
  const Board own = state.ringforts[side];
  const Board enemy = state.ringforts[Opponent(side)];
  const PlaneBoards planes = BoardsOfPlanes(state, symmetry.board, legal);
  const KingdomFlags kingdoms = FlagsOf(own, enemy);
  const auto& flags = kingdoms.flags;
  std::array<std::array<Board, 8>, kLightGroups> boards = {
      {{},
       {},
       {flags[kOwnKingdoms2] | flags[kLiberties0],
        flags[kOwnKingdoms3] | flags[kLiberties1],
        flags[kEnemyKingdoms2] | flags[kLiberties2],
        flags[kEnemyKingdoms3] | flags[kLiberties4], flags[kSize3],
        flags[kSize8], own | enemy, 0}}};
  for (int group = 0; group < kLightGroups - 1; ++group) {
    std::transform(kGroupInputs[group].begin(), kGroupInputs[group].end(),
                   boards[group].begin(),
                   [&](int8_t plane) { return planes[plane]; });
  }
  std::array<std::array<uint8_t, 64>, kLightGroups> bytes;
  for (int group = 0; group < kLightGroups; ++group) {
    TransposeBoards(boards[group].data(), bytes[group].data());
  }
  const auto& sources = kSourceBits[symmetry.board];
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    const int source = sources[SquareOf(hill)];
    Unrolled<kLightGroups>(
        [&](auto group) { bits.groups[group][hill] = bytes[group][source]; });
  }
  bits.own = TransformBoard(symmetry.board, own);
  bits.enemy = TransformBoard(symmetry.board, enemy);
  const FamilyTraits& traits = TraitsOf(state.variant);
  std::array<float, kNumGlobals> globals;
  EncodeGlobalsOf(
      state, legal,
      traits.has_links ? CountKingdoms(state, side) : kingdoms.own,
      traits.has_links ? CountKingdoms(state, Opponent(side)) : kingdoms.enemy,
      globals.data());
  for (int g = 0; g < kNumGlobals; ++g) {
    bits.globals[g] = RoundGlobal(globals[g]);
  }
}

void LightTensors::Add(absl::string_view name, int rows, int columns,
                       double scale, LightTensor& tensor) {
  tensor = {.name = std::string(name),
            .rows = rows,
            .columns = columns,
            .stride = WholeLines(columns),
            .offset = size_,
            .scale = scale};
  size_ += tensor.size();
  all_.push_back(&tensor);
}

LightTensors::LightTensors(int num_layers) : layers(num_layers) {
  constexpr int kC = kLightChannels;
  // Initial deviation for a layer of ReLUs (He et al. 2015).
  const auto he = [](double inputs) { return std::sqrt(2.0 / inputs); };
  const auto add = [this](const std::string& layer, int rows, int columns,
                          double scale, LightTensor& weight,
                          LightTensor& bias) {
    Add(layer + ".weight", rows, columns, scale, weight);
    Add(layer + ".bias", 1, columns, 0, bias);
  };
  for (int t = 0; t < kNumLightTables; ++t) {
    const std::string name = t == 0 ? "near" : "knight";
    LightTableNetwork& table = tables[t];
    add(name + "_hidden1", kPatternInputs, kC, he(kPatternHills), table.hidden1,
        table.bias1);
    add(name + "_hidden2", kC, kC, he(kC), table.hidden2, table.bias2);
    Add(name + "_out.weight", kC, kC, 0.35 * he(kC), table.out);
  }
  Add("input_planes.weight", kNumPlanes, kC, 0.2, planes);
  Add("input_flags.weight", kNumLightFlags, kC, 0.2, flags);
  Add("input_globals.weight", kNumGlobals, kC, 0.1, globals);
  Add("input_hills.weight", kNumHills, kC, 0.1, hills);
  Add("input.bias", 1, kC, 0, bias);
  for (int i = 0; i < num_layers; ++i) {
    const std::string name = absl::StrCat("layer", i, "_");
    LightLayer& layer = layers[i];
    Add(name + "taps.weight", kNumTaps, kC, 1.2 / std::sqrt(kNumTaps),
        layer.taps);
    Add(name + "rank.weight", 1, kC, 0.3, layer.rank);
    Add(name + "file.weight", 1, kC, 0.3, layer.file);
    Add(name + "taps.bias", 1, kC, 0, layer.bias);
    Add(name + "pooled.weight", 2 * kC, kC, 0.35 * he(2 * kC), layer.pooled);
    add(name + "mix", kC, kC, 0.7 * he(kC), layer.mix, layer.mix_bias);
  }
  add("policy_hills", kC, kPolicyWidth, he(kC), policy, policy_bias);
  Add("policy_context.weight", kContext, kPolicyWidth, 0.2 * he(kContext),
      policy_context);
  add("policy_actions", kPolicyWidth, kNumHillOutputs, 0.2 * he(kPolicyWidth),
      actions, actions_bias);
  Add("policy_directions.bias", 1, 16, 0, directions);
  Add("policy_pass.weight", 1, kContext, 0.02, pass);
  add("value_hidden1", kContext, kValueHidden, 0.7 * he(kContext), value1,
      value1_bias);
  add("value_hidden2", kValueHidden, kValueHidden, he(kValueHidden), value2,
      value2_bias);
  add("value_out", kValueHidden, kNumValueOutputs, 0.07 * he(kValueHidden),
      value, value_bias);
  add("owner_hills", kC, kNumOwners, 0.1, owner, owner_bias);
}

void LightTensors::Write(const float* parameters, absl::string_view prefix,
                         Checkpoint& checkpoint) const {
  for (const LightTensor* const tensor : all_) {
    NamedTensor named = {.name = absl::StrCat(prefix, tensor->name),
                         .shape = tensor->shape(),
                         .values = {}};
    for (int row = 0; row < tensor->rows; ++row) {
      const float* const values = parameters + tensor->RowAt(row);
      named.values.insert(named.values.end(), values, values + tensor->columns);
    }
    checkpoint.tensors.push_back(std::move(named));
  }
}

absl::Status LightTensors::Read(const Checkpoint& checkpoint,
                                absl::string_view prefix,
                                float* parameters) const {
  for (const LightTensor* const tensor : all_) {
    const std::string name = absl::StrCat(prefix, tensor->name);
    if (AuxiliaryHeadOf(tensor->name) != nullptr && !checkpoint.Has(name)) {
      continue;
    }
    TARA_ASSIGN_OR_RETURN(const NamedTensor* const named,
                          checkpoint.Find(name, tensor->shape()));
    for (int row = 0; row < tensor->rows; ++row) {
      std::copy_n(
          named->values.begin() + static_cast<ptrdiff_t>(row) * tensor->columns,
          tensor->columns, parameters + tensor->RowAt(row));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<AlignedFloats> LightTensors::Read(
    const Checkpoint& checkpoint) const {
  AlignedFloats parameters(size_);
  TARA_RETURN_IF_ERROR(Read(checkpoint, "", parameters.data()));
  return parameters;
}

absl::Status CheckLightShape(const NetworkShape& shape) {
  if (shape.channels == kLightChannels && shape.blocks >= 1 &&
      shape.blocks <= kMaxLightLayers) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a light network of ", shape.channels, " channels and ",
                   shape.blocks, " layers; expected ", kLightChannels,
                   " channels and 1 to ", kMaxLightLayers, " layers"));
}

}  // namespace tara::nn
