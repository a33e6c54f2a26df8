// The finalizer of splitmix64, see mercer/_numeric/hashing/splitmix.py. Kernel files have their own copy, see
// common/dispatch.h.
#pragma once

#include <cstdint>

namespace mercer {

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

}  // namespace mercer
