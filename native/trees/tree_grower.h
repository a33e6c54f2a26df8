// One regression tree on binned columns, grown best-first from histograms of gradients and hessians.
//
// Gradients and hessians are rounded to a grid so coarse that all their sums are exact: the order of rows does not
// matter, the histogram of a leaf is exactly that of its parent minus that of its sibling, and splits that partition
// the rows alike have equal gains.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "trees/histogram_cells.h"
#include "trees/split_scan.h"
#include "trees/tree_grid.h"
#include "trees/tree_task.h"

namespace mercer {

// `Cell` is the type of a histogram cell; `Index` can hold the index of any cell.
template <class Cell, class Index>
class TreeGrower {
    using Word = typename Cell::Word;
    using Words = std::vector<Word>;

  public:
    TreeGrower(const TreeTask& task, Cell cell, const Grid& grid)
        : task_(task), cell_(cell), memory_(TreeMemory<Word>::of_thread()), at_(cell_indices_of_thread<Index>()),
          n_(task.rows.size()) {
        round(grid);
        memory_.order.resize(n_);
        std::iota(memory_.order.begin(), memory_.order.end(), 0u);
        collect_others();
        memory_.spare.resize(std::max(n_, memory_.others.size()) + 1);
        scratch_.resize(width());
        uint32_t start = 0;
        for (size_t c = 0; c < task.columns.size(); ++c) {
            candidates_.push_back({task.columns[c], start});
            start += task.widths[c];
        }
    }

    GrownTree grow() {
        leaves_.push_back(root());
        finish_leaf(leaves_[0]);
        while (leaves_.size() < task_.max_leaf_nodes) {
            size_t best = 0;
            for (size_t k = 1; k < leaves_.size(); ++k)
                if (leaves_[k].gain > leaves_[best].gain) best = k;
            if (!(leaves_[best].gain > 0.0)) break;
            task_.interrupt(static_cast<long>(leaves_[best].training.size() * candidates_.size()));
            split_leaf(best);
        }
        tree_.leaf.resize(task_.n);
        for (Leaf& leaf : leaves_) {
            for (size_t k = leaf.training.begin; k < leaf.training.end; ++k)
                tree_.leaf[task_.rows[memory_.order[k]]] = leaf.node;
            for (size_t k = leaf.others.begin; k < leaf.others.end; ++k) tree_.leaf[memory_.others[k]] = leaf.node;
            recycle(leaf.cells);
        }
        return std::move(tree_);
    }

  private:
    struct Span {
        size_t begin, end;
        size_t size() const { return end - begin; }
    };
    struct Candidate {
        uint32_t column, start;  // the first cell of the column
    };
    struct Leaf {
        Span training, others;  // training rows, and rows that are only assigned to leaves
        Words total;            // the sum of its cells
        Words cells = {};
        double gain = 0.0;
        size_t column = 0;  // of the best split: its index among the candidate columns
        int32_t bin = -1, node = -1;
        double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
    };
    size_t width() const { return cell_.width(); }

    void round(const Grid& grid) {
        const double g_scale = std::ldexp(1.0, grid.gradient), h_scale = std::ldexp(1.0, grid.hessian);
        memory_.terms.resize(n_ * width());
        Word* term = memory_.terms.data();
        for (uint32_t row : task_.rows) {
            cell_.put(term, 0, rounded(task_.hessian[row] * h_scale));
            for (size_t o = 0; o < task_.outputs; ++o)
                cell_.put(term, o + 1, rounded(task_.gradient[row * task_.outputs + o] * g_scale));
            term += width();
        }
        min_hessian_ =
            std::max(task_.min_hessian * h_scale, 1.0);  // on the grid, a positive number is at min_hessian 1
        l2_ = task_.l2 * h_scale;
        value_exponent_ = grid.hessian - grid.gradient;
        gain_exponent_ = grid.hessian - 2 * grid.gradient;
    }

    // Rows outside of the training rows, which are only assigned to leaves.
    void collect_others() {
        memory_.others.clear();
        uint32_t next = 0;
        for (uint32_t row : task_.rows) {
            while (next < row) memory_.others.push_back(next++);
            next = row + 1;
        }
        while (next < task_.n) memory_.others.push_back(next++);
    }

    Leaf root() {
        Leaf leaf{{0, n_}, {0, memory_.others.size()}, Words(width())};
        for (size_t k = 0; k < memory_.terms.size(); ++k) leaf.total[k % width()] += memory_.terms[k];
        if (task_.max_leaf_nodes < 2 || !may_split(leaf)) return leaf;
        leaf.cells = empty_histogram();
        at_.resize(n_ * candidates_.size());
        Index* at = at_.data();
        const Word* term = memory_.terms.data();
        for (uint32_t row : task_.rows) {
            const uint8_t* bins = task_.bins + row * task_.n_columns;
            for (size_t c = 0; c < candidates_.size(); ++c)
                at[c] = static_cast<Index>(candidates_[c].start + bins[candidates_[c].column]);
            cell_.add(at, candidates_.size(), term, leaf.cells.data());
            at += candidates_.size();
            term += width();
        }
        return leaf;
    }

