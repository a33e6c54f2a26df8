// The Walsh-Hadamard transform of rows, sums and differences at distances 1, 2, 4, ... in that order.
//
// The first pass holds eight neighboring vectors in registers and does all distances within them: inside a vector by
// a shuffle and a multiply-add with +-1, between vectors by plain sums. Every later pass does three distances at once
// (radix 8) on eight vectors. A row of 512 floats is read and written twice. Multiplying by +-1 is exact, so
// each entry sees the same additions in the same order on every instruction set, and in the NumPy definition.
#include "sketch/hadamard.h"
#include "sketch/trig_simd.h"

namespace mercer::MERCER_LEVEL {
namespace {

template <class T> constexpr long group = 8 * lanes<T>;  // entries finished by the first pass
// Longer rows are transformed chunk by chunk first, so that all short distances find their entries in the first-level
// cache.
template <class T> constexpr long chunk = 16 * 1024 / sizeof(T);

// ---- within a vector ----

template <class T> inline typename Of<T>::Bits lane_indices() {
    typename Of<T>::Bits result{};
    for (int i = 0; i < lanes<T>; ++i) result[i] = i;
    return result;
}

// Lane i receives lane i ^ distance.
template <class T, int distance> inline Vector<T> partner(Vector<T> x) {
#if defined(__clang__)
    Vector<T> result{};
    for (int i = 0; i < lanes<T>; ++i) result[i] = x[i ^ distance];
    return result;
#else
    return __builtin_shuffle(x, lane_indices<T>() ^ distance);
#endif
}

template <class T, int distance> inline Vector<T> plus_minus() {
    Vector<T> result{};
    for (int i = 0; i < lanes<T>; ++i) result[i] = i & distance ? T(-1) : T(1);
    return result;
}

template <class T, int distance = 1> inline void within(Vector<T> (&x)[8]) {
    if constexpr (distance < lanes<T>) {
        const Vector<T> sign = plus_minus<T, distance>();
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v) x[v] = x[v] * sign + partner<T, distance>(x[v]);
        within<T, 2 * distance>(x);
    }
}

// ---- between vectors ----

template <class T, int vectors> inline void between(Vector<T> (&x)[vectors]) {
#pragma GCC unroll 4
    for (int distance = 1; distance < vectors; distance *= 2) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            if (v & distance) continue;
            const Vector<T> sum = x[v] + x[v + distance];
            x[v + distance] = x[v] - x[v + distance];
            x[v] = sum;
        }
    }
}

// ---- passes over a row ----

template <class T> struct Start {
    const T* from;
    long columns;  // entries of `from`; zeros follow
    const T* signs;
};

template <class T> inline void load_group(const Start<T>& start, long first, Vector<T> (&x)[8]) {
    const T* from = start.from + first;
    T padded[group<T>];
    if (start.columns - first < group<T>) {
        for (long i = 0; i < group<T>; ++i) padded[i] = first + i < start.columns ? from[i] : T(0);
        from = padded;
    }
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) x[v] = load(from + v * lanes<T>);
    if (!start.signs) return;
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) x[v] *= load(start.signs + first + v * lanes<T>);
}

template <class T> void first_pass(const Start<T>& start, long first, long last, T* to, T scale) {
    for (; first < last; first += group<T>) {
        Vector<T> x[8];
        load_group(start, first, x);
        within<T>(x);
        between<T, 8>(x);
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v) store<T>(to + first + v * lanes<T>, scale * x[v]);
    }
}

// All distances from `distance` up to `radix` times it, on entries [first, last).
template <class T, int radix> void later_pass(T* row, long first, long last, long distance, T scale) {
    for (long block = first; block < last; block += radix * distance) {
        for (T* at = row + block; at < row + block + distance; at += lanes<T>) {
            Vector<T> x[radix];
#pragma GCC unroll 8
            for (int v = 0; v < radix; ++v) x[v] = load(at + v * distance);
            between<T, radix>(x);
#pragma GCC unroll 8
            for (int v = 0; v < radix; ++v) store<T>(at + v * distance, scale * x[v]);
        }
    }
}

// Distances from `distance` up to, not including, `end`; the last pass scales if `end` is the row's own width.
template <class T> void later_passes(T* row, long first, long last, long distance, long end, T scale) {
    while (distance < end) {
        const long left = end / distance;
        const int radix = left >= 8 ? 8 : int(left);
        const T factor = distance * radix == end ? scale : T(1);
        if (radix == 8) later_pass<T, 8>(row, first, last, distance, factor);
        else if (radix == 4) later_pass<T, 4>(row, first, last, distance, factor);
        else later_pass<T, 2>(row, first, last, distance, factor);
        distance *= radix;
    }
}

template <class T> void transform_wide(const Start<T>& start, T* to, long width, T scale) {
    const long step = width < chunk<T> ? width : chunk<T>;
    const T chunk_scale = step == width ? scale : T(1);
    for (long first = 0; first < width; first += step) {
        first_pass(start, first, first + step, to, step == group<T> ? chunk_scale : T(1));
        later_passes(to, first, first + step, group<T>, step, chunk_scale);
    }
    later_passes(to, 0, width, step, width, scale);
}

// Rows shorter than one group of vectors: plain loops.
template <class T> void transform_narrow(const Start<T>& start, T* to, long width, T scale) {
    T x[group<T>];
    for (long i = 0; i < width; ++i) {
        const T value = i < start.columns ? start.from[i] : T(0);
        x[i] = start.signs ? value * start.signs[i] : value;
    }
    for (long distance = 1; distance < width; distance *= 2) {
        for (long i = 0; i < width; ++i) {
            if (i & distance) continue;
            const T sum = x[i] + x[i + distance];
            x[i + distance] = x[i] - x[i + distance];
            x[i] = sum;
        }
    }
    for (long i = 0; i < width; ++i) to[i] = scale * x[i];
}

template <class T> void run(const HadamardJob<T>& job) {
    for (long row = 0; row < job.rows; ++row) {
        T* to = job.to + row * job.to_stride;
        Start<T> start{job.from + row * job.from_stride, job.from_columns, job.signs};
        for (long round = 0; round < job.rounds; ++round) {
            if (job.width < group<T>) transform_narrow(start, to, job.width, job.scale);
            else transform_wide(start, to, job.width, job.scale);
            start = {to, job.width, job.signs + (round + 1) * job.width};
        }
    }
}

}  // namespace

// Constant initialization: nothing of a level may run before it is chosen.
extern const HadamardKernels hadamard;
constinit const HadamardKernels hadamard{run<float>, run<double>};

}  // namespace mercer::MERCER_LEVEL
