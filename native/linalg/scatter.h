// What native/linalg/scatter_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "linalg/thin.h"

namespace mercer {

template <class T>
struct ScatterTable {
    // Entries of working memory that `add` needs for rows of this many columns.
    long (*workspace_size)(long columns);
    // S (upper triangle) += sum of z z' and sums += sum of root z for z = root (x - origin); either may be null. Only
    // the first `height` rows of S.
    void (*add)(TallRows<T> X, const T* origin, const T* root, double* S, long step, long height, double* sums,
                T* workspace);
};

struct ScatterKernels {
    ScatterTable<float> f32;
    ScatterTable<double> f64;
};

MERCER_DECLARE_TABLE(ScatterKernels, scatter)

}  // namespace mercer
