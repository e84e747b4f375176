#ifndef TARA_NN_BUNDLE_SPECIFICATION_H_
#define TARA_NN_BUNDLE_SPECIFICATION_H_

// What a network sees and says, for those who have never seen this code: told
// once for programs and once for people, both from the tables of this program.

#include <string>

#include "tara/nn/bundle/manifest.h"

namespace tara::nn {

// The text of specification.json (docs/bundle.md).
std::string SpecificationToJson(const BundleManifest& manifest);

// The text of specification.html: one page that needs no other file.
std::string SpecificationToPage(const BundleManifest& manifest);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_SPECIFICATION_H_
