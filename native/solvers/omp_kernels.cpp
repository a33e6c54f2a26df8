// See omp.h. Compiled once per instruction-set level; no std:: templates here.
//
// With q_1, q_2, ... the chosen atoms made orthonormal, in order, keep for every atom d_k its correlation with the
// residual, a_k = <r, d_k>, what it would add, e_k = |d_k|^2 - sum_t F_tk^2, and F_tk = <q_t, d_k>. A new atom i has
//     p = sqrt(e_i),  F_t = (G_i - sum_s F_si F_s) / p,  c_t = a_i / p,  a -= c_t F_t,  e -= F_t^2,
// and the next one is searched for while these are in registers. L_ts = F_s(i_t) and L_tt = p_t form the Cholesky
// factor of the chosen atoms' Gram matrix, so the coefficients solve L'x = c.
#include "common/vector_width.h"
#include "solvers/omp.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

typedef float F32 __attribute__((vector_size(vector_bytes)));
typedef double F64 __attribute__((vector_size(vector_bytes)));
typedef int I32 __attribute__((vector_size(vector_bytes)));
typedef long long I64 __attribute__((vector_size(vector_bytes)));

template <class T> struct Of;
template <> struct Of<float> {
    using Vector = F32;
    using Bits = I32;
};
template <> struct Of<double> {
    using Vector = F64;
    using Bits = I64;
};
template <class T> using Vector = typename Of<T>::Vector;
template <class T> using Bits = typename Of<T>::Bits;

template <class T> constexpr long lanes = vector_bytes / sizeof(T);
template <class T> constexpr long run = 256 / sizeof(T);  // entries worked on side by side, to hide latencies
template <class T> constexpr long vectors = run<T> / lanes<T>;
// Squared residual norm of a unit atom up to which it counts as a combination of those taken.
template <class T> constexpr T min_residual = sizeof(T) == 8 ? T(1e-10) : T(1e-4);

