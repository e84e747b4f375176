#include "tara/eval/players/engine_spec.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"

namespace tara::eval {
namespace {

constexpr double kMaxSeconds = 24 * 3600;
constexpr int kMaxProcesses = 256;

// Walks through a text that has quotes.
class QuotedText {
 public:
  explicit QuotedText(absl::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  size_t at() const { return at_; }
  bool in_quotes() const { return quote_ != 0; }

  // Takes the next character. Returns whether it is one of the text's own, and
  // not a quote or a backslash that says how to read others; `plain`: whether
  // it stands for what it usually does.
  bool Take(char& character, bool& plain) {
    character = text_[at_++];
    plain = false;
    if (character == '\\' && quote_ != '\'' && !done() && Escapes(text_[at_])) {
      character = text_[at_++];
      return true;
    }
    if (quote_ != 0) {
      if (character != quote_) return true;
      quote_ = 0;
      return false;
    }
    if (character == '"' || character == '\'') {
      quote_ = character;
      return false;
    }
    plain = true;
    return true;
  }

 private:
  bool Escapes(char next) const {
    return quote_ == 0 || next == '"' || next == '\\';
  }

  const absl::string_view text_;
  size_t at_ = 0;
  char quote_ = 0;  // that we are in; 0: none
};

absl::Status SetSeconds(absl::string_view name, absl::string_view value,
                        double least, absl::Duration& result) {
  double seconds = 0;
  // Written so that NaN fails.
  if (absl::SimpleAtod(value, &seconds) && seconds >= least &&
      seconds <= kMaxSeconds) {
    result = absl::Seconds(seconds);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(name, " is '", value,
                                                 "'; expected seconds from ",
                                                 least, " to ", kMaxSeconds));
}

absl::Status SetOption(absl::string_view option, EngineSpec& spec) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  constexpr double kLeast = 0.001;
  if (name == "start") return SetSeconds(name, value, kLeast, spec.start_limit);
  if (name == "move") return SetSeconds(name, value, kLeast, spec.move_limit);
  if (name == "grace") return SetSeconds(name, value, 0, spec.grace);
  if (name == "processes") {
    if (absl::SimpleAtoi(value, &spec.processes) && spec.processes > 0 &&
        spec.processes <= kMaxProcesses) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("processes is '", value,
                     "'; expected a whole number from 1 to ", kMaxProcesses));
  }
  if (name == "log" && !value.empty()) {
    spec.log = std::string(value);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown option '", option,
      "'; expected start=S, move=S, grace=S, processes=N or log=FILE; a comma "
      "of the command itself wants quotes: engine:'CMD a,b'"));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  QuotedText reader(text);
  while (!reader.done()) {
    char character;
    bool plain;
    const bool own = reader.Take(character, plain);
    if (plain && (character == ' ' || character == '\t')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (own) words.back().push_back(character);
  }
  if (reader.in_quotes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a quote does not end in '", text, "'"));
  }
  return words;
}

size_t FindUnquoted(absl::string_view text, char mark, size_t from) {
  QuotedText reader(text);
  while (!reader.done()) {
    const size_t at = reader.at();
    char character;
    bool plain;
    reader.Take(character, plain);
    if (plain && character == mark && at >= from) return at;
  }
  return absl::string_view::npos;
}

absl::StatusOr<EngineSpec> ParseEngineSpec(absl::string_view text) {
  EngineSpec spec;
  size_t end = FindUnquoted(text, ',');
  TARA_ASSIGN_OR_RETURN(spec.command, SplitCommand(text.substr(0, end)));
  if (spec.command.empty() || spec.command[0].empty()) {
    return absl::InvalidArgumentError(
        "no command; expected engine:CMD, a program and its arguments");
  }
  std::set<absl::string_view> seen;
  while (end != absl::string_view::npos) {
    const size_t begin = end + 1;
    end = FindUnquoted(text, ',', begin);
    const absl::string_view option =
        text.substr(begin, end == absl::string_view::npos ? end : end - begin);
    if (!seen.insert(option.substr(0, option.find('='))).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(option.substr(0, option.find('=')), " is given twice"));
    }
    TARA_RETURN_IF_ERROR(SetOption(option, spec));
  }
  return spec;
}

}  // namespace tara::eval
