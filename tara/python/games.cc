#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/features.h"
#include "tara/python/arguments.h"
#include "tara/python/module.h"
#include "tara/python/states.h"
#include "tara/python/workers.h"

namespace tara::python {
namespace {

namespace py = pybind11;

constexpr int64_t kMaxGames = int64_t{1} << 26;  // 4 GiB of positions

class Games {
 public:
  using PythonClass = void;

  // n games: each restarts from its own of `starts`, or all from one.
  Games(std::vector<State> starts, size_t n, uint64_t seed, int threads)
      : starts_(std::move(starts)), states_(starts_), threads_(threads) {
    states_.resize(n, starts_[0]);
    sampled_.assign(states_.size(), kNoAction);
    for (uint64_t i = 0; i < states_.size(); ++i) {
      randoms_.emplace_back(DeriveSeed(seed, i, StreamPurpose::kPlayouts));
    }
  }
  // An independent copy of the games. Needs the GIL.
  Games(const Games& other) : threads_(other.threads_) {
    const auto lock = other.Locked();
    starts_ = other.starts_;
    states_ = other.states_;
    randoms_ = other.randoms_;
    sampled_ = other.sampled_;
  }

  // Data that restores the same games: see Restored.
  py::tuple Saved() const {
    const auto lock = Locked();
    return py::make_tuple(
        StateArray(starts_), StateArray(states_),
        py::bytes(reinterpret_cast<const char*>(randoms_.data()),
                  randoms_.size() * sizeof(Random)),
        threads_);
  }
  static std::unique_ptr<Games> Restored(const py::tuple& saved) {
    if (py::len(saved) != 4) {
      throw py::value_error("the games were saved by another version");
    }
    std::vector<State> starts = UnfinishedStatesOf(saved[0]);
    std::vector<State> states = UnfinishedStatesOf(saved[1]);
    const std::string randoms = BytesOf("games", saved[2]);
    const size_t n = states.size();
    if (n == 0 || (starts.size() != 1 && starts.size() != n) ||
        randoms.size() != n * sizeof(Random)) {
      throw py::value_error("damaged games");
    }
    auto games = std::make_unique<Games>(
        std::move(starts), n, 0, IntegerOf<int>("threads", saved[3], 1, 256));
    games->states_ = std::move(states);
    std::memcpy(static_cast<void*>(games->randoms_.data()), randoms.data(),
                randoms.size());
    return games;
  }

  py::ssize_t size() const { return static_cast<py::ssize_t>(states_.size()); }
  const State& start() const { return starts_[0]; }
  int threads() const { return threads_; }

  // Returns a view of the games' own memory, an element a game, which Python
  // may not write to.
  static py::array View(const py::object& self, const py::dtype& type,
                        size_t offset) {
    const auto& states = self.cast<const Games&>().states_;
    py::array array(
        type, Shape{static_cast<py::ssize_t>(states.size())}, {sizeof(State)},
        reinterpret_cast<const char*>(states.data()) + offset, self);
    array.attr("flags").attr("writeable") = false;
    return array;
  }

  py::array_t<uint16_t> Sample(const py::object& out) {
    auto actions = OutputArray<uint16_t>(out, {size()});
    const absl::Span<uint16_t> to = SpanOf(actions);
    const auto lock = Locked();
    const ReleaseGil release;
    RunInParts(threads_, to.size(), [&](size_t first, size_t end, size_t) {
      for (size_t i = first; i < end; ++i) {
        sampled_[i] =
            static_cast<uint16_t>(Index(RandomAction(states_[i], randoms_[i])));
        to[i] = sampled_[i];
      }
    });
    return actions;
  }

  py::array_t<uint8_t> LegalMask(const py::object& out, Truth<"seen"> seen) {
    const auto lock = Locked();
    return MaskArray(states_, seen, out, threads_);
  }

  py::object Observe(const py::object& out, const Text<"layout">& layout) {
    const auto lock = Locked();
    return EncodedFeatures(states_, layout, out, py::none(), threads_);
  }

