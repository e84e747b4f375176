#ifndef TESTS_NN_BUNDLE_TEST_BUNDLE_H_
#define TESTS_NN_BUNDLE_TEST_BUNDLE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/bundle.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"

namespace tara::nn {

// Options of bundles of two variants, with a provenance.
BundleOptions SmallBundleOptions();

// Expects that libonnx accepts a model, with its types and shapes.
void ExpectValidOnnx(const std::string& model);

// Expects that a model has only operators of these types.
void ExpectOperators(const std::string& model,
                     const std::set<std::string>& allowed);

// Tests that change parts of a bundle, which is given by its bytes.
class BundleFileTest : public ::testing::Test {
 protected:
  explicit BundleFileTest(const std::string& bundle) : bundle_(bundle) {}

  // Returns the contents of an entry.
  std::string Entry(const std::string& name) const;
  // Returns the bundle with other contents of an entry; empty: left out.
  std::string With(const std::string& name, const std::string& contents) const;
  // Returns it with a text of an entry replaced wherever it is.
  std::string WithText(const std::string& name, const std::string& from,
                       const std::string& to) const;
  // Returns it with another first weight of a tensor of model.onnx.
  std::string WithWeight(const std::string& tensor, float weight) const;

  Bundle Opened(const std::string& bytes) const;

  // Expects the error for players who load the bundle.
  void ExpectRefused(const std::string& bytes, absl::StatusCode code,
                     const std::string& message) const;
  void ExpectDamaged(const std::string& bytes,
                     const std::string& message) const {
    ExpectRefused(bytes, absl::StatusCode::kDataLoss, message);
  }

  // Verifies the bundle; expects that exactly these checks differ.
  std::vector<FormCheck> Checks(const std::string& bytes) const;
  void ExpectDiffering(const std::string& bytes,
                       const std::vector<std::string>& names) const;

  const std::string& bundle_;
  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("file.tara");
};

}  // namespace tara::nn

#endif  // TESTS_NN_BUNDLE_TEST_BUNDLE_H_
