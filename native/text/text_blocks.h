// Sixty-four bytes of text at once, in lower case: masks of ASCII word characters and of non-ASCII bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mercer {

struct TextBlock {
    uint8_t bytes[64 + 16];  // padding: words are copied sixteen bytes at a time
    uint64_t word = 0, foreign = 0;

    // The first n bytes of text; what follows them counts as blank.
    TextBlock(const uint8_t* text, size_t n, bool lowercase) {
        uint8_t rest[64];
        if (n < 64) {
            std::memcpy(rest, text, n);
            std::memset(rest + n, 0, 64 - n);
            text = rest;
        }
        read(text, lowercase);
    }

  private:
#if defined(__SSE2__)
    static __m128i within(__m128i c, char first, char last) {
        return _mm_and_si128(_mm_cmpgt_epi8(c, _mm_set1_epi8(static_cast<char>(first - 1))),
                             _mm_cmplt_epi8(c, _mm_set1_epi8(static_cast<char>(last + 1))));
    }

    void read(const uint8_t* text, bool lowercase) {
        const __m128i blank = _mm_set1_epi8(0x20), kept = _mm_set1_epi8(lowercase ? 0x20 : 0);
        for (int part = 0; part < 4; ++part) {
            const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
            const __m128i upper = within(c, 'A', 'Z');
            const __m128i low = _mm_or_si128(c, _mm_and_si128(upper, blank));
            const __m128i plain = _mm_or_si128(_mm_or_si128(within(low, 'a', 'z'), within(c, '0', '9')),
                                               _mm_cmpeq_epi8(c, _mm_set1_epi8('_')));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 16 * part),
                             _mm_or_si128(c, _mm_and_si128(upper, kept)));
            word |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(plain))) << (16 * part);
            foreign |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(c))) << (16 * part);
        }
    }
#else
    void read(const uint8_t* text, bool lowercase) {
        for (int i = 0; i < 64; ++i) {
            const uint8_t c = text[i];
            const bool upper = c >= 'A' && c <= 'Z';
            const auto low = static_cast<uint8_t>(upper ? c | 0x20 : c);
            const bool plain = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_';
            bytes[i] = lowercase ? low : c;
            word |= static_cast<uint64_t>(plain) << i;
            foreign |= static_cast<uint64_t>(c >> 7) << i;
        }
    }
#endif
};

}  // namespace mercer
