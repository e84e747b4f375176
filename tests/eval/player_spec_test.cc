#include "tara/eval/player_spec.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tara/mcts/utility.h"

namespace tara {
namespace {

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
  EXPECT_EQ(Parsed("random"), PlayerSpec{.kind = PlayerKind::kRandom});
  EXPECT_EQ(Parsed("greedy"), PlayerSpec{.kind = PlayerKind::kGreedy});
  EXPECT_EQ(Parsed("mcts"),
            (PlayerSpec{.kind = PlayerKind::kMcts, .c_puct = 3.0f}));
}

TEST(PlayerSpecTest, OptionsSetWhatTheyName) {
  EXPECT_EQ(Parsed("mcts:sims=1000,playouts=4,c_puct=2.5"),
            (PlayerSpec{.kind = PlayerKind::kMcts,
                        .simulations = 1000,
                        .c_puct = 2.5f,
                        .playouts = 4}));
  EXPECT_EQ(Parsed("net:runs/first,c_puct=0.5,sims=0"),
            (PlayerSpec{.kind = PlayerKind::kNet,
                        .path = "runs/first",
                        .simulations = 0,
                        .c_puct = 0.5f}));
}

TEST(PlayerSpecTest, AnAlphaBetaPlayerHasALimit) {
  const PlayerSpec plain = Parsed("alphabeta");
  EXPECT_EQ(plain.kind, PlayerKind::kAlphaBeta);
  EXPECT_GT(plain.nodes, 0);
  EXPECT_EQ(plain.depth, 0);
  EXPECT_EQ(plain.time_ms, 0);
  // One limit alone is the only one.
  EXPECT_EQ(Parsed("alphabeta:depth=4"),
            (PlayerSpec{.kind = PlayerKind::kAlphaBeta, .depth = 4}));
  EXPECT_EQ(Parsed("alphabeta:nodes=5,depth=4,ms=3"),
            (PlayerSpec{.kind = PlayerKind::kAlphaBeta,
                        .nodes = 5,
                        .depth = 4,
                        .time_ms = 3}));
}

TEST(PlayerSpecTest, TheUtilityIsChosenByName) {
  EXPECT_EQ(Parsed("mcts").utility, UtilityKind::kWinLoss);
  EXPECT_EQ(Parsed("mcts:utility=win").utility, UtilityKind::kWinLoss);
  EXPECT_EQ(Parsed("mcts:utility=points").utility, UtilityKind::kPoints);
  EXPECT_EQ(Parsed("net:x,utility=mix").utility, UtilityKind::kMix);
  EXPECT_EQ(Parsed("net:x,utility=match,sims=5").utility, UtilityKind::kMatch);
}

TEST(PlayerSpecTest, PathsMayHoldColonsAndCommas) {
  EXPECT_EQ(Parsed("net:a:b").path, "a:b");
  EXPECT_EQ(Parsed("net:with,comma/x.pt,sims=3"),
            (PlayerSpec{.kind = PlayerKind::kNet,
                        .path = "with,comma/x.pt",
                        .simulations = 3}));
}

TEST(PlayerSpecTest, ErrorsNameThePartAndWhatWasExpected) {
  EXPECT_EQ(ErrorOf("gredy"),
            "bad player spec 'gredy': unknown player 'gredy'; expected random, "
            "greedy, alphabeta[:nodes=N], mcts[:sims=N] or "
            "net:PATH[,sims=N]");
  EXPECT_EQ(ErrorOf("random:sims=3"),
            "bad player spec 'random:sims=3': random takes no options, got "
            "'sims=3'");
  EXPECT_EQ(ErrorOf("mcts:sims=many"),
            "bad player spec 'mcts:sims=many': sims is 'many'; expected a "
            "whole number from 1 to 1000000");
  EXPECT_EQ(ErrorOf("mcts:depth=3"),
            "bad player spec 'mcts:depth=3': unknown option 'depth=3'; "
            "expected sims=N, c_puct=X, playouts=K or utility=U");
  EXPECT_EQ(ErrorOf("net:x,playouts=3"),
            "bad player spec 'net:x,playouts=3': unknown option 'playouts=3'; "
            "expected sims=N, c_puct=X or utility=U");
  EXPECT_EQ(ErrorOf("alphabeta:sims=3"),
            "bad player spec 'alphabeta:sims=3': unknown option 'sims=3'; "
            "expected nodes=N, depth=D or ms=T");
  EXPECT_EQ(ErrorOf("alphabeta:depth=101"),
            "bad player spec 'alphabeta:depth=101': depth is '101'; expected a "
            "whole number from 1 to 100");
  EXPECT_EQ(ErrorOf("mcts:sims=3,sims=4"),
            "bad player spec 'mcts:sims=3,sims=4': sims is given twice");
  EXPECT_EQ(ErrorOf("mcts:c_puct=-1"),
            "bad player spec 'mcts:c_puct=-1': c_puct is '-1'; expected a "
            "number from 0 to 100");
  EXPECT_EQ(ErrorOf("mcts:utility=fame"),
            "bad player spec 'mcts:utility=fame': unknown utility 'fame'; "
            "expected one of win, points, mix, match");
}

TEST(PlayerSpecTest, WhatIsMissingOrOutOfRangeIsRefused) {
  for (const absl::string_view text : {"",
                                       ":",
                                       "mcts:",
                                       "mcts:sims",
                                       "mcts:sims=",
                                       "mcts:sims=0",
                                       "mcts:sims=1000001",
                                       "mcts:sims=1.5",
                                       "mcts:sims=1,",
                                       "mcts:playouts=0",
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
  for (const absl::string_view kind :
       {"random", "greedy", "alphabeta", "mcts", "net:"}) {
    EXPECT_TRUE(absl::StrContains(PlayerSpecHelp(), kind)) << kind;
  }
}

}  // namespace
}  // namespace tara
