// The few vector operations the trigonometric kernels need, at the width of the level being compiled.
// Arithmetic and comparisons come from the vector extension of GCC and Clang; only rounding and the change of
// precision need the processor's own names.
#pragma once

#include "common/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mercer::MERCER_LEVEL {
namespace {

// To the nearest integer, ties to even; infinity and NaN stay.
#if defined(__AVX512F__)
inline F32 nearest(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, 8); }
inline F64 nearest(F64 x) { return (F64)_mm512_roundscale_pd((__m512d)x, 8); }
#elif defined(__AVX2__)
inline F32 nearest(F32 x) { return (F32)_mm256_round_ps((__m256)x, 8); }
inline F64 nearest(F64 x) { return (F64)_mm256_round_pd((__m256d)x, 8); }
#elif defined(__SSE4_1__)
inline F32 nearest(F32 x) { return (F32)_mm_round_ps((__m128)x, 8); }
inline F64 nearest(F64 x) { return (F64)_mm_round_pd((__m128d)x, 8); }
#else
inline F32 nearest(F32 x) {
    for (int i = 0; i < lanes<float>; ++i) x[i] = __builtin_rintf(x[i]);
    return x;
}
inline F64 nearest(F64 x) {
    for (int i = 0; i < lanes<double>; ++i) x[i] = __builtin_rint(x[i]);
    return x;
}
#endif

#if defined(__AVX512F__)
inline F32 narrow(Pair<double> x) {
    __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)x.low));
    return (F32)_mm512_insertf32x8(low, _mm512_cvtpd_ps((__m512d)x.high), 1);
}
inline Pair<double> widen(F32 x) {
    return {(F64)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)),
            (F64)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1))};
}
#elif defined(__AVX2__)
inline F32 narrow(Pair<double> x) {
    return (F32)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)x.high), _mm256_cvtpd_ps((__m256d)x.low));
}
inline Pair<double> widen(F32 x) {
    return {(F64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)),
            (F64)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1))};
}
#elif defined(__SSE4_1__)
inline F32 narrow(Pair<double> x) {
    return (F32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)x.low), _mm_cvtpd_ps((__m128d)x.high));
}
inline Pair<double> widen(F32 x) {
    return {(F64)_mm_cvtps_pd((__m128)x), (F64)_mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x))};
}
#else
inline F32 narrow(Pair<double> x) {
    F32 y{};
    for (int i = 0; i < lanes<double>; ++i) {
        y[i] = float(x.low[i]);
        y[i + lanes<double>] = float(x.high[i]);
    }
    return y;
}
inline Pair<double> widen(F32 x) {
    Pair<double> y{};
    for (int i = 0; i < lanes<double>; ++i) {
        y.low[i] = x[i];
        y.high[i] = x[i + lanes<double>];
    }
    return y;
}
#endif

template <class T> inline Vector<T> absolute(Vector<T> x) {
    using Bits = typename Of<T>::Bits;
    return (Vector<T>)((Bits)x & ~(Bits)(all<T>(T(-0.0))));
}
// The magnitude of a non-negative x with the sign of y.
template <class T> inline Vector<T> with_sign(Vector<T> x, Vector<T> y) {
    using Bits = typename Of<T>::Bits;
    return (Vector<T>)((Bits)x | ((Bits)y & (Bits)(all<T>(T(-0.0)))));
}
// In both, a NaN in x comes out: a comparison with NaN is false.
template <class T> inline Vector<T> at_most(Vector<T> x, Vector<T> bound) { return x > bound ? bound : x; }
template <class T> inline Vector<T> at_least(Vector<T> x, Vector<T> bound) { return x < bound ? bound : x; }

}  // namespace
}  // namespace mercer::MERCER_LEVEL