  void Reset(const py::object& where) {
    const std::vector<uint8_t> restarts = WhereOf(size(), where);
    const auto lock = Locked();
    for (size_t i = 0; i < restarts.size(); ++i) {
      if (restarts[i] != 0) Restart(i);
    }
  }

  py::object Step(const py::object& actions, Truth<"seen"> seen,
                  const py::object& where) {
    Moves moves = MovesOf(size(), actions, where);
    const size_t n = states_.size();
    const Column<float> reward(n, {2}, 0);
    const Column<uint8_t> done(n, {}, 0);
    const Column<int8_t> margin(n, {}, 0);
    std::vector<std::vector<State>> ended(static_cast<size_t>(threads_));
    // Until all games have moved, actions that are legal now must stay legal.
    const auto lock = Locked();
    const absl::Status status = WithoutGil([&] {
      absl::Status legal = CheckLegal(seen, moves);
      if (!legal.ok()) return legal;
      RunInParts(
          threads_, states_.size(), [&](size_t first, size_t end, size_t part) {
            for (size_t i = first; i < end; ++i) {
              if (moves.where[i] == 0) continue;
              State& state = states_[i];
              ApplyAction(static_cast<Action>(moves.actions[i]), state);
              sampled_[i] = kNoAction;
              if (!state.finished()) continue;
              done.values[i] = 1;
              const Outcome outcome = Score(state);
              reward.values[2 * i] = static_cast<float>(outcome.result());
              reward.values[2 * i + 1] = -reward.values[2 * i];
              margin.values[i] = static_cast<int8_t>(outcome.margin());
              ended[part].push_back(state);
              Restart(i);
            }
          });
      return legal;
    });
    ThrowIfError(status);
    for (size_t part = 1; part < ended.size(); ++part) {
      ended[0].insert(ended[0].end(), ended[part].begin(), ended[part].end());
    }
    return New("Step", reward.array, done.array, margin.array,
               StateArray(ended[0]));
  }

 private:
  static constexpr uint16_t kNoAction = 0xffff;

  // One call of a method at a time. Nobody waits for the lock with the GIL.
  std::unique_lock<std::mutex> Locked() const {
    const ReleaseGil release;
    return std::unique_lock(mutex_);
  }

  void Restart(size_t i) {
    states_[i] = starts_[starts_.size() == 1 ? 0 : i];
    sampled_[i] = kNoAction;
  }

  // Converts the actions to actions on the positions themselves; returns
  // INVALID_ARGUMENT for the first illegal one. REQUIRES: the lock is held.
  absl::Status CheckLegal(bool seen, Moves& moves) {
    const size_t i = FirstWrong(threads_, states_.size(), [&](size_t row) {
      if (moves.where[row] == 0) return true;
      if (seen) TurnBack(states_[row], moves, row);
      const uint16_t action = moves.actions[row];
      // Drawn actions are legal.
      return action == sampled_[row] || IsLegal(states_[row], action);
    });
    return i == states_.size() ? absl::OkStatus()
                               : IllegalMove(states_[i], moves, i);
  }

  std::vector<State> starts_;  // one for all games, or one each
  std::vector<State> states_;
  std::vector<Random> randoms_;
  std::vector<uint16_t> sampled_;  // what Sample drew last, until the next Step
  const int threads_;
  mutable std::mutex mutex_;
};

std::unique_ptr<Games> NewGames(const py::object& variant, const py::object& n,
                                Seed seed, const py::object& options,
                                Threads<"threads"> threads,
                                const py::object& states) {
  if (states.is_none()) {
    if (variant.is_none() || n.is_none()) {
      throw py::type_error("variant, n: expected both, or states");
    }
    const State start =
        NewState({TextOf("variant", variant)}, {TextOf("options", options)})
            .state;
    const auto size = IntegerOf<int64_t>("n", n, 1, kMaxGames);
    return std::make_unique<Games>(std::vector<State>{start},
                                   static_cast<size_t>(size), seed, threads);
  }
  if (!variant.is_none() || !n.is_none() || !options.equal(py::str("-"))) {
    throw py::type_error(
        "states: given with variant, n or options; expected states alone, "
        "which have them");
  }
  std::vector<State> starts = UnfinishedStatesOf(states);
  if (starts.empty() || starts.size() > size_t{kMaxGames}) {
    throw py::value_error(absl::StrCat(
        "states: ", starts.size(), " positions; expected 1 to ", kMaxGames));
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i].variant == starts[0].variant) continue;
    throw py::value_error(
        absl::StrCat("states[", i, "] is of ", Info(starts[i].variant).id,
                     "; expected positions of one variant, as states[0] of ",
                     Info(starts[0].variant).id, " (tara.play takes any)"));
  }
  const size_t size = starts.size();
  return std::make_unique<Games>(std::move(starts), size, seed, threads);
}

}  // namespace

