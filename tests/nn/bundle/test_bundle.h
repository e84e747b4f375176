#ifndef TESTS_NN_BUNDLE_TEST_BUNDLE_H_
#define TESTS_NN_BUNDLE_TEST_BUNDLE_H_

#include <string>

namespace tara::nn {

// Returns the contents of an entry of a bundle, which is given by its bytes.
std::string BundleEntry(const std::string& bundle, const std::string& name);

// Returns the bundle with the contents of an entry changed; by empty contents
// it is left out.
std::string BundleWith(const std::string& bundle, const std::string& name,
                       const std::string& contents);

}  // namespace tara::nn

#endif  // TESTS_NN_BUNDLE_TEST_BUNDLE_H_
