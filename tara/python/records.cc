#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/training/trainer.h"
#include "tara/python/arguments.h"
#include "tara/python/module.h"
#include "tara/python/states.h"
#include "tara/python/workers.h"
#include "tara/record/game_record.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/learn/sampler.h"

namespace tara::python {

namespace py = pybind11;

namespace {

// A row of the table of plies; texts end with NULs.
struct Ply {
  uint64_t game;
  uint16_t ply;
  uint8_t seat, side;
  char phase[16] = {};
  uint16_t action;
  char text[16] = {};
  uint16_t legal;
  float value;
  int32_t simulations;
  float surprise;
  bool chosen;
};

// --- Records -----------------------------------------------------------------

PythonRecord RecordFromBytes(const ByteString<"data">& data) {
  PythonRecord self;
  if (!self.record.ParseFromString(data.value)) {
    throw py::value_error(absl::StrCat("data: ", data.value.size(),
                                       " bytes; expected a GameRecord"));
  }
  ThrowIfError(record::ValidateRecord(self.record));
  return self;
}

py::bytes RecordBytes(const PythonRecord& self) {
  return py::bytes(self.record.SerializeAsString());
}

py::object RecordedOutcome(const PythonRecord& self) {
  const proto::GameResult& result = self.record.result();
  if (result.points_size() != 2) {
    throw py::value_error(
        absl::StrCat("a damaged record: ", result.points_size(),
                     " points; expected the points of two sides"));
  }
  return OutcomeToPython(result.points(kRed), result.points(kBlue),
                         record::CompensationHalves(self.record.rule_options()),
                         record::EndingOf(self.record));
}

py::array RecordedStates(const PythonRecord& self) {
  return StateArray(ValueOrThrow(record::Replay(self.record)).states);
}

py::array_t<float> RecordedPolicy(const PythonRecord& self) {
  // Lists of other lengths or illegal actions are nothing to write by.
  ThrowIfError(record::ValidateRecord(self.record));
  const Column<float> policy(static_cast<size_t>(self.record.steps_size()),
                             {kNumActions}, 0);
  float* row = policy.values.data();
  for (const proto::Step& step : self.record.steps()) {
    const bool has_target = step.target_action_size() > 0;
    const auto& actions =
        has_target ? step.target_action() : step.visited_action();
    const auto& weights = has_target ? step.target_weight() : step.visits();
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (int i = 0; i < actions.size(); ++i) {
      row[actions[i]] = static_cast<float>(weights[i] / sum);
    }
    row += kNumActions;
  }
  return policy.array;
}

std::string RecordLine(const PythonRecord& self) {
  // Invalid indices have no text.
  ThrowIfError(record::ValidateRecord(self.record));
  const State initial = ValueOrThrow(record::InitialStateOf(self.record));
  return ValueOrThrow(
      record::GameToLine(initial, record::ActionsOf(self.record)));
}

// NaN without a search.
float ValueOf(const proto::Step& step) {
  return step.has_root_value() ? step.root_value()
                               : std::numeric_limits<float>::quiet_NaN();
}

template <typename T, auto of>
py::array_t<T> EachStep(const proto::GameRecord& game) {
  std::vector<T> values;
  for (const proto::Step& step : game.steps()) {
    values.push_back(static_cast<T>(std::invoke(of, step)));
  }
  return ArrayOf(values);
}

void DefineGameRecord(py::module_& module) {
  py::class_<PythonRecord> type(
      module, "GameRecord",
      R"(A finished game: its actions, search results and outcome.

Immutable. Pickles as its bytes, a GameRecord message of proto/game.proto. A
step is one action. Arrays have one entry per step, len(game) in total. Values
are for the side to move.)");
  type.def_static("from_bytes", &RecordFromBytes, py::arg("data"),
                  R"(Returns the game of a serialized GameRecord, the result of
bytes(game).

The game is replayed. Raises ValueError, naming the step, if it violates the
rules.)");
  type.def("policy", &RecordedPolicy,
           R"(Returns the policy targets, float32 [steps, NUM_ACTIONS]. Each row
sums to 1, or is zero for steps without a full search. Actions refer to
`states`.)");
  type.def("__bytes__", &RecordBytes);
  type.def("__len__", [](const PythonRecord& self) {
    return record::LengthOf(self.record);
  });
  type.def("__eq__", [](const PythonRecord& self, const py::object& other) {
    return py::isinstance<PythonRecord>(other) &&
           self.record.SerializeAsString() ==
               other.cast<const PythonRecord&>().record.SerializeAsString();
  });
  type.def("__hash__", [](const PythonRecord& self) {
    return py::hash(RecordBytes(self));
  });
  type.def("__repr__", [](const PythonRecord& self) {
    return absl::StrCat("<tara.GameRecord ", self.record.game_index(), ": ",
                        self.record.variant(), ", ",
                        record::LengthOf(self.record), " actions>");
  });
  type.def(py::pickle(
      [](const PythonRecord& self) {
        return py::make_tuple(RecordBytes(self));
      },
      [](const py::tuple& fields) {
        return RecordFromBytes(fields[0].cast<ByteString<"data">>());
      }));
  const auto property = [&](const char* name, const auto& get,
                            const char* help) {
    type.def_property_readonly(
        name,
        [get](const PythonRecord& self) {
          return std::invoke(get, self.record);
        },
        help);
  };
  using proto::GameRecord;
  property("index", &GameRecord::game_index,
           "The game's index, which identifies it in a store.");
  property("variant", &GameRecord::variant,
           "The variant, one of tara.VARIANTS.");
  property("options", &GameRecord::rule_options,
           "The rule options, \"name=value,...\"; or \"-\".");
  property("model", &GameRecord::model_id,
           "The name of the player: a checkpoint or other evaluator.");
  property("seed", &GameRecord::seed, "The seed of the game's random stream.");
  property("generation", &GameRecord::generation,
           "The generation that the game belongs to.");
  property("opening_plies", &GameRecord::opening_plies,
           "The number of random first actions.");
  type.def_property_readonly(
      "outcome", &RecordedOutcome,
      R"(The Outcome. For games that were resigned, forfeited
or adjudicated, it contains the margin that was assigned.)");
  property("actions", &EachStep<uint16_t, &proto::Step::action>,
           "The actions, uint16 [steps].");
  property("values", &EachStep<float, &ValueOf>,
           R"(Win minus loss after each search, float32 [steps]; NaN without a
search.)");
  property(
      "simulations", &EachStep<int32_t, &proto::Step::simulations>,
      "The simulations of each search, int32 [steps]; 0 without a search.");
  type.def_property_readonly(
      "states", &RecordedStates,
      R"(The positions before each action and after the last, dtype STATE [steps
+ 1]. Raises ValueError if the game violates the rules.)");
  type.def_property_readonly(
      "line", &RecordLine,
      R"(The game as a JSON line, for other programs (docs/reference/rules.md,
section 12). Raises ValueError for a game that ended early.)");
}

