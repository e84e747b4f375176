#include "tara/eval/players/player_spec.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/mcts/levels/levels.h"

namespace tara::eval {
namespace {

// Reads a text that has quotes. Calls `see(at, character, plain)` for each
// character, or escaped one; `plain`: it has its usual meaning; no character: a
// quote that changes the meaning of others. Returns whether all quotes end.
template <typename See>
bool ReadQuoted(absl::string_view text, const See& see) {
  char quote = 0;  // that we are in; 0: none
  for (size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : 0;
    if (character == '\\' && quote != '\'' && at + 1 < text.size() &&
        (quote == 0 || next == '"' || next == '\\')) {
      see(at++, std::optional(next), /*plain=*/false);
    } else if (quote != 0 ? character == quote
                          : character == '"' || character == '\'') {
      quote = quote == 0 ? character : 0;
      see(at, std::optional<char>(), /*plain=*/false);
    } else {
      see(at, std::optional(character), /*plain=*/quote == 0);
    }
  }
  return quote == 0;
}

constexpr double kMinSeconds = 0.001;
constexpr double kMaxSeconds = 24 * 3600;

OptionTable EngineOptionTable(EngineSpec& spec) {
  return {
      {"start", Seconds{&spec.start_limit}, kMinSeconds, kMaxSeconds,
       "start-up time"},
      {"move", Seconds{&spec.move_limit}, kMinSeconds, kMaxSeconds,
       "time per action without a clock"},
      {"grace", Seconds{&spec.grace}, 0, kMaxSeconds,
       "time allowed beyond its clock"},
      {"log", &spec.log, "file for its standard error and the protocol",
       Default("none")},
  };
}

// Returns the error of a part of a spec as that of the spec.
absl::Status OfSpec(absl::string_view text, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("bad player spec '", Shown(text), "': ", status.message()));
}

absl::Status UnknownOption(absl::string_view option,
                           absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown option '", Shown(option), "'; expected ", expected));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  const bool ends =
      ReadQuoted(text, [&](size_t, std::optional<char> character, bool plain) {
        const bool blank = plain && (character == ' ' || character == '\t');
        if (!blank && !in_word) words.emplace_back();
        in_word = !blank;
        if (in_word && character.has_value()) words.back() += *character;
      });
  if (ends) return words;
  return absl::InvalidArgumentError(
      absl::StrCat("a quote does not end in '", Shown(text), "'"));
}

size_t FindUnquoted(absl::string_view text, char mark, size_t from) {
  size_t found = absl::string_view::npos;
  ReadQuoted(text, [&](size_t at, std::optional<char> character, bool plain) {
    if (plain && character == mark && at >= from) found = std::min(found, at);
  });
  return found;
}

absl::StatusOr<EngineSpec> ParseEngineSpec(absl::string_view text) {
  EngineSpec spec;
  size_t end = FindUnquoted(text, ',');
  TARA_ASSIGN_OR_RETURN(spec.command, SplitCommand(text.substr(0, end)));
  if (spec.command.empty() || spec.command[0].empty()) {
    return absl::InvalidArgumentError(
        "no command; expected engine:CMD, a program and its arguments");
  }
  std::vector<absl::string_view> options;
  while (end != absl::string_view::npos) {
    const size_t begin = end + 1;
    end = FindUnquoted(text, ',', begin);
    options.push_back(
        text.substr(begin, end == absl::string_view::npos ? end : end - begin));
  }
  TARA_ASSIGN_OR_RETURN(const std::vector<OptionText> list,
                        ParseOptionList(options));
  const OptionTable table = EngineOptionTable(spec);
  for (const OptionText& option : list) {
    const Option* const known = FindOption(table, option.name);
    if (known == nullptr) {
      return UnknownOption(
          option.text,
          "start=S, move=S, grace=S or log=FILE; quote commas of "
          "the command itself: engine:'CMD a,b'");
    }
    TARA_RETURN_IF_ERROR(SetOption(*known, option.value));
  }
  return spec;
}

namespace {

// A move with this many nodes takes about as long as one of mcts:sims=1000.
constexpr int kDefaultNodes = 8000;

OptionTable AlphaBetaOptionTable(PlayerSpec& spec) {
  return {
      {"nodes", &spec.nodes, 1, 2000000000, "positions"},
      {"depth", &spec.depth, 1, 100, "actions ahead"},
      {"ms", &spec.time_ms, 1, 3600000, "milliseconds per action"},
  };
}

std::unique_ptr<Player> MakeAlphaBeta(const PlayerSpec& spec) {
  AlphaBetaLimits limits = {.nodes = spec.nodes};
  if (spec.depth > 0) limits.depth = spec.depth;
  if (spec.time_ms > 0) limits.time = absl::Milliseconds(spec.time_ms);
  if (spec.options.empty()) limits.nodes = kDefaultNodes;
  AlphaBetaOptions options;
  if (spec.time_ms > 0) options.clock = ThreadTime;
  return NewAlphaBetaPlayer(limits, options);
}

constexpr PlayerKindInfo kPlayerKinds[] = {
    {"random", PlayerKind::kBaseline, "random",
     "  random      any legal action, with equal chances\n",
     /*options=*/nullptr, [](const PlayerSpec&) { return NewRandomPlayer(); }},
    {"greedy", PlayerKind::kBaseline, "greedy",
     "  greedy      the action with the best immediate score\n",
     /*options=*/nullptr, [](const PlayerSpec&) { return NewGreedyPlayer(); }},
    {"alphabeta", PlayerKind::kBaseline, "alphabeta[:nodes=N]",
     R"(  alphabeta[:OPTION=VALUE,...]
              alpha-beta search with a hand-made evaluation; 8000 positions
              unless a limit is given
)",
     AlphaBetaOptionTable, MakeAlphaBeta},
    {"mcts", PlayerKind::kMcts, "mcts[:sims=N]"},
    {"best", PlayerKind::kNet, "best[:sims=N]"},
    {"level", PlayerKind::kNet, "level:N"},
    {"net", PlayerKind::kNet, "net:PATH[,sims=N]"},
    {"engine", PlayerKind::kEngine, "engine:CMD"},
};

// Sets what `option` ("nodes=1000") says.
absl::Status SetPlayerOption(const OptionText& option, PlayerSpec& spec) {
  const absl::string_view name = option.name;
  const absl::string_view value = option.value;
  const bool net = spec.kind == PlayerKind::kNet;
  if (net && nn::IsInferenceOption(name)) {
    return nn::SetInferenceOption(name, value, spec.inference);
  }
  if (spec.level > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a level has no option '", Shown(option.text),
        "'; expected precision, backend or device, or best:OPTION=VALUE,..."));
  }
  const bool searches = spec.kind != PlayerKind::kBaseline;
  const OptionTable table =
      searches ? SearchPlayerOptionTable(spec) : spec.info->options(spec);
  const Option* const known = FindOption(table, name);
  if (known != nullptr) return SetOption(*known, value);
  if (!searches) return UnknownOption(option.text, OptionNames(table));
  if (net && name == "sims") {
    spec.policy_alone = value == "0";
    if (spec.policy_alone) return absl::OkStatus();
  }
  if (mcts::IsSearchOption(name)) {
    return mcts::SetSearchOption(name, value, spec.search.search);
  }
  return UnknownOption(
      option.text,
      absl::StrCat(OptionNames(table),
                   net ? ", device, precision, backend" : "",
                   ", or a search option such as sims, c_puct or graph; --help "
                   "lists them"));
}

