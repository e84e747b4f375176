#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/config.pb.h"
#include "proto/fleet.pb.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/fleet/fleet.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/python/arguments.h"
#include "tara/python/evaluators.h"
#include "tara/python/module.h"
#include "tara/python/states.h"
#include "tara/python/workers.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/play/self_play.h"
#include "tara/train/run/generation_player.h"

namespace tara::python {

namespace py = pybind11;

namespace {

// Raises ValueError where the network in a file is known not to have learned
// the rules.
void CheckLearned(const std::string& name, const std::string& file,
                  const State& start) {
  const train::Learned learned = train::LearnedByModel(file);
  if (!learned.has_value()) return;
  const absl::Status status = nn::CheckNetworkLearned(name, *learned, start);
  if (status.ok()) return;
  throw py::value_error(
      absl::StrCat(status.message(), "; expected rules that it has learned"));
}

// --- Self-play ---------------------------------------------------------------

// Returns the path of the field of a config that an option is: a field of
// self_play ("playout_cap.full_share") or of its search ("temperature_plies"),
// or an option of the search that is a field ("sims"). Empty for others.
std::string FieldOf(const std::string& option) {
  // Only for runs.
  for (const absl::string_view other :
       {"games_per_generation", "games_per_thread", "threads", "warm_start"}) {
    if (option == other || absl::StartsWith(option, absl::StrCat(other, "."))) {
      return "";
    }
  }
  for (const char* const part : {"self_play.", "self_play.search."}) {
    proto::TrainConfig config;
    const std::string path = part + option;
    if (train::FindField(config, path).ok()) return path;
  }
  const auto& search = *proto::SearchConfig::descriptor();
  for (int i = 0; i < search.field_count(); ++i) {
    const auto& field = *search.field(i);
    if (field.options().GetExtension(proto::info).search() == option + "=") {
      return absl::StrCat("self_play.search.", field.name());
    }
  }
  return "";
}

// Returns the options of self-play that the text of the argument `options` has.
train::SelfPlayOptions ToSelfPlayOptions(const State& start,
                                         const std::string& text) {
  std::vector<std::string> overrides;
  std::vector<std::string> search_options;  // that are no fields
  std::set<std::string> given;  // fields: an option may have two names
  for (const auto& [name, value] : SplitOptions(text)) {
    const std::string field = FieldOf(name);
    if (!given.insert(field.empty() ? name : field).second) {
      throw py::value_error(absl::StrCat("options: '", text, "' has ", name,
                                         " twice; expected it once"));
    }
    if (field.empty()) {
      search_options.push_back(absl::StrCat(name, "=", value));
    } else {
      overrides.push_back(absl::StrCat(field, "=", value));
    }
  }
  if (!search_options.empty()) {
    overrides.push_back(absl::StrCat("self_play.search.option=",
                                     absl::StrJoin(search_options, ",")));
  }
  const auto config = ValueOrThrow(train::ParseTrainConfig(
      absl::StrCat("variant: \"", Info(start.variant).id, "\" rule_options: \"",
                   FormatRuleOptions(start.options), "\""),
      "options", overrides));
  return ValueOrThrow(train::ToSelfPlayOptions(config));
}

// Games of self-play, which a thread plays ahead; those of an evaluator in
// Python only while a thread waits for the next one, and calls it.
class SelfPlay {
 public:
  using PythonClass = void;

  // The caller keeps the evaluator alive.
  SelfPlay(const py::object& evaluator, const PythonState& start,
           std::vector<uint64_t> games, Seed seed,
           const Text<"options">& options,
           Integer<"in_step", int, 1, 65536> in_step,
           Threads<"threads"> threads)
      : evaluator_(evaluator, seed, &workers_),
        games_(std::move(games)),
        options_(ToSelfPlayOptions(start.state, options)),
        most_waiting_(static_cast<size_t>(2 * in_step) *
                      static_cast<size_t>(threads)) {
    evaluator_.Check(options_.search);
    if (!evaluator_.path().empty()) {
      CheckLearned(evaluator_.name(), evaluator_.path(), start.state);
    }
    options_.run_seed = seed;
    // The name that `tara selfplay` uses: other searches play other games.
    options_.model_id =
        absl::StrCat(evaluator_.name(), ",sims=", options_.search.simulations);
    options_.threads = threads;
    options_.games_per_thread = in_step;
    mcts::Evaluator& cached =
        evaluator_.Cached(options_.search, kManyEvaluations);
    workers_.Start(1, [this, &cached](int) {
      train::SelfPlayStats stats;
      status_ = train::PlayGames(
          options_, games_, cached,
          [this](const proto::GameRecord& game) {
            workers_.Await([&] { return Keep(game); });
            return absl::OkStatus();
          },
          [this] { return workers_.stopped(); }, stats);
    });
  }

