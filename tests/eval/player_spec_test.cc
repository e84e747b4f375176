#include "tara/eval/players/player_spec.h"

#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/time/time_manager.h"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

PlayerSpec Parsed(absl::string_view text) {
  const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(PlayerSpec());
}

std::string ErrorOf(absl::string_view text) {
  const absl::Status status = ParsePlayerSpec(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(PlayerSpecTest, PlainKindsNeedNoMore) {
  EXPECT_EQ(Parsed("random").info->name, "random");
  EXPECT_EQ(Parsed("greedy").info->name, "greedy");
  EXPECT_EQ(Parsed("mcts").kind, PlayerKind::kMcts);
  EXPECT_EQ(Parsed("mcts").search.search.c_puct, 3.0f);
  EXPECT_EQ(Parsed("net:x").search.search.c_puct, 1.5f);
}

TEST(PlayerSpecTest, OptionsSetWhatTheyName) {
  const PlayerSpec mcts =
      Parsed("mcts:sims=1000,playouts=4,c_puct=2.5,graph=on");
  EXPECT_EQ(mcts.kind, PlayerKind::kMcts);
  EXPECT_EQ(mcts.search.search.simulations, 1000);
  EXPECT_EQ(mcts.search.search.c_puct, 2.5f);
  EXPECT_TRUE(mcts.search.search.graph_search);
  EXPECT_EQ(mcts.playouts, 4);
  const PlayerSpec net =
      Parsed("net:runs/first,ms=20,leaves=8,reuse=on,lcb=5,proof=on");
  EXPECT_EQ(net.kind, PlayerKind::kNet);
  EXPECT_EQ(net.path, "runs/first");
  EXPECT_FALSE(net.policy_alone);
  EXPECT_EQ(net.search.time, absl::Milliseconds(20));
  EXPECT_EQ(net.search.leaves_per_game, 8);
  EXPECT_TRUE(net.search.reuse);
  EXPECT_EQ(net.search.confidence_z, 5);
  EXPECT_TRUE(net.search.search.proof);
  EXPECT_TRUE(Parsed("net:runs/first,sims=0").policy_alone);
  EXPECT_EQ(Parsed("mcts:gumbel=on").search.search.gumbel_noise, 0);
  EXPECT_EQ(Parsed("mcts:gumbel=on,gumbel_noise=1").search.search.gumbel_noise,
            1);
  EXPECT_EQ(Parsed("mcts:threads=4").search.threads, 4);
  EXPECT_TRUE(Parsed("net:x,ponder=on").search.ponder);
}

TEST(PlayerSpecTest, AnAlphaBetaPlayerHasALimit) {
  const PlayerSpec plain = Parsed("alphabeta");
  EXPECT_EQ(plain.info->name, "alphabeta");
  // One limit alone is the only one.
  EXPECT_EQ(Parsed("alphabeta:depth=4").depth, 4);
  EXPECT_EQ(Parsed("alphabeta:depth=4").nodes, 0);
  const PlayerSpec all = Parsed("alphabeta:nodes=5,depth=4,ms=3");
  EXPECT_EQ(all.nodes, 5);
  EXPECT_EQ(all.depth, 4);
  EXPECT_EQ(all.time_ms, 3);
}

TEST(PlayerSpecTest, WhatCannotGoTogetherIsRefused) {
  for (const auto& [text, error] : std::map<std::string, std::string>{
           {"mcts:gumbel=on,threads=2",
            "threads cannot be combined with gumbel: a Gumbel root plans its "
            "visits one by one; expected threads=1 or gumbel=off"},
           {"mcts:gumbel=on,ms=20",
            "ms cannot be combined with gumbel: a Gumbel root plans for a "
            "number of simulations; expected sims or gumbel=off"},
           {"mcts:ponder=on,gumbel=on",
            "ponder cannot be combined with gumbel: a Gumbel root plans for a "
            "number of simulations; expected ponder=off or gumbel=off"},
           {"mcts:reuse=off,ponder=on",
            "ponder cannot be combined with reuse=off: pondering grows the "
            "tree that is reused; expected ponder=off or reuse=on"},
           {"net:x,sims=0,ponder=on",
            "ponder cannot be combined with sims=0: the policy alone does not "
            "search; expected ponder=off or sims of at least 1"}}) {
    EXPECT_EQ(ErrorOf(text),
              absl::StrCat("bad player spec '", text, "': ", error));
  }
  EXPECT_EQ(Parsed("mcts:gumbel=on,threads=1").search.threads, 1);
}

TEST(PlayerSpecTest, TheUtilityIsChosenByName) {
  const auto utility = [](absl::string_view text) {
    return Parsed(text).search.search.utility.kind;
  };
  EXPECT_EQ(utility("mcts"), mcts::UtilityKind::kWinLoss);
  EXPECT_EQ(utility("mcts:utility=win"), mcts::UtilityKind::kWinLoss);
  EXPECT_EQ(utility("mcts:utility=points"), mcts::UtilityKind::kPoints);
  EXPECT_EQ(utility("net:x,utility=mix"), mcts::UtilityKind::kMix);
  EXPECT_EQ(utility("net:x,utility=match,sims=5"), mcts::UtilityKind::kMatch);
}

TEST(PlayerSpecTest, GamesAtATimeAreThoseThatAPlayerCanTake) {
  EXPECT_EQ(GamesAtATime(Parsed("mcts"), 64), 64);
  EXPECT_EQ(GamesAtATime(Parsed("mcts:threads=2"), 64), 1);
  EXPECT_EQ(GamesAtATime(Parsed("engine:x"), 64), 1);
}

TEST(PlayerSpecTest, PathsMayHoldColonsAndCommas) {
  EXPECT_EQ(Parsed("net:a:b").path, "a:b");
  const PlayerSpec spec = Parsed("net:with,comma/x.pt,sims=3");
  EXPECT_EQ(spec.path, "with,comma/x.pt");
  EXPECT_EQ(spec.search.search.simulations, 3);
}

// As commands of engines may be.
TEST(PlayerSpecTest, PathsMayBeInQuotes) {
  struct Case {
    std::string text, path, options;
  };
  for (const Case& each : std::vector<Case>{
           {"net:'a,b=c.tara',sims=3", "a,b=c.tara", "sims=3"},
           {"net:'a,b=c.tara'", "a,b=c.tara", ""},
           {R"(net:"it's \"x\", y=1.tara",graph=on)", R"(it's "x", y=1.tara)",
            "graph=on"},
           {"net:it's.tara,sims=3", "it's.tara", "sims=3"},
       }) {
    EXPECT_EQ(Parsed(each.text).path, each.path);
    EXPECT_EQ(NetworkOptionsOf(Parsed(each.text)), each.options);
    // What the program makes of a path comes back as it.
    const PlayerSpec made = NetworkPlayer(each.path, 5);
    EXPECT_EQ(Parsed(made.text).path, each.path);
    EXPECT_EQ(Parsed(made.text).search.search.simulations, 5);
    EXPECT_EQ(NetworkOptionsOf(made), "sims=5");
  }
  EXPECT_EQ(NetworkPlayer("runs/a,b", 5).text, "net:runs/a,b,sims=5");
  EXPECT_THAT(ErrorOf("net:'a,sims=5"), HasSubstr("a quote does not"));
  EXPECT_THAT(ErrorOf("net:'',sims=5"), HasSubstr("no path"));
}

TEST(PlayerSpecTest, BlanksAroundOptionsCountForNothing) {
  const PlayerSpec spec = Parsed("net:x.tara, sims=50 , c_puct = 2");
  EXPECT_EQ(spec.search.search.simulations, 50);
  EXPECT_EQ(spec.search.search.c_puct, 2);
  EXPECT_EQ(NetworkOptionsOf(spec), "sims=50,c_puct=2");
}

TEST(PlayerSpecTest, AnOptionTakesThePlaceOfAnEarlierOne) {
  const auto text = [](const char* spec, const char* name, const char* value) {
    const absl::StatusOr<PlayerSpec> changed =
        WithOption(Parsed(spec), name, value);
    return changed.ok() ? changed->text : changed.status().ToString();
  };
  EXPECT_EQ(text("mcts:sims=9,graph=on", "sims", "50"),
            "mcts:graph=on,sims=50");
  EXPECT_EQ(text("mcts", "sims", "50"), "mcts:sims=50");
  EXPECT_EQ(text("best", "precision", "int8"), "best:precision=int8");
  EXPECT_EQ(text("net:'a,b=c',sims=9", "sims", "50"), "net:\"a,b=c\",sims=50");
  EXPECT_EQ(text("level:3,precision=auto", "precision", "int8"),
            "level:3,precision=int8");
  const PlayerSpec searches =
      WithOption(Parsed("net:x,sims=0"), "sims", "50").value();
  EXPECT_FALSE(searches.policy_alone);
  EXPECT_EQ(searches.search.search.simulations, 50);
  EXPECT_THAT(text("level:3", "sims", "5"),
              HasSubstr("bad player spec 'level:3,sims=5': a level has no "
                        "option 'sims=5'"));
  EXPECT_THAT(text("mcts:threads=2", "gumbel", "on"),
              HasSubstr("threads cannot be combined with gumbel"));
}

TEST(PlayerSpecTest, NumbersAreDecimal) {
  for (const char* const text :
       {"mcts:c_puct=0x1p3", "mcts:sims=0x10", "mcts:fpu=absolute:0x1",
        "alphabeta:depth=0x2", "engine:x,move=0x10", "mcts:ms=0x10"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("; expected "));
  }
}

TEST(PlayerSpecTest, BestIsANetworkWithoutAPathAndTakesItsOptions) {
  const PlayerSpec best = Parsed("best");
  EXPECT_EQ(best.kind, PlayerKind::kNet);
  EXPECT_EQ(best.path, "");
  EXPECT_EQ(best.search.search.c_puct, Parsed("net:x").search.search.c_puct);
  EXPECT_EQ(Parsed("best:sims=7,graph=on").search.search.simulations, 7);
  EXPECT_TRUE(Parsed("best:sims=0").policy_alone);
  EXPECT_THAT(ErrorOf("net:"), HasSubstr("or best"));
  EXPECT_THAT(ErrorOf("best:playouts=3"), HasSubstr("playouts"));
}

TEST(PlayerSpecTest, ErrorsNameThePartAndWhatWasExpected) {
  for (const auto& [text, error] : std::map<std::string, std::string>{
           {"gredy",
            "unknown player 'gredy'; expected random, greedy, "
            "alphabeta[:nodes=N], mcts[:sims=N], best[:sims=N], level:N, "
            "net:PATH[,sims=N] or engine:CMD"},
           {"engine",
            "no command; expected engine:CMD, a program and its arguments"},
           {"random:sims=3", "random takes no options, got 'sims=3'"},
           {"mcts:sims=many",
            "sims is 'many'; expected a whole number from 1 to 16777214"},
           {"mcts:depth=3",
            "unknown option 'depth=3'; expected ms, leaves, threads, reuse, "
            "ponder, lcb, temperature, value_margin, playouts, or a search "
            "option such as sims, c_puct or graph; --help lists them"},
           {"net:x,playouts=3",
            "unknown option 'playouts=3'; expected ms, leaves, threads, reuse, "
            "ponder, lcb, temperature, value_margin, device, precision, "
            "backend, or a search option such as sims, c_puct or graph; --help "
            "lists them"},
           {"alphabeta:sims=3",
            "unknown option 'sims=3'; expected nodes, depth, ms"},
           {"alphabeta:depth=101",
            "depth is '101'; expected a whole number from 1 to 100"},
           {"mcts:sims=3,sims=4", "sims is given twice; expected it once"},
           {"mcts:c_puct=-1",
            "c_puct is '-1'; expected a number from 0 to 100"},
           {"mcts:utility=fame",
            "utility is 'fame'; expected win, points, mix or match"},
           {"net:a.ckpt,precision=half",
            "precision is 'half'; expected one of auto, float32, bfloat16, "
            "float16, int8"},
           {"net:a.ckpt,device=gpu",
            "device is 'gpu'; expected cpu, cuda, cuda:N or cuda:all"}}) {
    EXPECT_EQ(ErrorOf(text),
              absl::StrCat("bad player spec '", text, "': ", error));
  }
}

TEST(PlayerSpecTest, WhatIsMissingOrOutOfRangeIsRefused) {
  std::vector<std::string> bad = absl::StrSplit(
      ": mcts: mcts:sims mcts:sims= mcts:sims=0 mcts:sims=16777215 "
      "mcts:sims=1.5 mcts:sims=1, mcts:playouts=0 mcts:ms=0 mcts:leaves=0 "
      "mcts:reuse=yes mcts:ponder=yes mcts:threads=0 mcts:lcb=-1 mcts:graph=1 "
      "mcts:c_puct=nan mcts:c_puct=inf mcts:utility mcts:utility= "
      "mcts:precision=int8 net net: net:,sims=1 net:x,sims=-1 alphabeta: "
      "alphabeta:threads=2 alphabeta:nodes=0 alphabeta:nodes=1e6 "
      "alphabeta:ms=-1 alphabeta:depth alphabeta:depth=2, "
      "alphabeta:depth=2,depth=3 Random random:",
      ' ');
  bad.emplace_back("");
  bad.emplace_back(" greedy");
  for (const std::string& text : bad) {
    EXPECT_TRUE(absl::StartsWith(ErrorOf(text), "bad player spec '")) << text;
  }
}

TEST(PlayerSpecTest, HelpNamesEveryKind) {
  const std::string help = absl::StrCat("\n", PlayerSpecHelp());
  for (const PlayerKindInfo& kind : PlayerKinds()) {
    EXPECT_THAT(help, HasSubstr(absl::StrCat("\n  ", kind.name)));
  }
}

TEST(PlayerSpecTest, ANetworkMayBeComputedInAnyWayThereIs) {
  const PlayerSpec spec =
      Parsed("net:runs/first,precision=int8,device=cuda:1,backend=torch");
  EXPECT_EQ(spec.path, "runs/first");
  EXPECT_EQ(spec.inference.precision, nn::Precision::kInt8);
  EXPECT_EQ(spec.inference.device, "cuda:1");
  EXPECT_EQ(spec.inference.backend, nn::InferenceBackend::kTorch);
}

TEST(PlayerSpecTest, ALevelIsTheReadyMadeNetworkWithItsOptions) {
  for (int number = 1; number <= mcts::kNumLevels; ++number) {
    const PlayerSpec level = Parsed(absl::StrCat("level:", number));
    EXPECT_EQ(level.kind, PlayerKind::kNet);
    EXPECT_EQ(level.level, number);
    EXPECT_EQ(level.path, "");
    const mcts::Level& row = mcts::kLevels[number - 1];
    EXPECT_EQ(level.search.search.simulations, row.simulations);
    EXPECT_EQ(level.search.value_margin, row.value_margin);
    EXPECT_FALSE(level.search.reuse);
    EXPECT_EQ(mcts::FormatSearchOptions(level.search.search),
              mcts::FormatSearchOptions(mcts::SearchOfLevel(row)));
    // What it stands for says so itself, whatever levels are later.
    const PlayerSpec best = Parsed("best:" + NetworkOptionsOf(level));
    EXPECT_EQ(mcts::FormatSearchOptions(best.search.search),
              mcts::FormatSearchOptions(level.search.search));
    EXPECT_EQ(best.search.value_margin, level.search.value_margin);
    EXPECT_EQ(best.search.leaves_per_game, level.search.leaves_per_game);
    EXPECT_EQ(NetworkOptionsOf(best), NetworkOptionsOf(level));
  }
  const PlayerSpec exact = Parsed("level:2,precision=float32");
  EXPECT_EQ(exact.inference.precision, nn::Precision::kFloat32);
  EXPECT_TRUE(absl::EndsWith(NetworkOptionsOf(exact), ",precision=float32"));
}

TEST(PlayerSpecTest, ErrorsOfLevelsSayWhatThereIs) {
  for (const char* const text :
       {"level", "level:", "level:0", "level:11", "level:x", "level:1.5"}) {
    EXPECT_THAT(ErrorOf(text),
                HasSubstr("expected level:N, from 1 (weakest) to 10"));
  }
  EXPECT_THAT(ErrorOf("level:3,sims=5"),
              HasSubstr("a level has no option 'sims=5'"));
  EXPECT_THAT(ErrorOf("level:3,precision=int8,precision=int8"),
              HasSubstr("precision is given twice"));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Words(absl::string_view text) {
  return SplitCommand(text).value_or(std::vector<std::string>{"error"});
}

TEST(SplitCommandTest, SplitsWordsAsAShellWould) {
  EXPECT_THAT(Words(""), IsEmpty());
  EXPECT_THAT(Words("  a  b\tc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Words("'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(Words("a'b c'\"d\"e"), ElementsAre("ab cde"));
  EXPECT_THAT(Words("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(Words("'a\\b' \"a\\b\\\"\\\\\""),
              ElementsAre("a\\b", "a\\b\"\\"));
  EXPECT_THAT(Words("$HOME *"), ElementsAre("$HOME", "*"));
}

TEST(SplitCommandTest, AQuoteMustEnd) {
  EXPECT_THAT(SplitCommand("a 'b c"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a quote does not end in 'a 'b c'")));
  EXPECT_FALSE(SplitCommand("a \"b").ok());
}

TEST(FindUnquotedTest, PassesOverQuotes) {
  EXPECT_EQ(FindUnquoted("a,b", ','), 1u);
  EXPECT_EQ(FindUnquoted("'a,b',c", ','), 5u);
  EXPECT_EQ(FindUnquoted("a\\,b", ','), absl::string_view::npos);
  EXPECT_EQ(FindUnquoted("a,b,c", ',', 2), 3u);
}

TEST(EngineSpecTest, ACommandAloneHasLimits) {
  const absl::StatusOr<EngineSpec> spec = ParseEngineSpec("./engine --level 3");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->command, ElementsAre("./engine", "--level", "3"));
  EXPECT_EQ(spec->start_limit, absl::Seconds(30));
  EXPECT_EQ(spec->move_limit, absl::Seconds(60));
  EXPECT_EQ(spec->grace, absl::Seconds(2));
  EXPECT_EQ(spec->log, "");
}

TEST(EngineSpecTest, OptionsFollowTheFirstCommaOutsideOfQuotes) {
  const absl::StatusOr<EngineSpec> spec = ParseEngineSpec(
      "tara engine --player 'mcts:sims=10,graph=on',start=5,move=0.5,grace=0,"
      "log=/tmp/x.log");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->command, ElementsAre("tara", "engine", "--player",
                                         "mcts:sims=10,graph=on"));
  EXPECT_EQ(spec->start_limit, absl::Seconds(5));
  EXPECT_EQ(spec->move_limit, absl::Milliseconds(500));
  EXPECT_EQ(spec->grace, absl::ZeroDuration());
  EXPECT_EQ(spec->log, "/tmp/x.log");
}

TEST(EngineSpecTest, WhatCannotBeIsRefused) {
  for (const auto& [text, error] : std::map<std::string, std::string>{
           {"", "no command; expected engine:CMD"},
           {" ,move=5", "no command"},
           {"'' x", "no command"},
           {"a 'b", "a quote does not end"},
           {"a --player mcts:sims=10,graph=on",
            "unknown option 'graph=on'; expected start=S"},
           {"a,sims=5", "quote commas"},
           {"a,move=0", "move is '0'; expected seconds"},
           {"a,move=nan", "move is 'nan'"},
           {"a,start=", "start is ''"},
           {"a,grace=-1", "grace is '-1'"},
           {"a,log=", "log is ''; expected a text"},
           {"a,move=1,move=2", "move is given twice"}}) {
    EXPECT_THAT(ParseEngineSpec(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)));
  }
}

// Teams of two players: their specs, who has which seat, and the arena.

std::vector<std::string> Members(absl::string_view text) {
  const absl::StatusOr<TeamSpec> team = ParseTeamSpec(text);
  EXPECT_TRUE(team.ok()) << team.status();
  std::vector<std::string> members;
  if (!team.ok()) return members;
  for (const PlayerSpec& player : team->players) {
    members.push_back(player.text);
  }
  return members;
}

TEST(SetTeamsTest, ADeviceGetsMoreConcurrentGames) {
  const auto games_of = [](const std::string& a, const std::string& b) {
    ArenaOptions options = {.concurrent_games = 10};
    SetTeams(ParseTeamSpec(a).value(), ParseTeamSpec(b).value(), options);
    return options.concurrent_games;
  };
  EXPECT_EQ(games_of("net:x", "greedy"), 10);
  EXPECT_EQ(games_of("net:x,device=cuda", "greedy"), 80);
  EXPECT_EQ(games_of("greedy", "greedy+net:x,device=cuda"), 80);
  EXPECT_EQ(games_of("net:x,device=cuda", "engine:y"), 1);
}

TEST(TeamSpecTest, APlusSignBeforeAPlayerJoinsTwo) {
  EXPECT_THAT(Members("greedy"), ElementsAre("greedy"));
  EXPECT_THAT(Members("greedy+random"), ElementsAre("greedy", "random"));
  EXPECT_THAT(Members("mcts:sims=10,c_puct=2+net:runs/a,sims=5"),
              ElementsAre("mcts:sims=10,c_puct=2", "net:runs/a,sims=5"));
  EXPECT_THAT(Members("best:sims=9+best"), ElementsAre("best:sims=9", "best"));
  EXPECT_THAT(Members("net:'a+greedy,b=c.tara',sims=2+random"),
              ElementsAre("net:'a+greedy,b=c.tara',sims=2", "random"));
  // Part of a path, of a number, of a quoted command.
  EXPECT_THAT(Members("net:runs/a+b"), ElementsAre("net:runs/a+b"));
  EXPECT_THAT(Members("net:runs/a+network"), ElementsAre("net:runs/a+network"));
  EXPECT_THAT(Members("mcts:c_puct=1e+1"), ElementsAre("mcts:c_puct=1e+1"));
  EXPECT_THAT(Members("engine:'a+greedy'+greedy"),
              ElementsAre("engine:'a+greedy'", "greedy"));
  EXPECT_THAT(Members("net:it's/a+random"),
              ElementsAre("net:it's/a", "random"));
  // The same player twice is that player.
  EXPECT_THAT(Members("greedy+greedy"), ElementsAre("greedy"));
}

TEST(TeamSpecTest, WhatCannotBeIsRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseTeamSpec("greedy+random+mcts"),
              StatusIs(kInvalid, HasSubstr("'greedy+random+mcts': 3 players")));
  EXPECT_THAT(ParseTeamSpec("greedy+mcts:x=1"),
              StatusIs(kInvalid, HasSubstr("bad player spec 'mcts:x=1'")));
  EXPECT_FALSE(ParseTeamSpec("").ok());
}

TEST(TeamSpecTest, TwoPlayersNeedAVariantInPairs) {
  const TeamSpec two = *ParseTeamSpec("greedy+random");
  const TeamSpec one = *ParseTeamSpec("greedy");
  for (const VariantInfo& info : kVariants) {
    EXPECT_TRUE(CheckTeam(one, info.variant).ok());
    EXPECT_EQ(CheckTeam(two, info.variant).ok(), info.seats == 4) << info.id;
  }
  EXPECT_EQ(CheckTeam(two, Variant::kPoisonedChalice).message(),
            "a team of two players, 'greedy+random', cannot play "
            "poisoned_chalice, where a side has one seat; expected one of "
            "sacred_hill_doubles_l1, sacred_hill_doubles_l2, "
            "four_treasures_doubles");
}

TEST(PlayerIdentityTest, IsWhatGamesDependOn) {
  const auto identity = [](absl::string_view team) {
    return PlayerIdentity(ParseTeamSpec(team).value());
  };
  EXPECT_EQ(identity("greedy").value_or(""), "greedy");
  EXPECT_EQ(identity("greedy+greedy").value_or(""), "greedy");
  EXPECT_EQ(identity("greedy+mcts:sims=5").value_or(""), "greedy+mcts:sims=5");
  // Engines say who they are; where they log has no part in it.
  EXPECT_EQ(identity("engine:tests/eval/fake_engine,start=300,log=/dev/null,"
                     "move=2")
                .value_or(""),
            "engine:tests/eval/fake_engine,move=2s (Fake 1.0)");
  EXPECT_FALSE(identity("engine:/no/such/engine").ok());
}

// Notes in which seats of which games it is asked.
class NotingPlayer : public Player {
 public:
  explicit NotingPlayer(std::map<std::pair<uint64_t, int>, std::string>* seats,
                        std::string name)
      : seats_(*seats), name_(std::move(name)) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (const Turn& turn : turns) {
      std::string& name = seats_[{turn.game, turn.state.seat}];
      EXPECT_TRUE(name.empty() || name == name_);
      name = name_;
    }
    return fixed_.ChooseActions(turns, actions);
  }

 private:
  std::map<std::pair<uint64_t, int>, std::string>& seats_;
  const std::string name_;
  FixedPlayer fixed_;
};

// Returns the players by seat, "ACBC", of the games of an arena of A with B
// against C with D, in the order in which they were begun.
std::vector<std::string> Seatings(ArenaOptions options, bool d_is_c) {
  std::map<std::pair<uint64_t, int>, std::string> seats;
  const auto note = [&](const std::string& name) {
    return std::make_unique<NotingPlayer>(&seats, name);
  };
  options.variant = Variant::kFourTreasuresDoubles;
  options.seatings_a = 2;
  options.seatings_b = d_is_c ? 1 : 2;
  const auto ab = NewTeamPlayer(note("A"), note("B"));
  const auto cd = d_is_c ? std::unique_ptr<Player>(note("C"))
                         : NewTeamPlayer(note("C"), note("D"));
  Play(options, *ab, *cd);
  std::map<uint64_t, std::string> games;
  for (const auto& [key, name] : seats) games[key.first] += name;
  std::vector<std::string> all;
  for (const auto& [game, names] : games) all.push_back(names);
  return all;
}

TEST(TeamArenaTest, EachOpeningIsPlayedWithPartnersSeatedEitherWay) {
  EXPECT_THAT(Seatings({.games = 1}, /*d_is_c=*/true),
              ElementsAre("ACBC", "CACB", "BCAC", "CBCA"));
  EXPECT_THAT(Seatings({.games = 1}, /*d_is_c=*/false),
              ElementsAre("ACBD", "CADB", "BCAD", "CBDA",  //
                          "ADBC", "DACB", "BDAC", "DBCA"));
}

TEST(TeamArenaTest, InMatchesEverybodyMovesOnByASeat) {
  EXPECT_THAT(Seatings({.by_match = true, .games = 1}, /*d_is_c=*/false),
              ElementsAre("ACBD", "CBDA", "BDAC", "DACB",  // A starts
                          "CADB", "ADBC", "DBCA", "BCAD",  // C starts
                          "BCAD", "CADB", "ADBC", "DBCA",  // B starts
                          "CBDA", "BDAC", "DACB", "ACBD",  // C starts
                          "ADBC", "DBCA", "BCAD", "CADB",  //
                          "DACB", "ACBD", "CBDA", "BDAC",  //
                          "BDAC", "DACB", "ACBD", "CBDA",  //
                          "DBCA", "BCAD", "CADB", "ADBC"));
}

TEST(TeamArenaTest, TheGamesOfAnOpeningCountAsOne) {
  const ArenaResult result = Play(
      {.variant = Variant::kSacredHillDoublesL1, .games = 101, .seatings_a = 2},
      "random+greedy", "random");
  EXPECT_EQ(result.games, 104);  // whole openings, of four games
  EXPECT_EQ(result.pairs_per_opening, 2);
  for (int i = 0; i < 104; ++i) EXPECT_EQ(result.played[i].pair, i / 2);
  const ArenaResult as_pairs = SummarizeGames(result.played);
  EXPECT_DOUBLE_EQ(as_pairs.score.mean, result.score.mean);
  EXPECT_NE(as_pairs.score.low, result.score.low);
}

TEST(TeamArenaTest, OneSidedGamesOfOpeningsAreNotTakenForMany) {
  // Two openings: all games of the first are won, all of the second lost. With
  // four games of an opening as one there are two values, 1 and 0: one of two
  // trials, which happens or is exceeded with 2.5 % at 1 - sqrt(0.975).
  std::vector<ArenaGame> games;
  for (int pair = 0; pair < 4; ++pair) {
    for (const bool a_is_red : {true, false}) {
      games.push_back({.pair = pair,
                       .a_is_red = a_is_red,
                       .margin = pair < 2 ? 3.0 : -3.0});
    }
  }
  const ArenaResult result = SummarizeGames(games, 2);
  EXPECT_EQ(result.score.mean, 0.5);
  EXPECT_NEAR(result.score.low, 1 - std::sqrt(0.975), 1e-9);
  EXPECT_NEAR(result.score.high, std::sqrt(0.975), 1e-9);
  // Margins +3 and -3: s^2 = 18, t of one degree of freedom is 12.7062.
  EXPECT_NEAR(result.margin.high, 12.7062 * 3, 0.001);
}

TEST(TeamArenaTest, WhatATeamCannotPlayIsRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(
      CheckArenaOptions({.variant = Variant::kSacredHillL1, .seatings_b = 2}),
      StatusIs(kInvalid, HasSubstr("cannot play sacred_hill_l1")));
  EXPECT_THAT(CheckArenaOptions({.variant = Variant::kSacredHillDoublesL1,
                                 .seatings_a = 2,
                                 .sprt = SprtOptions()}),
              StatusIs(kInvalid, HasSubstr("a sequential test")));
}

TEST(TeamArenaTest, ATeamHasProvedWhatBothPartnersHave) {
  const auto adjudicated = [](std::optional<int> first,
                              std::optional<int> second) {
    const auto team = NewTeamPlayer(std::make_unique<ProvingPlayer>(first),
                                    std::make_unique<ProvingPlayer>(second));
    ProvingPlayer other(0);
    return PlayArena({.variant = Variant::kSacredHillDoublesL2,
                      .games = 4,
                      .seatings_a = 2},
                     *team, other)
        ->adjudicated;
  };
  EXPECT_EQ(adjudicated(0, 0), 4);
  EXPECT_EQ(adjudicated(0, std::nullopt), 0);
  EXPECT_EQ(adjudicated(0, 1), 0);
}

TEST(TeamArenaTest, TeamsArePlayedByPlayersOfAnyKind) {
  for (const VariantInfo& info : kVariants) {
    if (info.seats != 4) continue;
    ArenaOptions options = {
        .variant = info.variant, .games = 8, .seatings_a = 2};
    const auto games = [&] {
      return Play(options, "mcts:sims=8+alphabeta:nodes=20", "greedy").games;
    };
    EXPECT_EQ(games(), 8);
    options.games = 4;
    options.clocks = GameClocks{*mcts::ParseTimeControl("50ms")};
    EXPECT_EQ(games(), 4);
  }
}

}  // namespace
}  // namespace tara::eval