// Rejects options that exclude each other.
absl::Status CheckTogether(const PlayerSpec& spec) {
  const SearchPlayerOptions& search = spec.search;
  const bool gumbel = search.search.gumbel;
  const std::pair<bool, absl::string_view> conflicts[] = {
      {search.threads > 1 && gumbel,
       "threads cannot be combined with gumbel: a Gumbel root plans its visits "
       "one by one; expected threads=1 or gumbel=off"},
      {search.time > absl::ZeroDuration() && gumbel,
       "ms cannot be combined with gumbel: a Gumbel root plans for a number of "
       "simulations; expected sims or gumbel=off"},
      {search.ponder && gumbel,
       "ponder cannot be combined with gumbel: a Gumbel root plans for a "
       "number of simulations; expected ponder=off or gumbel=off"},
      {search.ponder && spec.policy_alone,
       "ponder cannot be combined with sims=0: the policy alone does not "
       "search; expected ponder=off or sims of at least 1"},
      {search.ponder && !search.reuse,
       "ponder cannot be combined with reuse=off: pondering grows the tree "
       "that is reused; expected ponder=off or reuse=on"},
  };
  for (const auto& [holds, what] : conflicts) {
    if (holds) return absl::InvalidArgumentError(what);
  }
  return absl::OkStatus();
}

