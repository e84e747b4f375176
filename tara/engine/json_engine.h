#ifndef TARA_ENGINE_JSON_ENGINE_H_
#define TARA_ENGINE_JSON_ENGINE_H_

#include <istream>
#include <ostream>

#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"

namespace tara::engine {

// Speaks the JSON protocol until the input ends; then answers what is left.
// The calling thread reads.
void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_JSON_ENGINE_H_
