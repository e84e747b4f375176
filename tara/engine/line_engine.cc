#include "tara/engine/line_engine.h"

#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include "tara/engine/line_reader.h"
#include "tara/engine/line_session.h"

namespace tara::engine {
namespace {

constexpr size_t kMostLineBytes = size_t{1} << 16;

}  // namespace

void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out) {
  LineQueue lines;
  std::thread obeying([&] {
    LineSession session(&model, options, start);
    bool goes_on = true;
    while (goes_on) {
      const std::optional<InputLine> line = lines.Pop();
      if (!line.has_value()) break;
      if (line->too_long) {
        LineSession::Refuse(line->text, out);
      } else {
        goes_on = session.Obey(
            line->text, [&] { return lines.ready(); }, out);
      }
    }
  });
  InputLine line;
  while (ReadLine(in, kMostLineBytes, line)) {
    const bool quits = !line.too_long && LineSession::IsQuit(line.text);
    lines.Push(std::move(line));
    // Nothing more is read: whoever wrote it may keep the pipe open.
    if (quits) break;
    line = {};
  }
  lines.Close();
  obeying.join();
}

}  // namespace tara::engine
