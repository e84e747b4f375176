#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

using ::testing::HasSubstr;

// For each option of the list, a value other than its default.
const std::vector<std::pair<std::string, std::string>>& OtherValues() {
  static const auto* const values =
      new std::vector<std::pair<std::string, std::string>>{
          {"sims", "77"},
          {"utility", "match"},
          {"points_weight", "0.5"},
          {"points_scale", "3"},
          {"c_puct", "2.5"},
          {"fpu", "reduction:0.4"},
          {"virtual_loss", "0.5"},
          {"noise", "0.25"},
          {"noise_concentration", "8"},
          {"forced_playouts", "2"},
          {"gumbel", "on"},
          {"gumbel_actions", "8"},
          {"gumbel_c_visit", "20"},
          {"gumbel_c_scale", "0.5"},
          {"gumbel_noise", "0"},
          {"graph", "on"},
          {"proof", "on"},
          {"solver_hills", "5"},
          {"max_mb", "64"},
      };
  return *values;
}

// Takes an option to the other of the values that its defaults leave.
std::string Other(absl::string_view name, absl::string_view value) {
  SearchOptions options;
  EXPECT_TRUE(SetSearchOption(name, value, options).ok());
  if (!FormatSearchOptions(options).empty()) return std::string(value);
  // A switch or number that is so by default.
  return value == "on" ? "off" : "1";
}

TEST(SearchOptionTextTest, EveryOptionIsWrittenAsItIsRead) {
  size_t in_help = 0;
  for (const absl::string_view line :
       absl::StrSplit(SearchOptionsHelp(), '\n', absl::SkipEmpty())) {
    EXPECT_LE(line.size(), 80u) << line;
    ++in_help;
  }
  EXPECT_EQ(in_help, OtherValues().size());
  for (const auto& [name, wished] : OtherValues()) {
    EXPECT_TRUE(IsSearchOption(name)) << name;
    EXPECT_THAT(SearchOptionsHelp(), HasSubstr("  " + name + " "));
    const std::string value = Other(name, wished);
    SearchOptions options;
    ASSERT_TRUE(SetSearchOption(name, value, options).ok()) << name;
    EXPECT_EQ(FormatSearchOptions(options), name + "=" + value);
  }
}

TEST(SearchOptionTextTest, OptionsTogetherAreReadBack) {
  SearchOptions options;
  for (const auto& [name, wished] : OtherValues()) {
    ASSERT_TRUE(SetSearchOption(name, Other(name, wished), options).ok());
  }
  const std::string text = FormatSearchOptions(options);
  SearchOptions again;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    ASSERT_TRUE(SetSearchOption(parts.first, parts.second, again).ok());
  }
  EXPECT_EQ(FormatSearchOptions(again), text);
  EXPECT_EQ(again.utility.kind, UtilityKind::kMatch);
  EXPECT_EQ(again.first_play_urgency_reduction, 0.4f);
  EXPECT_EQ(again.max_bytes, 64 << 20);
}

TEST(SearchOptionTextTest, DefaultsHaveNothingToSay) {
  EXPECT_EQ(FormatSearchOptions(SearchOptions{}), "");
}

TEST(SearchOptionTextTest, ForeignValuesAreRefusedWithWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"sims", "0"},        {"sims", "many"},       {"sims", "1.5"},
      {"sims", "99999999"}, {"c_puct", "-1"},       {"c_puct", "nan"},
      {"c_puct", ""},       {"graph", "yes"},       {"utility", "fame"},
      {"fpu", "0.2"},       {"fpu", "reduction:3"}, {"fpu", "reduction:x"},
      {"max_mb", "0"},      {"noise", "1.01"},
  };
  for (const auto& [name, value] : refused) {
    SearchOptions options;
    const absl::Status status = SetSearchOption(name, value, options);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(status.message(),
                HasSubstr(name + " is '" + value + "'; expected "));
    EXPECT_EQ(FormatSearchOptions(options), "");
  }
}

TEST(SearchOptionTextTest, UnknownNamesAreRefusedWithTheList) {
  SearchOptions options;
  const absl::Status status = SetSearchOption("cpuct", "1", options);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              HasSubstr("unknown search option 'cpuct'; expected one of sims, "
                        "utility, "));
  EXPECT_FALSE(IsSearchOption("cpuct"));
}

}  // namespace
}  // namespace tara::mcts
