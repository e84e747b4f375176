#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/run/pipeline.h"
#include "tests/fleet/fleet_testing.h"
#include "tests/status_matchers.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A generation of four games, its player, and the other end of its pipes.
class FleetPlayerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(to_player_), 0);
    ASSERT_EQ(pipe(from_player_), 0);
    config_ = Tiny(TestFolder("fleet"));
    plan_.generation = 1;
    plan_.begin = 6;
    plan_.end = 10;
    plan_.starts = {0, 0, 0, 0};
    plan_.missing = {6, 7, 9};
    request_ = PlayRequestFor(config_, plan_, "ckpt-000001");
    mcts::HashEvaluator evaluator;
    const auto options = ToSelfPlayOptions(request_).value();
    for (const auto& game :
         PlayGamesWith(evaluator, options, plan_.missing, ignored_)) {
      games_[game.game_index()] = game;
    }
  }

  void TearDown() override {
    for (const int fd :
         {to_player_[0], to_player_[1], from_player_[0], from_player_[1]}) {
      if (fd >= 0) close(fd);
    }
  }

  // Sends what a node has played.
  void Send(const std::vector<proto::GameRecord>& games,
            const std::string& node) {
    proto::PlayedGames message;
    message.set_node(node);
    for (const proto::GameRecord& game : games) {
      message.add_game(game.SerializeAsString());
    }
    message.add_count(100);  // simulations
    message.set_cache_requests(8);
    message.set_cache_hits(2);
    SendBytes(message.SerializeAsString());
  }
  void SendBytes(const std::string& bytes) {
    fleet::SendToFleet(to_player_[1], /*job=*/1, bytes);
  }

  // Begins to play, so that the job is there for what is sent.
  void Begin() {
    playing_ = std::async(std::launch::async, [this] {
      Progress progress(
          {.form = ProgressForm::kLines, .interval = absl::Hours(1)});
      fleet::Fleet fleet(to_player_[0], from_player_[1]);
      return PlayOnFleet(
          fleet,
          {.request = request_,
           .missing = plan_.missing,
           .checkpoint_path = "some/ckpt-000001.pt",
           .stats = stats_,
           .games_by_node = games_by_node_},
          [this](absl::Span<const proto::GameRecord> games) {
            return store_->AddAll(games);
          },
          [this] { return stop_.load(); }, progress);
    });
    while (lines_.size() < 2) ReadLines();
  }
  // Returns what came of it; its lines are all in lines_ then.
  absl::Status End() {
    const absl::Status status = playing_.get();
    close(from_player_[1]);
    from_player_[1] = -1;
    while (ReadLines()) {
    }
    return status;
  }

  // Reads some of the lines that come from it. Returns whether there were any.
  bool ReadLines() {
    char buffer[1 << 12];
    const ssize_t size = read(from_player_[0], buffer, sizeof(buffer));
    if (size <= 0) return false;
    text_.append(buffer, static_cast<size_t>(size));
    for (size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
      lines_.push_back(nlohmann::json::parse(text_.substr(0, end)));
      text_.erase(0, end + 1);
    }
    return true;
  }

  int to_player_[2] = {-1, -1};
  int from_player_[2] = {-1, -1};
  proto::TrainConfig config_;
  GamePlan plan_;
  proto::PlayRequest request_;
  std::map<uint64_t, proto::GameRecord> games_;
  const std::unique_ptr<record::GameStore> store_ = StoreOf();
  SelfPlayStats stats_, ignored_;
  std::map<std::string, int64_t> games_by_node_;
  std::atomic<bool> stop_ = false;
  std::future<absl::Status> playing_;
  std::string text_;
  std::vector<nlohmann::json> lines_;
};