void DefineGames(py::module_& module) {
  py::class_<Games> type(module, "Games",
                         R"(n games of one variant in lockstep.

They begin at the start of the variant, or at the given positions. A game that
ends is reset to where it began within the same step (same-step autoreset). Each
game has its own random stream, derived from the seed and the index of the game,
so games depend neither on n nor on threads. Games can be copied (`copy`) and
pickled; a copy continues in the same way.

    games = tara.Games("high_kings_l1", 1024, seed=7)
    mask = games.legal_mask()
    step = games.step(games.sample())
    games = tara.Games(states=games.states)

variant: one of tara.VARIANTS. n: 1 to 67108864. seed: 0 or more. options: rule
options as in `State`. threads: number of threads of the methods below, which
release the GIL. states: in place of variant, n and options, unfinished
positions of one variant: an array of dtype STATE and shape [n], or a sequence
of State.
Raises ValueError for invalid arguments.)");
  type.def(py::init(&NewGames), py::arg("variant") = py::none(),
           py::arg("n") = py::none(), py::kw_only(), py::arg("seed") = 0,
           py::arg("options") = "-", py::arg("threads") = 1,
           py::arg("states") = py::none());
  type.def(
      "copy", [](const Games& self) { return std::make_unique<Games>(self); },
      "Returns a copy of the games, which continues independently.");
  type.def(py::pickle(
      [](const Games& self) { return self.Saved(); },
      [](const py::tuple& saved) { return Games::Restored(saved); }));
  type.def("__repr__", [](const Games& self) {
    return absl::StrCat("<tara.Games: ", self.size(), " of ",
                        Info(self.start().variant).id, ">");
  });
  type.def("step", &Games::Step, py::arg("actions"), py::kw_only(),
           py::arg("seen") = false, py::arg("where") = py::none(),
           R"(Plays an action in each game; returns a Step.

actions: integers of shape [n]. seen: whether they refer to the positions as
`observe` shows them. where: bool [n], the games to play in; the others do not
change, and their actions are ignored.

Raises ValueError for an illegal action, naming the action and the game. In that
case no game changes.)");
  type.def("reset", &Games::Reset, py::kw_only(), py::arg("where") = py::none(),
           R"(Restarts games; their random streams continue.

where: bool [n], the games to restart (default: all).)");
  type.def("sample", &Games::Sample, py::arg("out") = py::none(),
           R"(Returns a uniformly random legal action per game, uint16 [n],
drawn from the game's own stream.

out: an array of this type and shape to write to.)");
  type.def("legal_mask", &Games::LegalMask, py::arg("out") = py::none(),
           py::kw_only(), py::arg("seen") = false,
           R"(Returns uint8 [n, NUM_ACTIONS]: 1 where an action is legal.

out: an array of this type and shape to write to. seen: whether actions refer to
the positions as `observe` shows them.)");
  type.def("observe", &Games::Observe, py::arg("out") = py::none(),
           py::kw_only(), py::arg("layout") = "NCHW",
           R"(Returns the Features of the games, as tara.encode does. Every
position is transformed so that the seat to move is seat 0. With a network that
reads these features, call `legal_mask` and `step` with `seen=True`.

out: a pair (planes, globals) of float32 arrays to write to.
layout: layout of the planes, "NCHW" or "NHWC".)");
  type.def("__len__", &Games::size);
  type.def_property_readonly(
      "variant",
      [](const Games& self) {
        return std::string(Info(self.start().variant).id);
      },
      "The variant of the games.");
  type.def_property_readonly(
      "options",
      [](const Games& self) { return FormatRuleOptions(self.start().options); },
      "The non-default rule options of the first game; or \"-\".");
  type.def_property_readonly(
      "states",
      [](const py::object& self) { return Games::View(self, StateType(), 0); },
      R"(The positions: a read-only view of dtype STATE and shape [n]. It
changes with each step. `State.from_bytes(games.states[i].tobytes())` returns
one of them.)");
  type.def_property_readonly(
      "seat",
      [](const py::object& self) {
        return Games::View(self, py::dtype("u1"), offsetof(State, seat));
      },
      "The seats to move: a read-only view, uint8 [n].");
}

