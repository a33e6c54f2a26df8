// What native/sketch/hadamard_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"

namespace mercer {

// Row r of `from` (its first `from_columns` entries, then zeros) is multiplied by the first row of `signs`,
// transformed, multiplied by the second, transformed, ... and ends in row r of `to`. `signs` may be null: one plain
// transform.
template <class T>
struct HadamardJob {
    const T* from;
    long from_stride, from_columns;
    const T* signs;
    long rounds;
    T* to;
    long to_stride, width, rows;  // width: a power of two
    T scale;                      // of each transform
};

struct HadamardKernels {
    void (*f32)(const HadamardJob<float>&);
    void (*f64)(const HadamardJob<double>&);
};

MERCER_DECLARE_TABLE(HadamardKernels, hadamard)

}  // namespace mercer
