#include "tara/eval/players/player_spec.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference_options.h"

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
}

TEST(PlayerSpecTest, GumbelIsWithoutNoiseUnlessAskedFor) {
  EXPECT_EQ(Parsed("mcts:gumbel=on").search.search.gumbel_noise, 0);
  EXPECT_EQ(Parsed("mcts:gumbel=on,gumbel_noise=1").search.search.gumbel_noise,
            1);
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

TEST(PlayerSpecTest, ThreadsAndPonderingAreForPlayersThatSearch) {
  EXPECT_EQ(Parsed("mcts").search.threads, 1);
  EXPECT_EQ(Parsed("mcts:threads=4").search.threads, 4);
  EXPECT_FALSE(Parsed("mcts").search.ponder);
  // To ponder is to go on with the tree.
  EXPECT_TRUE(Parsed("net:x,ponder=on").search.ponder);
  EXPECT_TRUE(Parsed("net:x,ponder=on").search.reuse);
  EXPECT_FALSE(Parsed("net:x,reuse=off").search.reuse);
}

TEST(PlayerSpecTest, WhatCannotGoTogetherIsRefused) {
  EXPECT_EQ(ErrorOf("mcts:gumbel=on,threads=2"),
            "bad player spec 'mcts:gumbel=on,threads=2': threads cannot be "
            "combined with gumbel: a Gumbel root plans its visits one by one; "
            "expected threads=1 or gumbel=off");
  EXPECT_EQ(Parsed("mcts:gumbel=on,threads=1").search.threads, 1);
  EXPECT_EQ(ErrorOf("mcts:gumbel=on,ms=20"),
            "bad player spec 'mcts:gumbel=on,ms=20': ms cannot be combined "
            "with gumbel: a Gumbel root plans for a number of simulations; "
            "expected sims or gumbel=off");
  EXPECT_EQ(ErrorOf("mcts:ponder=on,gumbel=on"),
            "bad player spec 'mcts:ponder=on,gumbel=on': ponder cannot be "
            "combined with gumbel: a Gumbel root plans for a number of "
            "simulations; expected ponder=off or gumbel=off");
  EXPECT_EQ(ErrorOf("mcts:reuse=off,ponder=on"),
            "bad player spec 'mcts:reuse=off,ponder=on': ponder cannot be "
            "combined with reuse=off: pondering grows the tree that is reused; "
            "expected ponder=off or reuse=on");
  EXPECT_EQ(ErrorOf("net:x,sims=0,ponder=on"),
            "bad player spec 'net:x,sims=0,ponder=on': ponder cannot be "
            "combined with sims=0: the policy alone does not search; expected "
            "ponder=off or sims of at least 1");
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

TEST(PlayerSpecTest, AnEngineIsACommandWithOptions) {
  const PlayerSpec spec = Parsed("engine:gtp --level 3,processes=2");
  EXPECT_EQ(spec.kind, PlayerKind::kEngine);
  EXPECT_EQ(spec.engine.command,
            (std::vector<std::string>{"gtp", "--level", "3"}));
  EXPECT_EQ(spec.engine.processes, 2);
}

TEST(PlayerSpecTest, GamesAtATimeAreThoseThatAPlayerCanTake) {
  EXPECT_EQ(GamesAtATime(Parsed("mcts"), 64), 64);
  EXPECT_EQ(GamesAtATime(Parsed("mcts:threads=2"), 64), 1);
  EXPECT_EQ(GamesAtATime(Parsed("engine:x"), 64), 1);
  EXPECT_EQ(GamesAtATime(Parsed("engine:x,processes=4"), 64), 4);
  EXPECT_EQ(GamesAtATime(Parsed("engine:x,processes=4"), 2), 2);
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
    const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(each.text);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->path, each.path);
    EXPECT_EQ(NetworkOptionsOf(*spec), each.options);
    // What the program makes of a path comes back as it.
    const PlayerSpec made = NetworkPlayer(each.path, 5);
    const absl::StatusOr<PlayerSpec> again = ParsePlayerSpec(made.text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->path, each.path);
    EXPECT_EQ(again->search.search.simulations, 5);
    EXPECT_EQ(NetworkOptionsOf(made), "sims=5");
  }
  EXPECT_EQ(NetworkPlayer("runs/a,b", 5).text, "net:runs/a,b,sims=5");
  EXPECT_TRUE(absl::StrContains(ErrorOf("net:'a,sims=5"), "a quote does not"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("net:'',sims=5"), "no path"));
}

