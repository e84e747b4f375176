#include "tara/eval/players/make_player.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::eval {
absl::StatusOr<std::string> FindReadyMadeModel() {
  const std::optional<std::filesystem::path> root = ProjectFolder();
  if (!root.has_value()) {
    return absl::NotFoundError(
        "the ready-made model is in the project's folder, which TARA_ROOT does "
        "not name; expected to be started as bin/tara, which sets it, or a "
        "player net:PATH");
  }
  const std::string path = (*root / "models" / "tara.tara").string();
  std::error_code error;  // an unreadable path is not there
  if (std::filesystem::is_regular_file(path, error)) return path;
  return absl::NotFoundError(absl::StrCat(
      "no ready-made model ", path,
      "; expected it there, or a player net:PATH of another network"));
}

absl::StatusOr<PlayerSpec> WithPrecision(const PlayerSpec& given) {
  if (given.kind != PlayerKind::kNet) return given;
  PlayerSpec spec = given;
  TARA_ASSIGN_OR_RETURN(spec.file, NetworkFileOf(given));
  if (given.inference.precision != nn::Precision::kAuto) return spec;
  TARA_ASSIGN_OR_RETURN(const nn::LoadedNetwork network,
                        nn::LoadNetwork(spec.file, spec.inference));
  return WithOption(std::move(spec), "precision",
                    nn::PrecisionName(network.info.precision));
}

absl::StatusOr<TeamSpec> WithPrecision(const TeamSpec& given) {
  TeamSpec team = given;
  bool changed = false;
  for (PlayerSpec& player : team.players) {
    const std::string text = player.text;
    TARA_ASSIGN_OR_RETURN(player, WithPrecision(player));
    changed |= player.text != text;
  }
  if (!changed) return team;
  return MakeTeam(std::move(team.players));
}

std::string PrecisionsOf(const TeamSpec& team) {
  std::vector<absl::string_view> names;
  for (const PlayerSpec& player : team.players) {
    if (player.kind != PlayerKind::kNet) continue;
    names.push_back(nn::PrecisionName(player.inference.precision));
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<std::string> FindCheckpoint(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == kReadyMadeName) return FindReadyMadeModel();
  std::error_code error;  // an unreadable path is not there
  if (!fs::is_directory(path, error)) {
    if (fs::is_regular_file(path, error)) return path;
    if (fs::exists(path, error)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path,
          ": a device or a pipe; expected a checkpoint, a bundle or a run"));
    }
    return absl::NotFoundError(absl::StrCat(
        path,
        ": no such file or folder; expected a checkpoint, a bundle or a run"));
  }
  fs::path folder = fs::path(path) / "checkpoints";
  if (!fs::is_directory(folder, error)) folder = path;
  const fs::path latest = folder / "latest";
  std::ifstream file(latest);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no checkpoint yet; expected the file ",
                     (fs::path(path) / "checkpoints" / "latest").string(),
                     " that names the newest"));
  }
  std::string name;
  std::getline(file, name);
  absl::StripAsciiWhitespace(&name);
  const fs::path checkpoint = folder / name;
  if (name.empty() || !fs::is_regular_file(checkpoint, error)) {
    return absl::DataLossError(
        absl::StrCat(latest.string(), ": names '", name,
                     "'; expected a checkpoint in the same folder"));
  }
  return checkpoint.string();
}

absl::StatusOr<std::string> NetworkFileOf(const PlayerSpec& spec) {
  if (!spec.file.empty()) return spec.file;
  return FindCheckpoint(spec.path);
}

namespace {

// Playouts draw from the position and this: a player's strength must not
// depend on luck with a seed, and a game is reproduced from its own.
constexpr uint64_t kPlayoutSeed = 0;

// The network of a spec, for as long as there are players of it.
class SharedNetwork {
 public:
  // Loads it, unless somebody has it.
  absl::StatusOr<std::shared_ptr<mcts::Evaluator>> Get(const PlayerSpec& spec) {
    absl::MutexLock lock(&mutex_);
    std::shared_ptr<mcts::Evaluator> network = network_.lock();
    if (network != nullptr) return network;
    TARA_ASSIGN_OR_RETURN(const std::string file, NetworkFileOf(spec));
    TARA_ASSIGN_OR_RETURN(network,
                          nn::LoadNetworkEvaluator(file, spec.inference));
    network_ = network;
    return network;
  }