template <class T>
inline Vector<T> load(const T* from) {
    Vector<T> value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store(T* to, Vector<T> value) {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class T>
struct Signal {
    T *a, *e, *F;
    double *L, *c;
    long* chosen;
    long count;
    double first;  // its largest correlation
    long best;     // the atom to be taken next
    bool open;
};

// Fractions over / under, one in each lane, and where they come from.
template <class T>
struct Fractions {
    Vector<T> over, under;
    Bits<T> where;

    inline void keep_larger(Vector<T> o, Vector<T> u, Bits<T> w, Bits<T> valid) {
        take((o * under > over * u) & valid, o, u, w);
    }

    inline void take(Bits<T> larger, Vector<T> o, Vector<T> u, Bits<T> w) {
        over = larger ? o : over;
        under = larger ? u : under;
        where = larger ? w : where;
    }
};

// The first atom of the largest a^2 / e among those with e above rounding; -1 if all are 0.
template <class T>
long search(const T* a, const T* e, long width) {
    constexpr long chains = 4;  // side by side, to hide latencies
    const Vector<T> zero = {}, one = T(1) - zero;
    Fractions<T> best[chains];
    Bits<T> here = {};
    for (long i = 0; i < lanes<T>; ++i) here[i] = i;
    for (long c = 0; c < chains; ++c) best[c] = {zero, one, here};
    for (long j = 0; j < width; j += chains * lanes<T>)
        for (long c = 0; c < chains; ++c, here += lanes<T>) {
            const Vector<T> some = load(a + j + c * lanes<T>), under = load(e + j + c * lanes<T>);
            best[c].keep_larger(some * some, under, here, under > min_residual<T> - zero);
        }
    for (long c = 1; c < chains; ++c) {
        const Vector<T> theirs = best[c].over * best[0].under, ours = best[0].over * best[c].under;
        const Bits<T> larger = (theirs > ours) | ((theirs == ours) & (best[c].where < best[0].where));
        best[0].take(larger, best[c].over, best[c].under, best[c].where);
    }
    T max_gain = T(0);
    long index = -1;
    for (long i = 0; i < lanes<T>; ++i) {
        const T gain = best[0].over[i] / best[0].under[i];
        if (gain > max_gain || (gain == max_gain && index > best[0].where[i])) {
            max_gain = gain;
            index = best[0].where[i];
        }
    }
    return index;
}

// F_t, then a and e after it.
template <class T, bool orthogonal>
void advance(const Signal<T>& s, const T* __restrict row, long width, const T* w, T scale, T step) {
    T* __restrict out = s.F + s.count * width;
    T* __restrict a = s.a, * __restrict e = s.e;
    for (long j = 0; j < width; j += run<T>) {
        Vector<T> f[vectors<T>];
        for (long v = 0; v < vectors<T>; ++v) f[v] = load(row + j + v * lanes<T>);
        const T* __restrict before = s.F + j;
        for (long i = 0; i < s.count; ++i, before += width) {
            const Vector<T> factor = w[i] - Vector<T>{};
            for (long v = 0; v < vectors<T>; ++v) f[v] -= factor * load(before + v * lanes<T>);
        }
        for (long v = 0; v < vectors<T>; ++v) {
            const long k = j + v * lanes<T>;
            f[v] *= scale - Vector<T>{};
            store(out + k, f[v]);
            store(a + k, load(a + k) - (step - Vector<T>{}) * f[v]);
            if (orthogonal) store(e + k, load(e + k) - f[v] * f[v]);
        }
    }
}

// Takes the best atom, whose Gram row has been prefetched.
template <class T>
void take(Signal<T>& s, const PursuitBlock<T>& b, T* w) {
    const long t = s.count, k = s.best;
    const T* row = b.gram + k * b.width;
    double pivot = static_cast<double>(row[k]);
    double* L = s.L + t * b.nonzeros;
    for (long i = 0; i < t; ++i) {
        w[i] = s.F[i * b.width + k];
        L[i] = static_cast<double>(w[i]);
        pivot -= L[i] * L[i];
    }
    if (!(pivot > min_residual<T>)) {
        s.open = false;
        return;
    }
    L[t] = __builtin_sqrt(pivot);
    s.c[t] = static_cast<double>(s.a[k]) / L[t];
    s.chosen[t] = k;
    if (t + 1 < b.nonzeros) {
        const T scale = static_cast<T>(1.0 / L[t]), step = static_cast<T>(s.c[t]);
        if (b.orthogonal) advance<T, true>(s, row, b.width, w, scale, step);
        else advance<T, false>(s, row, b.width, w, scale, step);
        s.best = search(s.a, s.e, b.width);
    }
    s.count = t + 1;
}

// Prefetches the Gram row of the best atom; closes the signal if its correlation is rounding error.
template <class T>
void prefetch_gram(Signal<T>& s, const PursuitBlock<T>& b) {
    if (s.best < 0 || s.count == b.nonzeros) {
        s.open = false;
        return;
    }
    const double a = static_cast<double>(s.a[s.best]), size = a < 0 ? -a : a;
    if (s.count == 0) s.first = size;
    s.open = size > b.floor * s.first;
    const T* row = b.gram + s.best * b.width;
    if (s.open && s.count + 1 < b.nonzeros)
        for (long j = 0; j < b.width; j += 64 / sizeof(T)) __builtin_prefetch(row + j, 0, 2);
}

template <class T>
void begin(Signal<T>& s, const PursuitBlock<T>& b, const T* diagonal, long row, long slot) {
    char* workspace = b.workspace + slot * pursuit_workspace<T>(b.nonzeros, b.width);
    s.a = b.correlations + row * b.width;
    s.e = reinterpret_cast<T*>(workspace);
    s.F = s.e + b.width;
    s.L = reinterpret_cast<double*>(s.e + b.nonzeros * b.width);
    s.c = s.L + b.nonzeros * b.nonzeros;
    s.chosen = reinterpret_cast<long*>(s.c + b.nonzeros);
    for (long j = 0; j < b.width; ++j) s.e[j] = diagonal[j];
    s.count = 0;
    s.best = search(s.a, s.e, b.width);
    prefetch_gram(s, b);
}

// The coefficients by back substitution, sorted into index.
template <class T>
void finish(const Signal<T>& s, const PursuitBlock<T>& b, long row) {
    std::int32_t* indices = b.indices + row * b.nonzeros;
    T* values = b.values + row * b.nonzeros;
    for (long t = s.count - 1; t >= 0; --t) {
        for (long i = t + 1; i < s.count; ++i) s.c[t] -= s.L[i * b.nonzeros + t] * s.c[i];
        s.c[t] /= s.L[t * b.nonzeros + t];
    }
    for (long t = 0; t < s.count; ++t) {
        long index = t;
        for (; index > 0 && indices[index - 1] > s.chosen[t]; --index) {
            indices[index] = indices[index - 1];
            values[index] = values[index - 1];
        }
        indices[index] = static_cast<std::int32_t>(s.chosen[t]);
        values[index] = static_cast<T>(s.c[t]);
    }
    for (long t = s.count; t < b.nonzeros; ++t) {
        indices[t] = 0;
        values[t] = T(0);
    }
    b.counts[row] = s.count;
}

template <class T>
void encode(const PursuitBlock<T>& b) {
    T* diagonal = reinterpret_cast<T*>(b.workspace + pursuit_group * pursuit_workspace<T>(b.nonzeros, b.width));
    T* w = diagonal + b.width;
    for (long j = 0; j < b.width; ++j) diagonal[j] = b.gram[j * b.width + j];
    for (long start = 0; start < b.n; start += pursuit_group) {
        const long size = b.n - start < pursuit_group ? b.n - start : pursuit_group;
        Signal<T> signals[pursuit_group];
        for (long i = 0; i < size; ++i) begin(signals[i], b, diagonal, start + i, i);
        for (bool open = true; open;) {
            open = false;
            for (long i = 0; i < size; ++i) {
                Signal<T>& s = signals[i];
                if (s.open) take(s, b, w);
                if (s.open) prefetch_gram(s, b);
                open = open || s.open;
            }
        }
        for (long i = 0; i < size; ++i) finish(signals[i], b, start + i);
    }
}

}  // namespace

extern const PursuitTable pursuit;
const PursuitTable pursuit = {encode<float>, encode<double>};

}  // namespace MERCER_LEVEL
}  // namespace mercer
