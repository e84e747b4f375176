#include "tara/nn/bundle/node_onnx.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tara/base/atomic_file.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/nn/bundle/run_onnx_script.h"

extern char** environ;

namespace tara::nn {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

// Exit status of the script where there is no onnxruntime-node.
constexpr int kNoRuntime = 3;

// A folder that is removed with this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code ignored;
    path_ = (fs::temp_directory_path(ignored) / "tara-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  bool ok() const { return !path_.empty(); }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

absl::Status WriteFloats(const std::string& path,
                         const std::vector<float>& values) {
  return WriteFileAtomically(
      path, absl::string_view(reinterpret_cast<const char*>(values.data()),
                              values.size() * sizeof(float)));
}

absl::Status WriteRequest(const TemporaryFolder& folder,
                          const std::string& model,
                          const NetworkInputs& inputs) {
  TARA_RETURN_IF_ERROR(
      WriteFileAtomically(folder.File("run_onnx.mjs"), RunOnnxScript()));
  TARA_RETURN_IF_ERROR(WriteFileAtomically(folder.File("model.onnx"), model));
  Json shapes;
  for (const NetworkInputInfo& info : NetworkInputInfos(inputs.counts)) {
    std::vector<int64_t> shape = {inputs.size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    shapes[info.name] = shape;
    TARA_RETURN_IF_ERROR(WriteFloats(
        folder.File(absl::StrCat(info.name, ".f32")), inputs.*info.values));
  }
  return WriteFileAtomically(folder.File("inputs.json"), shapes.dump());
}

// Runs `node ARGUMENTS...` with all it writes in the file `log` and no other
// files of ours. Returns its exit status, or UNAVAILABLE if there is no
// Node.js.
absl::StatusOr<int> RunNode(std::vector<std::string> arguments,
                            const std::string& log) {
  arguments.insert(arguments.begin(), "node");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, "node", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("Node.js cannot be started: ", std::strerror(error)));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

absl::StatusOr<NetworkOutputs> ReadAnswer(const TemporaryFolder& folder,
                                          int64_t size, bool with_owner) {
  TARA_ASSIGN_OR_RETURN(const std::string text,
                        ReadWholeFile(folder.File("outputs.json")));
  const Json shapes = ParseJson<Json>(text).value_or(Json());
  NetworkOutputs outputs;
  for (const NetworkOutputInfo& info : NetworkOutputInfos(with_owner)) {
    std::vector<int64_t> shape = {size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    if (!shapes.is_object() || shapes.value(info.name, Json()) != Json(shape)) {
      return absl::DataLossError(
          absl::StrCat("the model has outputs ", Shown(text), "; expected ",
                       info.name, " of [", absl::StrJoin(shape, ", "), "]"));
    }
    TARA_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadWholeFile(folder.File(absl::StrCat(info.name, ".f32"))));
    std::vector<float>& values = outputs.*info.values;
    values.resize(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<NetworkOutputs> RunOnnxByNode(
    const std::string& model, const NetworkInputs& inputs, bool with_owner,
    const std::vector<std::string>& modules) {
  const TemporaryFolder folder;
  if (!folder.ok()) {
    return absl::UnavailableError("cannot make a temporary folder");
  }
  TARA_RETURN_IF_ERROR(WriteRequest(folder, model, inputs));
  std::vector<std::string> arguments = {folder.File("run_onnx.mjs"),
                                        folder.path()};
  arguments.insert(arguments.end(), modules.begin(), modules.end());
  const std::string log = folder.File("log");
  TARA_ASSIGN_OR_RETURN(const int status, RunNode(std::move(arguments), log));
  if (status == kNoRuntime || status == 127) {
    return absl::UnavailableError(
        status == 127 ? std::string("there is no Node.js")
                      : absl::StrCat("the npm package onnxruntime-node is not "
                                     "installed in ",
                                     absl::StrJoin(modules, " or ")));
  }
  if (status != 0) {
    return absl::DataLossError(absl::StrCat(
        "ONNX Runtime failed: ", ReadWholeFile(log).value_or("no message")));
  }
  return ReadAnswer(folder, inputs.size, with_owner);
}

}  // namespace tara::nn