 private:
  absl::Mutex mutex_;
  std::weak_ptr<mcts::Evaluator> network_ ABSL_GUARDED_BY(mutex_);
};

// REQUIRES: a player with a network, or that searches.
absl::StatusOr<std::shared_ptr<mcts::Evaluator>> EvaluatorOf(
    const PlayerSpec& spec, SharedNetwork& network) {
  if (spec.kind == PlayerKind::kNet) return network.Get(spec);
  return std::make_shared<mcts::PlayoutEvaluator>(spec.playouts, kPlayoutSeed);
}

absl::StatusOr<std::unique_ptr<Player>> Make(const PlayerSpec& spec,
                                             SharedNetwork& network) {
  if (spec.kind == PlayerKind::kBaseline) return spec.info->make(spec);
  if (spec.kind == PlayerKind::kEngine) return NewEnginePlayer(spec.engine);
  TARA_ASSIGN_OR_RETURN(std::shared_ptr<mcts::Evaluator> evaluator,
                        EvaluatorOf(spec, network));
  if (spec.policy_alone) return NewPolicyPlayer(std::move(evaluator));
  // One thread's time is that of the processor: on a busy machine a wall clock
  // would decide games.
  SearchPlayerOptions search = spec.search;
  if (search.threads == 1) search.time_clock = CoarseThreadTime;
  return NewSearchPlayer(std::move(evaluator), search);
}

}  // namespace

PlayerFactory NewPlayerFactory(const PlayerSpec& spec) {
  const auto network = std::make_shared<SharedNetwork>();
  return [spec, network] { return Make(spec, *network); };
}

PlayerFactory NewPlayerFactory(const TeamSpec& team) {
  if (team.seatings() == 1) return NewPlayerFactory(team.players[0]);
  return [make_first = NewPlayerFactory(team.players[0]),
          make_second = NewPlayerFactory(
              team.players[1])]() -> absl::StatusOr<std::unique_ptr<Player>> {
    TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> first, make_first());
    TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> second, make_second());
    return NewTeamPlayer(std::move(first), std::move(second));
  };
}

absl::StatusOr<std::shared_ptr<mcts::Evaluator>> MakeEvaluator(
    const PlayerSpec& spec) {
  if (spec.kind == PlayerKind::kMcts ||
      (spec.kind == PlayerKind::kNet && !spec.policy_alone)) {
    SharedNetwork network;
    return EvaluatorOf(spec, network);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("player '", spec.text,
                   "' does not search; expected mcts, net or best, with "
                   "simulations"));
}

proto::Contest NewContest(absl::string_view conditions,
                          absl::string_view player_a,
                          absl::string_view player_b) {
  proto::Contest contest;
  contest.set_conditions(std::string(conditions));
  contest.set_player_a(std::string(player_a));
  contest.set_player_b(std::string(player_b));
  return contest;
}

absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec) {
  if (spec.kind == PlayerKind::kEngine) {
    TARA_ASSIGN_OR_RETURN(const std::string name, EngineName(spec.engine));
    // Options of the connection do not change the play.
    return absl::StrCat(spec.text.substr(0, FindUnquoted(spec.text, ',')),
                        ",move=", absl::FormatDuration(spec.engine.move_limit),
                        " (", name, ")");
  }
  if (spec.kind != PlayerKind::kNet) return spec.text;
  TARA_ASSIGN_OR_RETURN(const std::string file, NetworkFileOf(spec));
  TARA_ASSIGN_OR_RETURN(const std::string id, nn::NetworkFileId(file));
  return absl::StrCat("net:", id, ",", NetworkOptionsOf(spec));
}

absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team) {
  std::vector<std::string> identities;
  for (const PlayerSpec& player : team.players) {
    TARA_ASSIGN_OR_RETURN(identities.emplace_back(), PlayerIdentity(player));
  }
  return absl::StrJoin(identities, "+");
}

absl::StatusOr<Contestant> MakeContestant(const TeamSpec& team, bool stored) {
  Contestant contestant;
  contestant.given = team;
  TARA_ASSIGN_OR_RETURN(contestant.team, WithPrecision(team));
  contestant.make = NewPlayerFactory(contestant.team);
  if (stored) {
    TARA_ASSIGN_OR_RETURN(contestant.identity, PlayerIdentity(contestant.team));
  }
  return contestant;
}

