#ifndef TARA_TESTS_STATUS_MATCHERS_H_
#define TARA_TESTS_STATUS_MATCHERS_H_

// Matchers of absl::Status and absl::StatusOr:
//
//   EXPECT_THAT(store.Add(game), IsOk());
//   EXPECT_THAT(store.Count({}), IsOkAndHolds(3));
//   EXPECT_THAT(store.Get(8),
//               StatusIs(absl::StatusCode::kNotFound, HasSubstr("index 8")));

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace tara {

inline absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

MATCHER(IsOk, "") {
  *result_listener << "whose status is " << StatusOf(arg);
  return arg.ok();
}

// `value`: a value or a matcher of the value.
MATCHER_P(IsOkAndHolds, value, "") {
  if (arg.ok()) {
    return ::testing::ExplainMatchResult(value, *arg, result_listener);
  }
  *result_listener << "whose status is " << arg.status();
  return false;
}

MATCHER_P(StatusIs, code, "") {
  *result_listener << "whose status is " << StatusOf(arg);
  return StatusOf(arg).code() == code;
}

// `message`: the whole message or a matcher of it.
MATCHER_P2(StatusIs, code, message,
           "has the code " + ::testing::PrintToString(code) +
               " and a message that " +
               ::testing::DescribeMatcher<std::string>(message)) {
  const absl::Status status = StatusOf(arg);
  *result_listener << "whose status is " << status << " ";
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()),
                                       result_listener);
}

}  // namespace tara

#endif  // TARA_TESTS_STATUS_MATCHERS_H_
