#ifndef TARA_ENGINE_LINE_ENGINE_H_
#define TARA_ENGINE_LINE_ENGINE_H_

#include <istream>
#include <ostream>

#include "tara/core/state.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"

namespace tara::engine {

// Speaks the line protocol until it is told to quit or the input ends; what
// was read by then is obeyed. The calling thread reads, another one obeys, so
// that an analysis notices the next line.
void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_LINE_ENGINE_H_
