#include "tara/eval/players/make_player.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/nn/training/trainer.h"
#include "tests/base/temporary_folder.h"

namespace tara::eval {
namespace {

namespace fs = std::filesystem;

void WriteFile(const fs::path& path, absl::string_view text) {
  std::ofstream(path) << text;
}

// A run's folder with one tiny checkpoint.
class MakePlayerTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(run_ / "checkpoints");
    const std::unique_ptr<nn::Trainer> trainer =
        nn::NewTrainer({.channels = 8, .blocks = 1}, nn::TrainerOptions(), 1);
    ASSERT_TRUE(trainer->Save(checkpoint_.string(), {}).ok());
    WriteFile(run_ / "checkpoints" / "latest", "step-7.tara\n");
  }

  // Chooses at the start of every variant.
  static std::vector<Action> Choices(const std::string& spec) {
    absl::StatusOr<std::unique_ptr<Player>> player = MakePlayer(spec);
    EXPECT_TRUE(player.ok()) << player.status();
    if (!player.ok()) return {};
    std::vector<Random> randoms(kNumVariants, Random(1));
    std::vector<Turn> turns;
    for (const VariantInfo& info : kVariants) {
      turns.push_back({.state = InitialState(info.variant),
                       .random = &randoms[turns.size()],
                       .game = turns.size()});
    }
    std::vector<Action> actions(turns.size());
    EXPECT_TRUE((*player)->ChooseActions(turns, absl::MakeSpan(actions)).ok());
    for (size_t i = 0; i < turns.size(); ++i) {
      EXPECT_TRUE(LegalActions(turns[i].state).Contains(actions[i]));
    }
    return actions;
  }

  const TemporaryFolder folder_;
  const fs::path run_ = folder_.path();
  const fs::path checkpoint_ = run_ / "checkpoints" / "step-7.tara";
};

TEST_F(MakePlayerTest, EveryKindOfSpecMakesAPlayer) {
  for (const std::string& spec :
       {std::string("random"), std::string("greedy"),
        std::string("alphabeta:nodes=100,depth=3,ms=1000"),
        std::string("mcts:sims=10"),
        absl::StrCat("net:", checkpoint_.string(), ",sims=10"),
        absl::StrCat("net:", checkpoint_.string(), ",sims=0")}) {
    EXPECT_EQ(Choices(spec).size(), kVariants.size()) << spec;
  }
}

TEST_F(MakePlayerTest, ARunMeansItsLatestCheckpoint) {
  const std::string file = absl::StrCat("net:", checkpoint_.string());
  for (const fs::path& path : {run_, run_ / "checkpoints"}) {
    EXPECT_EQ(FindCheckpoint(path.string()).value_or(""), checkpoint_.string());
    EXPECT_EQ(Choices(absl::StrCat("net:", path.string(), ",sims=5")),
              Choices(absl::StrCat(file, ",sims=5")));
  }
}

TEST_F(MakePlayerTest, ErrorsNameTheFile) {
  const auto error = [](const std::string& spec) {
    return MakePlayer(spec).status();
  };
  EXPECT_EQ(error("net:missing/run"),
            absl::NotFoundError("missing/run: no such file or folder; expected "
                                "a checkpoint, a bundle or a run"));
  EXPECT_EQ(error("mcts:sims=0").code(), absl::StatusCode::kInvalidArgument);

  fs::remove(run_ / "checkpoints" / "latest");
  const absl::Status none = error(absl::StrCat("net:", run_.string()));
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(none.message(), "no checkpoint yet")) << none;

  for (const absl::string_view name : {"gone.tara", ""}) {
    WriteFile(run_ / "checkpoints" / "latest", name);
    const absl::Status gone = error(absl::StrCat("net:", run_.string()));
    EXPECT_EQ(gone.code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(absl::StrContains(
        gone.message(), absl::StrCat("latest: names '", name, "'; expected")))
        << gone;
  }

  WriteFile(checkpoint_, "no checkpoint");
  const absl::Status damaged =
      error(absl::StrCat("net:", checkpoint_.string()));
  EXPECT_FALSE(damaged.ok());
  EXPECT_TRUE(absl::StrContains(damaged.message(), checkpoint_.string()))
      << damaged;
}

}  // namespace
}  // namespace tara::eval