// Returns the options of a network's player that a level stands for:
// "sims=64,...".
std::string OptionsOfLevel(int number) {
  const mcts::Level& level = mcts::kLevels[number - 1];
  const mcts::SearchOptions search = mcts::SearchOfLevel(level);
  return absl::StrCat(mcts::FormatSearchOptions(search),
                      // Default options of players.
                      search.solver_vacant_hills > 0 ? "" : ",solver_hills=0",
                      ",leaves=", mcts::LeavesTogether(level.simulations),
                      ",reuse=off,value_margin=", level.value_margin);
}

// Moves the number of a level at the beginning of `options` to the spec.
absl::Status TakeLevel(std::vector<absl::string_view>& options,
                       PlayerSpec& spec) {
  const absl::string_view number = options.empty() ? "" : options[0];
  if (!absl::SimpleAtoi(number, &spec.level) || spec.level < 1 ||
      spec.level > mcts::kNumLevels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no level '", Shown(number),
        "'; expected level:N, from 1 (weakest) to ", mcts::kNumLevels));
  }
  options.erase(options.begin());
  const mcts::Level& level = mcts::kLevels[spec.level - 1];
  spec.search.search = mcts::SearchOfLevel(level);
  spec.search.leaves_per_game = mcts::LeavesTogether(level.simulations);
  spec.search.reuse = false;
  spec.search.value_margin = level.value_margin;
  return absl::OkStatus();
}

absl::Status SetOptions(const std::vector<absl::string_view>& options,
                        PlayerSpec& spec) {
  TARA_ASSIGN_OR_RETURN(const std::vector<OptionText> list,
                        ParseOptionList(options));
  for (const OptionText& option : list) {
    TARA_RETURN_IF_ERROR(SetPlayerOption(option, spec));
    spec.options.emplace_back(option.name, option.value);
  }
  return CheckTogether(spec);
}

bool IsQuoted(absl::string_view path) {
  return absl::StartsWith(path, "\"") || absl::StartsWith(path, "'");
}

// Returns where the path ends in "PATH,OPTION=VALUE,...". It may hold commas:
// options are what follows it with a '='. One that begins with a quote ends as
// the command of an engine does.
size_t PathEnd(absl::string_view text) {
  if (IsQuoted(text)) return std::min(FindUnquoted(text, ','), text.size());
  size_t end = text.size();
  while (true) {
    const size_t comma = text.substr(0, end).rfind(',');
    if (comma == absl::string_view::npos ||
        !absl::StrContains(text.substr(comma, end - comma), '=')) {
      return end;
    }
    end = comma;
  }
}

