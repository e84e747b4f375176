// A light network as ONNX, hill by hill: values of hills are [B, 45, channels],
// and tensors have the names of the checkpoint. The tables are replaced by the
// networks that compute them, a tenth of their size.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/bundle/onnx_graph.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn {
namespace {

class LightWriter : public GraphWriter {
 public:
  using GraphWriter::GraphWriter;

  absl::Status Write() {
    AddInput("planes",
             {SizeOf("input_planes.weight", 0), kBoardSize, kBoardSize});
    AddInput("globals", {SizeOf("input_globals.weight", 0)});
    for (int axis = 1; axis <= 3; ++axis) {
      axes_[axis] = AddIntegers(absl::StrCat("axis", axis), {axis});
    }
    for (const bool rank : {true, false}) AddLineMeans(rank);
    std::string hills = WriteInput();
    std::string pooled = Pool("input", hills);
    for (int i = 0; i < network().shape.blocks; ++i) {
      const std::string name = absl::StrCat("layer", i);
      hills = WriteLayer(name, hills, pooled);
      pooled = Pool(name, hills);
    }
    const std::string context =
        Add("Concat", "context", {pooled, "globals"}, {{"axis", 1}});
    WritePolicy(hills, context);
    WriteValue(context);
    if (network().Has("owner_hills.weight")) {
      Transpose("owner", Linear("owner_hills", hills), {0, 2, 1});
      AddOutput("owner", {kNumOwners, kNumHills});
    }
    return status();
  }

 private:
  // --- Nodes -----------------------------------------------------------------

  std::string Gather(const std::string& name, const std::string& values,
                     int axis, const Integers& places) {
    return Add("Gather", name,
               {values, AddIntegers(absl::StrCat(name, ".places"), places)},
               {{"axis", axis}});
  }
  // An axis of 0 is that of the values.
  std::string Reshape(const std::string& name, const std::string& values,
                      const Integers& shape) {
    return Add("Reshape", name,
               {values, AddIntegers(absl::StrCat(name, ".shape"), shape)});
  }
  std::string Transpose(const std::string& name, const std::string& values,
                        const Integers& order) {
    return Add("Transpose", name, {values}, {{"perm", order}});
  }
  std::string Unsqueeze(const std::string& values, int axis) {
    return Add("Unsqueeze", absl::StrCat(values, ".with_axis", axis),
               {values, axes_[axis]});
  }
  std::string Sum(const std::string& name, const std::string& values,
                  int axis) {
    return Add("ReduceSum", name, {values, axes_[axis]}, {{"keepdims", 0}});
  }
  // Values below 0 become 0, those above 1 become 1.
  std::string Clip(const std::string& name, const std::string& values) {
    return Add("Clip", name, {values, zero_, one_});
  }
  // Values of hills with zeros for a hill off the board, the last one, and for
  // `channels` more channels.
  std::string Pad(const std::string& name, const std::string& values,
                  int channels) {
    return Add("Pad", name,
               {values, AddIntegers(absl::StrCat(name, ".pads"),
                                    {0, 0, 0, 0, 1, channels})});
  }
  std::string Product(const std::string& layer, const std::string& input) {
    return Add("MatMul", absl::StrCat(layer, ".product"),
               {input, Weights(layer + ".weight")});
  }
  std::string Linear(const std::string& layer, const std::string& input) {
    return Add("Add", layer, {Product(layer, input), Weights(layer + ".bias")});
  }
  // [B, inputs] to all hills: [B, 1, outputs].
  std::string OfAllHills(const std::string& name, const std::string& weight,
                         const std::string& bias, const std::string& input) {
    return Unsqueeze(Add("Gemm", name, {input, Weights(weight), Weights(bias)}),
                     1);
  }
  // [B, 128]: means, then maxima.
  std::string Pool(const std::string& name, const std::string& hills) {
    const auto part = [&](const std::string& type, const std::string& ending) {
      return Add(type, name + ending, {hills},
                 {{"axes", Integers{1}}, {"keepdims", 0}});
    };
    const std::string mean = part("ReduceMean", ".mean");
    const std::string maximum = part("ReduceMax", ".maximum");
    return Add("Concat", name + ".pooled", {mean, maximum}, {{"axis", 1}});
  }

