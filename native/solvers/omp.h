// The hot loop of sparse coding, one table per instruction-set level.
#pragma once

#include <cstdint>

#include "common/dispatch.h"

namespace mercer {

// Signals are coded in groups: the Gram row of one is prefetched while another is updated.
constexpr long pursuit_group = 4;
// Widths are multiples of this: whole vectors at every level.
constexpr long pursuit_width = 64;

// A block of n signals to be coded by the atoms with the given Gram matrix (width x width).
template <class T>
struct PursuitBlock {
    long n, width, nonzeros;
    bool orthogonal;  // whether correlations are divided by the residual norms of the atoms
    double floor;     // correlations up to floor times the first one are rounding
    T* correlations;  // n x width, overwritten
    const T* gram;
    std::int32_t* indices;  // n x nonzeros, sorted in each row
    T* values;              // the coefficients
    std::int64_t* counts;   // how many of them each row has
    char* workspace;  // pursuit_group times pursuit_workspace bytes and width + nonzeros entries more, aligned to 64
};

// Bytes per signal: `nonzeros` rows of the width, and in double the Cholesky factor, the coordinates and the indices.
template <class T>
constexpr long pursuit_workspace(long nonzeros, long width) {
    return nonzeros * width * static_cast<long>(sizeof(T)) + (8 * nonzeros * (nonzeros + 2) + 63) / 64 * 64;
}

struct PursuitTable {
    void (*encode_f32)(const PursuitBlock<float>& block);
    void (*encode_f64)(const PursuitBlock<double>& block);
};

MERCER_DECLARE_TABLE(PursuitTable, pursuit)

}  // namespace mercer
