#include "tara/python/games.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tara/base/random.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/python/arrays.h"
#include "tara/python/gil.h"
#include "tara/python/states.h"

namespace tara::python {
namespace {

namespace py = pybind11;

constexpr int64_t kMaxGames = int64_t{1} << 26;  // 4 GiB of positions

class Games {
 public:
  using PythonClass = void;

  Games(const Text<"variant">& variant, Integer<"n", int64_t, 1, kMaxGames> n,
        Seed seed, const Text<"options">& options, Threads<"threads"> threads)
      : start_(NewState(variant, options).state), threads_(threads) {
    states_.assign(static_cast<size_t>(n), start_);
    sampled_.assign(static_cast<size_t>(n), kNoAction);
    for (uint64_t i = 0; i < static_cast<uint64_t>(n); ++i) {
      randoms_.emplace_back(DeriveSeed(seed, i, StreamPurpose::kPlayouts));
    }
  }

  py::ssize_t size() const { return static_cast<py::ssize_t>(states_.size()); }
  const State& start() const { return start_; }

  // Views of the games' own memory, which Python may not write to.
  py::array States(const py::object& self) const {
    return View(py::array(StateType(), {size()}, {sizeof(State)},
                          states_.data(), self));
  }
  py::array Seats(const py::object& self) const {
    return View(py::array(py::dtype("u1"), {size()}, {sizeof(State)},
                          &states_[0].seat, self));
  }

  py::array_t<uint16_t> Sample(const py::object& out) {
    auto actions = OutputArray<uint16_t>(out, {size()});
    const absl::Span<uint16_t> to = SpanOf(actions);
    InParts([&](size_t first, size_t end) {
      for (size_t i = first; i < end; ++i) {
        sampled_[i] =
            static_cast<uint16_t>(Index(RandomAction(states_[i], randoms_[i])));
        to[i] = sampled_[i];
      }
    });
    return actions;
  }

  py::array_t<uint8_t> LegalMask(const py::object& out, Truth<"seen"> seen) {
    auto mask = OutputArray<uint8_t>(out, {size(), kNumActions});
    const absl::Span<uint8_t> to = SpanOf(mask);
    InParts([&](size_t first, size_t end) {
      WriteMask(absl::MakeConstSpan(states_).subspan(first, end - first), seen,
                to.subspan(first * kNumActions, (end - first) * kNumActions));
    });
    return mask;
  }

  py::object Observe(const py::object& out, const Text<"layout">& layout) {
    const nn::PlaneLayout order = ParseLayout(layout);
    Features features = FeatureArrays(out, size(), order);
    const absl::Span<float> planes = SpanOf(features.planes);
    const absl::Span<float> globals = SpanOf(features.globals);
    const size_t plane = planes.size() / states_.size();
    const size_t global = globals.size() / states_.size();
    InParts([&](size_t first, size_t end) {
      EncodeStates(absl::MakeConstSpan(states_).subspan(first, end - first),
                   order, planes.subspan(first * plane, (end - first) * plane),
                   globals.subspan(first * global, (end - first) * global));
    });
    return features.ToPython();
  }

  py::object Step(const py::object& actions, Truth<"seen"> seen,
                  const py::object& where) {
    const std::vector<uint8_t> moves = MovesOf(where);
    std::vector<uint16_t> chosen = ActionsOf(actions, moves);
    py::array_t<float> reward(Shape{size(), 2});
    py::array_t<uint8_t> done(Shape{size()});
    py::array_t<int8_t> margin(Shape{size()});
    const absl::Span<float> rewards = SpanOf(reward);
    const absl::Span<uint8_t> dones = SpanOf(done);
    const absl::Span<int8_t> margins = SpanOf(margin);
    std::vector<std::vector<State>> ended(static_cast<size_t>(threads_));
    const absl::Status status = [&] {
      const ReleaseGil release;
      // Until all have moved: what is legal now must be so then.
      const std::lock_guard lock(mutex_);
      if (seen) TurnBack(moves, chosen);
      absl::Status legal = CheckLegal(chosen, moves);
      if (!legal.ok()) return legal;
      RunInParts([&](size_t first, size_t end, size_t part) {
        for (size_t i = first; i < end; ++i) {
          rewards[2 * i] = rewards[2 * i + 1] = 0;
          dones[i] = 0;
          margins[i] = 0;
          if (moves[i] == 0) continue;
          State& state = states_[i];
          ApplyAction(static_cast<Action>(chosen[i]), state);
          dones[i] = state.finished() ? 1 : 0;
          sampled_[i] = kNoAction;
          if (!state.finished()) continue;
          const Outcome outcome = Score(state);
          rewards[2 * i] = static_cast<float>(outcome.result());
          rewards[2 * i + 1] = static_cast<float>(-outcome.result());
          margins[i] = static_cast<int8_t>(outcome.margin());
          ended[part].push_back(state);
          state = start_;
        }
      });
      return legal;
    }();
    ThrowIfError(status);
    size_t count = 0;
    for (const std::vector<State>& part : ended) count += part.size();
    py::array final_states(StateType(), Shape{static_cast<py::ssize_t>(count)});
    auto* next = static_cast<char*>(final_states.mutable_data());
    for (const std::vector<State>& part : ended) {
      if (part.empty()) continue;  // memcpy takes no null
      std::memcpy(next, static_cast<const void*>(part.data()),
                  part.size() * sizeof(State));
      next += part.size() * sizeof(State);
    }
    return New("Step", reward, done, margin, final_states);
  }