TEST(PlayerSpecTest, BlanksAroundOptionsCountForNothing) {
  const absl::StatusOr<PlayerSpec> spec =
      ParsePlayerSpec("net:x.tara, sims=50 , c_puct = 2");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->search.search.simulations, 50);
  EXPECT_EQ(spec->search.search.c_puct, 2);
  EXPECT_EQ(NetworkOptionsOf(*spec), "sims=50,c_puct=2");
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
    EXPECT_TRUE(absl::StrContains(ErrorOf(text), "; expected ")) << text;
  }
}

TEST(PlayerSpecTest, BestIsANetworkWithoutAPathAndTakesItsOptions) {
  const PlayerSpec best = Parsed("best");
  EXPECT_EQ(best.kind, PlayerKind::kNet);
  EXPECT_EQ(best.path, "");
  EXPECT_EQ(best.search.search.c_puct, Parsed("net:x").search.search.c_puct);
  EXPECT_EQ(Parsed("best:sims=7,graph=on").search.search.simulations, 7);
  EXPECT_TRUE(Parsed("best:sims=0").policy_alone);
  EXPECT_TRUE(absl::StrContains(ErrorOf("net:"), "or best"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("best:playouts=3"), "playouts"));
}

TEST(PlayerSpecTest, ErrorsNameThePartAndWhatWasExpected) {
  EXPECT_EQ(ErrorOf("gredy"),
            "bad player spec 'gredy': unknown player 'gredy'; expected random, "
            "greedy, alphabeta[:nodes=N], mcts[:sims=N], "
            "best[:sims=N], level:N, net:PATH[,sims=N], engine:CMD or person");
  EXPECT_EQ(ErrorOf("engine"),
            "bad player spec 'engine': no command; expected engine:CMD, a "
            "program and its arguments");
  EXPECT_EQ(ErrorOf("random:sims=3"),
            "bad player spec 'random:sims=3': random takes no options, got "
            "'sims=3'");
  EXPECT_EQ(ErrorOf("mcts:sims=many"),
            "bad player spec 'mcts:sims=many': sims is 'many'; expected a "
            "whole number from 1 to 16777214");
  EXPECT_EQ(ErrorOf("mcts:depth=3"),
            "bad player spec 'mcts:depth=3': unknown option 'depth=3'; "
            "expected ms, leaves, threads, reuse, ponder, lcb, temperature, "
            "value_margin, playouts, or a "
            "search option such as sims, c_puct or graph; --help lists them");
  EXPECT_EQ(ErrorOf("net:x,playouts=3"),
            "bad player spec 'net:x,playouts=3': unknown option 'playouts=3'; "
            "expected ms, leaves, threads, reuse, ponder, lcb, temperature, "
            "value_margin, device, "
            "precision, backend, or a search option such as sims, c_puct or "
            "graph; --help lists them");
  EXPECT_EQ(ErrorOf("alphabeta:sims=3"),
            "bad player spec 'alphabeta:sims=3': unknown option 'sims=3'; "
            "expected nodes, depth, ms");
  EXPECT_EQ(ErrorOf("alphabeta:depth=101"),
            "bad player spec 'alphabeta:depth=101': depth is '101'; expected a "
            "whole number from 1 to 100");
  EXPECT_EQ(
      ErrorOf("mcts:sims=3,sims=4"),
      "bad player spec 'mcts:sims=3,sims=4': sims is given twice; expected it "
      "once");
  EXPECT_EQ(ErrorOf("mcts:c_puct=-1"),
            "bad player spec 'mcts:c_puct=-1': c_puct is '-1'; expected a "
            "number from 0 to 100");
  EXPECT_EQ(ErrorOf("mcts:utility=fame"),
            "bad player spec 'mcts:utility=fame': utility is 'fame'; "
            "expected win, points, mix or match");
}

