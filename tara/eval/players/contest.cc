#include "tara/eval/players/contest.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/players/engine_player.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

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
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineSession> session,
                          EngineSession::Start(spec.engine));
    // Options of the connection do not change the play.
    return absl::StrCat(spec.text.substr(0, FindUnquoted(spec.text, ',')),
                        ",move=", absl::FormatDuration(spec.engine.move_limit),
                        " (", session->name(), ")");
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
  TARA_ASSIGN_OR_RETURN(contestant.team, WithPrecision(team));
  contestant.make = NewPlayerFactory(contestant.team);
  if (stored) {
    TARA_ASSIGN_OR_RETURN(contestant.identity, PlayerIdentity(contestant.team));
  }
  return contestant;
}

namespace {

// Threads of a team that search while it is to move, and while it is not.
int ThinkingThreads(const TeamSpec& team) {
  int threads = 1;
  for (const PlayerSpec& player : team.players) {
    threads = std::max(threads, player.search.threads);
  }
  return threads;
}
int PonderingThreads(const TeamSpec& team) {
  int threads = 0;
  for (const PlayerSpec& player : team.players) {
    if (player.search.ponder) threads += player.search.threads;
  }
  return threads;
}

}  // namespace

int ThreadsOfAGame(const TeamSpec& a, const TeamSpec& b) {
  return std::max(ThinkingThreads(a) + PonderingThreads(b),
                  ThinkingThreads(b) + PonderingThreads(a));
}

absl::Status CheckSameEverywhere(const PlayerSpec& player) {
  absl::string_view why;
  if (player.kind == PlayerKind::kEngine) {
    why = "is a program on this machine";
  } else if (player.kind == PlayerKind::kPerson) {
    why = "is a person at this machine";
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
