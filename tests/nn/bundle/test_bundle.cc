#include "tests/nn/bundle/test_bundle.h"

#include <string>
#include <vector>

#include "tara/nn/bundle/zip_archive.h"

namespace tara::nn {

std::string BundleEntry(const std::string& bundle, const std::string& name) {
  return ZipReader::Open(bundle).value().Read(name).value();
}

std::string BundleWith(const std::string& bundle, const std::string& name,
                       const std::string& contents) {
  const ZipReader reader = ZipReader::Open(bundle).value();
  std::vector<ZipEntry> entries;
  for (const std::string& entry : reader.Names()) {
    if (entry != name) {
      entries.push_back({entry, reader.Read(entry).value()});
    } else if (!contents.empty()) {
      entries.push_back({entry, contents});
    }
  }
  return MakeZip(entries).value();
}

}  // namespace tara::nn
