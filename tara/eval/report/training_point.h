#ifndef TARA_EVAL_REPORT_TRAINING_POINT_H_
#define TARA_EVAL_REPORT_TRAINING_POINT_H_

#include <string>

namespace tara::eval {

// Where on the way of a training run a player stands: what curves over training
// are drawn along.
struct TrainingPoint {
  std::string run;  // its folder, as it was named
  int generation = 0;

  friend bool operator==(const TrainingPoint&, const TrainingPoint&) = default;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_TRAINING_POINT_H_
