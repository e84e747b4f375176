// Plays games for a worker of `tara fleet` (python/tara/fleet.py), on its
// device: what comes and goes are messages, each after its size, of four bytes,
// little-endian. First comes a FleetRequest, and the numeric class goes. Then
// come the indices of games, of eight bytes each, and PlayedGames go.

#include <bit>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/fleet.pb.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/nn/inference/torch_inference.h"
#include "tara/nn/inference_options.h"
#include "tara/train/run/generation_player.h"

namespace tara::cli {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers of messages are little-endian");

struct FleetWorkerOptions {
  std::string checkpoint;
  nn::InferenceOptions inference;
  int threads = 0;
  std::string node;
};

// Returns the next message; none: the input has ended.
absl::StatusOr<std::optional<std::string>> ReadMessage(std::istream& in) {
  uint32_t size = 0;
  if (!in.read(reinterpret_cast<char*>(&size), sizeof(size))) {
    return std::nullopt;
  }
  std::string message(size, '\0');
  if (in.read(message.data(), static_cast<std::streamsize>(message.size()))) {
    return message;
  }
  return absl::DataLossError("the input ends within a message");
}

void WriteMessage(const std::string& message, std::ostream& out) {
  const auto size = static_cast<uint32_t>(message.size());
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << message << std::flush;
}

absl::StatusOr<int> RunFleetWorker(const FleetWorkerOptions& options,
                                   Console& console) {
  TARA_RETURN_IF_ERROR(nn::CheckInferenceDevice(options.inference.device));
  TARA_ASSIGN_OR_RETURN(std::optional<std::string> message,
                        ReadMessage(std::cin));
  proto::FleetRequest request;
  if (!message.has_value() || !request.ParseFromString(*message) ||
      !request.has_self_play()) {
    return absl::InvalidArgumentError(
        "the input does not begin with games of a run; `tara fleet` starts "
        "this command");
  }
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<train::GenerationPlayer> player,
      train::GenerationPlayer::Create(request.self_play(), options.checkpoint,
                                      ResolveThreads(options.threads),
                                      options.inference.device));
  TARA_ASSIGN_OR_RETURN(const std::string numeric_class,
                        player->NumericClass());
  WriteMessage(numeric_class, console.out);
  const StopCheck stop = StopOnSignals();
  while (!stop()) {
    TARA_ASSIGN_OR_RETURN(message, ReadMessage(std::cin));
    if (!message.has_value()) break;
    std::vector<uint64_t> games(message->size() / sizeof(uint64_t));
    std::memcpy(games.data(), message->data(), games.size() * sizeof(uint64_t));
    proto::PlayedGames played;
    played.set_node(options.node);
    TARA_RETURN_IF_ERROR(player->Play(games, stop, played));
    if (stop()) break;
    WriteMessage(played.SerializeAsString(), console.out);
  }
  return kExitOk;
}

}  // namespace

void RegisterFleetWorker(Command& root) {
  Command& command =
      root.AddCommand(kFleetWorkerCommand.name, kFleetWorkerCommand.summary);
  FleetWorkerOptions* const options = command.SetRun(RunFleetWorker);
  command.Add({
      {"CHECKPOINT", &options->checkpoint, "network of the games", kRequired},
      DeviceOption(&options->inference),
      ThreadsOption(&options->threads),
      {"--node NAME", &options->node, "name of the node in reports"},
  });
  command.SetNotes(
      "`tara fleet train --device` starts this command on nodes with a GPU. It "
      "reads messages from its input, and writes games as messages.");
}

}  // namespace tara::cli
