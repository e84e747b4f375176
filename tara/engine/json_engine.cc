#include "tara/engine/json_engine.h"

#include <cstddef>
#include <string>
#include <utility>

#include "tara/engine/json_session.h"
#include "tara/engine/line_reader.h"
#include "tara/engine/output_queue.h"

namespace tara::engine {
namespace {

constexpr size_t kMostLineBytes = size_t{1} << 20;

}  // namespace

void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out) {
  OutputQueue answers(&out);
  JsonSession session(&model, options,
                      [&](std::string line) { answers.Push(std::move(line)); });
  InputLine line;
  while (ReadLine(in, kMostLineBytes, line)) {
    if (line.too_long) {
      session.Refuse();
    } else {
      session.Take(line.text);
    }
  }
}

}  // namespace tara::engine
