#ifndef TARA_BASE_STATUS_MACROS_H_
#define TARA_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expression` is not OK.
#define TARA_RETURN_IF_ERROR(expression)                              \
  do {                                                                \
    if (absl::Status tara_status_ = (expression); !tara_status_.ok()) \
      return tara_status_;                                            \
  } while (false)

// Declares or assigns `lhs` from a StatusOr, or returns its error:
//   TARA_ASSIGN_OR_RETURN(const State state, ParsePosition(text));
#define TARA_ASSIGN_OR_RETURN(lhs, expression)                        \
  TARA_ASSIGN_OR_RETURN_(TARA_CONCAT_(tara_statusor_, __LINE__), lhs, \
                         expression)
#define TARA_ASSIGN_OR_RETURN_(statusor, lhs, expression) \
  auto statusor = (expression);                           \
  if (!statusor.ok()) return statusor.status();           \
  lhs = *std::move(statusor)
#define TARA_CONCAT_(a, b) TARA_CONCAT_INNER_(a, b)
#define TARA_CONCAT_INNER_(a, b) a##b

#endif  // TARA_BASE_STATUS_MACROS_H_
