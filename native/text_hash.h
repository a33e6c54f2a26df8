// The keyed 64-bit hash of a string of bytes, and MurmurHash3 (32 bits, public domain, A. Appleby).
#pragma once

#include <cstdint>
#include <cstring>

#include "splitmix.h"

namespace mercer {

constexpr uint64_t text_gamma = 0x9E3779B97F4A7C15u;

// The next eight bytes as a little-endian word; with fewer left, zeros follow. Eight bytes must be readable.
inline uint64_t word_at(const uint8_t* p, size_t left) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) word = __builtin_bswap64(word);
    return left >= 8 ? word : word & ((uint64_t{1} << (8 * left)) - 1);
}

// Eight bytes past the end of the string must be readable.
inline uint64_t hash_text(const uint8_t* p, size_t length, uint64_t mixed_seed) {
    uint64_t h = mixed_seed ^ (length * text_gamma);
    do {
        h = mix((h ^ word_at(p, length)) + text_gamma);
        p += 8;
        length -= length < 8 ? length : 8;
    } while (length);
    return h;
}

// Whether two strings of one length are equal; eight bytes past their ends must be readable.
inline bool same_text(const uint8_t* p, const uint8_t* q, size_t length) {
    for (; length > 8; p += 8, q += 8, length -= 8)
        if (word_at(p, 8) != word_at(q, 8)) return false;
    return word_at(p, length) == word_at(q, length);
}

inline uint32_t rotate_left(uint32_t x, int by) { return (x << by) | (x >> (32 - by)); }

inline uint32_t murmur3(const uint8_t* p, size_t length, uint32_t seed) {
    constexpr uint32_t c1 = 0xCC9E2D51u, c2 = 0x1B873593u;
    uint32_t h = seed;
    const size_t whole = length / 4;
    for (size_t i = 0; i < whole; ++i) {
        const uint32_t k = static_cast<uint32_t>(word_at(p + 4 * i, 4));
        h = rotate_left(h ^ (rotate_left(k * c1, 15) * c2), 13) * 5 + 0xE6546B64u;
    }
    if (const size_t rest = length % 4)
        h ^= rotate_left(static_cast<uint32_t>(word_at(p + 4 * whole, rest)) * c1, 15) * c2;
    h ^= static_cast<uint32_t>(length);
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
}

}  // namespace mercer
