#include "tara/python/states.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/state_hash.h"
#include "tara/nn/encode/features.h"
#include "tara/python/arguments.h"
#include "tara/python/module.h"
#include "tara/python/workers.h"

namespace tara::python {

namespace py = pybind11;

py::dtype StateType() {
  static const py::handle type = [] {
    // In the order of State. The options include the last bytes, because NumPy
    // only copies bytes of fields.
    static_assert(offsetof(State, options) == 56);
    py::dtype fields("2<u8,2<u8,<u8,<u8,u1,u1,u1,u1,u1,u1,2u1,V8");
    fields.attr("names") =
        py::make_tuple("ringforts", "kings", "links_east", "links_north",
                       "variant", "phase", "seat", "ending", "turns_left",
                       "no_progress", "kings_captured", "options");
    return fields.release();
  }();
  return py::reinterpret_borrow<py::dtype>(type);
}

py::object OutcomeToPython(int red_points, int blue_points,
                           int compensation_halves,
                           absl::string_view ended_by) {
  const int margin = red_points - blue_points;
  const int result = ResultOfMargin(margin, compensation_halves);
  const py::object winner =
      result == 0 ? py::object(py::none())
                  : py::int_(static_cast<int>(result > 0 ? kRed : kBlue));
  return New("Outcome", py::make_tuple(red_points, blue_points),
             compensation_halves / 2.0, margin, winner, std::string(ended_by));
}

Features FeatureArrays(const py::object& out, py::ssize_t n,
                       nn::PlaneLayout layout) {
  py::object planes = py::none(), globals = py::none();
  if (!out.is_none()) {
    if (!py::isinstance<py::tuple>(out) || py::len(out) != 2) {
      ThrowValueError("out", out, "a pair (planes, globals)");
    }
    planes = out[py::int_(0)];
    globals = out[py::int_(1)];
  }
  const Shape shape = layout == nn::PlaneLayout::kChannelsFirst
                          ? Shape{n, nn::kNumPlanes, 7, 7}
                          : Shape{n, 7, 7, nn::kNumPlanes};
  return {.planes = OutputArray<float>(planes, shape),
          .globals = OutputArray<float>(globals, {n, nn::kNumGlobals})};
}

namespace {

constexpr size_t kPlanesSize = size_t{nn::kNumPlanes} * nn::kNumSquares;

// Returns a position in which a game ended as the position of a seat that has
// nothing to do.
State EndSeenFrom(const State& state, Seat seat) {
  State end = state;
  end.seat = static_cast<uint8_t>(seat);
  // A phase that the encoder knows; the last of most games.
  end.phase =
      TraitsOf(end.variant).kings_move ? Phase::kBattle : Phase::kManoeuvres;
  return end;
}

// Writes the features of positions; `seats` is empty or has the seat that sees
// each one if it is finished.
void EncodeStates(absl::Span<const State> states, nn::PlaneLayout layout,
                  absl::Span<float> planes, absl::Span<float> globals,
                  absl::Span<const Seat> seats) {
  // Positions at a time, so that intermediate data stays in a cache.
  constexpr size_t kAtATime = 64;
  std::array<Symmetry, kAtATime> symmetries;
  std::array<LegalSet, kAtATime> legal;
  std::array<State, kAtATime> seen;
  for (size_t first = 0; first < states.size(); first += kAtATime) {
    const auto part = states.subspan(first, kAtATime);
    const size_t n = part.size();
    for (size_t i = 0; i < n; ++i) {
      legal[i] = LegalActions(part[i]);
      seen[i] = part[i].finished()
                    ? EndSeenFrom(part[i], seats.empty() ? 0 : seats[first + i])
                    : part[i];
      symmetries[i] = RepresentativeSymmetry(seen[i]);
    }
    const absl::Span<float> own_globals =
        globals.subspan(first * nn::kNumGlobals, n * nn::kNumGlobals);
    nn::EncodeBatch(
        {.states = absl::MakeConstSpan(seen.data(), n),
         .symmetries = absl::MakeConstSpan(symmetries.data(), n),
         .legal = absl::MakeConstSpan(legal.data(), n)},
        {.layout = layout,
         .planes = planes.subspan(first * kPlanesSize, n * kPlanesSize),
         .globals = own_globals});
    constexpr size_t kPhases = nn::GlobalIndex("placement");
    for (size_t i = 0; i < n; ++i) {
      if (!part[i].finished()) continue;
      std::fill_n(own_globals.data() + i * nn::kNumGlobals + kPhases, 4, 0.0f);
    }
  }
}

}  // namespace

PythonState NewState(const Text<"variant">& variant,
                     const Text<"options">& options) {
  const Variant of = ValueOrThrow(ParseVariant(variant.value));
  return {InitialState(of, ValueOrThrow(ParseRuleOptions(of, options.value)))};
}

namespace {

constexpr char kNewStates[] = "tara.NewStates";

// Returns whether it is a whole array of NewStates, which nobody can change.
bool IsNew(const py::array& array) {
  const py::object base = array.base();
  return base && PyCapsule_IsValid(base.ptr(), kNewStates) != 0 &&
         !array.writeable() &&
         PyCapsule_GetPointer(base.ptr(), kNewStates) == array.data() &&
         (array.flags() & py::array::c_style) != 0;
}

absl::Status CheckStates(absl::Span<const State> states, int threads) {
  const size_t i = WithoutGil([&] {
    return FirstWrong(threads, states.size(), [&](size_t row) {
      return ValidatePosition(states[row]).ok();
    });
  });
  if (i == states.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("states[", i, "]: ", ValidatePosition(states[i]).message()));
}

}  // namespace

py::array StateArray(absl::Span<const State> states) {
  return py::array(StateType(), Shape{static_cast<py::ssize_t>(states.size())},
                   states.data());
}

py::array NewStates::ToPython() && {
  State* const states = states_.get();
  const py::capsule owner(states_.release(), kNewStates, [](void* owned) {
    delete[] static_cast<State*>(owned);
  });
  py::array array(StateType(), Shape{static_cast<py::ssize_t>(size_)},
                  {sizeof(State)}, states, owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

StateList StatesOf(const py::object& states, int threads) {
  std::vector<State> list;
  if (py::isinstance<py::array>(states)) {
    auto array = py::reinterpret_borrow<py::array>(states);
    if (!array.dtype().equal(StateType()) || array.ndim() != 1) {
      ThrowValueError("states", array, "tara.STATE and 1 dimension");
    }
    array = py::array::ensure(array, py::array::c_style);
    const absl::Span<const State> given(static_cast<const State*>(array.data()),
                                        static_cast<size_t>(array.size()));
    if (IsNew(array)) return {array, given};
    list.assign(given.begin(), given.end());
    ThrowIfError(CheckStates(list, threads));
    return StateList(std::move(list));
  }
  const auto wrong = [](const char* what, const py::handle& given) {
    return py::type_error(absl::StrCat(
        "states: expected an array of tara.STATE or a sequence of tara.State, ",
        what, std::string(py::str(py::type::of(given).attr("__name__")))));
  };
  if (!py::isinstance<py::iterable>(states)) throw wrong("got a ", states);
  for (const py::handle& each : states) {
    if (!py::isinstance<PythonState>(each)) throw wrong("which has a ", each);
    list.push_back(each.cast<const PythonState&>().state);
  }
  return StateList(std::move(list));
}

std::vector<State> UnfinishedStatesOf(const py::object& states) {
  const StateList given = StatesOf(states, 1);
  std::vector<State> list(given.states().begin(), given.states().end());
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].finished()) continue;
    throw py::value_error(absl::StrCat(
        "states[", i, "] is finished; expected positions with a seat to move"));
  }
  return list;
}

