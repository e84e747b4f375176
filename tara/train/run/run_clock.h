#ifndef TARA_TRAIN_RUN_RUN_CLOCK_H_
#define TARA_TRAIN_RUN_RUN_CLOCK_H_

#include "absl/time/time.h"
#include "proto/config.pb.h"

namespace tara::train {

// Time that a run has taken.
struct RunTime {
  absl::Duration wall;
  absl::Duration cpu;  // processor time of all threads
};

RunTime operator+(const RunTime& a, const RunTime& b);
RunTime operator-(const RunTime& a, const RunTime& b);

// Returns the time of the process, from an arbitrary origin: only differences
// have a meaning.
RunTime ProcessTime();

// Returns `used` as a share of the time that a config allows: 1 when it is up.
// Of several limits the nearest one counts; 0 without any.
double ShareOfTime(const proto::TrainConfig& config, const RunTime& used);

// Returns the expected number of generations of a run: the config's number, or
// fewer if its time ends earlier. After `generations_done` generations took
// `used`, the next ones are assumed to last as long on average.
int ExpectedGenerations(const proto::TrainConfig& config, int generations_done,
                        const RunTime& used);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_RUN_CLOCK_H_