// Returns the path as a spec has it: in quotes where it would end too early.
std::string PathText(const std::string& path) {
  if (PathEnd(path) == path.size() && !IsQuoted(path)) return path;
  return absl::StrCat(
      "\"", absl::StrReplaceAll(path, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

// Moves the path of a network at the beginning of the text to the spec, and
// leaves the options after it.
absl::Status TakePath(absl::string_view rest,
                      std::vector<absl::string_view>& options,
                      PlayerSpec& spec) {
  const size_t end = PathEnd(rest);
  spec.path = std::string(rest.substr(0, end));
  if (IsQuoted(rest)) {
    TARA_ASSIGN_OR_RETURN(const std::vector<std::string> words,
                          SplitCommand(spec.path));
    spec.path = absl::StrJoin(words, " ");
  }
  options.clear();
  if (end < rest.size()) options = absl::StrSplit(rest.substr(end + 1), ',');
  if (!spec.path.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no path; expected net:PATH, a checkpoint, a bundle or a run's folder, "
      "or best, the ready-made network");
}

// Returns "random, greedy, ... or engine:CMD".
std::string PlayerForms() {
  std::vector<absl::string_view> forms;
  for (const PlayerKindInfo& known : kPlayerKinds) forms.push_back(known.form);
  const absl::string_view last = forms.back();
  forms.pop_back();
  return absl::StrCat(absl::StrJoin(forms, ", "), " or ", last);
}

// Sets what the text of a spec says.
absl::Status ParseInto(PlayerSpec& spec) {
  const absl::string_view text = spec.text;
  const absl::string_view name = text.substr(0, text.find(':'));
  const bool has_rest = name.size() < text.size();
  const absl::string_view rest = has_rest ? text.substr(name.size() + 1) : "";
  spec.info = FindPlayerKind(name);
  if (spec.info == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown player '", Shown(name), "'; expected ", PlayerForms()));
  }
  spec.kind = spec.info->kind;
  std::vector<absl::string_view> options;
  if (has_rest) options = absl::StrSplit(rest, ',');
  switch (spec.kind) {
    case PlayerKind::kBaseline:
      if (spec.info->options != nullptr) break;
      if (!has_rest) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(name, " takes no options, got '", Shown(rest), "'"));
    case PlayerKind::kEngine: {
      TARA_ASSIGN_OR_RETURN(spec.engine, ParseEngineSpec(rest));
      return absl::OkStatus();
    }
    case PlayerKind::kMcts:
      spec.search.search.c_puct = mcts::kPlayoutCPuct;
      spec.search.leaves_per_game = mcts::kPlayoutLeaves;
      break;
    case PlayerKind::kNet:
      if (name == "best") break;
      TARA_RETURN_IF_ERROR(name == "level" ? TakeLevel(options, spec)
                                           : TakePath(rest, options, spec));
  }
  return SetOptions(options, spec);
}

std::string OptionsText(const PlayerSpec& spec) {
  return absl::StrJoin(spec.options, ",", absl::PairFormatter("="));
}

// Returns the text of a player that searches.
std::string TextOf(const PlayerSpec& spec) {
  const bool net = spec.kind == PlayerKind::kNet;
  const std::string player = spec.level > 0 ? absl::StrCat("level:", spec.level)
                             : !spec.path.empty()
                                 ? absl::StrCat("net:", PathText(spec.path))
                                 : std::string(net ? "best" : "mcts");
  if (spec.options.empty()) return player;
  const bool has_rest = spec.level > 0 || !spec.path.empty();
  return absl::StrCat(player, has_rest ? "," : ":", OptionsText(spec));
}

}  // namespace

OptionTable SearchPlayerOptionTable(PlayerSpec& spec) {
  OptionTable table = {
      {"ms", Milliseconds{&spec.search.time}, 1, 3600000,
       "milliseconds per action, replaces sims; 0: none"},
      {"leaves", &spec.search.leaves_per_game, 1, 1024,
       "leaves of a position in one batch"},
      {"threads", &spec.search.threads, 1, 256,
       "threads that search a position together"},
      {"reuse", &spec.search.reuse, "keep the tree of the last turn"},
      {"ponder", &spec.search.ponder,
       "search in the opponent's time; needs reuse"},
      {"lcb", &spec.search.confidence_z, 0, 100,
       "choose by mean - this x standard error; 0: visits"},
      {"temperature", &spec.search.temperature, 0, 100,
       "draw actions by visits^(1/this); 0: the best"},
      {"value_margin", &spec.search.value_margin, 0, 2,
       "loss of value accepted for a higher score now"},
  };
  if (spec.kind != PlayerKind::kNet) {
    table.push_back(
        {"playouts", &spec.playouts, 1, 100000, "mcts: random games per leaf"});
  }
  return table;
}

absl::Span<const PlayerKindInfo> PlayerKinds() { return kPlayerKinds; }

const PlayerKindInfo* FindPlayerKind(absl::string_view name) {
  for (const PlayerKindInfo& known : kPlayerKinds) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

absl::StatusOr<PlayerSpec> ParsePlayerSpec(absl::string_view text) {
  PlayerSpec spec = {.text = std::string(text)};
  TARA_RETURN_IF_ERROR(OfSpec(text, ParseInto(spec)));
  return spec;
}

int GamesAtATime(const PlayerSpec& spec, int games) {
  return spec.kind == PlayerKind::kEngine || spec.search.threads > 1 ? 1
                                                                     : games;
}

PlayerSpec NetworkPlayer(const std::string& path, int simulations) {
  PlayerSpec spec = {.kind = PlayerKind::kNet,
                     .path = path,
                     .options = {{"sims", absl::StrCat(simulations)}},
                     .policy_alone = simulations == 0};
  spec.text = TextOf(spec);
  if (simulations > 0) spec.search.search.simulations = simulations;
  return spec;
}

absl::StatusOr<PlayerSpec> WithOption(PlayerSpec spec, absl::string_view name,
                                      absl::string_view value) {
  std::erase_if(spec.options,
                [&](const auto& option) { return option.first == name; });
  spec.options.emplace_back(name, value);
  spec.text = TextOf(spec);
  const std::string text = absl::StrCat(name, "=", value);
  TARA_RETURN_IF_ERROR(OfSpec(
      spec.text,
      SetPlayerOption(
          {.text = text, .name = name, .value = value, .has_value = true},
          spec)));
  TARA_RETURN_IF_ERROR(OfSpec(spec.text, CheckTogether(spec)));
  return spec;
}

std::string NetworkOptionsOf(const PlayerSpec& spec) {
  const std::string given = OptionsText(spec);
  if (spec.level == 0) return given;
  return absl::StrCat(OptionsOfLevel(spec.level), given.empty() ? "" : ",",
                      given);
}

std::string PlayerSpecHelp() {
  PlayerSpec spec;  // the defaults
  std::string baselines;
  for (const PlayerKindInfo& known : kPlayerKinds) {
    absl::StrAppend(&baselines, known.help);
  }
  return absl::StrCat(
      baselines, R"(  mcts[:OPTION=VALUE,...]
              search with random games; default c_puct )",
      mcts::kPlayoutCPuct, ", leaves ", mcts::kPlayoutLeaves, R"(
  net:PATH[,OPTION=VALUE,...]
              search with a network; sims=0 plays the policy without a search.
              PATH is a checkpoint, a model bundle (FILE.tara) or the folder of
              a run (its latest checkpoint). Also device (cpu), precision (auto)
              and backend (auto) of inference
  best[:OPTION=VALUE,...]
              the same with the ready-made network, models/tara.tara
  level:N     the ready-made network at a level of strength for people, from 1
              (weakest) to )",
      mcts::kNumLevels, R"(; `tara levels` lists them with their Elo
  engine:CMD[,OPTION=VALUE,...]
              an external program that speaks the line protocol
              (docs/how-to/compare.md). CMD is the program and its arguments,
              quoted as in a shell, but not run by one. A program that hangs,
              exits or breaks the rules loses the game

Options of alphabeta: limits per action; 0: none
)",
      OptionsHelp(AlphaBetaOptionTable(spec)), R"(
Options of engine; times in seconds
)",
      OptionsHelp(EngineOptionTable(spec.engine)), R"(