// --- Stores ------------------------------------------------------------------

PythonStore OpenStore(const Path<"path">& path, const Text<"mode">& mode) {
  if (mode.value != "r" && mode.value != "w") {
    throw py::value_error(
        absl::StrCat("mode: '", mode.value, "'; expected 'r' or 'w'"));
  }
  return {ValueOrThrow(WithoutGil([&] {
    return record::OpenGameStore(path, mode.value == "w"
                                           ? record::StoreMode::kReadWrite
                                           : record::StoreMode::kReadOnly);
  }))};
}

// Returns the store, which a call without the GIL holds to its end: another
// thread may close it at the same time.
std::shared_ptr<record::GameStore> Opened(const PythonStore& self) {
  if (self.store == nullptr) throw py::value_error("the store is closed");
  return self.store;
}

using OptionalVariant = std::optional<Text<"variant">>;
using OptionalGeneration = std::optional<Integer<"generation", int64_t, 0>>;
using OptionalNewest = std::optional<Integer<"newest", int64_t, 0>>;

record::GameQuery QueryOf(const OptionalVariant& variant,
                          const OptionalGeneration& generation,
                          const OptionalNewest& newest) {
  if (variant.has_value()) ValueOrThrow(ParseVariant(variant->value));
  return {.variant = variant.has_value() ? variant->value : "",
          .generation = generation.has_value() ? generation->value : -1,
          .limit = newest.has_value() ? newest->value : -1,
          .newest_first = newest.has_value()};
}