int ThreadsOfAGame(const TeamSpec& a, const TeamSpec& b) {
  // While one team is to move, and the other one may ponder.
  const auto threads = [](const TeamSpec& to_move, const TeamSpec& waiting) {
    int thinking = 1, pondering = 0;
    for (const PlayerSpec& player : to_move.players) {
      thinking = std::max(thinking, player.search.threads);
    }
    for (const PlayerSpec& player : waiting.players) {
      if (player.search.ponder) pondering += player.search.threads;
    }
    return thinking + pondering;
  };
  return std::max(threads(a, b), threads(b, a));
}

absl::Status CheckSameEverywhere(const PlayerSpec& player) {
  absl::string_view why;
  if (player.kind == PlayerKind::kEngine) {
    why = "is a program on this machine";
  } else if (player.time_ms > 0 || player.search.time > absl::ZeroDuration()) {
    why = "searches for a fixed time (ms)";
  } else if (player.search.threads > 1) {
    why = "searches on several threads";
  } else {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("player '", player.text, "' ", why,
                   ": its games would differ on other machines; expected a "
                   "player with sims, nodes or depth"));
}

absl::StatusOr<RemoteContest> NewRemoteContest(
    const State& start, uint64_t seed, absl::Span<const TeamSpec> teams) {
  RemoteContest contest;
  contest.request.set_variant(std::string(Info(start.variant).id));
  contest.request.set_rule_options(FormatRuleOptions(start.options));
  contest.request.set_seed(seed);
  for (const TeamSpec& team : teams) {
    contest.request.add_player(team.text);
    for (const PlayerSpec& player : team.players) {
      TARA_RETURN_IF_ERROR(CheckSameEverywhere(player));
      if (player.kind != PlayerKind::kNet) continue;
      TARA_ASSIGN_OR_RETURN(contest.files.emplace_back(),
                            NetworkFileOf(player));
    }
  }
  return contest;
}

absl::StatusOr<std::vector<TeamSpec>> ParseTeams(
    const proto::ContestRequest& request, absl::Span<const std::string> files,
    State& start) {
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(request.variant()));
  TARA_ASSIGN_OR_RETURN(const RuleOptions options,
                        ParseRuleOptions(variant, request.rule_options()));
  start = InitialState(variant, options);
  std::vector<TeamSpec> teams;
  size_t next = 0;
  for (const std::string& text : request.player()) {
    TARA_ASSIGN_OR_RETURN(TeamSpec team, ParseTeamSpec(text));
    TARA_RETURN_IF_ERROR(CheckTeam(team, variant));
    for (PlayerSpec& player : team.players) {
      TARA_RETURN_IF_ERROR(CheckSameEverywhere(player));
      if (player.kind != PlayerKind::kNet) continue;
      if (next == files.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            files.size(), " networks; expected one for '", text, "', too"));
      }
      player.file = files[next++];
    }
    teams.push_back(std::move(team));
  }
  return teams;
}

absl::Status CheckBegunAs(const proto::GameRecord& begun,
                          const proto::GameRecord& game) {
  const auto check = [](absl::string_view field, const auto& is,
                        const auto& expected) {
    if (is == expected) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", is, "; expected ", expected));
  };
  TARA_RETURN_IF_ERROR(check("seed", game.seed(), begun.seed()));
  TARA_RETURN_IF_ERROR(check("place", game.place(), begun.place()));
  TARA_RETURN_IF_ERROR(check("match", game.match(), begun.match()));
  TARA_RETURN_IF_ERROR(check("variant", game.variant(), begun.variant()));
  TARA_RETURN_IF_ERROR(
      check("rule_options", game.rule_options(), begun.rule_options()));
  TARA_RETURN_IF_ERROR(
      check("opening_plies", game.opening_plies(), begun.opening_plies()));
  if (game.steps_size() < begun.steps_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("steps: ", game.steps_size(), "; expected ",
                     begun.steps_size(), " or more"));
  }
  for (int ply = 0; ply < begun.steps_size(); ++ply) {
    TARA_RETURN_IF_ERROR(check(absl::StrCat("action of ply ", ply),
                               game.steps(ply).action(),
                               begun.steps(ply).action()));
  }
  return absl::OkStatus();
}

}  // namespace tara::eval
