// One hash word in many lanes, and rows written past the caches. Included once per instruction-set level.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace mercer::MERCER_LEVEL {
namespace {

// UnpackFields writes, for each of the 8 or 4 fields of a word in memory order, the index first[f] + (field >> shift)
// and the value, with its sign flipped where the lowest bit of the field is set and the mask allows it.
#if defined(__AVX2__)
constexpr bool has_unpack = true;

template <int fields> struct UnpackFields;

template <> struct UnpackFields<8> {
    static __m128i load(const uint64_t* word) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(word)); }
    static void indices(const uint64_t* word, const uint32_t* first, int shift, uint32_t* to) {
        const __m256i found = _mm256_srl_epi32(_mm256_cvtepu8_epi32(load(word)), _mm_cvtsi32_si128(shift));
        const __m256i start = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_add_epi32(found, start));
    }
    static void signs(const uint64_t* word, uint32_t value, uint32_t mask, uint32_t* to) {
        const __m256i sign = _mm256_slli_epi32(_mm256_cvtepu8_epi32(load(word)), 31);
        const __m256i flips = _mm256_and_si256(sign, _mm256_set1_epi32(int(mask)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_xor_si256(flips, _mm256_set1_epi32(int(value))));
    }
    static void signs(const uint64_t* word, uint64_t value, uint64_t mask, uint64_t* to) {
        const __m128i all = load(word);
        half(_mm256_cvtepu8_epi64(all), value, mask, to);
        half(_mm256_cvtepu8_epi64(_mm_srli_si128(all, 4)), value, mask, to + 4);
    }
    static void half(__m256i fields, uint64_t value, uint64_t mask, uint64_t* to) {
        const __m256i sign = _mm256_slli_epi64(fields, 63);
        const __m256i flips = _mm256_and_si256(sign, _mm256_set1_epi64x(int64_t(mask)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                            _mm256_xor_si256(flips, _mm256_set1_epi64x(int64_t(value))));
    }
};

template <> struct UnpackFields<4> {
    static void indices(const uint64_t* word, const uint32_t* first, int shift, uint32_t* to) {
        const __m128i found = _mm_srl_epi32(_mm_cvtepu16_epi32(UnpackFields<8>::load(word)), _mm_cvtsi32_si128(shift));
        const __m128i start = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_add_epi32(found, start));
    }
    static void signs(const uint64_t* word, uint32_t value, uint32_t mask, uint32_t* to) {
        const __m128i sign = _mm_slli_epi32(_mm_cvtepu16_epi32(UnpackFields<8>::load(word)), 31);
        const __m128i flips = _mm_and_si128(sign, _mm_set1_epi32(int(mask)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_xor_si128(flips, _mm_set1_epi32(int(value))));
    }
    static void signs(const uint64_t* word, uint64_t value, uint64_t mask, uint64_t* to) {
        UnpackFields<8>::half(_mm256_cvtepu16_epi64(UnpackFields<8>::load(word)), value, mask, to);
    }
};
#else
constexpr bool has_unpack = false;
template <int fields> struct UnpackFields;
#endif

// Copies a finished row past the caches: its memory need not be read first, and the sums stay in the caches.
// Only whole lines are streamed; lines shared with neighboring rows go through the caches.
inline void stream(const void* from, void* to, long bytes) {
    const char* source = static_cast<const char*>(from);
    char* target = static_cast<char*>(to);
    long done = 0;
#if defined(__SSE2__)
    done = -reinterpret_cast<uintptr_t>(to) & 63;
    if (done > bytes) done = bytes;
    __builtin_memcpy(target, source, done);
    for (; done + 64 <= bytes; done += 64)
        for (int i = 0; i < 64; i += 16) {
            const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done + i));
            _mm_stream_si128(reinterpret_cast<__m128i*>(target + done + i), some);
        }
#endif
    __builtin_memcpy(target + done, source + done, bytes - done);
}

// Streamed rows are in memory before anything written later.
inline void end_of_stream() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