  PythonRecord Next() {
    if (IsFork()) {
      throw std::runtime_error(absl::StrCat(
          "these games are played in process ", process_,
          ", of which this is a fork; expected tara.selfplay in this process"));
    }
    std::optional<proto::GameRecord> game;
    workers_.Serve([&] {
      if (!waiting_.empty()) {
        game = std::move(waiting_.front());
        waiting_.pop_front();
      }
      return game.has_value() || workers_.stopped();
    });
    if (game.has_value()) return {*std::move(game)};
    if (!workers_.stopped()) {
      ThrowIfError(std::exchange(status_, absl::OkStatus()));
    }
    throw py::stop_iteration();
  }

  // Ends the games, and forgets those that are over. Waits for the thread,
  // unless it waits for an evaluator that this call may be of.
  void Close() {
    if (IsFork()) return;
    workers_.Stop();
    workers_.Serve([&] {
      waiting_.clear();
      return workers_.in_call();
    });
  }

  // A fork has the object and no thread.
  bool IsFork() const { return getpid() != process_; }

 private:
  bool Keep(const proto::GameRecord& game) {
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(game);
    return true;
  }

  PyEvaluator evaluator_;
  const std::vector<uint64_t> games_;
  train::SelfPlayOptions options_;
  const size_t most_waiting_;
  const pid_t process_ = getpid();
  std::deque<proto::GameRecord> waiting_;  // guarded by the workers' lock
  absl::Status status_;                    // of the thread, once it has ended
  Workers workers_;                        // joined before the rest goes
};

// A fork leaves the games to the process that plays them.
struct DeleteSelfPlay {
  void operator()(SelfPlay* games) const {
    if (!games->IsFork()) delete games;
  }
};

// --- Games for a fleet -------------------------------------------------------

// Plays pieces of a fleet's job (tara/fleet/fleet.h). One call at a time.
struct JobPlayer {
  using PythonClass = void;

