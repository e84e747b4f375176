#include "tara/train/progress/progress_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tara::train {
namespace {

constexpr int kBarWidth = 24;

std::string Bar(int64_t done, int64_t wanted) {
  const double share =
      wanted <= 0 ? 0.0
                  : static_cast<double>(done) / static_cast<double>(wanted);
  const int filled =
      std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '.'), "]");
}

// Returns "3 h 05 min", "12 min" or "45 s".
std::string TimeText(absl::Duration duration) {
  const auto seconds = absl::ToInt64Seconds(duration);
  if (seconds >= 3600) {
    return absl::StrFormat("%d h %02d min", seconds / 3600, seconds / 60 % 60);
  }
  if (seconds >= 60) return absl::StrFormat("%d min", (seconds + 30) / 60);
  return absl::StrFormat("%d s", seconds);
}

std::string TimeLeft(const ProgressSnapshot& snapshot) {
  if (snapshot.time_left == absl::InfiniteDuration() ||
      snapshot.time_left == absl::ZeroDuration()) {
    return "";
  }
  return absl::StrCat("about ", TimeText(snapshot.time_left), " left");
}

std::string Phase(const ProgressSnapshot& snapshot) {
  std::vector<std::string> phases;
  if (snapshot.playing) phases.push_back("self-play");
  if (snapshot.learning) phases.push_back("learning");
  if (snapshot.evaluating) phases.push_back("evaluation");
  if (!phases.empty()) return absl::StrJoin(phases, " and ");
  return snapshot.generation < snapshot.generations ? "starting" : "done";
}

std::string Games(const ProgressSnapshot& snapshot) {
  return absl::StrFormat("%d/%d games  %.2f games/s  %.0f evaluations/s",
                         snapshot.games, snapshot.games_wanted,
                         snapshot.rates.games_per_second,
                         snapshot.rates.evaluations_per_second);
}

// What the searches of self-play come to; parts that are not in use are left
// out. Empty before there is anything to tell.
std::string Searches(const SelfPlayRates& rates) {
  if (rates.simulations_per_second == 0) return "";
  std::string text = absl::StrFormat(
      "%.0f simulations/s  %.2f an evaluation  batches %.0f %% full",
      rates.simulations_per_second, rates.simulations_per_evaluation,
      100 * rates.batch_fill);
  const auto add = [&text](absl::string_view name, double share) {
    if (share > 0) {
      absl::StrAppendFormat(&text, "  %s %.0f %%", name, 100 * share);
    }
  };
  add("distinct", rates.distinct_share);
  add("cache", rates.cached_share);
  add("graph", rates.graph_share);
  add("solved", rates.solved_share);
  if (rates.resigned > 0 || rates.played_on > 0) {
    absl::StrAppendFormat(&text, "  resigned %d (of %d played on %d wrong)",
                          rates.resigned, rates.played_on,
                          rates.resignable_not_lost);
  }
  return text;
}

std::string LossText(const LossSummary& losses) {
  std::string text =
      absl::StrFormat("loss %.3f (policy %.3f, value %.3f, margin %.3f",
                      losses.total, losses.policy, losses.value, losses.margin);
  const auto add = [&](absl::string_view head, double loss) {
    if (loss > 0) absl::StrAppendFormat(&text, ", %s %.3f", head, loss);
  };
  add("owner", losses.owner);
  add("kingdoms", losses.kingdoms);
  add("reply", losses.reply);
  return text + ")";
}

std::string Learning(const ProgressSnapshot& snapshot) {
  std::string text =
      absl::StrFormat("%d/%d steps", snapshot.steps, snapshot.steps_wanted);
  if (snapshot.has_losses) {
    absl::StrAppend(&text, "  ", LossText(snapshot.losses));
  }
  return text;
}

std::string Window(const ProgressSnapshot& snapshot) {
  std::string text =
      absl::StrFormat("window %d games, %d positions", snapshot.window_games,
                      snapshot.window_positions);
  if (snapshot.has_losses) {
    absl::StrAppendFormat(&text, "  learning rate %.2g",
                          snapshot.learning_rate);
  }
  if (snapshot.has_held_out) {
    absl::StrAppendFormat(&text, "  held out: policy %.3f, value %.3f",
                          snapshot.held_out.policy, snapshot.held_out.value);
  }
  return text;
}