  // --- Inputs ----------------------------------------------------------------

  std::string WriteInput() {
    const std::string flat =
        Reshape("planes.flat", "planes", {0, 0, kNumSquares});
    // [B, planes, 45], and [B, 45, planes].
    const std::string on_hills = Gather(
        "planes.on_hills", flat, 2, {kHillSquares.begin(), kHillSquares.end()});
    const std::string of_hills =
        Transpose("planes.of_hills", on_hills, {0, 2, 1});
    std::string sum = OfAllHills("input.globals", "input_globals.weight",
                                 "input.bias", "globals");
    const auto add = [&](const std::string& name, const std::string& values) {
      sum = Add("Add", absl::StrCat("input.with_", name), {sum, values});
    };
    add("hills", Weights("input_hills.weight"));
    add("planes", Product("input_planes", of_hills));
    add("flags", Product("input_flags", WriteFlags(on_hills)));
    const std::string owners = WriteOwners(of_hills);
    for (int t = 0; t < kNumLightTables; ++t) {
      const std::string name = t == 0 ? "near" : "knight";
      add(name, WriteTable(name, owners, t));
    }
    return Relu(sum);
  }

  // The owner of each hill, and of one off the board: [B, 46, LightOwner],
  // one-hot.
  std::string WriteOwners(const std::string& of_hills) {
    const std::string owners =
        Gather("owners.on_board", of_hills, 2,
               {PlaneIndex("vacant"), PlaneIndex("own_ringfort"),
                PlaneIndex("enemy_ringfort")});
    static_assert(kVacantHill == 0 && kOwnHill == 1 && kEnemyHill == 2);
    std::vector<float> off_board((kNumHills + 1) * kNumLightOwners);
    off_board[kNumHills * kNumLightOwners + kOffBoard] = 1;
    return Add("Add", "owners",
               {Pad("owners.padded", owners, 1),
                AddConstant("off_board", {1, kNumHills + 1, kNumLightOwners},
                            off_board)});
  }

  std::string WriteTable(const std::string& name, const std::string& owners,
                         int table) {
    Integers places;
    for (const auto& pattern : kLightPatterns[table]) {
      places.insert(places.end(), pattern.begin(), pattern.end());
    }
    const std::string patterns =
        Reshape(name + ".patterns", Gather(name + ".hills", owners, 1, places),
                {0, kNumHills, kPatternInputs});
    const std::string hidden1 = Relu(Linear(name + "_hidden1", patterns));
    const std::string hidden2 = Relu(Linear(name + "_hidden2", hidden1));
    return Product(name + "_out", hidden2);
  }