namespace {

void CheckShape(const char* name, const py::array& given, py::ssize_t n,
                const char* what) {
  if (given.ndim() == 1 && given.shape(0) == n) return;
  ThrowValueError(name, given, absl::StrCat("shape [", n, "], ", what));
}

// Returns the argument as an array of integers.
py::array IntegersOf(const char* name, const py::object& given) {
  const py::array array = py::array::ensure(given);
  const char kind = array ? array.dtype().kind() : ' ';
  if (kind != 'i' && kind != 'u') {
    PyErr_Clear();
    ThrowTypeError(name, array ? py::object(array) : given,
                   "an array of integers");
  }
  return array;
}

// Returns the actions of an array of integers, one row after another; 0 where
// `where` is 0. ValueError for one that is no action.
std::vector<uint16_t> ActionsOf(const py::array& given,
                                absl::Span<const uint8_t> where) {
  std::vector<uint16_t> actions(static_cast<size_t>(given.size()));
  const auto read = [&](const auto& array) {
    for (size_t i = 0; i < actions.size(); ++i) {
      if (!where.empty() && where[i] == 0) continue;
      const auto action = static_cast<int64_t>(array.data()[i]);
      if (action < 0 || action >= kNumActions) {
        const py::object shown = given.attr("flat")[py::int_(i)];
        throw py::value_error(
            absl::StrCat("actions[", i, "]: ", std::string(py::str(shown)),
                         "; expected 0 to ", kNumActions - 1));
      }
      actions[i] = static_cast<uint16_t>(action);
    }
  };
  if (py::isinstance<py::array_t<uint16_t>>(given)) {
    read(py::array_t<uint16_t, py::array::c_style>::ensure(given));
  } else {
    constexpr int kAny = py::array::c_style | py::array::forcecast;
    read(py::array_t<int64_t, kAny>::ensure(given));
  }
  return actions;
}

}  // namespace

std::vector<uint8_t> WhereOf(py::ssize_t n, const py::object& where) {
  std::vector<uint8_t> list(static_cast<size_t>(n), 1);
  if (where.is_none()) return list;
  const py::array given = py::array::ensure(where);
  if (!given || given.dtype().kind() != 'b') {
    PyErr_Clear();
    ThrowTypeError("where", given ? py::object(given) : where,
                   "an array of bool");
  }
  CheckShape("where", given, n, "whether each game moves");
  const auto exact = py::array_t<bool, py::array::c_style>::ensure(given);
  std::copy_n(exact.data(), list.size(), list.begin());
  return list;
}

Moves MovesOf(py::ssize_t n, const py::object& actions,
              const py::object& where) {
  Moves moves = {.actions = {}, .where = WhereOf(n, where)};
  const py::array given = IntegersOf("actions", actions);
  CheckShape("actions", given, n, "an action for each game");
  moves.actions = ActionsOf(given, moves.where);
  return moves;
}

void TurnBack(const State& state, Moves& moves, size_t row) {
  moves.actions[row] = SeenIndex(Inverse(SeenSymmetry(state)),
                                 static_cast<Action>(moves.actions[row]));
}

bool IsLegal(const State& state, uint16_t action) {
  return LegalActions(state).Contains(static_cast<Action>(action));
}

