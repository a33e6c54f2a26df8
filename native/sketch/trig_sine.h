// Cosine and sine: the argument is reduced in its own precision to half a turn, where one odd polynomial of degree 9
// in single precision gives the sine. Every case is brought to sin(u) with |u| at most a quarter turn, where the
// derivative vanishes, so that the rounding of the largest u hardly shows.
//
// The coefficients are minimax (error 5e-9), then varied by a few units in the last place until, over all floats of
// the interval and with or without fused multiply-adds, no value exceeds 1 and the error stays below 1.15e-7.
#pragma once

#include "sketch/trig_simd.h"

namespace mercer::MERCER_LEVEL {
namespace {

// sin(v pi / 2), |v| <= 1. The leading v stands apart: it is exact.
inline F32 quarters_polynomial(F32 v) {
    const F32 s = v * v;
    F32 p = s * 0.000151046726f + -0.00467281695f;
    p = p * s + 0.0796890706f;
    p = p * s + -0.645963669f;
    p = p * s + 0.570796371f;
    return v * p + v;
}

// sin(u), |u| <= pi/2.
inline F32 radians_polynomial(F32 u) {
    const F32 s = u * u;
    F32 p = s * 2.59903209e-06f + -0.000198057474f;
    p = p * s + 0.00833298732f;
    p = p * s + -0.166666538f;
    return (u * s) * p + u;
}

// Apply a single-precision function to a pair of vectors of either precision.
template <class Function> inline Pair<float> in_single(Pair<float> u, Function f) { return {f(u.low), f(u.high)}; }
template <class Function> inline Pair<double> in_single(Pair<double> u, Function f) { return widen(f(narrow(u))); }

// ---- arguments in turns: subtracting the nearest integer is exact, and so is the change to quarter turns ----

template <class T> inline Vector<T> cosine_angle(Vector<T> turns) {  // cos(t) = sin(quarter turn - |t|)
    return T(1) - T(4) * absolute<T>(turns - nearest(turns));
}
template <class T> inline Vector<T> sine_angle(Vector<T> turns) {  // sin(t) = sin(half turn - t)
    const Vector<T> t = turns - nearest(turns), quarters = T(4) * absolute<T>(t);
    return with_sign<T>(at_most<T>(quarters, T(2) - quarters), t);
}
template <class T> inline Pair<T> cosine_of_turns(Pair<T> t) {
    return in_single(Pair<T>{cosine_angle<T>(t.low), cosine_angle<T>(t.high)}, quarters_polynomial);
}
template <class T> inline Pair<T> sine_of_turns(Pair<T> t) {
    return in_single(Pair<T>{sine_angle<T>(t.low), sine_angle<T>(t.high)}, quarters_polynomial);
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