  std::function<std::string()> numeric_class;
  std::function<absl::Status(const std::vector<fleet::Piece>& pieces,
                             const StopCheck& stop, proto::PlayedGames& played)>
      play;
};

JobPlayer NewSelfPlayPlayer(const proto::PlayRequest& request,
                            const std::vector<std::string>& files) {
  if (files.size() != 1) {
    throw py::value_error(
        absl::StrCat("files: ", files.size(), "; expected the checkpoint"));
  }
  const std::shared_ptr<train::GenerationPlayer> player =
      ValueOrThrow(train::GenerationPlayer::Create(request, files[0]));
  return {.numeric_class = [=] { return ValueOrThrow(player->NumericClass()); },
          .play =
              [=](const std::vector<fleet::Piece>& pieces,
                  const StopCheck& stop, proto::PlayedGames& played) {
                std::vector<uint64_t> games;
                for (const fleet::Piece& piece : pieces)
                  games.push_back(piece.id);
                return player->Play(games, stop, played);
              }};
}

std::string NumericClassOf(const proto::ContestRequest& request,
                           const std::vector<std::string>& files) {
  State start;
  std::vector<std::string> classes;
  for (const eval::TeamSpec& team :
       ValueOrThrow(eval::ParseTeams(request, files, start))) {
    for (const eval::PlayerSpec& player : team.players) {
      if (player.kind != eval::PlayerKind::kNet) continue;
      classes.push_back(ValueOrThrow(nn::NumericClassOf(
          ValueOrThrow(nn::LoadNetwork(player.file, player.inference)),
          {start})));
    }
  }
  return classes.empty() ? "no network" : absl::StrJoin(classes, ",");
}

JobPlayer NewContestPlayer(const proto::ContestRequest& request,
                           const std::vector<std::string>& files) {
  const std::shared_ptr<eval::ArenaWorker> worker =
      ValueOrThrow(eval::ArenaWorker::Create(request, files));
  return {.numeric_class = [=] { return NumericClassOf(request, files); },
          .play = [=](const std::vector<fleet::Piece>& pieces,
                      const StopCheck& stop,
                      proto::PlayedGames& played) -> absl::Status {
            TARA_ASSIGN_OR_RETURN(const std::vector<proto::GameRecord> games,
                                  worker->Play(pieces, stop));
            for (const proto::GameRecord& game : games) {
              played.add_game(game.SerializeAsString());
            }
            return absl::OkStatus();
          }};
}

JobPlayer NewJobPlayer(const std::string& request,
                       const std::vector<std::string>& files) {
  proto::FleetRequest parsed;
  if (parsed.ParseFromString(request)) {
    if (parsed.has_self_play()) {
      return NewSelfPlayPlayer(parsed.self_play(), files);
    }
    if (parsed.contest().has_arena()) {
      return NewContestPlayer(parsed.contest(), files);
    }
  }
  throw py::value_error("request: no FleetRequest");
}

// Returns a serialized PlayedGames.
py::bytes PlayPieces(const JobPlayer& player,
                     const std::vector<std::pair<uint64_t, std::string>>& given,
                     const std::string& node) {
  std::vector<fleet::Piece> pieces;
  for (const auto& [id, what] : given) pieces.push_back({id, what});
  proto::PlayedGames played;
  played.set_node(node);
  Workers workers;
  absl::Status status;
  workers.Run(1, [&](int) {
    status = player.play(pieces, [&] { return workers.stopped(); }, played);
  });
  ThrowIfError(status);
  return py::bytes(played.SerializeAsString());
}

// --- Arenas ------------------------------------------------------------------

// A player in Python: choose(states) -> actions, which the thread that waits
// for the workers calls.
class PythonPlayer : public eval::Player {
 public:
  // Refers to all of them.
  PythonPlayer(py::handle choose, std::string name, Workers& workers)
      : choose_(choose), name_(std::move(name)), workers_(workers) {}

  absl::Status ChooseActions(absl::Span<const eval::Turn> turns,
                             absl::Span<Action> actions) override {
    return workers_.Call([&] { Choose(turns, actions); })
               ? absl::OkStatus()
               : absl::CancelledError("the match is stopped");
  }

 private:
  void Choose(absl::Span<const eval::Turn> turns,
              absl::Span<Action> actions) const {
    py::list states;
    for (const eval::Turn& turn : turns) {
      states.append(PythonState{turn.state});
    }
    const py::object answer = Call(choose_, states);
    OrWaitForEver([&] {  // of an answer in Python
      if (!py::hasattr(answer, "__len__") || py::len(answer) != turns.size()) {
        throw py::value_error(absl::StrCat(
            "player ", name_, ": choose returned ", Shown(answer),
            "; expected an action for each of ", turns.size(), " positions"));
      }
      for (size_t i = 0; i < turns.size(); ++i) {
        actions[i] = ActionOf(answer[py::int_(i)], turns[i].state);
      }
    });
  }

  Action ActionOf(const py::object& given, const State& state) const {
    std::optional<Action> action;
    try {
      if (py::isinstance<py::str>(given)) {
        const auto parsed = ParseAction(TextOf("action", given), state);
        if (parsed.ok()) action = *parsed;
      } else {
        action = static_cast<Action>(
            IntegerOf<int>("action", given, 0, kNumActions - 1));
      }
    } catch (const py::builtin_exception&) {
      // The error below names the player and the position, too.
    }
    if (action.has_value() && LegalActions(state).Contains(*action)) {
      return *action;
    }
    throw py::value_error(absl::StrCat(
        "player ", name_, ": choose returned ", Shown(given), " in ",
        PositionToText(state), "; expected a legal action, an index or text"));
  }

