#include "tara/train/run/fleet_player.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
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
#include "tara/record/game_store.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/game_plan.h"
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
    auto store =
        record::OpenGameStore(":memory:", record::StoreMode::kReadWrite);
    ASSERT_TRUE(store.ok());
    store_ = *std::move(store);

    HashingEvaluator evaluator;
    const auto options = SelfPlayOptionsOf(request_);
    ASSERT_TRUE(options.ok()) << options.status();
    for (const auto& game :
         PlayGamesWith(evaluator, *options, plan_.missing, ignored_)) {
      games_[game.game_index()] = game;
    }
  }

  void TearDown() override {
    for (const int fd :
         {to_player_[0], to_player_[1], from_player_[0], from_player_[1]}) {
      close(fd);
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
    SendBytes(message.SerializeAsString());
  }
  void SendBytes(const std::string& bytes) {
    std::string frame;
    for (int shift = 0; shift < 32; shift += 8) {
      frame += static_cast<char>(bytes.size() >> shift & 0xff);
    }
    frame += bytes;
    ASSERT_EQ(write(to_player_[1], frame.data(), frame.size()),
              static_cast<ssize_t>(frame.size()));
  }

  // Plays with what was sent.
  absl::Status Play() {
    Progress progress(
        {.form = ProgressForm::kLines, .interval = absl::Hours(1)});
    FleetPlayer player(to_player_[0], from_player_[1], progress);
    return player.Play(
        {.request = request_,
         .missing = plan_.missing,
         .checkpoint_path = "some/ckpt-000001.pt",
         .store = *store_,
         .stats = stats_},
        [this](absl::Span<const proto::GameRecord> games) {
          return store_->AddAll(games);
        },
        [this] { return stop_.load(); });
  }

  // The lines that came from it so far.
  std::vector<nlohmann::json> Lines() {
    std::string text(1 << 16, '\0');
    text.resize(
        static_cast<size_t>(read(from_player_[0], text.data(), text.size())));
    std::vector<nlohmann::json> lines;
    for (size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
      lines.push_back(nlohmann::json::parse(text.substr(0, end)));
      text.erase(0, end + 1);
    }
    return lines;
  }

  int to_player_[2] = {-1, -1};
  int from_player_[2] = {-1, -1};
  proto::TrainConfig config_;
  GamePlan plan_;
  proto::PlayRequest request_;
  std::map<uint64_t, proto::GameRecord> games_;
  std::unique_ptr<record::GameStore> store_;
  SelfPlayStats stats_, ignored_;
  std::atomic<bool> stop_ = false;
};

TEST_F(FleetPlayerTest, AsksForTheMissingGamesAndStoresEachOnce) {
  Send({games_[9], games_[6]}, "a");
  Send({games_[6], games_[7], games_[7]}, "b");  // again, the same
  const absl::Status status = Play();
  ASSERT_TRUE(status.ok()) << status;
  for (const auto& [index, game] : games_) {
    const auto stored = store_->Get(index);
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(stored->SerializeAsString(), game.SerializeAsString());
  }
  EXPECT_EQ(stats_.games, 3);
  EXPECT_EQ(stats_.simulations, 200);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["event"], "play");
  EXPECT_EQ(lines[0]["generation"], 1);
  EXPECT_EQ(lines[0]["checkpoint"], "some/ckpt-000001.pt");
  EXPECT_THAT(lines[0]["games"].get<std::vector<int>>(),
              ElementsAre(6, 8, 9, 10));
  std::string request;
  ASSERT_TRUE(
      absl::Base64Unescape(lines[0]["request"].get<std::string>(), &request));
  EXPECT_EQ(request, request_.SerializeAsString());
}

TEST_F(FleetPlayerTest, RefusesGamesThatCannotBeTheOnesOfTheirIndex) {
  proto::GameRecord illegal = games_[6];
  illegal.mutable_steps(3)->set_action(illegal.steps(2).action());
  proto::GameRecord of_another_seed = games_[7];
  of_another_seed.set_seed(1);
  proto::GameRecord of_another_model = games_[9];
  of_another_model.set_model_id("ckpt-000002");
  Send({illegal, of_another_seed, of_another_model}, "liar");
  Send({games_[6], games_[7], games_[9]}, "honest");
  const absl::Status status = Play();
  ASSERT_TRUE(status.ok()) << status;
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1]["event"], "refused");
  EXPECT_EQ(lines[1]["game"], 6);
  EXPECT_EQ(lines[1]["node"], "liar");
  EXPECT_THAT(lines[1]["why"].get<std::string>(), HasSubstr("ply 3"));
  EXPECT_THAT(lines[2]["why"].get<std::string>(), HasSubstr("seed: 1"));
  EXPECT_THAT(lines[3]["why"].get<std::string>(),
              HasSubstr("model_id: ckpt-000002; expected ckpt-000001"));
  EXPECT_EQ(store_->Get(6)->SerializeAsString(), games_[6].SerializeAsString());
}

TEST_F(FleetPlayerTest, TwoNodesThatPlayAGameDifferentlyEndTheRun) {
  proto::GameRecord other = games_[6];
  other.mutable_steps(other.steps_size() - 1)->set_root_value(0.5);
  Send({games_[6]}, "a");
  Send({other}, "b");
  const absl::Status status = Play();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("game 6 of generation 1"), HasSubstr("on a"),
                    HasSubstr("on b")));
}

TEST_F(FleetPlayerTest, GamesOfAnotherGenerationThatComeLateAreIgnored) {
  proto::GameRecord late = games_[6];
  late.set_game_index(3);
  Send({late}, "a");
  Send({games_[6], games_[7], games_[9]}, "a");
  EXPECT_TRUE(Play().ok());
  EXPECT_FALSE(store_->Get(3).ok());
}

TEST_F(FleetPlayerTest, TheOtherProcessMayEnd) {
  Send({games_[6]}, "a");
  close(to_player_[1]);
  const absl::Status status = Play();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->Get(6).ok());  // it is kept
}

TEST_F(FleetPlayerTest, WhatIsNoMessageIsAnError) {
  SendBytes("\xff\xff\xff");
  EXPECT_EQ(Play().code(), absl::StatusCode::kDataLoss);
  proto::PlayedGames message;
  message.add_game("\xff\xff");
  message.set_node("a");
  SendBytes(message.SerializeAsString());
  const absl::Status status = Play();
  EXPECT_THAT(std::string(status.message()), HasSubstr("node a"));
}

TEST_F(FleetPlayerTest, StopsWhenToldWithoutAllGames) {
  Send({games_[6]}, "a");
  std::thread stopper([this] {
    while (!store_->Get(6).ok()) std::this_thread::yield();
    stop_ = true;
  });
  EXPECT_TRUE(Play().ok());
  stopper.join();
  EXPECT_FALSE(store_->Get(7).ok());
}

}  // namespace
}  // namespace tara::train