py::array_t<uint8_t> MaskArray(absl::Span<const State> states, bool seen,
                               const py::object& out, int threads) {
  auto mask = OutputArray<uint8_t>(
      out, {static_cast<py::ssize_t>(states.size()), kNumActions});
  uint8_t* const to = mask.mutable_data();
  const ReleaseGil release;
  RunInParts(threads, states.size(), [&](size_t first, size_t end, size_t) {
    std::fill(to + first * kNumActions, to + end * kNumActions, uint8_t{0});
    for (size_t i = first; i < end; ++i) {
      ForEachLegal(
          states[i], seen,
          [row = to + i * kNumActions](uint16_t action) { row[action] = 1; });
    }
  });
  return mask;
}

namespace {

// Returns the argument `seats`: a seat for each position; none of None.
std::vector<Seat> SeatsOf(const py::object& seats,
                          absl::Span<const State> states) {
  std::vector<Seat> list;
  if (seats.is_none()) return list;
  const auto expected = [&] {
    return absl::StrCat("integers of shape [", states.size(), "]");
  };
  if (!py::isinstance<py::sequence>(seats) &&
      !py::isinstance<py::array>(seats)) {
    ThrowTypeError("seats", seats, expected());
  }
  if (py::len(seats) != states.size()) {
    ThrowValueError("seats", seats, expected());
  }
  for (const py::handle& each : seats) {
    const std::string name = absl::StrCat("seats[", list.size(), "]");
    list.push_back(IntegerOf<int>(name, each, 0,
                                  Info(states[list.size()].variant).seats - 1));
  }
  return list;
}

}  // namespace

