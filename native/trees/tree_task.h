// What a tree is grown from, what it becomes, and the memory it is grown in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/checks.h"

namespace mercer {

struct TreeTask {
    const uint8_t* bins;  // (rows, columns)
    size_t n, n_columns;
    const double *gradient, *hessian;  // (rows, outputs), (rows)
    size_t outputs;
    std::vector<uint32_t> rows;  // those to learn from, increasing
    std::vector<uint32_t> columns, widths;  // those to cut, and their numbers of bins
    size_t max_leaves;
    double least_hessian, l2;
    bool short_sums;  // may be taken where they will do

    // Which columns may be cut, of as many as there are widths.
    void allow(const int64_t* chosen, size_t count, const int64_t* all_widths) {
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
    std::vector<double> value, gain;  // value: one for each output
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

// Behind the last column: whatever byte a bin holds, it is counted inside.
constexpr size_t spare_cells = 256;
constexpr double least_gain = 1e-12;  // of a cut, as a share of what its leaf has gained already

// Memory that trees of one thread use one after the other: fresh pages for each would cost more than some trees.
template <class Word>
struct TreeMemory {
    std::vector<Word> terms;                      // the cell that each learned row adds
    std::vector<uint32_t> order, others, spare;   // learned rows by number, the others by row
    std::vector<std::vector<Word>> histograms;    // that nobody needs any more
    static TreeMemory& of_thread() {
        static thread_local TreeMemory memory;
        return memory;
    }
};

template <class Index>
std::vector<Index>& places_of_thread() {  // where each learned row is counted, column by column
    static thread_local std::vector<Index> places;
    return places;
}

}  // namespace mercer