int64_t CountGames(const PythonStore& self) {
  const auto store = Opened(self);
  return ValueOrThrow(WithoutGil([&] { return store->Count({}); }));
}

py::array_t<uint64_t> StoredIndices(const PythonStore& self,
                                    const OptionalVariant& variant,
                                    const OptionalGeneration& generation,
                                    const OptionalNewest& newest) {
  const record::GameQuery query = QueryOf(variant, generation, newest);
  const auto store = Opened(self);
  return ArrayOf(
      ValueOrThrow(WithoutGil([&] { return store->Indices(query); })));
}

// `listed`: by `indices`.
PythonRecord StoredGame(const PythonStore& self,
                        Integer<"index", int64_t> index, bool listed) {
  const auto store = Opened(self);
  auto game = WithoutGil([&]() -> absl::StatusOr<proto::GameRecord> {
    if (index < 0) return absl::NotFoundError("");
    const auto at = static_cast<uint64_t>(index.value);
    return listed ? store->GetListed(at) : store->Get(at);
  });
  if (absl::IsNotFound(game.status())) {
    throw py::key_error(absl::StrCat("no game has the index ", index.value));
  }
  return {ValueOrThrow(std::move(game))};
}

void AddGames(const PythonStore& self, const std::vector<PythonRecord>& games) {
  const auto store = Opened(self);
  std::vector<proto::GameRecord> records;
  records.reserve(games.size());
  for (const PythonRecord& game : games) records.push_back(game.record);
  ThrowIfError(WithoutGil([&] { return store->AddAll(records); }));
}

// Returns columns by name, lists of strings and arrays, of what Arrow shows.
py::dict GameColumns(const PythonStore& self, const OptionalVariant& variant,
                     const OptionalGeneration& generation,
                     const OptionalNewest& newest) {
  const record::GameQuery query = QueryOf(variant, generation, newest);
  const auto store = Opened(self);
  const std::vector<record::GameRow> rows =
      ValueOrThrow(WithoutGil([&] { return store->List(query); }));
  py::dict columns;
  const auto column = [&](const char* name, const auto& of) {
    using T = std::decay_t<decltype(std::invoke(of, rows[0]))>;
    std::vector<T> values;
    for (const record::GameRow& row : rows) {
      values.push_back(std::invoke(of, row));
    }
    if constexpr (std::is_same_v<T, std::string>) {
      columns[name] = values;
    } else {
      columns[name] = ArrayOf(values);
    }
  };
  using Row = record::GameRow;
  column("game", &Row::game_index);
  column("variant", &Row::variant);
  column("options", &Row::rule_options);
  column("model", &Row::model_id);
  column("generation", &Row::generation);
  column("length", &Row::length);
  column("points_red", &Row::points_red);
  column("points_blue", &Row::points_blue);
  column("winner", [](const Row& row) {
    const int result =
        ResultOfMargin(row.points_red - row.points_blue,
                       record::CompensationHalves(row.rule_options));
    return static_cast<int8_t>(result == 0 ? -1 : (result > 0 ? kRed : kBlue));
  });
  column("ended_by", &Row::ended_by);
  column("finished_ms", &Row::finished_unix_ms);
  return columns;
}

py::array_t<Ply> Plies(const std::vector<PythonRecord>& games) {
  std::vector<Ply> plies;
  for (const PythonRecord& game : games) {
    const auto replayed = record::Replay(game.record);
    if (!replayed.ok()) {
      ThrowIfError(
          absl::DataLossError(absl::StrCat("game ", game.record.game_index(),
                                           ": ", replayed.status().message())));
    }
    for (int i = 0; i < game.record.steps_size(); ++i) {
      const proto::Step& step = game.record.steps(i);
      const State& state = replayed->states[static_cast<size_t>(i)];
      const auto action = static_cast<Action>(step.action());
      Ply& ply = plies.emplace_back(
          Ply{.game = game.record.game_index(),
              .ply = static_cast<uint16_t>(i),
              .seat = state.seat,
              .side = static_cast<uint8_t>(state.side()),
              .action = static_cast<uint16_t>(step.action()),
              .legal = static_cast<uint16_t>(LegalActions(state).Count()),
              .value = ValueOf(step),
              .simulations = static_cast<int32_t>(step.simulations()),
              .surprise = step.policy_surprise(),
              .chosen = record::IsChosenBySearch(game.record, i)});
      absl::SNPrintF(ply.phase, sizeof(ply.phase), "%s",
                     PhaseName(state.phase));
      absl::SNPrintF(ply.text, sizeof(ply.text), "%s",
                     ActionToText(action, state));
    }
  }
  return ArrayOf(plies);
}