  // The flags of hills [B, 45, LightFlag], by the kingdoms of both sides: two
  // hills belong to one if steps over adjacent hills of the side join them.
  std::string WriteFlags(const std::string& on_hills) {
    std::vector<float> adjacent(kNumHills * kNumHills);
    std::vector<float> near(kNumHills * kNumHills);
    std::vector<float> lower(kNumHills * kNumHills);
    for (int i = 0; i < kNumHills; ++i) {
      for (int j = 0; j < kNumHills; ++j) {
        const bool is_adjacent = (Adjacent(BoardOf(i)) & BoardOf(j)) != 0;
        adjacent[i * kNumHills + j] = is_adjacent;
        near[i * kNumHills + j] = is_adjacent || i == j;
        lower[i * kNumHills + j] = j < i;
      }
    }
    const Integers kSquare = {kNumHills, kNumHills};
    const std::string sides =
        Gather("sides", on_hills, 1,
               {PlaneIndex("own_ringfort"), PlaneIndex("enemy_ringfort")});
    const std::string vacant =
        Gather("vacant", on_hills, 1, {PlaneIndex("vacant")});
    const std::string sides_of_hills = Unsqueeze(sides, 3);
    // [B, side, 45, 45]: pairs of hills that n steps join; n doubles each time.
    // A kingdom has at most 64 hills.
    std::string joined =
        Add("Mul", "joined_by_1",
            {Add("Mul", "steps",
                 {sides_of_hills, AddConstant("near", kSquare, near)}),
             Unsqueeze(sides, 2)});
    for (int steps = 2; steps <= 64; steps *= 2) {
      const std::string name = absl::StrCat("joined_by_", steps);
      joined = Clip(name, Add("MatMul", name + ".ways", {joined, joined}));
    }
    const std::string sizes = Sum("kingdom_sizes", joined, 3);
    // [B, side, hill of a kingdom, vacant hill next to it].
    const std::string liberties =
        Add("Mul", "liberties",
            {Clip("next_to_kingdom",
                  Add("MatMul", "ways_out_of_kingdom",
                      {joined, AddConstant("adjacent", kSquare, adjacent)})),
             Unsqueeze(vacant, 2)});
    // The first hill of each kingdom: no lower one is joined to it.
    const std::string lower_joined =
        Sum("lower_hills_of_kingdom",
            Add("Mul", "lower_hills",
                {joined, AddConstant("lower", kSquare, lower)}),
            3);
    const std::string first = Add(
        "Sub", "first_hills", {sides, Clip("has_lower_hill", lower_joined)});
    const std::string kingdoms =
        Sum("kingdoms_around",
            Add("Mul", "first_liberties", {liberties, Unsqueeze(first, 3)}), 2);
    const std::string counts = Sum("liberty_counts", liberties, 3);
    static_assert(kNumLightFlags == 10 && kOwnKingdoms2 == 0 &&
                  kEnemyKingdoms2 == 2 && kLiberties0 == 4 && kSize3 == 8);
    // From 2 on, from 3 on; own, then enemy.
    const std::string around =
        Reshape("kingdom_flags",
                Transpose("kingdom_flags.of_hills",
                          Clip("kingdom_flags.of_sides",
                               Add("Sub", "kingdoms_beyond",
                                   {Unsqueeze(kingdoms, 3),
                                    AddConstant("kingdoms", {2}, {1, 2})})),
                          {0, 2, 1, 3}),
                {0, kNumHills, 4});
    // Up to 0, 1, 2, 4, of hills with a ringfort.
    const std::string few =
        Sum("liberty_flags",
            Add("Mul", "liberty_flags.of_sides",
                {Clip("few_liberties",
                      Add("Sub", "liberties_below",
                          {AddConstant("liberties", {4}, {1, 2, 3, 5}),
                           Unsqueeze(counts, 3)})),
                 sides_of_hills}),
            1);
    // From 3 on, from 8 on.
    const std::string large =
        Sum("size_flags",
            Clip("size_flags.of_sides",
                 Add("Sub", "sizes_beyond",
                     {Unsqueeze(sizes, 3), AddConstant("sizes", {2}, {2, 7})})),
            1);
    return Add("Concat", "flags", {around, few, large}, {{"axis", 2}});
  }

  // --- Layers ----------------------------------------------------------------

  // [45, 45]: a hill's rank or file, each of its hills by its share.
  void AddLineMeans(bool rank) {
    const auto line_of = [&](Hill hill) {
      return rank ? RankOf(hill) : FileOf(hill);
    };
    std::vector<float> means(kNumHills * kNumHills);
    for (int i = 0; i < kNumHills; ++i) {
      for (int j = 0; j < kNumHills; ++j) {
        if (line_of(i) != line_of(j)) continue;
        means[i * kNumHills + j] =
            1.0f / static_cast<float>(LineSize(line_of(i)));
      }
    }
    AddConstant(rank ? "ranks" : "files", {kNumHills, kNumHills}, means);
  }

