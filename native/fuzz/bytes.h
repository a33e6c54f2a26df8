// Numbers taken from the bytes that a fuzzer proposes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mercer {

class FuzzBytes {
  public:
    FuzzBytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

    // The next byte, or zero at the end.
    uint8_t byte() { return at_ < end_ ? *at_++ : 0; }
    bool flag() { return byte() & 1; }
    // A number from low to high.
    int64_t within(int64_t low, int64_t high) { return low + byte() % (high - low + 1); }

    // Leaves at most `size` bytes.
    void keep(size_t size) { end_ = at_ + std::min(size, left()); }

    const uint8_t* rest() const { return at_; }
    size_t left() const { return static_cast<size_t>(end_ - at_); }

  private:
    const uint8_t *at_, *end_;
};

// Ends the run with a report if two ways to compute the same thing differ.
inline void must(bool holds) {
    if (!holds) __builtin_trap();
}

}  // namespace mercer