TEST(PlayerSpecTest, WhatIsMissingOrOutOfRangeIsRefused) {
  for (const absl::string_view text : {"",
                                       ":",
                                       "mcts:",
                                       "mcts:sims",
                                       "mcts:sims=",
                                       "mcts:sims=0",
                                       "mcts:sims=16777215",
                                       "mcts:sims=1.5",
                                       "mcts:sims=1,",
                                       "mcts:playouts=0",
                                       "mcts:ms=0",
                                       "mcts:leaves=0",
                                       "mcts:reuse=yes",
                                       "mcts:ponder=yes",
                                       "mcts:threads=0",
                                       "alphabeta:threads=2",
                                       "mcts:lcb=-1",
                                       "mcts:graph=1",
                                       "mcts:c_puct=nan",
                                       "mcts:c_puct=inf",
                                       "mcts:utility",
                                       "mcts:utility=",
                                       "net",
                                       "net:",
                                       "net:,sims=1",
                                       "net:x,sims=-1",
                                       "alphabeta:",
                                       "alphabeta:nodes=0",
                                       "alphabeta:nodes=1e6",
                                       "alphabeta:ms=-1",
                                       "alphabeta:depth",
                                       "alphabeta:depth=2,",
                                       "alphabeta:depth=2,depth=3",
                                       "Random",
                                       "random:",
                                       " greedy"}) {
    EXPECT_TRUE(absl::StartsWith(ErrorOf(text), "bad player spec '")) << text;
  }
}

TEST(PlayerSpecTest, HelpNamesEveryKind) {
  const std::string help = absl::StrCat("\n", PlayerSpecHelp());
  for (const PlayerKindInfo& kind : PlayerKinds()) {
    EXPECT_TRUE(absl::StrContains(help, absl::StrCat("\n  ", kind.name)))
        << kind.name;
  }
}

TEST(PlayerSpecTest, ANetworkMayBeComputedInAnyWayThereIs) {
  const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(
      "net:runs/first,precision=int8,device=cuda:1,backend=torch");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->path, "runs/first");
  EXPECT_EQ(spec->inference.precision, nn::Precision::kInt8);
  EXPECT_EQ(spec->inference.device, "cuda:1");
  EXPECT_EQ(spec->inference.backend, nn::InferenceBackend::kTorch);
}

TEST(PlayerSpecTest, UnknownWaysOfInferenceAreRefused) {
  EXPECT_EQ(ParsePlayerSpec("net:a.ckpt,precision=half").status().message(),
            "bad player spec 'net:a.ckpt,precision=half': precision is 'half'; "
            "expected one of auto, float32, bfloat16, float16, int8");
  EXPECT_EQ(ParsePlayerSpec("net:a.ckpt,device=gpu").status().message(),
            "bad player spec 'net:a.ckpt,device=gpu': device is 'gpu'; "
            "expected cpu, cuda, cuda:N or cuda:all");
  // Random games are computed in one way alone.
  EXPECT_FALSE(ParsePlayerSpec("mcts:precision=int8").ok());
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
    EXPECT_TRUE(absl::StrContains(ErrorOf(text),
                                  "expected level:N, from 1 (weakest) to 10"))
        << ErrorOf(text);
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf("level:3,sims=5"),
                                "a level has no option 'sims=5'"));
  EXPECT_TRUE(
      absl::StrContains(ErrorOf("level:3,precision=int8,precision=int8"),
                        "precision is given twice"));
}

}  // namespace
}  // namespace tara::eval