    bool may_split(const Leaf& leaf) const {
        return cell_.hessian(leaf.total.data()) >= 2 * min_hessian_ && leaf.training.size() > 1;
    }

    Words empty_histogram() {
        Words cells;
        if (!memory_.histograms.empty()) {
            cells = std::move(memory_.histograms.back());
            memory_.histograms.pop_back();
        }
        cells.assign((candidates_.back().start + task_.widths.back() + padding_cells) * width(), Word{});
        return cells;
    }

    Words histogram_of(Span span) {
        Words cells = empty_histogram();
        const uint32_t* order = memory_.order.data();
        for (size_t k = span.begin; k < span.end; ++k)
            cell_.add(at_.data() + order[k] * candidates_.size(), candidates_.size(),
                      memory_.terms.data() + order[k] * width(), cells.data());
        return cells;
    }

    void recycle(Words& cells) {
        if (cells.capacity() > 0) memory_.histograms.push_back(std::exchange(cells, {}));
    }

    // Adds the node of the leaf and, if the leaf may be split, finds its best split.
    void finish_leaf(Leaf& leaf) {
        const Word* total = leaf.total.data();
        const double weight = cell_.hessian(total) + l2_;
        leaf.node = tree_.add();
        for (size_t o = 0; o < task_.outputs; ++o)
            tree_.value.push_back(
                weight > 0.0 ? std::ldexp(within(leaf, -cell_.gradient(total, o) / weight), value_exponent_) : 0.0);
        if (leaf.cells.empty()) return;
        if (!task_.signs.empty()) return find_monotone_split(leaf);
        const double base = cell_.norm(total);
        BestSplit best = no_split(base, weight);
        for (size_t c = 0; c < candidates_.size(); ++c)
            scan_column(cell_, total, leaf.cells.data() + width() * candidates_[c].start, c,
                        static_cast<int32_t>(task_.widths[c]) - 1, min_hessian_, l2_, scratch_.data(), best);
        if (best.bin >= 0) {
            leaf.column = best.column;
            leaf.bin = best.bin;
            leaf.gain = best.score.over / best.score.under - base / weight;
        } else {
            recycle(leaf.cells);
        }
    }

    static double within(const Leaf& leaf, double value) { return std::min(std::max(value, leaf.lower), leaf.upper); }

    // How much a leaf of the sums g and h and of this value lowers the loss, doubled.
    static double score(double g, double h, double value) { return -(2.0 * g + h * value) * value; }

    // The best split whose values, within the bounds of the leaf, rise or fall along a column as its sign says.
    void find_monotone_split(Leaf& leaf) {
        const Word* total = leaf.total.data();
        const double g = cell_.gradient(total, 0), h = cell_.hessian(total) + l2_;
        const double base = score(g, h, within(leaf, -g / h));
        leaf.gain = min_gain * std::abs(base);
        for (size_t c = 0; c < candidates_.size(); ++c) scan_monotone(leaf, c, base);
        if (leaf.bin < 0) {
            leaf.gain = 0.0;
            recycle(leaf.cells);
        }
    }

    void scan_monotone(Leaf& leaf, size_t c, double base) {
        const Word *total = leaf.total.data(), *cell = leaf.cells.data() + width() * candidates_[c].start;
        const double all_g = cell_.gradient(total, 0), all_h = cell_.hessian(total);
        const int32_t cuts = static_cast<int32_t>(task_.widths[c]) - 1;
        const int sign = task_.signs[task_.columns[c]];
        double g = 0.0, h = 0.0;
        for (int32_t b = 0; b < cuts; ++b, cell += width()) {
            g += cell_.gradient(cell, 0);
            h += cell_.hessian(cell);
            if (h < min_hessian_) continue;
            if (all_h - h < min_hessian_) break;
            const double low = h + l2_, high = (all_h - h) + l2_, rest = all_g - g;
            const double left = within(leaf, -g / low), right = within(leaf, -rest / high);
            if (sign > 0 ? left > right : sign < 0 && left < right) continue;
            const double gain = (score(g, low, left) + score(rest, high, right)) - base;
            if (gain > leaf.gain) {
                leaf.gain = gain;
                leaf.column = c;
                leaf.bin = b;
            }
        }
    }

    // The bounds of the children of a leaf: the middle of their values where they may not cross.
    void bound_children(const Leaf& parent, Leaf& low, Leaf& high) const {
        low.lower = high.lower = parent.lower;
        low.upper = high.upper = parent.upper;
        const int sign = task_.signs[task_.columns[parent.column]];
        if (sign == 0) return;
        const double left = value_of(parent, low), right = value_of(parent, high), middle = 0.5 * left + 0.5 * right;
        (sign > 0 ? low.upper : low.lower) = middle;
        (sign > 0 ? high.lower : high.upper) = middle;
    }