void DefineStore(py::module_& module) {
  py::class_<PythonStore> type(module, "_Store");
  type.def(py::init(&OpenStore), py::arg("path"), py::arg("mode"));
  type.def("close", [](PythonStore& self) {
    auto closed = std::exchange(self.store, nullptr);
    const ReleaseGil release;
    closed.reset();
  });
  type.def("__len__", &CountGames);
  type.def("indices", &StoredIndices, py::arg("variant"), py::arg("generation"),
           py::arg("newest"));
  type.def("get", &StoredGame, py::arg("index"), py::arg("listed") = false);
  type.def("add", &AddGames, py::arg("games"));
  type.def("game_columns", &GameColumns, py::arg("variant"),
           py::arg("generation"), py::arg("newest"));
  module.def("_plies", &Plies, py::arg("games"));
}

// --- Samples -----------------------------------------------------------------

// The sampler of a learner, with the store that it reads. Calls from several
// threads take turns.
class PythonSampler {
 public:
  using PythonClass = void;

  PythonSampler(const PythonStore& store, const Text<"options">& options,
                Seed seed)
      : store_(Opened(store)), sampler_(*store_, OptionsOf(options), seed) {}

  void MoveWindow(std::optional<Integer<"end", uint64_t>> given) {
    ThrowIfError(WithoutGil([&]() -> absl::Status {
      const std::lock_guard lock(mutex_);
      uint64_t end = 0;
      if (given.has_value()) {
        end = *given;
      } else {
        TARA_ASSIGN_OR_RETURN(
            const std::vector<uint64_t> newest,
            store_->Indices({.limit = 1, .newest_first = true}));
        end = newest.empty() ? 0 : newest[0] + 1;
      }
      if (end < end_) {
        return absl::InvalidArgumentError(absl::StrCat(
            "end: ", end, "; expected ", end_, " or more, as before"));
      }
      TARA_RETURN_IF_ERROR(sampler_.MoveWindow(end));
      end_ = end;
      return absl::OkStatus();
    }));
  }

  py::object Batch(Integer<"step", int64_t, 0> step,
                   Integer<"size", int, 1, 1 << 20> size) const {
    const std::vector<nn::Sample> samples = WithoutGil([&] {
      const std::lock_guard lock(mutex_);
      return sampler_.positions() == 0 ? std::vector<nn::Sample>()
                                       : sampler_.Batch(step, size);
    });
    if (samples.empty()) {
      throw py::value_error("the window has no positions to learn from");
    }
    return Encoded(samples);
  }

  int64_t games() const {
    const ReleaseGil release;
    const std::lock_guard lock(mutex_);
    return sampler_.games();
  }
  int64_t positions() const {
    const ReleaseGil release;
    const std::lock_guard lock(mutex_);
    return sampler_.positions();
  }

 private:
  static train::SamplerOptions OptionsOf(const std::string& text) {
    std::vector<std::string> overrides;
    for (const auto& [name, value] : SplitOptions(text)) {
      overrides.push_back(absl::StrCat("learner.", name, "=", value));
    }
    auto config = train::ParseTrainConfig("variant: \"sacred_hill_l1\"",
                                          "options", overrides);
    return train::ToSamplerOptions(ValueOrThrow(std::move(config)).learner());
  }

  static py::object Encoded(const std::vector<nn::Sample>& samples);

  const std::shared_ptr<record::GameStore> store_;
  mutable std::mutex mutex_;
  train::Sampler sampler_;  // guarded by mutex_, as the next one
  uint64_t end_ = 0;
};

