// An engine for tests of what plays against engines: well-behaved, or as ill as
// it is told to be.
//
//   fake_engine [--fault WHAT] [--after N] [--counter FILE] [--files FILE]
//
// It plays random actions until it has chosen N (0), and then errs, in each
// process: hang, crash, exit, refuse, illegal (passes), nonsense, escape (a
// terminal's escape sequence), garbage, silent (closes its output), flood
// (empty lines), endless (an answer without end), resign, number (answers
// another command). Or from the beginning: gone (ends at once), mute, old (an
// old protocol), poor (lacks genmove), choosy (refuses every variant but
// four_treasures), stubborn (does not quit), unprintable and longwinded (its
// name); setter is well-behaved, with set_position. Each time it starts, a line
// is added to the counter's file, and to that of --files the numbers of the
// files that it has open.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::eval {
namespace {

[[noreturn]] void Hang() {
  while (true) pause();
}

// Returns " N" for every open file, of which there are few.
std::string OpenFiles() {
  std::string files;
  for (int file = 0; file < 1024; ++file) {
    if (fcntl(file, F_GETFD) != -1) files += " " + std::to_string(file);
  }
  return files;
}

class FakeEngine {
 public:
  FakeEngine(const std::string& fault, int after)
      : fault_(fault), after_(after) {}

  // Returns whether to go on.
  bool Obey(const std::string& line) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty()) return true;
    int number = 0;
    const bool has_id = absl::SimpleAtoi(words[0], &number);
    id_ = has_id ? words[0] : "";
    const std::string& command = words[has_id ? 1 : 0];
    const std::string argument = words.size() > 2 ? words[2] : "";
    if (command == "quit") {
      if (fault_ == "stubborn") Hang();
      Answer("");
      return false;
    }
    if (command == "genmove") {
      Choose();
    } else if (command == "variant") {
      SetVariant(argument, words.size() > 3 ? words[3] : "-");
    } else if (command == "clear_board") {
      state_ = InitialState(state_.variant, options_);
      Answer("");
    } else if (command == "set_position") {
      SetPosition(line);
    } else if (command == "play") {
      const absl::Status status = PlayAction(argument, state_);
      status.ok() ? Answer("") : Refuse(std::string(status.message()));
    } else {
      Tell(command);
    }
    return true;
  }

 private:
  void Answer(const std::string& text) {
    std::cout << "=" << id_ << " " << text << "\n\n" << std::flush;
  }
  void Refuse(const std::string& text) {
    std::cout << "?" << id_ << " " << text << "\n\n" << std::flush;
  }

  void Tell(const std::string& command) {
    if (command == "protocol_version")
      return Answer(fault_ == "old" ? "1" : "2");
    if (command == "name") {
      if (fault_ == "unprintable") return Answer("Fa\x1b[2Jke\n\xff");
      return Answer(fault_ == "longwinded" ? std::string(101, 'x') : "Fake");
    }
    if (command == "version") return Answer("1.0");
    if (command == "list_commands") {
      return Answer(std::string("name\nversion\nvariant\nclear_board\nplay\n"
                                "time_settings\ntime_left\nquit") +
                    (fault_ == "poor" ? "" : "\ngenmove") +
                    (fault_ == "setter" ? "\nset_position" : ""));
    }
    if (command == "time_settings" || command == "time_left") return Answer("");
    Refuse("unknown command");
  }

  void SetVariant(const std::string& id, const std::string& options) {
    const absl::StatusOr<Variant> variant = ParseVariant(id);
    if (!variant.ok() || (fault_ == "choosy" && id != "four_treasures")) {
      return Refuse("unknown variant");
    }
    const absl::StatusOr<RuleOptions> rules =
        ParseRuleOptions(*variant, options);
    if (!rules.ok()) return Refuse(std::string(rules.status().message()));
    options_ = *rules;
    state_ = InitialState(*variant, options_);
    Answer("");
  }

  void SetPosition(const std::string& line) {
    const std::string command = "set_position ";
    const absl::StatusOr<State> state =
        ParsePosition(line.substr(line.find(command) + command.size()));
    if (!state.ok()) return Refuse(std::string(state.status().message()));
    state_ = *state;
    Answer("");
  }

  void Choose() {
    if (chosen_++ >= after_ && Err()) return;
    const Action action = RandomAction(state_, random_);
    const std::string text = ActionToText(action, state_);
    ApplyAction(action, state_);
    Answer(text);
  }

  // Returns whether that was an answer of some kind.
  bool Err() {
    if (fault_ == "hang") Hang();
    if (fault_ == "crash") {
      std::signal(SIGSEGV, SIG_DFL);  // sanitizers have handlers
      std::raise(SIGSEGV);
    }
    if (fault_ == "exit") std::_Exit(3);
    if (fault_ == "silent") {
      close(STDOUT_FILENO);
      Hang();
    }
    if (fault_ == "flood") {
      while (true) std::cout << "\n";
    }
    if (fault_ == "refuse") return Refuse("out of ideas"), true;
    if (fault_ == "illegal") return Answer("pass"), true;
    if (fault_ == "endless") {
      std::cout << "=" << id_ << " ";
      while (true) std::cout << std::string(999, 'x') << "\n";
    }
    if (fault_ == "nonsense") return Answer("Z9"), true;
    if (fault_ == "escape") return Answer("\x1b[2JD4"), true;
    if (fault_ == "resign") return Answer("resign"), true;
    if (fault_ == "garbage") std::cout << "thinking...\x01\n" << std::flush;
    if (fault_ == "number") std::cout << "=99999 D4\n\n" << std::flush;
    return fault_ == "garbage" || fault_ == "number";
  }

  const std::string fault_;
  const int after_;
  int chosen_ = 0;
  std::string id_;
  State state_ = InitialState(Variant::kSacredHillL1);
  RuleOptions options_;  // of the game; its positions may have no pie rule left
  Random random_{1};
};

int Main(int argc, char** argv) {
  const std::string open_files = OpenFiles();
  std::string fault = "none";
  int after = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--fault") fault = argv[i + 1];
    if (option == "--after") after = std::atoi(argv[i + 1]);
    if (option == "--counter") {
      std::ofstream(argv[i + 1], std::ios::app) << "started\n";
    }
    if (option == "--files") {
      std::ofstream(argv[i + 1], std::ios::app) << open_files << "\n";
    }
  }
  std::cerr << "a fake engine speaks\n";
  if (fault == "mute") Hang();
  if (fault == "gone") return 7;
  FakeEngine engine(fault, after);
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!engine.Obey(line)) return 0;
  }
  if (fault == "stubborn") Hang();
  return 0;
}

}  // namespace
}  // namespace tara::eval

int main(int argc, char** argv) { return tara::eval::Main(argc, argv); }
