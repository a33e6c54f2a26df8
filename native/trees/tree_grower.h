// One regression tree on binned columns, grown leaf by leaf from histograms of gradients and hessians.
//
// Gradients and hessians are rounded to a grid so coarse that all their sums are exact: the order of rows does not
// matter, the histogram of a leaf is that of its parent less that of its sibling to the last bit, and cuts that part
// the rows alike gain the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "trees/tree_cells.h"
#include "trees/tree_grid.h"
#include "trees/tree_task.h"

namespace mercer {

// `Cell` says what a cell of a histogram is; `Index` can number all cells.
template <class Cell, class Index>
class TreeGrower {
    using Word = typename Cell::Word;
    using Words = std::vector<Word>;

public:
    TreeGrower(const TreeTask& task, Cell cell, const Grid& grid)
        : task_(task), cell_(cell), memory_(TreeMemory<Word>::of_thread()), at_(places_of_thread<Index>()),
          n_(task.rows.size()) {
        round(grid);
        memory_.order.resize(n_);
        std::iota(memory_.order.begin(), memory_.order.end(), 0u);
        follow();
        memory_.spare.resize(std::max(n_, memory_.others.size()) + 1);
        scratch_.resize(width());
        uint32_t start = 0;
        for (size_t c = 0; c < task.columns.size(); ++c) {
            places_.push_back({task.columns[c], start});
            start += task.widths[c];
        }
    }

    GrownTree grow() {
        leaves_.push_back(root());
        settle(leaves_[0]);
        while (leaves_.size() < task_.max_leaves) {
            size_t best = 0;
            for (size_t k = 1; k < leaves_.size(); ++k)
                if (leaves_[k].gain > leaves_[best].gain) best = k;
            if (!(leaves_[best].gain > 0.0)) break;
            divide(best);
        }
        tree_.leaf.resize(task_.n);
        for (Leaf& leaf : leaves_) {
            for (size_t k = leaf.mine.begin; k < leaf.mine.end; ++k) tree_.leaf[task_.rows[memory_.order[k]]] = leaf.node;
            for (size_t k = leaf.others.begin; k < leaf.others.end; ++k) tree_.leaf[memory_.others[k]] = leaf.node;
            give_back(leaf.cells);
        }
        return std::move(tree_);
    }

private:
    struct Span {
        size_t begin, end;
        size_t size() const { return end - begin; }
    };
    struct Place {
        uint32_t column, start;  // the first cell of the column
    };
    struct Leaf {
        Span mine, others;          // rows to learn from, and rows that are only told their leaf
        Words total;        // a cell
        Words cells = {};
        double gain = 0.0;
        size_t column = 0;  // to be cut: its number among those that may be
        int32_t bin = -1, node = -1;
    };
    struct Fraction {
        double over, under;
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
        least_ = std::max(task_.least_hessian * h_scale, 1.0);  // on the grid, what is not nothing is at least 1
        l2_ = task_.l2 * h_scale;
        value_exponent_ = grid.hessian - grid.gradient;
        gain_exponent_ = grid.hessian - 2 * grid.gradient;
    }

    // Rows that are not learned from, only told their leaf.
    void follow() {
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
        if (task_.max_leaves < 2 || !may_be_cut(leaf)) return leaf;
        leaf.cells = blank();
        at_.resize(n_ * places_.size());
        Index* at = at_.data();
        const Word* term = memory_.terms.data();
        for (uint32_t row : task_.rows) {
            const uint8_t* bins = task_.bins + row * task_.n_columns;
            for (size_t c = 0; c < places_.size(); ++c)
                at[c] = static_cast<Index>(places_[c].start + bins[places_[c].column]);
            cell_.add(at, places_.size(), term, leaf.cells.data());
            at += places_.size();
            term += width();
        }
        return leaf;
    }

    bool may_be_cut(const Leaf& leaf) const { return cell_.hessian(leaf.total.data()) >= 2 * least_ && leaf.mine.size() > 1; }

    Words blank() {
        Words cells;
        if (!memory_.histograms.empty()) {
            cells = std::move(memory_.histograms.back());
            memory_.histograms.pop_back();
        }
        cells.assign((places_.back().start + task_.widths.back() + spare_cells) * width(), Word{});
        return cells;
    }

    Words counted(Span span) {
        Words cells = blank();
        const uint32_t* order = memory_.order.data();
        for (size_t k = span.begin; k < span.end; ++k)
            cell_.add(at_.data() + order[k] * places_.size(), places_.size(), memory_.terms.data() + order[k] * width(),
                      cells.data());
        return cells;
    }

    void give_back(Words& cells) {
        if (cells.capacity() > 0) memory_.histograms.push_back(std::exchange(cells, {}));
    }

    // Gives the leaf its node and, where it may be cut, finds the cut that gains most.
    void settle(Leaf& leaf) {
        const Word* total = leaf.total.data();
        const double weight = cell_.hessian(total) + l2_;
        leaf.node = tree_.add();
        for (size_t o = 0; o < task_.outputs; ++o)
            tree_.value.push_back(weight > 0.0 ? std::ldexp(-cell_.gradient(total, o) / weight, value_exponent_) : 0.0);
        if (leaf.cells.empty()) return;
        const double base = cell_.norm(total);
        Fraction best{base * (1.0 + least_gain), weight};
        for (size_t c = 0; c < places_.size(); ++c) scan(leaf, c, best);
        if (leaf.bin >= 0) {
            leaf.gain = best.over / best.under - base / weight;
        } else {
            give_back(leaf.cells);
        }
    }