py::object PythonSampler::Encoded(const std::vector<nn::Sample>& samples) {
  const size_t n = samples.size();
  Features features = FeatureArrays(py::none(), static_cast<py::ssize_t>(n),
                                    nn::PlaneLayout::kChannelsFirst);
  const Column<uint8_t> mask(n, {kNumActions}, 0);
  const Column<float> policy(n, {kNumActions}, 0), reply(n, {kNumActions}, 0);
  const Column<float> result(n, {3}, 0), margin(n, {}, 0);
  const Column<float> policy_weight(n, {}, 0), margin_weight(n, {}, 0);
  const Column<float> reply_weight(n, {}, 0), final_weight(n, {}, 0);
  const Column<int64_t> owner(n, {7, 7}, 2), kingdoms(n, {2}, 0);
  std::vector<State> positions;
  {
    const absl::Span<float> planes = SpanOf(features.planes);
    const absl::Span<float> globals = SpanOf(features.globals);
    const ReleaseGil release;
    std::vector<Symmetry> symmetries;
    std::vector<LegalSet> legal;
    for (size_t i = 0; i < n; ++i) {
      const nn::Sample& sample = samples[i];
      const Symmetry& symmetry = sample.symmetry;
      positions.push_back(sample.state);
      symmetries.push_back(symmetry);
      legal.push_back(LegalActions(sample.state));
      const auto seen = [&](Action action) {
        return i * kNumActions +
               static_cast<size_t>(Index(TransformAction(symmetry, action)));
      };
      legal[i].ForEach([&](Action action) { mask.values[seen(action)] = 1; });
      for (const auto& [action, share] : sample.policy) {
        policy.values[seen(action)] = share;
      }
      for (const auto& [action, share] : sample.reply) {
        reply.values[seen(action)] = share;
      }
      const auto own = [&](Board hills, int64_t whose) {
        ForEachHill(hills, [&](Hill hill) {
          const int square = nn::SquareOf(TransformHill(symmetry.board, hill));
          owner.values[i * nn::kNumSquares + static_cast<size_t>(square)] =
              whose;
        });
      };
      own(sample.own_hills, 0);
      own(sample.enemy_hills, 1);
      std::copy(sample.result.begin(), sample.result.end(),
                result.values.begin() + static_cast<ptrdiff_t>(3 * i));
      margin.values[i] = static_cast<float>(sample.margin);
      kingdoms.values[2 * i] = sample.own_kingdoms;
      kingdoms.values[2 * i + 1] = sample.enemy_kingdoms;
      policy_weight.values[i] = sample.policy.empty() ? 0 : 1;
      reply_weight.values[i] = sample.reply.empty() ? 0 : 1;
      margin_weight.values[i] = sample.has_margin ? 1 : 0;
      final_weight.values[i] = sample.has_final ? 1 : 0;
    }
    nn::EncodeBatch(
        {.states = positions, .symmetries = symmetries, .legal = legal},
        {.layout = nn::PlaneLayout::kChannelsFirst,
         .planes = planes,
         .globals = globals});
  }
  return New("Batch", StateArray(positions), features.planes, features.globals,
             mask.array, policy.array, policy_weight.array, result.array,
             margin.array, margin_weight.array, reply.array, reply_weight.array,
             owner.array, kingdoms.array, final_weight.array);
}

void DefineSampler(py::module_& module) {
  py::class_<PythonSampler> type(module, "_Sampler");
  type.def(py::init<const PythonStore&, const Text<"options">&, Seed>(),
           py::arg("store"), py::arg("options"), py::arg("seed"));
  type.def("update", &PythonSampler::MoveWindow, py::arg("end"));
  type.def("batch", &PythonSampler::Batch, py::arg("step"), py::arg("size"));
  type.def_property_readonly("games", &PythonSampler::games);
  type.def_property_readonly("positions", &PythonSampler::positions);
}

}  // namespace

void DefineRecords(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(Ply, game, ply, seat, side, phase, action, text, legal,
                       value, simulations, surprise, chosen);
  DefineGameRecord(module);
  DefineStore(module);
  DefineSampler(module);
}

}  // namespace tara::python
