// The keyed 64-bit hash of a string of bytes, and MurmurHash3 (32 bits, public domain, A. Appleby).
#pragma once

#include <cstdint>
#include <cstring>

#include "common/splitmix.h"

namespace mercer {

constexpr uint64_t text_gamma = 0x9E3779B97F4A7C15u;

// The next eight bytes as a little-endian word; with fewer left, zeros follow. Eight bytes must be readable.
inline uint64_t word_at(const uint8_t* p, size_t left) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) word = __builtin_bswap64(word);
    return left >= 8 ? word : word & ((uint64_t{1} << (8 * left)) - 1);
}

// Sixteen bytes past the end of the string must be readable. Most strings are short: those of up to sixteen bytes are
// hashed without a branch, which their lengths would make hard to predict.
inline uint64_t hash_text(const uint8_t* p, size_t length, uint64_t mixed_seed) {
    uint64_t h = mixed_seed ^ (length * text_gamma);
    if (length <= 16) {
        const uint64_t once = mix((h ^ word_at(p, length)) + text_gamma);
        const uint64_t twice = mix((once ^ word_at(p + 8, length > 8 ? length - 8 : 0)) + text_gamma);
        return length > 8 ? twice : once;
    }
    do {
        h = mix((h ^ word_at(p, length)) + text_gamma);
        p += 8;
        length -= length < 8 ? length : 8;
    } while (length);
    return h;
}

// The same hash where nothing past the end of the string may be read.
inline uint64_t hash_bare_text(const char* p, size_t length, uint64_t mixed_seed) {
    uint64_t h = mixed_seed ^ (length * text_gamma);
    for (; length > 8; p += 8, length -= 8) h = mix((h ^ word_at(reinterpret_cast<const uint8_t*>(p), 8)) + text_gamma);
    uint8_t last[8] = {};
    for (size_t i = 0; i < length; ++i) last[i] = static_cast<uint8_t>(p[i]);
    return mix((h ^ word_at(last, 8)) + text_gamma);
}

// Copies a string sixteen bytes at a time: that many bytes past the ends of both must be there.
inline void copy_text(uint8_t* to, const uint8_t* from, size_t length) {
    std::memcpy(to, from, 16);
    for (size_t i = 16; i < length; i += 16) std::memcpy(to + i, from + i, 16);
}

// Whether two strings of one length are equal; eight bytes past their ends must be readable.
inline bool same_text(const uint8_t* p, const uint8_t* q, size_t length) {
    for (; length > 8; p += 8, q += 8, length -= 8)
        if (word_at(p, 8) != word_at(q, 8)) return false;
    return word_at(p, length) == word_at(q, length);
}

inline uint32_t rotate_left(uint32_t x, int by) { return (x << by) | (x >> (32 - by)); }

// MurmurHash3 of prefixes of a text, in order of length. The states after the first `ready` words of four bytes are
// precomputed, so short prefixes need no branch. 4 * ready + 4 bytes must be readable.
template <int ready>
class MurmurPrefixes {
  public:
    MurmurPrefixes(const uint8_t* p, uint32_t seed) : text(p) {
        states[0] = seed;
        for (int i = 0; i < ready; ++i) states[i + 1] = step(states[i], four_at(p + 4 * i));
    }

    uint32_t operator()(size_t length) {
        const size_t whole = length / 4;
        uint32_t h;
        if (whole <= ready) [[likely]] {
            h = states[whole];
        } else {
            if (done == 0) {
                done = ready;
                further = states[ready];
            }
            for (; done < whole; ++done) further = step(further, four_at(text + 4 * done));
            h = further;
        }
        const uint64_t mask = (uint64_t{1} << (8 * (length % 4))) - 1;
        h ^= scrambled(four_at(text + 4 * whole) & static_cast<uint32_t>(mask));  // no change if no bytes are left
        h ^= static_cast<uint32_t>(length);
        h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
        h = (h ^ (h >> 13)) * 0xC2B2AE35u;
        return h ^ (h >> 16);
    }

  private:
    static uint32_t four_at(const uint8_t* p) {
        uint32_t word;
        std::memcpy(&word, p, 4);
        if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) word = __builtin_bswap32(word);
        return word;
    }

    static uint32_t scrambled(uint32_t k) { return rotate_left(k * 0xCC9E2D51u, 15) * 0x1B873593u; }
    static uint32_t step(uint32_t h, uint32_t k) { return rotate_left(h ^ scrambled(k), 13) * 5 + 0xE6546B64u; }

    const uint8_t* text;
    uint32_t states[ready + 1];
    uint32_t further = 0;
    size_t done = 0;  // words of four bytes hashed into `further`
};

// Eight bytes past the end of the string must be readable.
inline uint32_t murmur3(const uint8_t* p, size_t length, uint32_t seed) { return MurmurPrefixes<0>(p, seed)(length); }

}  // namespace mercer
