// See dual.h. Compiled once per instruction-set level; no std:: templates here.
#include "dual.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

constexpr long chunk = 256;

inline double lesser(double a, double b) { return a < b ? a : b; }
inline double greater(double a, double b) { return a > b ? a : b; }

inline double gain_of(const HingeState& s, long i) {
    const double slope = 1.0 - s.y[i] * s.f[i];
    const double moved = lesser(greater(s.beta[i] + slope * s.inverse[i], 0.0), s.upper[i]);
    const double change = moved - s.beta[i];
    return change * (slope - 0.5 * s.curvature[i] * change);
}

template <class T>
Best step(const HingeState& s, double scale, const T* row) {
    Best best{-1, 0.0};
    double gain[chunk];
    for (long start = 0; start < s.n; start += chunk) {
        const long count = s.n - start < chunk ? s.n - start : chunk;
        double* f = s.f + start;
        const T* values = row + start;
        for (long i = 0; i < count; ++i) f[i] += scale * static_cast<double>(values[i]);
        for (long i = 0; i < count; ++i) gain[i] = gain_of(s, start + i);
        // Eight running maxima, so that the comparison is not one long chain.
        double top[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        long i = 0;
        for (; i + 8 <= count; i += 8)
            for (long k = 0; k < 8; ++k) top[k] = greater(gain[i + k], top[k]);
        double most = 0.0;
        for (long k = 0; k < 8; ++k) most = greater(top[k], most);
        for (; i < count; ++i) most = greater(gain[i], most);
        if (most > best.gain) {
            for (i = 0; gain[i] != most; ++i) {
            }
            best = {start + i, most};
        }
    }
    return best;
}

}  // namespace

extern const DualTable dual;
const DualTable dual = {step<float>, step<double>};

}  // namespace MERCER_LEVEL
}  // namespace mercer
