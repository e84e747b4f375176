#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/features.h"
#include "tara/python/arguments.h"
#include "tara/python/gil.h"
#include "tara/python/module.h"
#include "tara/python/states.h"

namespace tara::python {

namespace py = pybind11;

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
