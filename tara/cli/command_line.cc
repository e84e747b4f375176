#include "tara/cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <variant>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tara/base/clocks.h"
#include "tara/base/text.h"

namespace tara::cli {
namespace {

// Payload key of a status that is a usage error.
constexpr absl::string_view kUsagePayload = "tara/usage";

// Column at which help texts begin.
constexpr int kHelpColumn = 28;

// Number of single-character insertions, removals and replacements that turn
// one word into the other (Levenshtein).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

// Returns "; did you mean 'x'?" for the nearest of the names, if one is near.
std::string Suggestion(absl::string_view word,
                       const std::vector<std::string>& names) {
  const auto nearest =
      std::min_element(names.begin(), names.end(),
                       [&](const std::string& a, const std::string& b) {
                         return EditDistance(word, a) < EditDistance(word, b);
                       });
  if (nearest == names.end() || EditDistance(word, *nearest) > 2) return "";
  return absl::StrCat("; did you mean '", *nearest, "'?");
}

// Whether a word of the command line is an option, right or wrong.
bool IsOption(const std::string& word) { return word[0] == '-' && word != "-"; }

// Returns the error of arguments that no command has taken.
std::string UnexpectedArguments(const std::vector<std::string>& rest,
                                const std::vector<std::string>& option_names) {
  const std::string& first = rest.front();
  if (!IsOption(first)) {
    return absl::StrCat("unexpected argument '", Shown(first), "'");
  }
  const std::string name = first.substr(0, first.find('='));
  return absl::StrCat("unknown option '", Shown(name), "'",
                      Suggestion(name, option_names));
}

// Often enough to look alive, seldom enough to cost nothing.
constexpr absl::Duration kInterval = absl::Milliseconds(100);
// Back to the first column, and erase to the end of the line (ECMA-48).
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

absl::Status AsUsageError(absl::Status status) {
  if (!status.ok()) status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

Command::Command(std::string summary)
    : Command(std::make_shared<CLI::App>("", "tara"), "tara",
              std::move(summary)) {}

Command::Command(std::shared_ptr<CLI::App> app, std::string path,
                 std::string summary)
    : app_(std::move(app)),
      path_(std::move(path)),
      summary_(std::move(summary)) {}

void Command::Add(const OptionTable& table) {
  for (const Option& option : table) AddOne(option);
}

void Command::AddOne(const Option& option) {
  const bool positional = option.name[0] != '-';
  const bool repeated =
      std::holds_alternative<std::vector<std::string>*>(option.member);
  const bool is_switch = std::holds_alternative<bool*>(option.member);
  // "-o,--output FILE"
  const std::string names(option.name.substr(0, option.name.find(' ')));
  const std::string long_name = names.substr(names.rfind(',') + 1);
  if (is_switch) {
    app_->add_flag_callback(names, [option] { option.Set("on"); })
        ->disable_flag_override();
  } else {
    CLI::Option* const added =
        app_->add_option(names, [option, positional, repeated,
                                 long_name](const CLI::results_t& results) {
          if (!repeated && results.size() > 1) {
            throw CLI::ValidationError(long_name, "given more than once");
          }
          for (const std::string& result : results) {
            if (option.Set(result)) continue;
            throw CLI::ValidationError(
                long_name, absl::StrCat("bad value '", Shown(result),
                                        "'; expected ", option.Expected()));
          }
          return true;
        });
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (repeated || !positional) {
      added->expected(1, CLI::detail::expected_max_vector_size);
      added->allow_extra_args(positional);
    }
    added->required(option.presence.required);
  }
  if (option.presence.hidden) return;

  std::string right(option.help);
  const std::string default_text = option.DefaultText();
  if (option.presence.required) {
    if (!positional) absl::StrAppend(&right, " (required)");
  } else if (!is_switch && !default_text.empty()) {
    absl::StrAppend(&right, " (default: ", default_text, ")");
  }
  if (positional) {
    const std::string left = absl::StrCat(names, repeated ? "..." : "");
    absl::StrAppend(&usage_, option.presence.required ? " " : " [", left,
                    option.presence.required ? "" : "]");
    arguments_.push_back({left, right});
    return;
  }
  if (option.presence.required) {
    absl::StrAppend(&usage_, " ", long_name, " ", option.Placeholder());
  }
  option_names_.push_back(long_name);
  options_.push_back(
      {absl::StrReplaceAll(option.name, {{",--", ", --"}}), right});
}

std::vector<std::string> Command::CommandNames() const {
  std::vector<std::string> names;
  for (const auto& command : commands_) {
    names.push_back(command->app_->get_name());
  }
  return names;
}

// Returns a usage error if the arguments name a command that does not exist: a
// word where only commands may stand.
absl::Status Command::CheckCommands() const {
  const std::vector<std::string> names = CommandNames();
  if (run_ == nullptr && !names.empty()) {
    for (const std::string& word : app_->remaining(false)) {
      if (IsOption(word)) continue;
      const std::string suggestion = Suggestion(word, names);
      return UsageError(
          "unknown command '", Shown(word), "'",
          suggestion.empty()
              ? absl::StrCat("; expected one of: ", absl::StrJoin(names, ", "))
              : suggestion);
    }
  }
  for (const auto& command : commands_) {
    if (command->app_->parsed()) return command->CheckCommands();
  }
  return absl::OkStatus();
}

// Returns the innermost command that the arguments have named.
const Command& Command::Named() const {
  for (const auto& command : commands_) {
    if (command->app_->parsed()) return command->Named();
  }
  return *this;
}

Command& Command::AddCommand(const std::string& name,
                             const std::string& summary) {
  const auto app = std::make_shared<CLI::App>(summary, name);
  app_->add_subcommand(app);
  app_->require_subcommand(0, 1);
  commands_.emplace_back(
      new Command(app, absl::StrCat(path_, " ", name), summary));
  return *commands_.back();
}

std::string Command::FormatRows(absl::string_view title,
                                const std::vector<HelpRow>& rows) {
  std::string text = absl::StrCat("\n", title, ":\n");
  for (const HelpRow& row : rows) {
    std::string line = absl::StrCat("  ", row.left);
    if (line.size() + 2 > kHelpColumn) {
      absl::StrAppend(&text, line, "\n");
      line.clear();
    }
    line.resize(kHelpColumn, ' ');
    absl::StrAppend(&text, line, Wrap(row.right, kHelpColumn), "\n");
  }
  return text;
}

std::string Command::Help() const {
  std::string text = absl::StrCat(path_, ": ", summary_, "\n\nUsage: ", path_);
  if (!commands_.empty()) {
    if (run_ != nullptr) {
      absl::StrAppend(&text, usage_, " [OPTION]...\n       ", path_);
    }
    absl::StrAppend(&text, " COMMAND ...\n");
    std::vector<HelpRow> rows;
    for (const auto& command : commands_) {
      rows.push_back({command->app_->get_name(), command->summary_});
    }
    absl::StrAppend(&text, FormatRows("Commands", rows));
  } else {
    absl::StrAppend(&text, usage_, " [OPTION]...\n");
  }
  if (!arguments_.empty()) {
    absl::StrAppend(&text, FormatRows("Arguments", arguments_));
  }
  std::vector<HelpRow> options = options_;
  options.push_back({"-h, --help", "show this help"});
  if (app_->get_parent() == nullptr) {
    options.push_back({"--version", "show the version"});
  }
  absl::StrAppend(&text, FormatRows("Options", options));
  if (!notes_.empty()) {
    text += "\n";
    for (const absl::string_view line : absl::StrSplit(notes_, '\n')) {
      const bool of_table = absl::StartsWith(line, " ");
      absl::StrAppend(&text, of_table ? line : Wrap(line, 0), "\n");
    }
  }
  if (!examples_.empty()) {
    absl::StrAppend(&text, "\nExamples:\n");
    for (const std::string& example : examples_) {
      absl::StrAppend(&text, "  tara ", example, "\n");
    }
  }
  return text;
}

ParsedCommand ParsedCommand::Parse(Command& root, const std::string& version,
                                   int argc, const char* const* argv) {
  absl::Status error;
  bool help = false;
  bool wants_version = false;
  root.app_->set_version_flag("--version", version);
  try {
    root.app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    help = true;
    error = root.CheckCommands();
  } catch (const CLI::CallForVersion&) {
    wants_version = true;
    error = root.CheckCommands();
  } catch (const CLI::ExtrasError&) {
    error = root.CheckCommands();
    if (error.ok()) {
      error = UsageError(UnexpectedArguments(root.app_->remaining(true),
                                             root.Named().option_names_));
    }
  } catch (const CLI::ArgumentMismatch& mismatch) {
    // "--depth: 1 required N missing"
    const std::string what = mismatch.what();
    error = UsageError(what.substr(0, what.find(':')), ": a value is missing");
  } catch (const CLI::RequiredError& required) {
    const Command& named = root.Named();
    error = UsageError(required.what(), ": ", named.path_, named.usage_);
  } catch (const CLI::ParseError& parse_error) {
    error = UsageError(parse_error.what());
  }
  const Command& named = root.Named();
  const auto prints = [&](std::string text) -> ParsedCommand {
    return {named.path_, [text](Console& console) {
              console.out << text;
              return kExitOk;
            }};
  };
  if (error.ok()) {
    if (wants_version) return prints(version + "\n");
    if (help || &named == &root) return prints(named.Help());
    if (named.run_ != nullptr) return {named.path_, named.run_};
    error = UsageError("missing subcommand; expected one of: ",
                       absl::StrJoin(named.CommandNames(), ", "));
  }
  return {named.path_, [error](Console&) { return error; }};
}

Console StandardConsole() {
  return {.in = std::cin,
          .out = std::cout,
          .err = std::cerr,
          .in_is_terminal = isatty(STDIN_FILENO) != 0,
          .out_is_terminal = isatty(STDOUT_FILENO) != 0,
          .err_is_terminal = isatty(STDERR_FILENO) != 0};
}

bool UseColour(absl::string_view choice, const Console& console) {
  if (choice == "always") return true;
  if (choice == "never" || !console.out_is_terminal) return false;
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* const term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && absl::string_view(term) != "dumb";
}

std::string Wrap(absl::string_view words, int indent, int width) {
  std::string text;
  int column = indent;
  bool at_start = true;
  for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const int length = static_cast<int>(word.size());
    if (!at_start && column + 1 + length > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
      at_start = true;
    }
    if (!at_start) {
      text += ' ';
      ++column;
    }
    text.append(word.data(), word.size());
    column += length;
    at_start = false;
  }
  return text;
}

StatusLine::StatusLine(Console& console, absl::Duration log_interval)
    : console_(console),
      interval_(console.err_is_terminal ? kInterval : log_interval),
      last_shown_(console.err_is_terminal ? absl::InfinitePast()
                                          : SteadyTime()) {}
StatusLine::~StatusLine() { Clear(); }

void StatusLine::Show(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = SteadyTime();
  if (now - last_shown_ < interval_) return;
  last_shown_ = now;
  if (!console_.err_is_terminal) {
    console_.err << text << std::endl;
    return;
  }
  visible_ = true;
  console_.err << kEraseLine << text << std::flush;
}

void StatusLine::Show(absl::string_view text, double done, double total,
                      absl::string_view unit) {
  std::string speed_and_left;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = SteadyTime();
    if (begin_ == absl::InfiniteFuture()) {
      begin_ = now;
      done_before_ = done;
    }
    const double seconds = absl::ToDoubleSeconds(now - begin_);
    const double speed = (done - done_before_) / std::max(1e-9, seconds);
    if (speed > 0) {
      if (!unit.empty()) {
        absl::StrAppendFormat(&speed_and_left, ", %.1f %s/s", speed, unit);
      }
      absl::StrAppend(
          &speed_and_left, ", about ",
          absl::FormatDuration(absl::Trunc(
              absl::Seconds((total - done) / speed), absl::Seconds(1))),
          " left");
    }
  }
  Show(absl::StrCat(text, speed_and_left));
}

void StatusLine::Clear() {
  absl::MutexLock lock(&mutex_);
  if (visible_) console_.err << kEraseLine << std::flush;
  visible_ = false;
}

}  // namespace tara::cli