Options of mcts, net and best. Milliseconds are processor time, or wall time
with several threads. Threads search together only if one position is
searched at a time. Pondering is for `play` and games with clocks.
)",
      OptionsHelp(SearchPlayerOptionTable(spec)),
      mcts::SearchOptionsHelp(spec.search.search));
}

namespace {

// Whether a player spec begins here; a plus sign may be part of a path.
bool BeginsPlayer(absl::string_view text) {
  for (const PlayerKindInfo& known : PlayerKinds()) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, known.name)) continue;
    if (rest.empty() || rest[0] == ':' || rest[0] == '+') return true;
  }
  return false;
}

std::vector<absl::string_view> SplitTeam(absl::string_view text) {
  std::vector<absl::string_view> players;
  size_t begin = 0;
  const auto find = [text, &begin](size_t from) {
    const absl::string_view player = text.substr(begin);
    const bool has_quotes = absl::StartsWith(player, "engine:") ||
                            absl::StartsWith(player, "net:\"") ||
                            absl::StartsWith(player, "net:'");
    return has_quotes ? FindUnquoted(text, '+', from) : text.find('+', from);
  };
  size_t plus = find(0);
  while (plus != absl::string_view::npos) {
    if (BeginsPlayer(text.substr(plus + 1))) {
      players.push_back(text.substr(begin, plus - begin));
      begin = plus + 1;
    }
    plus = find(plus + 1);
  }
  players.push_back(text.substr(begin));
  return players;
}

}  // namespace

