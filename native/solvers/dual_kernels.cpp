// See dual.h. Compiled once per instruction-set level; no std:: templates here.
#include "common/vector_width.h"
#include "solvers/dual.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

constexpr long chunk = 256;

constexpr long lanes = vector_bytes / long(sizeof(double));
typedef double Pack __attribute__((vector_size(lanes * sizeof(double))));

inline double lesser(double a, double b) { return a < b ? a : b; }
inline double greater(double a, double b) { return a > b ? a : b; }

// f += scale * row, and the gain of a step along each coordinate, in one vectorized loop.
template <class T>
void advance(const HingeState& s, long start, long count, double scale, const T* __restrict row,
             double* __restrict gain) {
    const double* __restrict y = s.y + start;
    const double* __restrict upper = s.upper + start;
    const double* __restrict curvature = s.curvature + start;
    const double* __restrict inverse = s.inverse + start;
    const double* __restrict beta = s.beta + start;
    double* __restrict f = s.f + start;
    for (long i = 0; i < count; ++i) {
        const double score = f[i] + scale * static_cast<double>(row[i]);
        f[i] = score;
        const double gradient = 1.0 - y[i] * score;
        const double change = lesser(greater(beta[i] + gradient * inverse[i], 0.0), upper[i]) - beta[i];
        gain[i] = change * (gradient - 0.5 * curvature[i] * change);
    }
}

template <class T>
Best step(const HingeState& s, double scale, const T* row) {
    Best best{-1, 0.0};
    double gain[chunk];
    for (long start = 0; start < s.n; start += chunk) {
        const long count = s.n - start < chunk ? s.n - start : chunk;
        advance(s, start, count, scale, row + start, gain);
        // One running maximum per lane: without -ffast-math compilers keep a single sequential one.
        Pack top = {};
        long i = 0;
        for (; i + lanes <= count; i += lanes) {
            Pack some;
            __builtin_memcpy(&some, gain + i, sizeof some);
            top = some > top ? some : top;
        }
        double max_gain = 0.0;
        for (long k = 0; k < lanes; ++k) max_gain = greater(top[k], max_gain);
        for (; i < count; ++i) max_gain = greater(gain[i], max_gain);
        if (max_gain > best.gain) {
            for (i = 0; gain[i] != max_gain; ++i) {
            }
            best = {start + i, max_gain};
        }
    }
    return best;
}

}  // namespace

extern const DualTable dual;
const DualTable dual = {step<float>, step<double>};

}  // namespace MERCER_LEVEL
}  // namespace mercer