std::string Evaluation(const ProgressSnapshot& snapshot) {
  const StrengthProgress& evaluated = snapshot.evaluated;
  return absl::StrFormat("%d/%d games  against %s", evaluated.games,
                         evaluated.games_wanted, evaluated.opponent);
}

std::string Percent(double score) {
  return absl::StrFormat("%.0f", 100.0 * score);
}

}  // namespace

std::string StrengthText(const std::vector<StrengthResult>& strength) {
  const bool one_variant = std::all_of(
      strength.begin(), strength.end(), [&](const StrengthResult& result) {
        return result.variant == strength.front().variant;
      });
  return absl::StrJoin(
      strength, "  ", [&](std::string* out, const StrengthResult& result) {
        if (!one_variant) absl::StrAppend(out, result.variant, " ");
        absl::StrAppend(out, result.opponent, " ", Percent(result.score),
                        " % [", Percent(result.score_low), ", ",
                        Percent(result.score_high), "]");
      });
}

std::vector<std::string> ProgressBlock(const ProgressSnapshot& snapshot,
                                       int width) {
  std::vector<std::string> lines;
  lines.push_back(absl::StrFormat(
      "%s  generation %d of %d  %s  %s", snapshot.run_dir,
      std::min(snapshot.generation + 1, snapshot.generations),
      snapshot.generations, Phase(snapshot), TimeLeft(snapshot)));
  if (snapshot.games_wanted > 0) {
    lines.push_back(absl::StrCat("  self-play ",
                                 Bar(snapshot.games, snapshot.games_wanted),
                                 " ", Games(snapshot)));
    if (const std::string searches = Searches(snapshot.rates);
        snapshot.playing && !searches.empty()) {
      lines.push_back(absl::StrCat("  ", searches));
    }
  }
  if (snapshot.steps_wanted > 0) {
    lines.push_back(absl::StrCat("  learning  ",
                                 Bar(snapshot.steps, snapshot.steps_wanted),
                                 " ", Learning(snapshot)));
    lines.push_back(absl::StrCat("  ", Window(snapshot)));
  }
  if (snapshot.evaluating && snapshot.evaluated.games_wanted > 0) {
    lines.push_back(absl::StrCat(
        "  evaluation ",
        Bar(snapshot.evaluated.games, snapshot.evaluated.games_wanted), " ",
        Evaluation(snapshot)));
  }
  if (!snapshot.gate.empty()) {
    lines.push_back(absl::StrCat("  gate: ", snapshot.gate));
  }
  if (snapshot.strength_generation >= 0) {
    lines.push_back(absl::StrCat("  strength after generation ",
                                 snapshot.strength_generation, ": ",
                                 StrengthText(snapshot.strength)));
  }
  for (std::string& line : lines) {
    if (static_cast<int>(line.size()) > width) line.resize(width);
  }
  return lines;
}

std::string ProgressLine(const ProgressSnapshot& snapshot) {
  std::vector<std::string> parts = {
      absl::StrFormat("generation %d of %d: %s",
                      std::min(snapshot.generation + 1, snapshot.generations),
                      snapshot.generations, Phase(snapshot))};
  if (snapshot.playing) {
    parts.push_back(Games(snapshot));
    if (const std::string searches = Searches(snapshot.rates);
        !searches.empty()) {
      parts.push_back(searches);
    }
  }
  if (snapshot.learning) {
    parts.push_back(Learning(snapshot));
    parts.push_back(Window(snapshot));
  }
  if (snapshot.evaluating && snapshot.evaluated.games_wanted > 0) {
    parts.push_back(Evaluation(snapshot));
  }
  if (const std::string left = TimeLeft(snapshot); !left.empty()) {
    parts.push_back(left);
  }
  return absl::StrJoin(parts, "  ");
}

}  // namespace tara::train
