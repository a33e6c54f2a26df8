// Sums over trees for many rows at a time, rows being bits of vectors. Included once per instruction-set level.
//
// For each cut of a column, a vector says which rows of a group are above it. A tree then is a few ands: of the rows in
// a fork, those above its cut go right, the others left. Bit p of the codes of the leaves where rows end is the union of
// the leaves that have this bit; turned from vectors of bits to one byte for each row, codes find the values, which are
// added in the order of the trees. No step asks where a row goes, so none has to wait for it.
//
// Lucchese et al., "QuickScorer", 2015, also has trees as ands, but of words of leaves, one for each row.
#pragma once

#include "trees/forks.h"
#include "common/vector_width.h"
#include "common/wide_lanes.h"

namespace mercer::MERCER_LEVEL {
namespace {

typedef uint64_t Set __attribute__((vector_size(vector_bytes)));
typedef int8_t Bytes __attribute__((vector_size(vector_bytes)));

// Row r * vector_bytes + k of a group is bit r of byte k: as vectors of bits are made of bytes, and turned to bytes.
constexpr long group_rows = 8 * vector_bytes;

// The number of edges below each x, less 128; all of them for NaN, which is not below any. Several rows side by side,
// since a search waits for memory.
inline void bin_rows(const double* X, long stride, long rows, const Cuts& cuts, int8_t* bins) {
    constexpr long beside = 8;
    for (long i = 0; i < rows; i += beside) {
        const long count = rows - i < beside ? rows - i : beside;
        double x[beside];
        for (long l = 0; l < beside; ++l) x[l] = X[(i + (l < count ? l : 0)) * stride];
        long below[beside] = {};
        for (long size = cuts.count; size > 0;) {  // edges[below - 1] < x; what may follow is `size` long
            const long half = (size + 1) / 2;
            const double* edges = cuts.edges + half - 1;
            for (long l = 0; l < beside; ++l) below[l] += half & -long(!(edges[below[l]] >= x[l]));
            size -= half;
        }
        for (long l = 0; l < count; ++l) bins[i + l] = static_cast<int8_t>(below[l] - 128);
    }
}

// above[first + k] = the rows whose bin is more than k.
inline void rows_above(const int8_t* bins, const Cuts& cuts, Set* above) {
    Bytes parts[8];
    __builtin_memcpy(parts, bins, sizeof parts);
    for (long k = 0; k < cuts.count; ++k) {
        const Bytes cut = Bytes{} + static_cast<int8_t>(k - 128);
        Bytes bits{};
#pragma GCC unroll 8
        for (int r = 7; r >= 0; --r) bits = bits + bits - (parts[r] > cut);  // true is -1
        above[cuts.first + k] = reinterpret_cast<Set>(bits);
    }
}

// bits[p] = the union of the leaves whose code has bit p; leaves are overwritten.
template <int planes> inline void unite(Set* leaves, Set (&bits)[8]) {
    constexpr long half = 1 << (planes - 1);
    Set upper = leaves[half];
#pragma GCC unroll 16
    for (long code = 1; code < half; ++code) {
        upper |= leaves[half + code];
        leaves[code] |= leaves[half + code];
    }
    bits[planes - 1] = upper;
    if constexpr (planes > 1) unite<planes - 1>(leaves, bits);
}

inline void exchange(Set& low, Set& high, int shift, uint64_t mask) {
    const Set moved = ((low >> shift) ^ high) & mask;
    high ^= moved;
    low ^= moved << shift;
}

// Bit r of byte k of the p-th vector becomes bit p of byte k of the r-th.
inline void turn(Set (&bits)[8]) {
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) exchange(bits[i], bits[i + 1], 1, 0x5555555555555555u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) exchange(bits[i + (i & 2)], bits[i + (i & 2) + 2], 2, 0x3333333333333333u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) exchange(bits[i], bits[i + 4], 4, 0x0f0f0f0f0f0f0f0fu);
}

inline void add_values(const Set (&codes)[8], const double* values, double* sums) {
    constexpr long words = sizeof codes / sizeof(uint64_t);
    uint64_t all[words];  // a load of eight codes and shifts take less time than loads of each
    __builtin_memcpy(all, codes, sizeof codes);
    for (long w = 0; w < words; ++w, sums += 2 * lanes) {
        const auto value = [&](int k) { return values[(all[w] >> (8 * k)) & 255]; };
        const Wide low = loaded(sums) + Wide{value(0), value(1), value(2), value(3)};
        const Wide high = loaded(sums + lanes) + Wide{value(4), value(5), value(6), value(7)};
        __builtin_memcpy(sums, &low, sizeof low);
        __builtin_memcpy(sums + lanes, &high, sizeof high);
    }
}

template <int planes> void add_tree(const ForkTree& tree, const Set* above, double* sums) {
    constexpr long codes = 1 << planes;
    Set places[2 * codes], bits[8] = {};
    Set* rows = places + codes;
    rows[0] = ~Set{};
    for (long j = 0; j < tree.n_forks; ++j) {
        const Fork fork = tree.forks[j];
        const Set right = rows[j] & above[fork.cut];
        places[fork.left] = rows[j] ^ right;
        places[fork.right] = right;
    }
    for (long code = tree.n_forks + 1; code < codes; ++code) places[code] = Set{};
    unite<planes>(places, bits);
    turn(bits);
    add_values(bits, tree.values, sums);
}

constexpr void (*add_tree_of[])(const ForkTree&, const Set*, double*) = {
    nullptr,     add_tree<1>, add_tree<2>, add_tree<3>, add_tree<4>,
    add_tree<5>, add_tree<6>, add_tree<7>, add_tree<most_planes>,
};

// Up to group_rows rows. `room` holds, on whole cache lines, n_cuts vectors and the sums of a group for each output.
void add_forks(const ForkTrees& given, const double* X, long stride, long rows, const int64_t* output, long outputs,
               double* out, char* room) {
    Set* above = reinterpret_cast<Set*>(room);
    double* sums = reinterpret_cast<double*>(room + given.n_cuts * vector_bytes);
    for (const Cuts* cuts = given.cuts; cuts < given.cuts + given.n_parts; ++cuts) {
        int8_t bins[group_rows] = {};
        bin_rows(X + cuts->column, stride, rows, *cuts, bins);
        rows_above(bins, *cuts, above);
    }
    for (long k = 0; k < outputs; ++k)
        for (long i = 0; i < group_rows; ++i) sums[k * group_rows + i] = i < rows ? out[i * outputs + k] : 0.0;
    for (long t = 0; t < given.n_trees; ++t)
        add_tree_of[given.trees[t].planes](given.trees[t], above, sums + output[t] * group_rows);
    for (long k = 0; k < outputs; ++k)
        for (long i = 0; i < rows; ++i) out[i * outputs + k] = sums[k * group_rows + i];
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