    // A cut is as good as |g|^2/h + |g'|^2/h' for the sums of both sides: a fraction, compared without a division. It is
    // that of the bin before where a bin is empty, so cuts there are refused, as all are that gain no more than others.
    void scan(Leaf& leaf, size_t c, Fraction& best) {
        Word here[std::max<size_t>(Cell::most_words, 1)];
        Word* below = Cell::most_words ? here : scratch_.data();
        std::fill_n(below, width(), Word{});
        const Word *total = leaf.total.data(), *cell = leaf.cells.data() + width() * places_[c].start;
        const double least = least_, l2 = l2_, weight = cell_.hessian(total);
        const int32_t cuts = static_cast<int32_t>(task_.widths[c]) - 1;
        for (int32_t b = 0; b < cuts; ++b, cell += width()) {
            for (size_t o = 0; o < width(); ++o) below[o] += cell[o];
            const double less = cell_.hessian(below), more = weight - less;
            if (less < least) continue;
            if (more < least) break;
            const double low = less + l2, high = more + l2;
            const Fraction found{cell_.norm(below) * high + cell_.norm_without(below, total) * low, low * high};
            if (found.over * best.under > best.over * found.under) {
                best = found;
                leaf.column = c;
                leaf.bin = b;
            }
        }
    }

    void divide(size_t at) {
        Leaf parent = std::move(leaves_[at]);
        const uint32_t column = places_[parent.column].column;
        const size_t mine = parted(memory_.order, parent.mine, at_.data() + parent.column, places_.size(),
                                   places_[parent.column].start + static_cast<uint32_t>(parent.bin));
        const size_t others = parted(memory_.others, parent.others, task_.bins + column, task_.n_columns,
                                     static_cast<uint32_t>(parent.bin));
        Leaf low{{parent.mine.begin, mine}, {parent.others.begin, others}, Words(width())};
        Leaf high{{mine, parent.mine.end}, {others, parent.others.end}, Words(width())};
        const Word* cell = parent.cells.data() + width() * places_[parent.column].start;
        for (int32_t b = 0; b <= parent.bin; ++b, cell += width())
            for (size_t o = 0; o < width(); ++o) low.total[o] += cell[o];
        for (size_t o = 0; o < width(); ++o) high.total[o] = parent.total[o] - low.total[o];
        if (leaves_.size() + 1 < task_.max_leaves) share(parent, low, high);
        give_back(parent.cells);
        settle(low);
        settle(high);
        const size_t node = static_cast<size_t>(parent.node);
        tree_.column[node] = static_cast<int32_t>(column);
        tree_.bin[node] = parent.bin;
        tree_.gain[node] = std::ldexp(parent.gain, gain_exponent_);
        tree_.left[node] = low.node;
        tree_.right[node] = high.node;
        leaves_[at] = std::move(low);
        leaves_.push_back(std::move(high));
    }

    // Histograms of those children that may be cut: the smaller one's is counted, the other's is what is left.
    void share(Leaf& parent, Leaf& low, Leaf& high) {
        Leaf &less = low.mine.size() <= high.mine.size() ? low : high, &more = &less == &low ? high : low;
        const bool cut_less = may_be_cut(less), cut_more = may_be_cut(more);
        if (cut_less || cut_more) less.cells = counted(less.mine);
        if (cut_more) {
            more.cells = std::exchange(parent.cells, {});
            for (size_t k = 0; k < more.cells.size(); ++k) more.cells[k] -= less.cells[k];
        }
        if (!cut_less) give_back(less.cells);
    }

    // Puts the rows of the left child first, both in their order; returns where the others begin.
    template <class Bin>
    size_t parted(std::vector<uint32_t>& rows, Span span, const Bin* bins, size_t step, uint32_t last) {
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
    std::vector<Index>& at_;  // (learned rows, columns): the cell in which a row is counted
    size_t n_;
    GrownTree tree_;
    std::vector<Leaf> leaves_;
    std::vector<Place> places_;
    Words scratch_;
    double least_ = 0.0, l2_ = 0.0;
    int value_exponent_ = 0, gain_exponent_ = 0;
};

template <class Cell>
GrownTree grown_tree(const TreeTask& task, Cell cell, const Grid& grid) {
    const size_t cells = std::accumulate(task.widths.begin(), task.widths.end(), spare_cells);
    return cells <= 65536 ? TreeGrower<Cell, uint16_t>(task, cell, grid).grow()
                          : TreeGrower<Cell, uint32_t>(task, cell, grid).grow();
}

inline GrownTree grown_tree(const TreeTask& task) {
    const Largest largest = largest_of(task);
    const Grid coarse = grid_of(largest, task.rows.size(), PackedCell::bits);
    if (short_sums_do(task, coarse)) return grown_tree(task, PackedCell{}, coarse);
    const Grid fine = grid_of(largest, task.rows.size(), RealCell<1>::bits);
    return task.outputs == 1 ? grown_tree(task, RealCell<1>{1}, fine) : grown_tree(task, RealCell<0>{task.outputs}, fine);
}

}  // namespace mercer
