#include "tara/eval/arena/contest.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/core/rule_options.h"
#include "tara/eval/players/engine_session.h"
#include "tara/eval/players/engine_spec.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team_spec.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

namespace {

absl::StatusOr<std::string> IdentityOf(absl::string_view spec,
                                       const PlayerSpec& parsed) {
  if (parsed.kind == PlayerKind::kEngine) {
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineSession> session,
                          EngineSession::Start(parsed.engine));
    // How it is talked to has no part in how it plays.
    return absl::StrCat(spec.substr(0, FindUnquoted(spec, ',')), ",move=",
                        absl::FormatDuration(parsed.engine.move_limit), " (",
                        session->name(), ")");
  }
  if (parsed.kind != PlayerKind::kNet) return std::string(spec);
  TARA_ASSIGN_OR_RETURN(const std::string path, FindCheckpoint(parsed.path));
  TARA_ASSIGN_OR_RETURN(const std::string file, nn::NetworkFileId(path));
  return absl::StrCat("net:", file, ",", NetworkOptionsOf(spec, parsed));
}

// Adds the number type of each player of this network in the text of a contest,
// where it is "net:FILE,OPTION=VALUE,..." as IdentityOf writes it.
void AddPrecisions(absl::string_view file, absl::string_view text,
                   std::set<nn::Precision>& precisions) {
  const std::string network = absl::StrCat("net:", file);
  for (size_t begin = text.find(network); begin != absl::string_view::npos;
       begin = text.find(network, begin + 1)) {
    // Partners follow a plus sign, other conditions a space.
    const absl::string_view identity =
        text.substr(begin, text.find_first_of("+ ", begin) - begin);
    const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(identity);
    if (spec.ok() && spec->path != file) continue;
    precisions.insert(spec.ok() ? spec->inference.precision
                                : nn::Precision::kAuto);
  }
}

}  // namespace

absl::StatusOr<std::string> PlayerIdentity(absl::string_view given) {
  TARA_ASSIGN_OR_RETURN(const std::string spec, WithPrecision(given));
  TARA_ASSIGN_OR_RETURN(const TeamSpec team, ParseTeamSpec(spec));
  std::vector<std::string> identities;
  for (size_t i = 0; i < team.players.size(); ++i) {
    TARA_ASSIGN_OR_RETURN(identities.emplace_back(),
                          IdentityOf(team.texts[i], team.players[i]));
  }
  return absl::StrJoin(identities, "+");
}

EarlierPrecisions EarlierPrecisionsIn(ResultStore& store) {
  return
      [&store](
          const std::string& path) -> absl::StatusOr<std::set<nn::Precision>> {
        TARA_ASSIGN_OR_RETURN(const std::string file, nn::NetworkFileId(path));
        TARA_ASSIGN_OR_RETURN(const std::vector<Contest> contests,
                              store.Contests());
        std::set<nn::Precision> precisions;
        for (const Contest& contest : contests) {
          AddPrecisions(file, contest.conditions, precisions);
          AddPrecisions(file, contest.player_a, precisions);
          AddPrecisions(file, contest.player_b, precisions);
        }
        return precisions;
      };
}

std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings,
                            absl::string_view time_control) {
  std::string text = absl::StrCat("seed=", options.seed,
                                  " opening_plies=", options.opening_plies);
  if (!openings.empty()) absl::StrAppend(&text, " openings=", openings);
  const AdjudicationOptions& adjudication = options.adjudication;
  if (!adjudication.proof) absl::StrAppend(&text, " to_the_end");
  if (adjudication.agreed_turns > 0) {
    absl::StrAppend(&text, " agreed=", adjudication.agreed_value, ",",
                    adjudication.agreed_turns);
  }
  if (options.by_match) absl::StrAppend(&text, " by_match");
  const std::string rules = FormatRuleOptions(options.rule_options);
  if (rules != "-") absl::StrAppend(&text, " rules=", rules);
  if (!time_control.empty()) absl::StrAppend(&text, " time=", time_control);
  return text;
}

absl::Status GoOnWith(ResultStore& store, const Contest& contest,
                      ArenaOptions& options) {
  TARA_ASSIGN_OR_RETURN(const int64_t id, store.Find(contest));
  TARA_ASSIGN_OR_RETURN(options.earlier, store.Games(id));
  options.on_game = [&store, id](const ArenaGame& game) {
    return store.Add(id, game);
  };
  return absl::OkStatus();
}

}  // namespace tara::eval
