// What native/linalg/thin_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"

namespace mercer {

template <class T>
struct TallRows {
    const T* data;
    long count, columns, step;
};

template <class T>
struct ThinTable {
    // sums (targets + probes rows of `columns`) += coefficients' Z, where the first `targets` coefficients of a row
    // are given and the others are its products with the probes (a row of `columns` each).
    void (*products)(TallRows<T> Z, const double* given, long targets, const double* probes, long n_probes,
                     double* sums);
    // out[i] = (Z[order[i]] - origin) * root[i]; without `root` no product.
    void (*gather)(TallRows<T> Z, const long* order, const T* origin, const T* root, T* out, long out_step);
};

struct ThinKernels {
    ThinTable<float> f32;
    ThinTable<double> f64;
};

MERCER_DECLARE_TABLE(ThinKernels, thin)

}  // namespace mercer