    double value_of(const Leaf& parent, const Leaf& child) const {
        const Word* total = child.total.data();
        return within(parent, -cell_.gradient(total, 0) / (cell_.hessian(total) + l2_));
    }

    void split_leaf(size_t at) {
        Leaf parent = std::move(leaves_[at]);
        const uint32_t column = candidates_[parent.column].column;
        const size_t training =
            partition(memory_.order, parent.training, at_.data() + parent.column, candidates_.size(),
                      candidates_[parent.column].start + static_cast<uint32_t>(parent.bin));
        const size_t others = partition(memory_.others, parent.others, task_.bins + column, task_.n_columns,
                                        static_cast<uint32_t>(parent.bin));
        Leaf low{{parent.training.begin, training}, {parent.others.begin, others}, Words(width())};
        Leaf high{{training, parent.training.end}, {others, parent.others.end}, Words(width())};
        const Word* cell = parent.cells.data() + width() * candidates_[parent.column].start;
        for (int32_t b = 0; b <= parent.bin; ++b, cell += width())
            for (size_t o = 0; o < width(); ++o) low.total[o] += cell[o];
        for (size_t o = 0; o < width(); ++o) high.total[o] = parent.total[o] - low.total[o];
        if (!task_.signs.empty()) bound_children(parent, low, high);
        if (leaves_.size() + 1 < task_.max_leaf_nodes) fill_histograms(parent, low, high);
        recycle(parent.cells);
        finish_leaf(low);
        finish_leaf(high);
        const size_t node = static_cast<size_t>(parent.node);
        tree_.column[node] = static_cast<int32_t>(column);
        tree_.bin[node] = parent.bin;
        tree_.gain[node] = std::ldexp(parent.gain, gain_exponent_);
        tree_.left[node] = low.node;
        tree_.right[node] = high.node;
        leaves_[at] = std::move(low);
        leaves_.push_back(std::move(high));
    }

    // Histograms of the children that may be split: the smaller one is histogram_of, the other is the difference to the
    // parent.
    void fill_histograms(Leaf& parent, Leaf& low, Leaf& high) {
        Leaf &less = low.training.size() <= high.training.size() ? low : high, &more = &less == &low ? high : low;
        const bool split_less = may_split(less), split_more = may_split(more);
        if (split_less || split_more) less.cells = histogram_of(less.training);
        if (split_more) {
            more.cells = std::exchange(parent.cells, {});
            for (size_t k = 0; k < more.cells.size(); ++k) more.cells[k] -= less.cells[k];
        }
        if (!split_less) recycle(less.cells);
    }

    // Stable partition: the rows of the left child first. Returns where those of the right child begin.
    template <class Bin>
    size_t partition(std::vector<uint32_t>& rows, Span span, const Bin* bins, size_t step, uint32_t last) {
        size_t low = span.begin, high = 0;
        uint32_t* spare = memory_.spare.data();
        for (size_t k = span.begin; k < span.end; ++k) {
            const uint32_t row = rows[k];
            const bool goes_left = bins[row * step] <= last;
            rows[low] = row;
            spare[high] = row;
            low += goes_left;
            high += !goes_left;
        }
        std::copy_n(spare, high, rows.begin() + static_cast<std::ptrdiff_t>(low));
        return low;
    }

    const TreeTask& task_;
    const Cell cell_;
    TreeMemory<Word>& memory_;
    std::vector<Index>& at_;  // (training rows, columns): the cell of each row
    size_t n_;
    GrownTree tree_;
    std::vector<Leaf> leaves_;
    std::vector<Candidate> candidates_;
    Words scratch_;
    double min_hessian_ = 0.0, l2_ = 0.0;
    int value_exponent_ = 0, gain_exponent_ = 0;
};

template <class Cell>
GrownTree grown_tree(const TreeTask& task, Cell cell, const Grid& grid) {
    const size_t cells = std::accumulate(task.widths.begin(), task.widths.end(), padding_cells);
    return cells <= 65536 ? TreeGrower<Cell, uint16_t>(task, cell, grid).grow()
                          : TreeGrower<Cell, uint32_t>(task, cell, grid).grow();
}

inline GrownTree grown_tree(const TreeTask& task) {
    const Largest largest = largest_of(task);
    const Grid coarse = grid_of(largest, task.rows.size(), PackedCell::bits);
    if (short_sums_suffice(task, coarse)) return grown_tree(task, PackedCell{}, coarse);
    const Grid fine = grid_of(largest, task.rows.size(), RealCell<1>::bits);
    return task.outputs == 1 ? grown_tree(task, RealCell<1>{1}, fine)
                             : grown_tree(task, RealCell<0>{task.outputs}, fine);
}

}  // namespace mercer