TeamSpec MakeTeam(std::vector<PlayerSpec> players) {
  TeamSpec team = {.text = players[0].text, .players = std::move(players)};
  if (team.players.size() == 1) return team;
  absl::StrAppend(&team.text, "+", team.players[1].text);
  if (team.players[0].text == team.players[1].text) team.players.pop_back();
  return team;
}

absl::StatusOr<TeamSpec> ParseTeamSpec(absl::string_view text) {
  const std::vector<absl::string_view> players = SplitTeam(text);
  if (players.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad team '", text, "': ", players.size(),
                     " players; expected SPEC or SPEC+SPEC"));
  }
  TeamSpec team = {.text = std::string(text), .players = {}};
  for (const absl::string_view player : players) {
    if (!team.players.empty() && team.players[0].text == player) continue;
    TARA_ASSIGN_OR_RETURN(team.players.emplace_back(), ParsePlayerSpec(player));
  }
  return team;
}

int GamesAtATime(const TeamSpec& team, int games) {
  for (const PlayerSpec& player : team.players) {
    games = GamesAtATime(player, games);
  }
  return games;
}

absl::Status CheckTeam(const TeamSpec& team, Variant variant) {
  if (team.seatings() == 1 || Info(variant).seats == 4) return absl::OkStatus();
  std::vector<absl::string_view> doubles;
  for (const VariantInfo& info : kVariants) {
    if (info.seats == 4) doubles.push_back(info.id);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a team of two players, '", team.text, "', cannot play ",
                   Info(variant).id, ", where a side has one seat; ",
                   "expected one of ", absl::StrJoin(doubles, ", ")));
}

namespace {

class TeamPlayer : public Player {
 public:
  TeamPlayer(std::unique_ptr<Player> first, std::unique_ptr<Player> second)
      : members_{std::move(first), std::move(second)} {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (int member = 0; member < 2; ++member) {
      std::vector<Turn> its_turns;
      std::vector<size_t> places;
      for (size_t i = 0; i < turns.size(); ++i) {
        if (MemberOf(turns[i]) != member) continue;
        its_turns.push_back(turns[i]);
        places.push_back(i);
      }
      if (its_turns.empty()) continue;
      std::vector<Action> its_actions(its_turns.size());
      TARA_RETURN_IF_ERROR(members_[member]->ChooseActions(
          its_turns, absl::MakeSpan(its_actions)));
      for (size_t i = 0; i < its_turns.size(); ++i) {
        actions[places[i]] = its_actions[i];
        Agree(member, its_turns[i]);
      }
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override {
    for (const auto& member : members_) member->EndGame(game);
    proved_.erase(game);
  }

 private:
  static int MemberOf(const Turn& turn) {
    return (turn.state.seat / 2 + turn.seating) % 2;
  }

  // Leaves of what a member has proved what its partner has, too.
  void Agree(int member, const Turn& turn) {
    if (turn.report == nullptr) return;
    std::optional<int>& margin = turn.report->proved_margin;
    auto& proved = proved_[turn.game];
    // A forced choice is made without a thought.
    if (LegalActions(turn.state).Count() > 1) proved[member] = margin;
    if (proved[0] != proved[1]) margin = std::nullopt;
  }

  const std::array<std::unique_ptr<Player>, 2> members_;
  // Per game and member: the margin for their side, at the last choice.
  std::map<uint64_t, std::array<std::optional<int>, 2>> proved_;
};

}  // namespace

std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second) {
  return std::make_unique<TeamPlayer>(std::move(first), std::move(second));
}

}  // namespace tara::eval
