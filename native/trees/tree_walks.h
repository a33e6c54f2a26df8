// Sums over trees for rows of numbers. A few rows walk compact trees, eight trees at a time; many rows are evaluated as
// bitsets (see row_sets.h). Nothing is read outside of the arrays, whatever they hold, and every walk ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trees/packed_trees.h"
#include "trees/prediction.h"

namespace mercer {

struct NumberRows {
    const double* data;
    size_t rows, columns;
};

// Adds the values of trees of nodes in any order that places children after their parent.
inline void add_plain_trees(const Nodes& nodes, const int64_t* roots, const int64_t* output, size_t n_trees,
                            const NumberRows& X, double* out, size_t outputs) {
    constexpr int64_t max_rows_checked = 8, span_rows = 512;
    const int64_t n = X.rows, p = X.columns, n_outputs = outputs;
    for (size_t t = 0; t < n_trees; ++t)
        require_tree(roots[t] >= 0 && roots[t] < nodes.count && output[t] >= 0 && output[t] < n_outputs);
    // Children come after their parent, so every walk ends.
    const auto check_node = [&](int64_t k) {
        require(nodes.column[k] < p, "a tree asks for a column that X has not.");
        require_tree(nodes.left[k] > k && nodes.right[k] > k && nodes.left[k] < nodes.count &&
                     nodes.right[k] < nodes.count);
    };
    // The nodes that a few rows visit are checked on the way; for many rows all nodes are checked once.
    const bool few = n <= max_rows_checked;
    for (int64_t k = 0; k < nodes.count && !few; ++k)
        if (nodes.column[k] >= 0) check_node(k);
    // One tree at a time for a span of rows: its nodes stay in the first-level cache.
    for (int64_t start = 0; start < n; start += span_rows) {
        const int64_t stop = std::min(n, start + span_rows);
        for (size_t t = 0; t < n_trees; ++t) {
            double* sums = out + output[t];
            for (int64_t i = start; i < stop; ++i) {
                const double* x = X.data + i * p;
                int64_t node = roots[t];
                while (nodes.column[node] >= 0) {
                    if (few) check_node(node);
                    node = x[nodes.column[node]] <= nodes.threshold[node] ? nodes.left[node] : nodes.right[node];
                }
                sums[i * n_outputs] += nodes.value[node];
            }
        }
    }
}

constexpr int64_t tree_lanes = 8;  // trees walked at a time, to hide memory latency
constexpr size_t min_group = 8;    // rows from which on bitsets pay: they take as long for one row as for many

// Eight walks of `depth` steps.
inline void walk_cells(const Cell* cells, const uint16_t* bins, int32_t depth, int32_t* at) {
    int32_t node[tree_lanes];
    std::copy(at, at + tree_lanes, node);
    for (int32_t level = 0; level < depth; ++level)
        for (int64_t l = 0; l < tree_lanes; ++l) {
            const Cell cell = cells[node[l]];
            node[l] = cell.child + (bins[cell.column] > cell.cut);
        }
    std::copy(node, node + tree_lanes, at);
}

// All trees for one row, eight at a time; their values are added in the order of the trees.
inline void add_packed_row(const PackedTrees& trees, const double* row, const int64_t* output, double* sums) {
    std::vector<uint16_t> bins(std::max<size_t>(trees.edges.size(), 1));
    for (size_t c = 0; c < trees.edges.size(); ++c) bins[c] = trees.bin(c, row[c]);
    const int64_t n_trees = trees.roots.size();
    const Cell* cells = trees.cells.data();
    for (int64_t t = 0; t < n_trees; t += tree_lanes) {
        const int64_t count = std::min(tree_lanes, n_trees - t);
        int32_t at[tree_lanes], depth = 0;
        for (int64_t l = 0; l < tree_lanes; ++l) {
            const int64_t tree = std::min(t + l, n_trees - 1);
            at[l] = trees.roots[tree];
            depth = std::max(depth, trees.depths[tree]);
        }
        walk_cells(cells, bins.data(), depth, at);
        for (int64_t l = 0; l < count; ++l) sums[output[t + l]] += trees.values[at[l]];
    }
}

// Groups of rows, all trees for each.
inline void add_row_groups(const SplitTrees& trees, const NumberRows& X, const int64_t* output, double* out,
                           int64_t outputs) {
    const PredictionKernels& kernels = MERCER_PICK(prediction);
    const int64_t n = X.rows, p = X.columns, step = kernels.group_rows;
    constexpr int64_t line = 64;
    std::vector<char> memory(trees.n_cuts * (step / 8) + outputs * step * sizeof(double) + line);
    char* workspace = memory.data() + (line - reinterpret_cast<uintptr_t>(memory.data()) % line);
    for (int64_t start = 0; start < n; start += step)
        kernels.add_splits(trees, X.data + start * p, p, std::min(step, n - start), output, outputs,
                           out + start * outputs, workspace);
}

// Adds the values of packed trees; output[t] is the column of `out` for tree t.
inline void add_packed(const PackedTrees& trees, const int64_t* output, const NumberRows& X, double* out,
                       size_t outputs) {
    require(trees.edges.size() <= X.columns, "a tree asks for a column that X has not.");
    for (size_t t = 0; t < trees.roots.size(); ++t)
        require(output[t] >= 0 && output[t] < int64_t(outputs), "output must name columns of out.");
    const SplitMemory* splits = X.rows < min_group ? nullptr : trees.splits();
    if (splits) return add_row_groups(splits->view(), X, output, out, int64_t(outputs));
    for (size_t i = 0; i < X.rows; ++i)
        add_packed_row(trees, X.data + i * X.columns, output, out + i * outputs);
}

}  // namespace mercer
