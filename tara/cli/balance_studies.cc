#include "tara/cli/balance_studies.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/cli/game_flags.h"
#include "tara/cli/usage.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::cli {
namespace {

// Random openings of players that have no policy to draw from.
constexpr int kOpeningPlies = 2;

// A player and what tells it from others.
struct NamedPlayer {
  std::string spec;
  std::string network;  // a checksum; empty without one
  bool has_policy;
};

// Whether players of the kind have simulations, and a policy.
bool Searches(eval::PlayerKind kind) {
  return kind == eval::PlayerKind::kMcts || kind == eval::PlayerKind::kNet;
}

absl::StatusOr<eval::PlayerSpec> ParsePlayer(const std::string& text) {
  absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(text);
  if (!spec.ok()) return AsUsageError(spec.status());
  return spec;
}

absl::StatusOr<std::vector<std::string>> Specs(
    const BalanceCommandOptions& options) {
  if (options.simulations.empty()) return options.players;
  std::vector<std::string> specs;
  for (const std::string& player : options.players) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec spec, ParsePlayer(player));
    if (!Searches(spec.kind)) {
      return UsageError(absl::StrCat("--sims: player '", player,
                                     "' has no simulations; expected mcts, "
                                     "net or best players"));
    }
    for (const absl::string_view text :
         absl::StrSplit(options.simulations, ',')) {
      int simulations = 0;
      if (!absl::SimpleAtoi(text, &simulations) || simulations < 1) {
        return UsageError(absl::StrCat("--sims: '", text,
                                       "' is no number of simulations; "
                                       "expected numbers such as 50,200,800"));
      }
      specs.push_back(WithSimulations(player, text));
    }
  }
  return specs;
}

absl::StatusOr<NamedPlayer> PlayerOf(const std::string& text) {
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec spec, ParsePlayer(text));
  if (spec.search.ponder) {
    return UsageError(absl::StrCat("player '", text,
                                   "' ponders, but has no opponent whose time "
                                   "it could use; expected ponder=off"));
  }
  NamedPlayer player = {
      .spec = text, .network = "", .has_policy = Searches(spec.kind)};
  if (spec.kind == eval::PlayerKind::kNet) {
    TARA_ASSIGN_OR_RETURN(const std::string path,
                          eval::FindCheckpoint(spec.path));
    TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
    player.network = absl::StrFormat(
        "%08x", crc32c::Crc32c(contents.data(), contents.size()));
  }
  return player;
}

// Returns the variant's options with a change; none where it does not apply to
// the variant or changes nothing.
absl::StatusOr<std::vector<RuleOptions>> Changed(const std::string& what_if,
                                                 Variant variant, bool all,
                                                 RuleOptions options) {
  GameFlags flags;
  flags.options = absl::StrSplit(what_if, ',');
  // Over all variants, a change counts where all of its options apply.
  for (const std::string& option : flags.options) {
    const std::string name = option.substr(0, option.find('='));
    const auto info = std::find_if(
        kRuleOptions.begin(), kRuleOptions.end(),
        [&](const RuleOptionInfo& each) { return each.name == name; });
    if (all && info != kRuleOptions.end() && !info->applies_to(Info(variant))) {
      return std::vector<RuleOptions>();
    }
  }
  TARA_RETURN_IF_ERROR(RuleOptionsOf(flags, variant).status());
  const RuleOptions before = options;
  for (const std::string& option : flags.options) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    TARA_RETURN_IF_ERROR(
        SetRuleOption(variant, parts.first, parts.second, options));
  }
  if (options == before) return std::vector<RuleOptions>();
  return std::vector<RuleOptions>{options};
}

// The rules that each player plays by.
struct Rules {
  Variant variant;
  RuleOptions options;
  int changed_from;  // the place of the rules that these are a change of; or -1
};

absl::StatusOr<std::vector<Rules>> AllRules(
    const BalanceCommandOptions& options) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                        VariantsOf(options.game));
  const bool all = variants.size() > 1;
  std::vector<Rules> rules;
  std::set<std::string> used;
  for (const Variant variant : variants) {
    TARA_ASSIGN_OR_RETURN(const RuleOptions base,
                          RuleOptionsOf(options.game, variant, all));
    const auto place = static_cast<int>(rules.size());
    rules.push_back({variant, base, -1});
    for (const std::string& what_if : options.what_ifs) {
      TARA_ASSIGN_OR_RETURN(const std::vector<RuleOptions> changed,
                            Changed(what_if, variant, all, base));
      for (const RuleOptions& each : changed) {
        rules.push_back({variant, each, place});
        used.insert(what_if);
      }
    }
  }
  for (const std::string& what_if : options.what_ifs) {
    if (used.contains(what_if)) continue;
    return UsageError(absl::StrCat(
        "--what-if ", what_if,
        ": changes nothing in the variants that are "
        "played; expected an option of theirs with another value"));
  }
  return rules;
}

}  // namespace

std::string WithSimulations(absl::string_view spec,
                            absl::string_view simulations) {
  const size_t colon = spec.find(':');
  std::vector<absl::string_view> parts;
  if (colon != absl::string_view::npos) {
    parts = absl::StrSplit(spec.substr(colon + 1), ',', absl::SkipEmpty());
  }
  std::erase_if(parts, [](absl::string_view part) {
    return absl::StartsWith(part, "sims=");
  });
  const std::string limit = absl::StrCat("sims=", simulations);
  parts.push_back(limit);
  return absl::StrCat(spec.substr(0, colon), ":", absl::StrJoin(parts, ","));
}

absl::StatusOr<std::vector<WantedStudy>> WantedStudies(
    const BalanceCommandOptions& options) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Rules> rules, AllRules(options));
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> specs, Specs(options));
  std::vector<WantedStudy> studies;
  for (const std::string& spec : specs) {
    TARA_ASSIGN_OR_RETURN(const NamedPlayer player, PlayerOf(spec));
    const auto first = static_cast<int>(studies.size());
    for (const Rules& each : rules) {
      WantedStudy& study = studies.emplace_back();
      study.key.player = player.spec;
      study.key.network = player.network;
      study.key.options = {
          .variant = each.variant,
          .rule_options = each.options,
          .seed = static_cast<uint64_t>(options.seed),
          .opening_plies = options.opening_plies >= 0
                               ? static_cast<int>(options.opening_plies)
                               : (player.has_policy ? 0 : kOpeningPlies),
          .drawn_plies = static_cast<int>(options.drawn_plies),
          .temperature = options.temperature};
      if (each.changed_from >= 0) {
        study.compare_with = first + each.changed_from;
      }
    }
  }
  return studies;
}

}  // namespace tara::cli