  const py::handle choose_;
  const std::string name_;
  Workers& workers_;
};

std::string NameOf(const py::object& player) {
  for (const char* const name : {"name", "__name__"}) {
    if (py::hasattr(player, name)) return py::str(player.attr(name));
  }
  return py::str(py::type::of(player).attr("__name__"));
}

// Who plays: a player in Python, by `choose`, or none. Its contestant refers to
// it.
class Contender {
 public:
  Contender(const char* argument, const py::object& given, const State& start,
            record::GameStore* store, Workers& workers)
      : choose_(given) {
    if (py::isinstance<py::str>(given)) {
      contestant_ = ContestantOf(TextOf(argument, given), start, store);
      return;
    }
    if (py::hasattr(given, "choose")) choose_ = given.attr("choose");
    if (PyCallable_Check(choose_.ptr()) == 0) {
      ThrowTypeError(argument, given,
                     "a player spec, an object with choose(states), or such a "
                     "function");
    }
    const std::string name = NameOf(given);
    // What it can take is what a spec can that says nothing of it.
    const eval::TeamSpec team = {.text = name, .players = {eval::PlayerSpec()}};
    contestant_ = {
        .given = team,
        .team = team,
        .identity = absl::StrCat("python:", name),
        .make = [this, name,
                 &workers]() -> absl::StatusOr<std::unique_ptr<eval::Player>> {
          return std::make_unique<PythonPlayer>(choose_, name, workers);
        }};
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  const eval::Contestant& contestant() const { return contestant_; }

 private:
  static eval::Contestant ContestantOf(const std::string& spec,
                                       const State& start,
                                       record::GameStore* store) {
    const eval::TeamSpec parsed = ValueOrThrow(eval::ParseTeamSpec(spec));
    ThrowIfError(eval::CheckTeam(parsed, start.variant));
    for (const eval::PlayerSpec& player : parsed.players) {
      if (player.kind != eval::PlayerKind::kNet) continue;
      CheckLearned(player.text, ValueOrThrow(eval::NetworkFileOf(player)),
                   start);
    }
    auto made = [&] {
      const ReleaseGil release;
      return eval::MakeContestant(parsed, store != nullptr);
    }();
    return ValueOrThrow(std::move(made));
  }

  py::object choose_;
  eval::Contestant contestant_;
};

py::object Arena(const py::object& a, const py::object& b,
                 const PythonState& start,
                 std::optional<Integer<"games", int, 1>> games, Seed seed,
                 const std::optional<Text<"sprt">>& sprt,
                 Threads<"threads"> threads,
                 std::optional<Integer<"opening_plies", int, 0>> opening_plies,
                 const PythonStore* store_given, const py::object& progress) {
  if (!progress.is_none() && PyCallable_Check(progress.ptr()) == 0) {
    ThrowTypeError("progress", progress, "a function, or None");
  }
  // Keeps it open until the match ends, even if others close it.
  std::shared_ptr<record::GameStore> store;
  if (store_given != nullptr) {
    store = store_given->store;
    if (store == nullptr) throw py::value_error("store: it is closed");
    ThrowIfError(store->CheckForContests());
  }
  Workers workers;
  const Contender contender_a("a", a, start.state, store.get(), workers);
  const Contender contender_b("b", b, start.state, store.get(), workers);
  const eval::Contestant& player_a = contender_a.contestant();
  const eval::Contestant& player_b = contender_b.contestant();
  eval::ArenaOptions options = {.variant = start.state.variant,
                                .rule_options = start.state.options,
                                .opening_plies = opening_plies,
                                .seed = seed,
                                .stop = [&] { return workers.stopped(); }};
  eval::SetTeams(player_a.team, player_b.team, options);
  if (sprt.has_value()) {
    options.sprt = ValueOrThrow(eval::ParseSprtOptions(sprt->value));
    options.games = eval::kMaxGamesOfATest;
  }
  if (games.has_value()) options.games = *games;
  ThrowIfError(eval::CheckArenaOptions(options));
  if (store != nullptr) {
    ThrowIfError(eval::ResumeFromStore(
        *store,
        eval::NewContest(eval::ArenaConditions(options), player_a.identity,
                         player_b.identity),
        options));
  }
  absl::StatusOr<eval::ArenaResult> result;
  const auto on_progress = [&](const eval::ArenaProgress& done) {
    if (!progress.is_none()) {
      workers.Call(
          [&] { Call(progress, done.games_done, done.games, done.score); });
    }
    return !workers.stopped();
  };
  workers.Run(1, [&](int) {
    result = eval::PlayArena(options, player_a.make, player_b.make, threads,
                             on_progress);
  });
  const std::vector<eval::ArenaReportRow> rows = {
      {.variant = start.state.variant,
       .player_a = player_a.team.text,
       .player_b = player_b.team.text,
       .result = ValueOrThrow(std::move(result))}};
  return py::make_tuple(eval::ReportArena(rows).text,
                        JsonText(eval::ArenaRowJson(rows[0])));
}

// A player of any kind that chooses in many positions at once. One call at a
// time.
class Opponent {
 public:
  using PythonClass = void;