absl::Status IllegalMove(const State& state, const Moves& moves, size_t row) {
  State played = state;
  const absl::Status status =
      PlayAction(static_cast<Action>(moves.actions[row]), played);
  return absl::InvalidArgumentError(
      absl::StrCat("actions[", row, "]: ", status.message()));
}

namespace {

py::array Play(const py::object& states, const py::object& actions,
               Truth<"seen"> seen, const py::object& where,
               Threads<"threads"> threads) {
  const StateList list = StatesOf(states, threads);
  const absl::Span<const State> from = list.states();
  Moves moves = MovesOf(static_cast<py::ssize_t>(from.size()), actions, where);
  NewStates to(from.size());
  const size_t row = WithoutGil([&] {
    return FirstWrong(threads, from.size(), [&](size_t i) {
      State& state = to.data()[i];
      state = from[i];
      if (moves.where[i] == 0) return true;
      if (seen) TurnBack(state, moves, i);
      if (!IsLegal(state, moves.actions[i])) return false;
      ApplyAction(static_cast<Action>(moves.actions[i]), state);
      return true;
    });
  });
  if (row < from.size()) ThrowIfError(IllegalMove(from[row], moves, row));
  return std::move(to).ToPython();
}

py::array_t<uint8_t> LegalMask(const py::object& states, Truth<"seen"> seen,
                               const py::object& out,
                               Threads<"threads"> threads) {
  const StateList list = StatesOf(states, threads);
  return MaskArray(list.states(), seen, out, threads);
}

py::tuple Legal(const py::object& states, Truth<"seen"> seen) {
  const StateList list = StatesOf(states, 1);
  std::vector<uint16_t> actions;
  std::vector<int64_t> splits = {0};
  {
    const ReleaseGil release;
    for (const State& state : list.states()) {
      ForEachLegal(state, seen,
                   [&](uint16_t action) { actions.push_back(action); });
      splits.push_back(static_cast<int64_t>(actions.size()));
    }
  }
  return py::make_tuple(ArrayOf(actions), ArrayOf(splits));
}

py::array_t<uint16_t> Draw(const py::object& states, Seed seed,
                           Truth<"seen"> seen, const py::object& out,
                           Threads<"threads"> threads) {
  const StateList list = StatesOf(states, threads);
  const absl::Span<const State> from = list.states();
  auto actions =
      OutputArray<uint16_t>(out, {static_cast<py::ssize_t>(from.size())});
  const absl::Span<uint16_t> to = SpanOf(actions);
  const ReleaseGil release;
  RunInParts(threads, from.size(), [&](size_t first, size_t end, size_t) {
    for (size_t i = first; i < end; ++i) {
      to[i] = 0;
      if (from[i].finished()) continue;
      const LegalSet legal = LegalActions(from[i]);
      const Action action = legal.Nth(ChooseNth(
          DeriveSeed(seed, i, StreamPurpose::kPlayouts), legal.Count()));
      to[i] = SeenIndex(seen ? SeenSymmetry(from[i]) : Symmetry{}, action);
    }
  });
  return actions;
}

py::array_t<bool> Finished(const py::object& states) {
  const StateList list = StatesOf(states, 1);
  py::array_t<bool> finished(Shape{static_cast<py::ssize_t>(list.size())});
  absl::c_transform(list.states(), finished.mutable_data(),
                    [](const State& state) { return state.finished(); });
  return finished;
}

py::object Outcomes(const py::object& states) {
  const StateList list = StatesOf(states, 1);
  const size_t n = list.size();
  const Column<float> reward(n, {2}, 0);
  const Column<int8_t> points(n, {2}, 0), margin(n, {}, 0), winner(n, {}, -1);
  {
    const ReleaseGil release;
    for (size_t i = 0; i < n; ++i) {
      if (!list.states()[i].finished()) continue;
      const Outcome outcome = Score(list.states()[i]);
      const int result = outcome.result();
      for (const Side side : {kRed, kBlue}) {
        const size_t place = 2 * i + static_cast<size_t>(side);
        reward.values[place] =
            static_cast<float>(side == kRed ? result : -result);
        points.values[place] = static_cast<int8_t>(outcome.points[side]);
      }
      margin.values[i] = static_cast<int8_t>(outcome.margin());
      if (result == 0) continue;
      winner.values[i] = static_cast<int8_t>(result > 0 ? kRed : kBlue);
    }
  }
  return New("Outcomes", reward.array, winner.array, margin.array,
             points.array);
}

// Returns actions [n] or [n, k] as a network sees them, or with `back` the
// other way round.
template <bool back>
py::array_t<uint16_t> Turned(const py::object& states,
                             const py::object& actions) {
  const StateList list = StatesOf(states, 1);
  const py::array given = IntegersOf("actions", actions);
  if (given.ndim() < 1 || given.ndim() > 2 ||
      given.shape(0) != static_cast<py::ssize_t>(list.size())) {
    ThrowValueError(
        "actions", given,
        absl::StrCat("shape [", list.size(), "] or [", list.size(), ", k]"));
  }
  const std::vector<uint16_t> from = ActionsOf(given, {});
  py::array_t<uint16_t> turned(
      Shape(given.shape(), given.shape() + given.ndim()));
  uint16_t* const to = turned.mutable_data();
  const size_t width = from.size() / std::max(list.size(), size_t{1});
  for (size_t i = 0; i < list.size(); ++i) {
    const Symmetry seen = SeenSymmetry(list.states()[i]);
    const Symmetry symmetry = back ? Inverse(seen) : seen;
    for (size_t j = i * width; j < (i + 1) * width; ++j) {
      to[j] = SeenIndex(symmetry, static_cast<Action>(from[j]));
    }
  }
  return turned;
}

py::list SymmetriesOf(const Text<"variant">& variant) {
  py::list symmetries;
  for (const Symmetry& each :
       PositionSymmetries(ValueOrThrow(ParseVariant(variant.value)))) {
    symmetries.append(New("Symmetry", int{each.board}, int{each.seat_shift}));
  }
  return symmetries;
}

py::array Transform(const py::object& states, const py::object& symmetry) {
  if (!py::isinstance<py::tuple>(symmetry) || py::len(symmetry) != 2) {
    ThrowTypeError("symmetry", symmetry, "one of tara.symmetries(variant)");
  }
  const Symmetry by = {.board = static_cast<uint8_t>(IntegerOf<int>(
                           "symmetry[0]", symmetry[py::int_(0)], 0, 7)),
                       .seat_shift = static_cast<uint8_t>(IntegerOf<int>(
                           "symmetry[1]", symmetry[py::int_(1)], 0, 3))};
  const StateList list = StatesOf(states, 1);
  NewStates to(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const State& state = list.states()[i];
    if (!absl::c_linear_search(PositionSymmetries(state.variant), by)) {
      ThrowValueError(
          "symmetry", symmetry,
          absl::StrCat("one of tara.symmetries('", Info(state.variant).id,
                       "') for states[", i, "]"));
    }
    to.data()[i] = TransformState(by, state);
  }
  return std::move(to).ToPython();
}

// Returns where the board transforms take actions: [8, kNumActions].
py::array_t<uint16_t> ActionTransforms() {
  py::array_t<uint16_t> actions(Shape{kNumBoardTransforms, kNumActions});
  for (int board = 0; board < kNumBoardTransforms; ++board) {
    absl::c_copy(kActionTransforms[board], actions.mutable_data(board, 0));
  }
  return actions;
}

template <typename Infos>
py::list InputsOf(const Infos& infos) {
  py::list inputs;
  for (const nn::FeatureInfo& info : infos) {
    inputs.append(
        py::make_tuple(std::string(info.name), std::string(info.meaning)));
  }
  return inputs;
}

}  // namespace

