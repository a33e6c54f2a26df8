// BLAKE2b (RFC 7693) with an 8-byte key and an 8-byte digest, as one 64-bit word.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace mercer {

static_assert(std::endian::native == std::endian::little, "the words of BLAKE2b are read in native byte order");

class KeyedBlake2b {
  public:
    explicit KeyedBlake2b(uint64_t key) {
        std::memcpy(key_block_, &key, 8);
        for (int i = 0; i < 8; ++i) start_[i] = iv[i];
        start_[0] ^= 0x01010000u ^ (8u << 8) ^ 8u;  // one leaf, one level, lengths of key and digest
        std::memcpy(keyed_, start_, sizeof keyed_);
        compress(keyed_, key_block_, 128, false);
    }

    uint64_t operator()(const char* message, size_t length) const {
        uint64_t h[8];
        if (length == 0) {
            std::memcpy(h, start_, sizeof h);
            compress(h, key_block_, 128, true);
            return h[0];
        }
        std::memcpy(h, keyed_, sizeof h);
        uint64_t done = 128;
        for (; length > 128; length -= 128, message += 128) compress(h, message, done += 128, false);
        char last[128] = {};
        std::memcpy(last, message, length);
        compress(h, last, done + length, true);
        return h[0];
    }

  private:
    static constexpr uint64_t iv[8] = {0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu,
                                       0xA54FF53A5F1D36F1u, 0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu,
                                       0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};
    static constexpr uint8_t order[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

    static uint64_t rotated(uint64_t x, int by) { return (x >> by) | (x << (64 - by)); }

    static void mix_words(uint64_t* v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
        v[a] += v[b] + x;
        v[d] = rotated(v[d] ^ v[a], 32);
        v[c] += v[d];
        v[b] = rotated(v[b] ^ v[c], 24);
        v[a] += v[b] + y;
        v[d] = rotated(v[d] ^ v[a], 16);
        v[c] += v[d];
        v[b] = rotated(v[b] ^ v[c], 63);
    }

    static void compress(uint64_t* h, const char* block, uint64_t bytes, bool last) {
        uint64_t m[16], v[16];
        std::memcpy(m, block, 128);
        for (int i = 0; i < 8; ++i) v[i] = h[i], v[i + 8] = iv[i];
        v[12] ^= bytes;
        if (last) v[14] = ~v[14];
        for (int round = 0; round < 12; ++round) {
            const uint8_t* s = order[round % 10];
            mix_words(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
            mix_words(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
            mix_words(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
            mix_words(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
            mix_words(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
            mix_words(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
            mix_words(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
            mix_words(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
        }
        for (int i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
    }

    char key_block_[128] = {};
    uint64_t start_[8], keyed_[8];
};

}  // namespace mercer
