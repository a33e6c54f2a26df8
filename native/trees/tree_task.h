// The input, the result and the working memory of growing a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/checks.h"
#include "common/interrupts.h"

namespace mercer {

struct TreeTask {
    const uint8_t* bins;  // (rows, columns)
    size_t n, n_columns;
    const double *gradient, *hessian;  // (rows, outputs), (rows)
    size_t outputs;
    std::vector<uint32_t> rows;             // training rows, increasing
    std::vector<uint32_t> columns, widths;  // candidate columns and their numbers of bins
    size_t max_leaf_nodes;
    double min_hessian, l2;
    bool short_sums;  // allowed where they suffice
    std::vector<int8_t> signs = {};  // of each column: +1 or -1 where values must rise or fall along it; empty: none
    mutable InterruptCheck interrupt = {};

    // Sets the candidate columns.
    void set_columns(const int64_t* chosen, size_t count, const int64_t* all_widths) {
        columns.clear();
        widths.clear();
        for (size_t c = 0; c < count; ++c) {
            require(chosen[c] >= 0 && chosen[c] < static_cast<int64_t>(n_columns), "no such column.");
            const int64_t width = all_widths[chosen[c]];
            require(width >= 1 && width <= 256, "a column has 1 to 256 bins.");
            columns.push_back(static_cast<uint32_t>(chosen[c]));
            widths.push_back(static_cast<uint32_t>(width));
        }
    }
};

struct GrownTree {
    std::vector<int32_t> column, bin, left, right;
    std::vector<double> value, gain;  // value: one per output
    std::vector<int64_t> leaf;        // of each row

    int32_t add() {
        column.push_back(-1);
        bin.push_back(-1);
        left.push_back(-1);
        right.push_back(-1);
        gain.push_back(0.0);
        return static_cast<int32_t>(column.size()) - 1;
    }
};

// Cells after those of the last column, so that any byte as a bin index stays inside the histogram.
constexpr size_t padding_cells = 256;

// Memory that successive trees of one thread reuse: fresh pages for each would cost more than some trees.
template <class Word>
struct TreeMemory {
    std::vector<Word> terms;                     // the cell that each training row adds
    std::vector<uint32_t> order, others, spare;  // order: positions of training rows; others: the other rows
    std::vector<std::vector<Word>> histograms;   // unused, for reuse
    static TreeMemory& of_thread() {
        static thread_local TreeMemory memory;
        return memory;
    }
};

template <class Index>
std::vector<Index>& cell_indices_of_thread() {  // the cell of each training row, column by column
    static thread_local std::vector<Index> indices;
    return indices;
}

}  // namespace mercer