py::object EncodedFeatures(absl::Span<const State> states,
                           const Text<"layout">& layout, const py::object& out,
                           const py::object& seats, int threads) {
  const std::vector<Seat> seen_by = SeatsOf(seats, states);
  if (layout.value != "NCHW" && layout.value != "NHWC") {
    throw py::value_error(absl::StrCat("layout: '", layout.value,
                                       "'; expected 'NCHW' or 'NHWC'"));
  }
  const auto order = layout.value == "NCHW" ? nn::PlaneLayout::kChannelsFirst
                                            : nn::PlaneLayout::kChannelsLast;
  Features features =
      FeatureArrays(out, static_cast<py::ssize_t>(states.size()), order);
  const absl::Span<float> planes = SpanOf(features.planes);
  const absl::Span<float> globals = SpanOf(features.globals);
  {
    const ReleaseGil release;
    RunInParts(threads, states.size(), [&](size_t first, size_t end, size_t) {
      const size_t n = end - first;
      EncodeStates(
          states.subspan(first, n), order,
          planes.subspan(first * kPlanesSize, n * kPlanesSize),
          globals.subspan(first * nn::kNumGlobals, n * nn::kNumGlobals),
          absl::MakeConstSpan(seen_by).subspan(std::min(first, seen_by.size()),
                                               seen_by.empty() ? 0 : n));
    });
  }
  return New("Features", features.planes, features.globals);
}

namespace {

py::object Encode(const py::object& states, const Text<"layout">& layout,
                  const py::object& out, const py::object& seats,
                  Threads<"threads"> threads) {
  const StateList list = StatesOf(states, threads);
  return EncodedFeatures(list.states(), layout, out, seats, threads);
}

py::array_t<uint16_t> Legal(const PythonState& self, Truth<"seen"> seen) {
  std::vector<uint16_t> actions;
  ForEachLegal(self.state, seen,
               [&](uint16_t action) { actions.push_back(action); });
  return ArrayOf(actions);
}

// Returns the action on the position itself, from one on it or on it as seen.
Action ActionOf(const PythonState& self, const py::object& action, bool seen) {
  const auto index =
      static_cast<Action>(IntegerOf<int>("action", action, 0, kNumActions - 1));
  if (!seen) return index;
  return TransformAction(Inverse(SeenSymmetry(self.state)), index);
}

PythonState Play(const PythonState& self, const py::object& action,
                 Truth<"seen"> seen) {
  PythonState next = self;
  if (py::isinstance<py::str>(action)) {
    const std::string text = TextOf("action", action);
    ThrowIfError(PlayAction(absl::string_view(text), next.state));
  } else {
    ThrowIfError(PlayAction(ActionOf(self, action, seen), next.state));
  }
  return next;
}

// Returns the weights above 0 of a policy [kNumActions], of legal actions.
std::vector<SvgOptions::Weight> WeightsOf(const py::object& policy,
                                          const State& state) {
  std::vector<SvgOptions::Weight> weights;
  if (policy.is_none()) return weights;
  using Doubles =
      py::array_t<double, py::array::c_style | py::array::forcecast>;
  const auto array = Doubles::ensure(policy);
  if (!array || array.ndim() != 1 || array.shape(0) != kNumActions) {
    PyErr_Clear();
    ThrowValueError("policy", policy,
                    absl::StrCat("numbers of shape [", kNumActions, "]"));
  }
  const LegalMask legal = LegalActions(state).ToMask();
  for (int index = 0; index < kNumActions; ++index) {
    const double weight = array.at(index);
    if (!std::isfinite(weight) || weight < 0) {
      throw py::value_error(absl::StrCat("policy[", index, "]: ", weight,
                                         "; expected 0 or more"));
    }
    if (weight == 0) continue;
    const auto action = static_cast<Action>(index);
    if (!legal[static_cast<size_t>(index)]) {
      throw py::value_error(absl::StrCat("policy[", index, "]: ", weight,
                                         " for ", ActionToText(action, state),
                                         ", which is illegal; expected 0"));
    }
    weights.push_back({action, weight});
  }
  return weights;
}

// Returns the action of an index or a text; none of None.
std::optional<Action> LastOf(const py::object& last) {
  if (last.is_none()) return std::nullopt;
  if (py::isinstance<py::str>(last)) {
    const absl::StatusOr<Action> action = ParseAction(TextOf("last", last));
    if (action.ok()) return *action;
    throw py::value_error(absl::StrCat("last: ", action.status().message()));
  }
  return static_cast<Action>(IntegerOf<int>("last", last, 0, kNumActions - 1));
}

std::string Svg(const PythonState& self, Truth<"legal"> legal,
                const py::object& policy, const py::object& last) {
  SvgOptions options = {.last = LastOf(last),
                        .policy = WeightsOf(policy, self.state)};
  if (legal) options.highlight = LegalActions(self.state);
  return SvgBoard(self.state, options);
}

py::bytes Bytes(const PythonState& self) {
  return py::bytes(reinterpret_cast<const char*>(&self.state), sizeof(State));
}

PythonState FromBytes(const ByteString<"data">& data) {
  if (data.value.size() != sizeof(State)) {
    throw py::value_error(absl::StrCat("data: ", data.value.size(),
                                       " bytes; expected ", sizeof(State)));
  }
  PythonState self;
  std::memcpy(static_cast<void*>(&self.state), data.value.data(),
              sizeof(State));
  ThrowIfError(ValidatePosition(self.state));
  return self;
}

py::object OutcomeOf(const State& state) {
  if (!state.finished()) return py::none();
  const Outcome outcome = Score(state);
  return OutcomeToPython(outcome.points[kRed], outcome.points[kBlue],
                         outcome.compensation_halves,
                         EndingName(outcome.ended_by));
}

}  // namespace

