#ifndef TARA_TESTS_FLEET_FLEET_TESTING_H_
#define TARA_TESTS_FLEET_FLEET_TESTING_H_

// The other end of a fleet (tara/fleet/fleet.h).

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace tara::fleet {

// Sends a fleet a message.
inline void SendToFleet(int fd, uint32_t job, const std::string& bytes) {
  std::string frame;
  for (const size_t number : {bytes.size(), size_t{job}}) {
    for (int shift = 0; shift < 32; shift += 8) {
      frame += static_cast<char>(number >> shift & 0xff);
    }
  }
  frame += bytes;
  ASSERT_EQ(write(fd, frame.data(), frame.size()),
            static_cast<ssize_t>(frame.size()));
}

}  // namespace tara::fleet

#endif  // TARA_TESTS_FLEET_FLEET_TESTING_H_
