// What native/sketch/projection_kernels.cpp offers at each instruction-set level.
#pragma once

#include <cstdint>

#include "common/dispatch.h"

namespace mercer {

// The map: `nonzeros` blocks of `width` outputs; seeds are mixed; sign_mask is 1 with signs and 0 without;
// one hash word serves `fields` blocks.
template <class T>
struct BlockHash {
    uint64_t seed;
    const uint64_t* block_seeds;
    long nonzeros;
    uint64_t width, sign_mask;
    T scale;
    int fields;
};

template <class T>
struct DenseRows {
    const T* data;
    long count, columns, row_step, column_step;
};

template <class T, class Index>
struct CsrRows {
    const T* data;
    const Index *indices, *indptr;
    long count;
};

template <class T>
struct ProjectionTable {
    void (*dense)(const BlockHash<T>&, DenseRows<T>, T* out, long out_step);
    void (*csr32)(const BlockHash<T>&, CsrRows<T, int32_t>, T* out, long out_step);
    void (*csr64)(const BlockHash<T>&, CsrRows<T, int64_t>, T* out, long out_step);
};

struct ProjectionKernels {
    ProjectionTable<float> f32;
    ProjectionTable<double> f64;
};

MERCER_DECLARE_TABLE(ProjectionKernels, projection)

}  // namespace mercer
