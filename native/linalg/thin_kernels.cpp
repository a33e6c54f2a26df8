// Products of tall blocks with thin matrices in one pass: four rows at a time, widened to double.
#include "common/wide_lanes.h"
#include "linalg/thin.h"

namespace mercer::MERCER_LEVEL {
namespace {

constexpr long rows_at_once = 4;
constexpr long max_coefficients = 64;  // of a row held at a time

inline void store(double* x, Wide wide) { __builtin_memcpy(x, &wide, sizeof wide); }

template <class T> double dot(const T* z, const double* v, long n) {
    Wide even = {}, odd = {};  // independent accumulators hide latency
    long j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes) {
        even += widened(z + j) * loaded(v + j);
        odd += widened(z + j + lanes) * loaded(v + j + lanes);
    }
    even += odd;
    double sum = 0.0;
    for (long l = 0; l < lanes; ++l) sum += even[l];
    for (; j < n; ++j) sum += double(z[j]) * v[j];
    return sum;
}

// sums[q] += sum over `rows` of coefficient[row][q] z[row]
template <class T, int rows>
void add_rows(const T* z, long step, long n, const double (*coefficient)[max_coefficients], long q_count,
              double* sums) {
    long j = 0;
    for (; j + lanes <= n; j += lanes) {
        Wide x[rows];
        for (int r = 0; r < rows; ++r) x[r] = widened(z + r * step + j);
        for (long q = 0; q < q_count; ++q) {
            Wide sum = loaded(sums + q * n + j);
            for (int r = 0; r < rows; ++r) sum += x[r] * coefficient[r][q];
            store(sums + q * n + j, sum);
        }
    }
    for (; j < n; ++j)
        for (long q = 0; q < q_count; ++q)
            for (int r = 0; r < rows; ++r) sums[q * n + j] += double(z[r * step + j]) * coefficient[r][q];
}

template <class T>
void products(TallRows<T> Z, const double* given, long targets, const double* probes, long n_probes, double* sums) {
    const long total = targets + n_probes, n = Z.columns;
    for (long first = 0; first < total; first += max_coefficients) {
        const long q_count = total - first < max_coefficients ? total - first : max_coefficients;
        for (long row = 0; row < Z.count; row += rows_at_once) {
            const long rows = Z.count - row < rows_at_once ? Z.count - row : rows_at_once;
            const T* z = Z.data + row * Z.step;
            double coefficient[rows_at_once][max_coefficients];
            for (long r = 0; r < rows; ++r)
                for (long q = 0; q < q_count; ++q) {
                    const long which = first + q;
                    coefficient[r][q] = which < targets ? given[(row + r) * targets + which]
                                                        : dot(z + r * Z.step, probes + (which - targets) * n, n);
                }
            if (rows == rows_at_once) {
                add_rows<T, rows_at_once>(z, Z.step, n, coefficient, q_count, sums + first * n);
            } else {
                for (long r = 0; r < rows; ++r)
                    add_rows<T, 1>(z + r * Z.step, Z.step, n, coefficient + r, q_count, sums + first * n);
            }
        }
    }
}

template <class T>
void gather(TallRows<T> Z, const long* order, const T* origin, const T* root, T* out, long out_step) {
    for (long i = 0; i < Z.count; ++i, out += out_step) {
        const T* z = Z.data + order[i] * Z.step;
        if (root) {
            const T scale = root[i];
            for (long j = 0; j < Z.columns; ++j) out[j] = (z[j] - origin[j]) * scale;
        } else {
            for (long j = 0; j < Z.columns; ++j) out[j] = z[j] - origin[j];
        }
    }
}

template <class T> constexpr ThinTable<T> table{products<T>, gather<T>};

}  // namespace

extern const ThinKernels thin;
constinit const ThinKernels thin{table<float>, table<double>};

}  // namespace mercer::MERCER_LEVEL