TEST_F(FleetPlayerTest, AsksForTheMissingGamesAndStoresEachOnce) {
  Begin();
  Send({games_[9], games_[6]}, "a");
  Send({games_[6], games_[7], games_[7]}, "b");  // not one game
  Send({games_[6], games_[7]}, "b");             // again, the same
  ASSERT_THAT(End(), IsOk());
  for (const auto& [index, game] : games_) {
    if (index == 8) continue;
    const auto stored = store_->Get(index).value();
    EXPECT_EQ(stored.SerializeAsString(), game.SerializeAsString());
  }
  EXPECT_EQ(stats_.games, 3);
  EXPECT_EQ(stats_.simulations, 300);
  EXPECT_EQ(stats_.cached_share, 0.25);
  ASSERT_EQ(lines_.size(), 4u);
  EXPECT_EQ(lines_[0]["event"], "job");
  EXPECT_EQ(lines_[0]["job"], 1);
  EXPECT_EQ(lines_[0]["name"], "generation 1");
  EXPECT_THAT(lines_[0]["files"].get<std::vector<std::string>>(),
              ElementsAre("some/ckpt-000001.pt"));
  EXPECT_EQ(lines_[0]["folder"], config_.run_dir());
  std::string bytes;
  ASSERT_TRUE(
      absl::Base64Unescape(lines_[0]["request"].get<std::string>(), &bytes));
  proto::FleetRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  EXPECT_EQ(request.self_play().SerializeAsString(),
            request_.SerializeAsString());
  EXPECT_EQ(lines_[1]["event"], "games");
  EXPECT_THAT(lines_[1]["games"].get<std::vector<int>>(),
              ElementsAre(6, 8, 9, 10));
  EXPECT_EQ(lines_[2]["event"], "refused");
  EXPECT_EQ(lines_[2]["why"], "2 games; expected 1");
  EXPECT_EQ(lines_[3]["event"], "end");
}

TEST_F(FleetPlayerTest, RefusesGamesThatCannotBeTheOnesOfTheirIndex) {
  proto::GameRecord illegal = games_[6];
  illegal.mutable_steps(3)->set_action(illegal.steps(2).action());
  proto::GameRecord of_another_seed = games_[7];
  of_another_seed.set_seed(1);
  proto::GameRecord of_another_model = games_[9];
  of_another_model.set_model_id("ckpt-000002");
  Begin();
  Send({illegal, of_another_seed, of_another_model}, "liar");
  Send({games_[6], games_[7], games_[9]}, "honest");
  ASSERT_THAT(End(), IsOk());
  ASSERT_EQ(lines_.size(), 6u);
  EXPECT_EQ(lines_[2]["event"], "refused");
  EXPECT_EQ(lines_[2]["game"], 6);
  EXPECT_EQ(lines_[2]["node"], "liar");
  EXPECT_THAT(lines_[2]["why"].get<std::string>(), HasSubstr("ply 3"));
  EXPECT_THAT(lines_[3]["why"].get<std::string>(), HasSubstr("seed: 1"));
  EXPECT_THAT(lines_[4]["why"].get<std::string>(),
              HasSubstr("model_id: ckpt-000002; expected ckpt-000001"));
  EXPECT_EQ(store_->Get(6)->SerializeAsString(), games_[6].SerializeAsString());
}

TEST_F(FleetPlayerTest, TwoNodesThatPlayAGameDifferentlyEndTheRun) {
  proto::GameRecord other = games_[6];
  other.mutable_steps(other.steps_size() - 1)->set_root_value(0.5);
  Begin();
  Send({games_[6]}, "a");
  Send({other}, "b");
  EXPECT_THAT(End(), StatusIs(absl::StatusCode::kDataLoss,
                              AllOf(HasSubstr("game 6 of generation 1"),
                                    HasSubstr("on a"), HasSubstr("on b"))));
}

TEST_F(FleetPlayerTest, GamesThatNobodyWantsAreIgnored) {
  proto::GameRecord late = games_[6];
  late.set_game_index(3);
  Begin();
  Send({late}, "a");
  Send({games_[6], games_[7], games_[9]}, "a");
  EXPECT_TRUE(End().ok());
  EXPECT_FALSE(store_->Get(3).ok());
}

TEST_F(FleetPlayerTest, TheOtherProcessMayEnd) {
  Begin();
  Send({games_[6]}, "a");
  close(to_player_[1]);
  to_player_[1] = -1;
  const absl::Status status = End();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->Get(6).ok());  // it is kept
}

TEST_F(FleetPlayerTest, WhatIsNoMessageIsAnError) {
  Begin();
  SendBytes("\xff\xff\xff");
  EXPECT_EQ(End().code(), absl::StatusCode::kDataLoss);
}

TEST_F(FleetPlayerTest, WhatIsNoGameIsAnErrorThatNamesTheNode) {
  proto::PlayedGames message;
  message.add_game("\xff\xff");
  message.set_node("a");
  Begin();
  SendBytes(message.SerializeAsString());
  EXPECT_THAT(End(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("node a")));
}

TEST_F(FleetPlayerTest, StopsWhenToldWithoutAllGames) {
  Begin();
  Send({games_[6]}, "a");
  while (!store_->Get(6).ok()) std::this_thread::yield();
  stop_ = true;
  EXPECT_TRUE(End().ok());
  EXPECT_FALSE(store_->Get(7).ok());
}

}  // namespace
}  // namespace tara::train
