#include "tests/docs/transcript.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara {
namespace {

std::string LegalText(const State& state) {
  std::vector<std::string> texts;
  LegalActions(state).ForEach(
      [&](Action action) { texts.push_back(ActionToText(action)); });
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, " ");
}

std::string ResultText(const State& state) {
  const Outcome outcome = Score(state);
  return absl::StrCat("points ", absl::StrJoin(outcome.points, ","),
                      " kingdoms ", absl::StrJoin(outcome.kingdoms, ","),
                      " territory ", absl::StrJoin(outcome.territory, ","),
                      " ended_by ", EndingName(outcome.ended_by));
}

absl::Status Disagreement(absl::string_view what, absl::string_view document,
                          absl::string_view core) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "\n  the document says  ", document,
                   "\n  the core says      ", core));
}

// A game in progress, and the verdict of one line on it after another.
class Replay {
 public:
  absl::Status Next(const TranscriptLine& line) {
    if (line.keyword == "position") return Position(line.text);
    if (!started_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "first keyword is '", line.keyword, "'; expected position"));
    }
    if (line.keyword == "legal") return Legal(line.text);
    if (line.keyword == "play") return Play(line.text);
    if (line.keyword == "result") return Result(line.text);
    return absl::InvalidArgumentError(
        absl::StrCat("unknown keyword '", line.keyword,
                     "'; expected position, legal, play or result"));
  }

  // False if the lines that follow have no position to speak of.
  bool can_go_on() const { return started_ && !refused_; }

 private:
  absl::Status Position(absl::string_view text) {
    const absl::StatusOr<State> position = ParsePosition(text);
    if (!position.ok()) return position.status();
    if (!std::exchange(started_, true)) state_ = *position;
    if (*position == state_) return absl::OkStatus();
    return Disagreement("another position", text, PositionToText(state_));
  }

  absl::Status Legal(absl::string_view text) const {
    const std::string legal = LegalText(state_);
    if (legal == text) return absl::OkStatus();
    return Disagreement("other legal actions", text, legal);
  }

  absl::Status Play(absl::string_view text) {
    const std::vector<std::string> actions =
        absl::StrSplit(text, ' ', absl::SkipEmpty());
    if (actions.empty()) {
      return absl::InvalidArgumentError("nothing to play; expected an action");
    }
    for (const std::string& action : actions) {
      const absl::Status played = PlayAction(action, state_);
      if (played.ok()) continue;
      refused_ = true;
      return played;
    }
    return absl::OkStatus();
  }

  absl::Status Result(absl::string_view text) const {
    if (!state_.finished()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a result, but the game is not over: ", PositionToText(state_)));
    }
    const std::string result = ResultText(state_);
    if (result == text) return absl::OkStatus();
    return Disagreement("another result", text, result);
  }

  State state_ = {};
  bool started_ = false;
  bool refused_ = false;
};

}  // namespace

TranscriptLine SplitTranscriptLine(absl::string_view line) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  return {std::string(parts.first),
          std::string(absl::StripAsciiWhitespace(parts.second))};
}

std::vector<std::string> ReplayTranscript(const Document& document,
                                          const FencedBlock& block) {
  std::vector<std::string> wrong;
  if (block.lines.empty()) {
    wrong.push_back(absl::StrCat(document.At(block.number),
                                 ": empty transcript; expected a position"));
  }
  Replay replay;
  for (const DocumentLine& line : block.lines) {
    const absl::Status status = replay.Next(SplitTranscriptLine(line.text));
    if (!status.ok()) {
      wrong.push_back(
          absl::StrCat(document.At(line.number), ": ", status.message()));
    }
    if (!replay.can_go_on()) break;
  }
  return wrong;
}

}  // namespace tara
