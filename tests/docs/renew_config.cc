// Writes the tables of docs/reference/config.md anew:
//
//   bazel run //tests/docs:renew_config

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "tests/docs/config_tables.h"

int main() {
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (root == nullptr) {
    std::cerr << "expected to be run by bazel run //tests/docs:renew_config\n";
    return 1;
  }
  const std::string path = std::string(root) + "/docs/reference/config.md";
  std::ifstream in(path);
  const std::string page(std::istreambuf_iterator<char>(in), {});
  const absl::StatusOr<std::string> renewed = tara::RenewConfigPage(page);
  if (!renewed.ok()) {
    std::cerr << path << ": " << renewed.status().message() << "\n";
    return 1;
  }
  std::ofstream out(path);
  out << *renewed;
  if (!out.flush()) {
    std::cerr << "cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
