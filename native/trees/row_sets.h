// Sums over trees for groups of rows held as bitsets. Included once per instruction-set level.
//
// For each cut of a column, a bitset marks the rows of a group above it. A split is one AND: rows above its cut go
// right, the others left. Bit p of the leaf code of a row is the union of the row sets of all leaves whose code has
// that bit. The bit planes are transposed to one byte per row, which looks up the leaf value; values are added in the
// order of the trees. No step branches on the path of a row.
//
// Lucchese et al., "QuickScorer", 2015, also evaluates trees by ANDs, but on bitsets of leaves, one for each row.
#pragma once

#include "common/vector_width.h"
#include "common/wide_lanes.h"
#include "trees/splits.h"

namespace mercer::MERCER_LEVEL {
namespace {

typedef uint64_t Set __attribute__((vector_size(vector_bytes)));
typedef int8_t Bytes __attribute__((vector_size(vector_bytes)));
typedef uint8_t Bits __attribute__((vector_size(vector_bytes)));  // sums of signed bytes must not overflow

// Row r * vector_bytes + k of a group is bit r of byte k.
constexpr long group_rows = 8 * vector_bytes;

// The number of thresholds below each x, minus 128 (all of them for NaN). Several rows at a time hide memory latency.
inline void bin_rows(const double* X, long stride, long rows, const Cuts& cuts, int8_t* bins) {
    constexpr long searches = 8;
    for (long i = 0; i < rows; i += searches) {
        const long count = rows - i < searches ? rows - i : searches;
        double x[searches];
        for (long l = 0; l < searches; ++l) x[l] = X[(i + (l < count ? l : 0)) * stride];
        long below[searches] = {};
        for (long size = cuts.count; size > 0;) {  // edges[below - 1] < x; `size` candidates remain
            const long half = (size + 1) / 2;
            const double* edges = cuts.edges + half - 1;
            for (long l = 0; l < searches; ++l) below[l] += half & -long(!(edges[below[l]] >= x[l]));
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
        Bits bits{};
#pragma GCC unroll 8
        for (int r = 7; r >= 0; --r) bits = bits + bits - reinterpret_cast<Bits>(parts[r] > cut);  // true is -1
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

// Transposes bits: bit r of byte k of vector p becomes bit p of byte k of vector r.
inline void transpose(Set (&bits)[8]) {
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

template <int planes> void add_tree(const SplitTree& tree, const Set* above, double* sums) {
    constexpr long codes = 1 << planes;
    Set node_rows[2 * codes], bits[8] = {};
    Set* rows = node_rows + codes;
    rows[0] = ~Set{};
    for (long j = 0; j < tree.n_splits; ++j) {
        const Split split = tree.splits[j];
        const Set right = rows[j] & above[split.cut];
        node_rows[split.left] = rows[j] ^ right;
        node_rows[split.right] = right;
    }
    for (long code = tree.n_splits + 1; code < codes; ++code) node_rows[code] = Set{};
    unite<planes>(node_rows, bits);
    transpose(bits);
    add_values(bits, tree.values, sums);
}

constexpr void (*add_tree_of[])(const SplitTree&, const Set*, double*) = {
    nullptr,     add_tree<1>, add_tree<2>, add_tree<3>,          add_tree<4>,
    add_tree<5>, add_tree<6>, add_tree<7>, add_tree<max_planes>,
};

// Up to group_rows rows. `workspace` holds, on whole cache lines, n_cuts vectors and the sums of a group per output.
void add_splits(const SplitTrees& forest, const double* X, long stride, long rows, const int64_t* output, long outputs,
                double* out, char* workspace) {
    Set* above = reinterpret_cast<Set*>(workspace);
    double* sums = reinterpret_cast<double*>(workspace + forest.n_cuts * vector_bytes);
    for (const Cuts* cuts = forest.cuts; cuts < forest.cuts + forest.n_parts; ++cuts) {
        int8_t bins[group_rows] = {};
        bin_rows(X + cuts->column, stride, rows, *cuts, bins);
        rows_above(bins, *cuts, above);
    }
    for (long k = 0; k < outputs; ++k)
        for (long i = 0; i < group_rows; ++i) sums[k * group_rows + i] = i < rows ? out[i * outputs + k] : 0.0;
    for (long t = 0; t < forest.n_trees; ++t)
        add_tree_of[forest.trees[t].planes](forest.trees[t], above, sums + output[t] * group_rows);
    for (long k = 0; k < outputs; ++k)
        for (long i = 0; i < rows; ++i) out[i * outputs + k] = sums[k * group_rows + i];
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