 private:
  static constexpr uint16_t kNoAction = 0xffff;

  static py::array View(py::array array) {
    array.attr("flags").attr("writeable") = false;
    return array;
  }

  // Calls run(first, end) for parts of the games at the same time, without the
  // GIL; one call of a method at a time.
  template <typename Run>
  void InParts(const Run& run) {
    const ReleaseGil release;
    const std::lock_guard lock(mutex_);
    RunInParts([&](size_t first, size_t end, size_t) { run(first, end); });
  }

  // Calls run(first, end, part) likewise. REQUIRES: the lock is held.
  template <typename Run>
  void RunInParts(const Run& run) {
    const size_t n = states_.size();
    const auto parts = static_cast<size_t>(threads_);
    RunOnThreads(threads_, [&](int part) {
      const auto p = static_cast<size_t>(part);
      run(n * p / parts, n * (p + 1) / parts, p);
    });
  }

  // Returns the argument `where`, 1 for each game that moves.
  std::vector<uint8_t> MovesOf(const py::object& where) const {
    std::vector<uint8_t> moves(states_.size(), 1);
    if (where.is_none()) return moves;
    const py::array given = py::array::ensure(where);
    if (!given || given.dtype().kind() != 'b') {
      PyErr_Clear();
      ThrowTypeError("where", given ? py::object(given) : where,
                     "an array of bool");
    }
    CheckShape("where", given, "whether each game moves");
    const auto exact = py::array_t<bool, py::array::c_style>::ensure(given);
    std::copy_n(exact.data(), moves.size(), moves.begin());
    return moves;
  }

  void CheckShape(const char* name, const py::array& given,
                  const char* what) const {
    if (given.ndim() == 1 && given.shape(0) == size()) return;
    ThrowValueError(name, given, absl::StrCat("shape [", size(), "], ", what));
  }

  // Returns the argument `actions` as it is, whatever integers it has where a
  // game moves.
  std::vector<uint16_t> ActionsOf(const py::object& actions,
                                  const std::vector<uint8_t>& moves) const {
    const py::array given = py::array::ensure(actions);
    const char kind = given ? given.dtype().kind() : ' ';
    if (kind != 'i' && kind != 'u') {
      PyErr_Clear();
      ThrowTypeError("actions", given ? py::object(given) : actions,
                     "an array of integers");
    }
    CheckShape("actions", given, "an action for each game");
    std::vector<uint16_t> chosen(states_.size());
    if (py::isinstance<py::array_t<uint16_t>>(given)) {
      const auto exact =
          py::array_t<uint16_t, py::array::c_style>::ensure(given);
      std::copy_n(exact.data(), chosen.size(), chosen.begin());
    } else if (kind == 'u') {
      Narrow<uint64_t>(given, moves, chosen);
    } else {
      Narrow<int64_t>(given, moves, chosen);
    }
    return chosen;
  }

  template <typename Wide>
  static void Narrow(const py::array& given, const std::vector<uint8_t>& moves,
                     std::vector<uint16_t>& chosen) {
    const auto wide = py::array_t < Wide,
               py::array::c_style | py::array::forcecast > ::ensure(given);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Wide action = wide.data()[i];
      if (moves[i] == 0) continue;
      if (action < 0 || action >= kNumActions) {
        throw py::value_error(absl::StrCat(
            "actions[", i, "]: ", action, "; expected 0 to ", kNumActions - 1));
      }
      chosen[i] = static_cast<uint16_t>(action);
    }
  }