  std::string WriteLayer(const std::string& name, const std::string& in,
                         const std::string& pooled) {
    Integers places;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      for (const LightTap& tap : kLightTaps) {
        const Hill other =
            HillAt(FileOf(hill) + tap.file, RankOf(hill) + tap.rank);
        places.push_back(other < 0 ? kNumHills : other);
      }
    }
    std::string sum = OfAllHills(name + ".shared", name + "_pooled.weight",
                                 name + "_taps.bias", pooled);
    const std::string around = Reshape(
        name + ".around",
        Gather(name + ".hills", Pad(name + ".padded", in, 0), 1, places),
        {0, kNumHills, kNumTaps, kLightChannels});
    const std::string taps = Sum(
        name + ".taps",
        Add("Mul", name + ".tapped", {around, Weights(name + "_taps.weight")}),
        2);
    sum = Add("Add", name + ".with_taps", {sum, taps});
    for (const std::string line : {"rank", "file"}) {
      const std::string means =
          Add("MatMul", absl::StrCat(name, ".", line, "_means"),
              {absl::StrCat(kOnnxConstant, line, "s"), in});
      const std::string weighted =
          Add("Mul", absl::StrCat(name, ".", line),
              {means, Weights(absl::StrCat(name, "_", line, ".weight"))});
      sum = Add("Add", absl::StrCat(name, ".with_", line), {sum, weighted});
    }
    return Relu(Add("Add", name, {Linear(name + "_mix", Relu(sum)), in}));
  }

  // --- Heads -----------------------------------------------------------------

  void WritePolicy(const std::string& hills, const std::string& context) {
    const std::string shared = OfAllHills(
        "policy.shared", "policy_context.weight", "policy_hills.bias", context);
    const std::string hidden = Relu(
        Add("Add", "policy_hidden", {Product("policy_hills", hills), shared}));
    const std::string outputs =
        Reshape("policy_outputs", Linear("policy_actions", hidden),
                {0, kNumHills * kNumHillOutputs});
    // Where the parts of logits are (LogitOf): actions come hill by hill, then
    // pair by pair; the last is passing.
    Integers hill_logits, from, to, directions, from_vectors, to_vectors;
    for (int action = 0; action < kNumActions; ++action) {
      const PolicyPart& part =
          kPolicyParts[PolicyOutput(static_cast<Action>(action))];
      const auto place = [](Hill hill, int output) {
        return int64_t{hill} * kNumHillOutputs + output;
      };
      if (part.kind == PolicyPart::kHill) {
        hill_logits.push_back(place(part.to, part.destination));
      }
      if (!part.has_pair()) continue;
      from.push_back(place(part.from, part.origin));
      to.push_back(place(part.to, part.destination));
      directions.push_back(part.direction < 0 ? 16 : part.direction);
      for (int i = 0; i < kPolicyVector; ++i) {
        from_vectors.push_back(place(part.from, part.origin_vector + i));
        to_vectors.push_back(place(part.to, part.destination_vector + i));
      }
    }
    const std::string vectors =
        Reshape("pair_vectors",
                Add("Mul", "pair_vectors.flat",
                    {Gather("from_vectors", outputs, 1, from_vectors),
                     Gather("to_vectors", outputs, 1, to_vectors)}),
                {0, static_cast<int64_t>(from.size()), kPolicyVector});
    const std::string all_directions = Add(
        "Concat", "directions",
        {Weights("policy_directions.bias"), AddConstant("of_links", {1}, {0})},
        {{"axis", 0}});
    std::string pairs = Sum("pair_products", vectors, 2);
    for (const std::string& part :
         {Gather("pair_origins", outputs, 1, from),
          Gather("pair_destinations", outputs, 1, to),
          Gather("pair_directions", all_directions, 0, directions)}) {
      pairs = Add("Add", part + ".added", {pairs, part});
    }
    const std::string pass = Unsqueeze(Product("policy_pass", context), 1);
    Add("Concat", "policy",
        {Gather("hill_logits", outputs, 1, hill_logits), pairs, pass},
        {{"axis", 1}});
    AddOutput("policy", {kNumActions});
  }

  void WriteValue(const std::string& context) {
    std::string values = context;
    for (const std::string layer :
         {"value_hidden1", "value_hidden2", "value_out"}) {
      if (values != context) values = Relu(values);
      values = Linear(layer, values);
    }
    AddValues(values);
  }

  const std::string zero_ = AddConstant("zero", {}, {0});
  const std::string one_ = AddConstant("one", {}, {1});
  std::array<std::string, 4> axes_;  // as inputs of nodes
};

}  // namespace

absl::Status WriteLightGraph(const Checkpoint& network, WeightType weights,
                             onnx::GraphProto* graph) {
  return LightWriter(network, weights, graph).Write();
}

}  // namespace tara::nn