void DefineStates(py::module_& module) {
  module.attr("STATE") = StateType();
  py::class_<PythonState> type(module, "State", R"(A position of any variant.

Immutable and hashable; equal positions are equal. Pickles as its 64 bytes. It
contains everything that affects the rest of the game, but no history.

    state = tara.State("four_treasures", "compensation=2.5,pie_rule=true")
    while not state.finished:
        state = state.play(state.legal()[0])
    print(state.outcome.winner)

Notebooks display it as a picture.

variant: one of tara.VARIANTS. options: rule options as "name=value,...", or "-"
for none, or a dict such as {"pie_rule": True} (docs/reference/rules.md, section
10.1). Raises ValueError for an
unknown variant or option.)");
  type.def(py::init(&NewState), py::arg("variant"), py::arg("options") = "-");
  type.def_static(
      "parse",
      [](const Text<"text">& text) {
        return PythonState{ValueOrThrow(ParsePosition(text.value))};
      },
      py::arg("text"),
      R"(Returns the position that `text` describes: the inverse of `text`.

Raises ValueError, naming the field, for a malformed text or an impossible
position.)");
  type.def_static("from_bytes", &FromBytes, py::arg("data"),
                  R"(Returns the position stored in 64 bytes: the result of
bytes(state), or of tobytes() of an element of an array of dtype STATE.

Raises ValueError for an impossible position.)");
  type.def("legal", &Legal, py::kw_only(), py::arg("seen") = false,
           R"(Returns the legal actions, uint16 [k] in ascending order; empty if
the game is over.

seen: return the actions as they appear in `features`, in the same order.)");
  type.def(
      "legal_text",
      [](const PythonState& self) { return LegalActionTexts(self.state); },
      "Returns the legal actions as text (\"D4\", \"D4-E6\"), sorted as "
      "text.");
  type.def("play", &Play, py::arg("action"), py::kw_only(),
           py::arg("seen") = false,
           R"(Returns the position after an action, given as an index or text.

seen: whether an index refers to the position as `features` shows it.

Raises ValueError, listing the legal actions, for an illegal one.)");
  type.def(
      "action_text",
      [](const PythonState& self, const py::object& action,
         Truth<"seen"> seen) {
        return ActionToText(ActionOf(self, action, seen), self.state);
      },
      py::arg("action"), py::kw_only(), py::arg("seen") = false,
      R"(Returns the text of an action in this position, legal or not.

seen: whether it refers to the position as `features` shows it.

Raises ValueError for an index outside 0 to NUM_ACTIONS - 1.)");
  type.def(
      "features",
      [](const PythonState& self) {
        UnfinishedStatesOf(py::make_tuple(self));  // raises
        const py::object batch =
            Encode(py::make_tuple(self), {"NCHW"}, py::none(), py::none(), {1});
        return New("Features", batch[py::int_(0)][py::int_(0)],
                   batch[py::int_(1)][py::int_(0)]);
      },
      R"(Returns the network inputs of the position: Features with planes
[NUM_PLANES, 7, 7] and globals [NUM_GLOBALS]. Raises ValueError if the game is
over.)");
  type.def(
      "perft",
      [](const PythonState& self, Integer<"depth", int, 0> depth) {
        Workers workers;
        const std::function<bool()> stop = [&] { return workers.stopped(); };
        int64_t sequences = 0;
        workers.Run(1,
                    [&](int) { sequences = Perft(self.state, depth, &stop); });
        return sequences;
      },
      py::arg("depth"),
      R"(Returns the number of action sequences of length `depth` from here. The
time is exponential in depth. Ctrl-C interrupts it.)");
  type.def("svg", &Svg, py::kw_only(), py::arg("legal") = false,
           py::arg("policy") = py::none(), py::arg("last") = py::none(),
           R"(Returns a picture of the position, an SVG document of 9 to 24 kB.

The picture is 848 units wide, scalable and self-contained.

legal: mark the legal actions; ignored with a policy.
policy: weights [NUM_ACTIONS] of legal actions, 0 or more, such as a row of
Evaluation.policy. They are drawn as discs with percentages of their sum.
last: the last action, an index or text, to mark.

Raises ValueError, naming the argument, for a policy with a wrong shape or with
illegal actions, and for a `last` that is not an action.)");
  type.def(
      "_repr_svg_",
      [](const PythonState& self) {
        return SvgBoard(self.state, {.width = 424});
      },
      "Returns svg() at half its size, for notebooks.");
  type.def("__bytes__", &Bytes);
  const auto property = [&](const char* name, const auto& get,
                            const char* help) {
    type.def_property_readonly(
        name, [get](const PythonState& self) { return get(self.state); }, help);
  };
  const auto unless_finished = [](const State& state, int value) {
    return state.finished() ? py::object(py::none()) : py::int_(value);
  };
  property(
      "text", &PositionToText,
      R"(The position as one line (docs/reference/rules.md, section 12), as in
records and the protocol.)");
  property(
      "variant",
      [](const State& state) { return std::string(Info(state.variant).id); },
      "The variant, one of tara.VARIANTS.");
  property(
      "options",
      [](const State& state) { return FormatRuleOptions(state.options); },
      "The non-default rule options, \"name=value,...\"; or \"-\".");
  property(
      "seats", [](const State& state) { return Info(state.variant).seats; },
      "The number of seats: 2, or 4 in doubles.");
  property(
      "seat",
      [=](const State& state) { return unless_finished(state, state.seat); },
      "The seat to move, counted from 0; None if finished.");
  property(
      "side",
      [=](const State& state) { return unless_finished(state, state.side()); },
      "The side to move, 0 Red or 1 Blue; None if finished.");
  property(
      "phase",
      [](const State& state) { return std::string(PhaseName(state.phase)); },
      "\"placement\", \"manoeuvres\", \"battle\", \"link\" or \"finished\".");
  property(
      "finished", [](const State& state) { return state.finished(); },
      "Whether the game is over.");
  property("outcome", &OutcomeOf, "The Outcome of a finished game, else None.");
  type.def("__eq__", [](const PythonState& self, const py::object& other) {
    return py::isinstance<PythonState>(other) &&
           self.state == other.cast<const PythonState&>().state;
  });
  type.def("__hash__", [](const PythonState& self) {
    return static_cast<py::ssize_t>(mcts::HashState(self.state) >> 1);
  });
  type.def("__repr__", [](const PythonState& self) {
    return absl::StrCat("tara.State.parse('", PositionToText(self.state), "')");
  });
  type.def(py::pickle(
      [](const PythonState& self) { return py::make_tuple(Bytes(self)); },
      [](const py::tuple& fields) {
        return FromBytes(fields[0].cast<ByteString<"data">>());
      }));
  module.def("encode", &Encode, py::arg("states"), py::kw_only(),
             py::arg("layout") = "NCHW", py::arg("out") = py::none(),
             py::arg("seats") = py::none(), py::arg("threads") = 1,
             R"(Returns the Features of positions. A finished one has no phase
and no legal action.

states: an array of dtype STATE and shape [n], or a sequence of State.
layout: layout of the planes, "NCHW" or "NHWC".
out: a pair (planes, globals) of float32 arrays to write to.
seats: integers [n], the seats that see the finished positions (default: seat
0); those to move see the others. threads: number of threads.

The result equals Tara's own encoding, bit for bit. Raises ValueError, naming
the position, for an impossible one.)");
}

}  // namespace tara::python