  // Makes actions on the positions as they are seen those on the positions as
  // they are. REQUIRES: the lock is held.
  void TurnBack(const std::vector<uint8_t>& moves,
                std::vector<uint16_t>& chosen) {
    RunInParts([&](size_t first, size_t end, size_t) {
      for (size_t i = first; i < end; ++i) {
        if (moves[i] == 0) continue;
        if (chosen[i] >= kNumActions) continue;  // an error of CheckLegal
        const Symmetry symmetry = RepresentativeSymmetry(states_[i]);
        chosen[i] = static_cast<uint16_t>(Index(TransformAction(
            Inverse(symmetry), static_cast<Action>(chosen[i]))));
      }
    });
  }

  // Returns INVALID_ARGUMENT for the first illegal action. REQUIRES: the lock
  // is held.
  absl::Status CheckLegal(const std::vector<uint16_t>& chosen,
                          const std::vector<uint8_t>& moves) {
    std::vector<size_t> wrong(static_cast<size_t>(threads_), states_.size());
    RunInParts([&](size_t first, size_t end, size_t part) {
      for (size_t i = first; i < end; ++i) {
        if (moves[i] == 0) continue;
        if (chosen[i] < kNumActions &&
            (chosen[i] == sampled_[i] ||  // legal, as it was drawn
             LegalActions(states_[i])
                 .Contains(static_cast<Action>(chosen[i])))) {
          continue;
        }
        wrong[part] = i;
        return;
      }
    });
    const size_t i = *std::min_element(wrong.begin(), wrong.end());
    if (i == states_.size()) return absl::OkStatus();
    State state = states_[i];
    const absl::Status status =
        chosen[i] < kNumActions
            ? PlayAction(static_cast<Action>(chosen[i]), state)
            : absl::InvalidArgumentError(absl::StrCat(
                  "action ", chosen[i], "; expected 0 to ", kNumActions - 1));
    return absl::InvalidArgumentError(
        absl::StrCat("actions[", i, "]: ", status.message()));
  }

  State start_;
  std::vector<State> states_;
  std::vector<Random> randoms_;
  std::vector<uint16_t> sampled_;  // what Sample drew last, until the next Step
  const int threads_;
  std::mutex mutex_;
};

}  // namespace

void DefineGames(py::module_& module) {
  py::class_<Games> type(module, "Games",
                         R"(n games of one variant in lockstep, from the start.

A game that ends is reset to its start within the same step (same-step
autoreset). Each game has its own random stream, derived from the seed and the
index of the game, so games depend neither on n nor on threads.

    games = tara.Games("high_kings_l1", 1024, seed=7)
    mask = games.legal_mask()
    step = games.step(games.sample())

variant: one of tara.VARIANTS. n: 1 to 67108864. seed: 0 or more. options: rule
options as in `State`. threads: number of threads of the methods below, which
release the GIL. Raises ValueError for invalid arguments.)");
  type.def(py::init<const Text<"variant">&, Integer<"n", int64_t, 1, kMaxGames>,
                    Seed, const Text<"options">&, Threads<"threads">>(),
           py::arg("variant"), py::arg("n"), py::kw_only(), py::arg("seed") = 0,
           py::arg("options") = "-", py::arg("threads") = 1);
  type.def("step", &Games::Step, py::arg("actions"), py::kw_only(),
           py::arg("seen") = false, py::arg("where") = py::none(),
           R"(Plays an action in each game; returns a Step.

actions: integers of shape [n]. seen: whether they refer to the positions as
`observe` shows them. where: bool [n], the games to play in; the others do not
change, and their actions are ignored.

Raises ValueError for an illegal action, naming the action and the game. In that
case no game changes.)");
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
      "The non-default rule options; or \"-\".");
  type.def_property_readonly(
      "states",
      [](const py::object& self) {
        return self.cast<const Games&>().States(self);
      },
      R"(The positions: a read-only view of dtype STATE and shape [n]. It
changes with each step. `State.from_bytes(games.states[i].tobytes())` returns
one of them.)");
  type.def_property_readonly(
      "seat",
      [](const py::object& self) {
        return self.cast<const Games&>().Seats(self);
      },
      "The seats to move: a read-only view, uint8 [n].");
}

}  // namespace tara::python