void DefineBatches(py::module_& module) {
  module.attr("_PLANES") = InputsOf(nn::kPlanes);
  module.attr("_GLOBALS") = InputsOf(nn::kGlobals);
  module.attr("_ACTION_TRANSFORMS") = ActionTransforms();
  module.def("play", &Play, py::arg("states"), py::arg("actions"),
             py::kw_only(), py::arg("seen") = false,
             py::arg("where") = py::none(), py::arg("threads") = 1,
             R"(Plays an action in each position; returns the positions after
them, a new array of dtype STATE and shape [n].

    states = np.repeat(np.array([tara.State("four_treasures")]), 1000)
    for ply in range(10):
        states = tara.play(states, tara.draw(states, seed=ply))

states: an array of dtype STATE and shape [n], or a sequence of State; of any
variants. actions: integers [n]. seen: whether they refer to the positions as
`encode` shows them. where: bool [n], the positions to play in; the others are
copied, and their actions are ignored. threads: number of threads.

The result is read-only. Functions of arrays do not check it again, which makes
them faster; change a copy of it. Raises ValueError, naming the position, for an
illegal action and for an impossible position. A finished position has no legal
action: leave it out with `where`.)");
  module.def("legal_mask", &LegalMask, py::arg("states"), py::kw_only(),
             py::arg("seen") = false, py::arg("out") = py::none(),
             py::arg("threads") = 1,
             R"(Returns uint8 [n, NUM_ACTIONS]: 1 where an action is legal.
Finished positions have none.

states: as in `play`. seen: whether actions refer to the positions as `encode`
shows them. out: an array of this type and shape to write to. threads: number of
threads.)");
  module.def("legal", &Legal, py::arg("states"), py::kw_only(),
             py::arg("seen") = false,
             R"(Returns the legal actions of all positions as a pair: actions,
uint16 [total], and splits, int64 [n + 1]. Those of states[i] are
actions[splits[i]:splits[i + 1]], in the order of State.legal.

states: as in `play`. seen: return the actions as `encode` shows the positions,
in the same order.)");
  module.def("draw", &Draw, py::arg("states"), py::kw_only(), py::arg("seed"),
             py::arg("seen") = false, py::arg("out") = py::none(),
             py::arg("threads") = 1,
             R"(Returns a uniformly random legal action per position, uint16
[n]; 0 for finished positions.

states: as in `play`. seed: seed of the random numbers, combined with the index
of a position; another one for each call. seen: return actions on the positions
as `encode` shows them. out: an array of this type and shape to write to.
threads: number of threads.)");
  module.def("finished", &Finished, py::arg("states"),
             R"(Returns bool [n]: whether each game is over.

states: as in `play`.)");
  module.def("outcome", &Outcomes, py::arg("states"),
             R"(Returns the Outcomes of positions; of unfinished ones, zeros and
no winner.

states: as in `play`.)");
  module.def("to_seen", &Turned<false>, py::arg("states"), py::arg("actions"),
             R"(Returns actions on the positions as actions on what `encode`
shows of them, in which the seat to move is seat 0; uint16 of the same shape.

    seen = tara.to_seen(states, np.tile(np.arange(tara.NUM_ACTIONS), (n, 1)))
    policy = np.take_along_axis(policy_seen, seen.astype(np.int64), axis=1)

states: as in `play`. actions: integers [n] or [n, k], legal or not. In finished
positions they stay as they are.)");
  module.def("from_seen", &Turned<true>, py::arg("states"), py::arg("actions"),
             R"(Returns actions on what `encode` shows of the positions as
actions on the positions; uint16 of the same shape: the inverse of `to_seen`.

states: as in `play`. actions: integers [n] or [n, k], legal or not.)");
  module.def(
      "symmetries", &SymmetriesOf, py::arg("variant"),
      R"(Returns the list of Symmetry that map positions of the variant to
positions with the same rules; the first one changes nothing.)");
  module.def("transform", &Transform, py::arg("states"), py::arg("symmetry"),
             R"(Returns the positions seen through a symmetry, a new read-only
array of dtype STATE and shape [n].

states: as in `play`. symmetry: one of tara.symmetries(variant). Actions change
by SYMMETRIES.actions[symmetry.board]. `encode` shows a position and the
transformed one in the same way.)");
}

}  // namespace tara::python
