#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/python/arguments.h"
#include "tara/python/gil.h"
#include "tara/python/module.h"
#include "tara/python/states.h"

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

}  // namespace tara::python