  Opponent(const py::object& given, const PythonState& start,
           Threads<"threads"> threads)
      : contender_("opponent", given, start.state, /*store=*/nullptr,
                   workers_) {
    for (int i = 0; i < threads; ++i) {
      players_.push_back(ValueOrThrow(
          WithoutGil([&] { return contender_.contestant().make(); })));
    }
  }

  // Returns actions on the positions, each drawn from its own stream.
  py::array_t<uint16_t> Choose(const py::object& states, Seed seed) {
    const std::vector<State> list = UnfinishedStatesOf(states);
    const StopCheck stop = [this] { return workers_.stopped(); };
    std::vector<Random> randoms;
    for (size_t i = 0; i < list.size(); ++i) {
      randoms.emplace_back(DeriveSeed(seed, i, StreamPurpose::kArena));
    }
    std::vector<eval::Turn> turns;
    for (size_t i = 0; i < list.size(); ++i) {
      turns.push_back({.state = list[i],
                       .random = &randoms[i],
                       .game = games_++,
                       .stop = &stop});
    }
    std::vector<Action> actions(list.size());
    std::vector<absl::Status> statuses(players_.size());
    const size_t parts = std::min(players_.size(), list.size());
    workers_.Run(static_cast<int>(parts), [&](int part) {
      const auto p = static_cast<size_t>(part);
      const size_t first = list.size() * p / parts;
      const size_t n = list.size() * (p + 1) / parts - first;
      statuses[p] = players_[p]->ChooseActions(
          absl::MakeConstSpan(turns).subspan(first, n),
          absl::MakeSpan(actions).subspan(first, n));
      for (size_t i = first; i < first + n; ++i) {
        players_[p]->EndGame(turns[i].game);
      }
    });
    for (const absl::Status& status : statuses) ThrowIfError(status);
    py::array_t<uint16_t> chosen(Shape{static_cast<py::ssize_t>(list.size())});
    std::transform(
        actions.begin(), actions.end(), chosen.mutable_data(),
        [](Action action) { return static_cast<uint16_t>(Index(action)); });
    return chosen;
  }

 private:
  Workers workers_;
  const Contender contender_;
  std::vector<std::unique_ptr<eval::Player>> players_;
  uint64_t games_ = 0;
};

}  // namespace

void DefinePlay(py::module_& module) {
  py::class_<SelfPlay, std::unique_ptr<SelfPlay, DeleteSelfPlay>> games(
      module, "_SelfPlay", py::dynamic_attr());
  games.def(py::init<const py::object&, const PythonState&,
                     std::vector<uint64_t>, Seed, const Text<"options">&,
                     Integer<"in_step", int, 1, 65536>, Threads<"threads">>(),
            py::arg("evaluator"), py::arg("start"), py::arg("games"),
            py::arg("seed"), py::arg("options"), py::arg("in_step"),
            py::arg("threads"));
  games.def("__iter__", [](const py::object& self) { return self; });
  games.def("__next__", &SelfPlay::Next);
  games.def("close", &SelfPlay::Close);
  py::class_<Opponent>(module, "_Opponent")
      .def(
          py::init<const py::object&, const PythonState&, Threads<"threads">>(),
          py::arg("opponent"), py::arg("start"), py::arg("threads"))
      .def("choose", &Opponent::Choose, py::arg("states"), py::arg("seed"));
  py::class_<JobPlayer>(module, "_JobPlayer")
      .def(py::init(&NewJobPlayer), py::arg("request"), py::arg("files"))
      .def("numeric_class",
           [](const JobPlayer& self) { return self.numeric_class(); })
      .def("play", &PlayPieces, py::arg("pieces"), py::arg("node"));
  module.def("_arena", &Arena, py::arg("a"), py::arg("b"), py::arg("start"),
             py::arg("games"), py::arg("seed"), py::arg("sprt"),
             py::arg("threads"), py::arg("opening_plies"), py::arg("store"),
             py::arg("progress"));
}

}  // namespace tara::python
