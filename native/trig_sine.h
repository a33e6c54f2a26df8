// Cosine and sine: the argument is reduced in its own precision to half a turn, where one odd polynomial of degree 9
// in single precision gives the sine (minimax error 8e-9, so that rounding, about 1e-7, is all there is).
// Every case is brought to sin(u) with |u| at most a quarter turn, which is where the derivative vanishes: an error
// of the largest u hardly shows.
#pragma once

#include "trig_simd.h"

namespace mercer::MERCER_LEVEL {
namespace {

// sin(2 pi u), |u| <= 1/4.
inline F32 turns_polynomial(F32 u) {
    const F32 s = u * u;
    F32 p = s * 39.1341591f + -76.496048f;
    p = p * s + 81.5986481f;
    p = p * s + -41.3416176f;
    p = p * s + 6.28318501f;
    return u * p;
}

// sin(u), |u| <= pi/2.
inline F32 radians_polynomial(F32 u) {
    const F32 s = u * u;
    F32 p = s * 2.59885428e-06f + -0.000198060385f;
    p = p * s + 0.00833300874f;
    p = p * s + -0.166666567f;
    return (u * s) * p + u;
}

// Apply a single-precision function to a pair of vectors of either precision.
template <class Function> inline Pair<float> in_single(Pair<float> u, Function f) { return {f(u.low), f(u.high)}; }
template <class Function> inline Pair<double> in_single(Pair<double> u, Function f) { return widen(f(narrow(u))); }

// ---- arguments in turns: subtracting the nearest integer is exact ----

template <class T> inline Vector<T> cosine_angle(Vector<T> turns) {  // cos(2 pi t) = sin(2 pi (1/4 - |t|))
    return T(0.25) - absolute<T>(turns - nearest(turns));
}
template <class T> inline Vector<T> sine_angle(Vector<T> turns) {  // sin(2 pi t) = sin(2 pi (1/2 - t))
    const Vector<T> t = turns - nearest(turns), size = absolute<T>(t);
    return with_sign<T>(at_most<T>(size, T(0.5) - size), t);
}
template <class T> inline Pair<T> cosine_of_turns(Pair<T> t) {
    return in_single(Pair<T>{cosine_angle<T>(t.low), cosine_angle<T>(t.high)}, turns_polynomial);
}
template <class T> inline Pair<T> sine_of_turns(Pair<T> t) {
    return in_single(Pair<T>{sine_angle<T>(t.low), sine_angle<T>(t.high)}, turns_polynomial);
}

// ---- arguments in radians: subtract k pi in three parts ----

// The first two parts of pi are short enough that their products with k are exact up to |argument| = 1e4 (float) or
// 1e9 (double), with or without fused multiply-adds.
template <class T> struct PiParts;
template <> struct PiParts<float> {
    static constexpr float first = 0x1.92p+1f, second = 0x1.fb4p-11f, third = 0x1.4442d2p-23f, inverse = 0x1.45f306p-2f;
};
template <> struct PiParts<double> {
    static constexpr double first = 0x1.921fb4p+1, second = 0x1.4442dp-23, third = 0x1.8469898cc5170p-47,
                            inverse = 0x1.45f306dc9c883p-2;
};

// u and sign such that sin(argument + quarter turn * is_cosine) = sin(u), |u| <= pi/2.
template <class T, bool is_cosine> inline Vector<T> half_turn_angle(Vector<T> argument) {
    using Pi = PiParts<T>;
    constexpr T half = is_cosine ? T(0.5) : T(0), bound = T(1.5707964);
    const Vector<T> k = nearest(argument * Pi::inverse - half) + half;
    const Vector<T> u = ((argument - k * Pi::first) - k * Pi::second) - k * Pi::third;
    // The sine of u + j pi is sin(-u) for odd j; far beyond the intended range the bound keeps the result in [-1, 1].
    const Vector<T> halved = (k + half) * T(0.5);
    const Vector<T> sign = T(1) - T(4) * absolute<T>(halved - nearest(halved));
    return at_least<T>(at_most<T>(u, all<T>(bound)), all<T>(-bound)) * sign;
}
template <class T> inline Pair<T> cosine_of_radians(Pair<T> t) {
    return in_single(Pair<T>{half_turn_angle<T, true>(t.low), half_turn_angle<T, true>(t.high)}, radians_polynomial);
}
template <class T> inline Pair<T> sine_of_radians(Pair<T> t) {
    return in_single(Pair<T>{half_turn_angle<T, false>(t.low), half_turn_angle<T, false>(t.high)}, radians_polynomial);
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
