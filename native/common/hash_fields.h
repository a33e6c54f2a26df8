// The number of blocks of outputs that share one hash word.
#pragma once

#include <cstdint>

namespace mercer {

// An index below a power of two and a sign are plain bits, so a narrow field holds both.
inline int fields_per_word(uint64_t width) {
    if (width & (width - 1)) return 2;
    return width <= 1u << 7 ? 8 : width <= 1u << 15 ? 4 : 2;
}

}  // namespace mercer
