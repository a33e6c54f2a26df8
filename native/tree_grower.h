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
#include <stdexcept>
#include <utility>
#include <vector>

namespace mercer {

struct TreeTask {
    const uint8_t* bins;  // (rows, columns)
    size_t n, n_columns;
    const double *gradient, *hessian;  // (rows, outputs), (rows)
    size_t outputs;
    std::vector<uint32_t> rows;  // those to learn from
    std::vector<uint32_t> columns, widths;  // those to cut, and their numbers of bins
    size_t max_leaves;
    double least_hessian, l2;
};

struct GrownTree {
    std::vector<int32_t> column, bin, left, right;
    std::vector<double> value, gain;  // value: one for each output
    std::vector<int32_t> leaf;        // of each row

    int32_t add() {
        column.push_back(-1);
        bin.push_back(-1);
        left.push_back(-1);
        right.push_back(-1);
        gain.push_back(0.0);
        return static_cast<int32_t>(column.size()) - 1;
    }
};

constexpr double least_gain = 1e-12;  // of a cut, as a share of what its leaf has gained already

// The power of two that makes whole numbers of values up to `largest`, small enough for `count` of them to add exactly.
inline int grid_exponent(double largest, size_t count) {
    if (!(largest > 0.0)) return 0;
    int exponent, digits;
    std::frexp(largest, &exponent);
    std::frexp(static_cast<double>(count), &digits);
    return std::min(30, 52 - digits) - std::max(exponent, -900);
}

// `fixed` is the number of outputs where it is known to the compiler, else 0. A cell is a hessian and its gradients.
template <size_t fixed>
class TreeGrower {
public:
    explicit TreeGrower(const TreeTask& task) : task_(task), order_(task.rows) {
        round();
        std::vector<bool> learned(task.n);
        for (uint32_t row : order_) learned[row] = true;
        for (size_t i = 0; i < task.n; ++i)
            if (!learned[i]) others_.push_back(static_cast<uint32_t>(i));
        spare_.resize(std::max(order_.size(), others_.size()) + 1);
        scratch_.resize(2 * width());
        uint32_t start = 0;
        for (size_t c = 0; c < task.columns.size(); ++c) {
            places_.push_back({task.columns[c], start});
            start += task.widths[c];
        }
        places_.push_back({0, start});
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
        for (const Leaf& leaf : leaves_) {
            for (size_t k = leaf.mine.begin; k < leaf.mine.end; ++k) tree_.leaf[order_[k]] = leaf.node;
            for (size_t k = leaf.others.begin; k < leaf.others.end; ++k) tree_.leaf[others_[k]] = leaf.node;
        }
        return std::move(tree_);
    }

private:
    struct Span {
        size_t begin, end;
        size_t size() const { return end - begin; }
    };
    struct Place {
        uint32_t column, start;  // where its first cell is
    };
    struct Leaf {
        Span mine, others;          // rows to learn from, and rows that are only told their leaf
        std::vector<double> total;  // a cell
        std::vector<double> cells = {};
        double gain = 0.0;
        size_t place = 0;  // of the column to cut
        int32_t bin = -1, node = -1;
    };
    struct Fraction {
        double over, under;
    };

    size_t outputs() const { return fixed ? fixed : task_.outputs; }
    size_t width() const { return outputs() + 1; }

    void round() {
        double most_g = 0.0, most_h = 0.0;
        const size_t c = outputs();
        for (uint32_t row : order_) {
            const double h = task_.hessian[row];
            if (!(h >= 0.0 && h < HUGE_VAL)) throw std::invalid_argument("hessians must be finite and not negative.");
            most_h = std::max(most_h, h);
            for (size_t o = 0; o < c; ++o) {
                const double g = std::abs(task_.gradient[row * c + o]);
                if (!(g < HUGE_VAL)) throw std::invalid_argument("gradients must be finite.");
                most_g = std::max(most_g, g);
            }
        }
        const int g_exponent = grid_exponent(most_g, order_.size()), h_exponent = grid_exponent(most_h, order_.size());
        const double g_scale = std::ldexp(1.0, g_exponent), h_scale = std::ldexp(1.0, h_exponent);
        terms_.resize(task_.n * width());
        for (uint32_t row : order_) {
            double* term = terms_.data() + row * width();
            term[0] = std::nearbyint(task_.hessian[row] * h_scale);
            for (size_t o = 0; o < c; ++o) term[1 + o] = std::nearbyint(task_.gradient[row * c + o] * g_scale);
        }
        least_ = std::max(task_.least_hessian * h_scale, 1.0);  // on the grid, what is not nothing is at least 1
        l2_ = task_.l2 * h_scale;
        value_exponent_ = h_exponent - g_exponent;
        gain_exponent_ = h_exponent - 2 * g_exponent;
    }

    Leaf root() {
        Leaf leaf{{0, order_.size()}, {0, others_.size()}, std::vector<double>(width())};
        for (uint32_t row : order_)
            for (size_t o = 0; o < width(); ++o) leaf.total[o] += terms_[row * width() + o];
        if (task_.max_leaves > 1 && may_be_cut(leaf)) leaf.cells = counted(leaf.mine);
        return leaf;
    }

    bool may_be_cut(const Leaf& leaf) const {
        return leaf.total[0] >= 2 * least_ && leaf.mine.size() > 1;
    }

    std::vector<double> counted(Span span) {
        // Room for 256 cells more: whatever byte a bin holds, it is counted inside.
        std::vector<double> cells;
        if (!free_.empty()) {
            cells = std::move(free_.back());
            free_.pop_back();
        }
        cells.assign((places_.back().start + 256) * width(), 0.0);
        double* sums = cells.data();
        const size_t n_places = places_.size() - 1;
        for (size_t k = span.begin; k < span.end; ++k) {
            const size_t row = order_[k];
            const uint8_t* bins = task_.bins + row * task_.n_columns;
            const double* term = terms_.data() + row * width();
            for (size_t c = 0; c < n_places; ++c) {
                const Place place = places_[c];
                double* cell = sums + width() * (place.start + bins[place.column]);
                for (size_t o = 0; o < width(); ++o) cell[o] += term[o];
            }
        }
        return cells;
    }

    double norm(const double* cell) const {
        double sum = 0.0;
        for (size_t o = 1; o < width(); ++o) sum += cell[o] * cell[o];
        return sum;
    }

    // Gives the leaf its node and, where it may be cut, finds the cut that gains most.
    void settle(Leaf& leaf) {
        const double weight = leaf.total[0] + l2_;
        leaf.node = tree_.add();
        for (size_t o = 1; o < width(); ++o)
            tree_.value.push_back(weight > 0.0 ? std::ldexp(-leaf.total[o] / weight, value_exponent_) : 0.0);
        if (leaf.cells.empty()) return;
        const double base = norm(leaf.total.data());
        Fraction best{base * (1.0 + least_gain), weight};
        for (size_t c = 0; c + 1 < places_.size(); ++c) scan(leaf, c, best);
        if (leaf.bin >= 0) {
            leaf.gain = best.over / best.under - base / weight;
        } else {
            free_.push_back(std::move(leaf.cells));
        }
    }

    // A cut is as good as |g|^2/h + |g'|^2/h' for the sums of both sides: a fraction, compared without a division. It is
    // that of the bin before where a bin is empty, so cuts there are refused, as all are that gain no more than others.
    void scan(Leaf& leaf, size_t c, Fraction& best) {
        double here[fixed ? 2 * fixed + 2 : 1];
        double* below = fixed ? here : scratch_.data();
        double* above = below + width();
        std::fill(below, above, 0.0);
        const double* cell = leaf.cells.data() + width() * places_[c].start;
        const size_t cuts = places_[c + 1].start - places_[c].start - 1;
        for (size_t b = 0; b < cuts; ++b, cell += width()) {
            for (size_t o = 0; o < width(); ++o) {
                below[o] += cell[o];
                above[o] = leaf.total[o] - below[o];
            }
            if (below[0] < least_) continue;
            if (above[0] < least_) break;
            const double low = below[0] + l2_, high = above[0] + l2_;
            const Fraction found{norm(below) * high + norm(above) * low, low * high};
            if (found.over * best.under > best.over * found.under) {
                best = found;
                leaf.place = c;
                leaf.bin = static_cast<int32_t>(b);
            }
        }
    }

    void divide(size_t at) {
        Leaf parent = std::move(leaves_[at]);
        const Place place = places_[parent.place];
        const size_t mine = parted(order_, parent.mine, place.column, parent.bin);
        const size_t others = parted(others_, parent.others, place.column, parent.bin);
        Leaf low{{parent.mine.begin, mine}, {parent.others.begin, others}, std::vector<double>(width())};
        Leaf high{{mine, parent.mine.end}, {others, parent.others.end}, std::vector<double>(width())};
        const double* cell = parent.cells.data() + width() * place.start;
        for (int32_t b = 0; b <= parent.bin; ++b, cell += width())
            for (size_t o = 0; o < width(); ++o) low.total[o] += cell[o];
        for (size_t o = 0; o < width(); ++o) high.total[o] = parent.total[o] - low.total[o];
        if (leaves_.size() + 1 < task_.max_leaves) share(parent, low, high);
        settle(low);
        settle(high);
        const size_t node = static_cast<size_t>(parent.node);
        tree_.column[node] = static_cast<int32_t>(place.column);
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
            more.cells = std::move(parent.cells);
            for (size_t k = 0; k < more.cells.size(); ++k) more.cells[k] -= less.cells[k];
        } else {
            free_.push_back(std::move(parent.cells));
        }
        if (cut_more && !cut_less) free_.push_back(std::exchange(less.cells, {}));
    }

    // Puts the rows of the left child first, both in their order; returns where the others begin.
    size_t parted(std::vector<uint32_t>& rows, Span span, size_t column, int32_t bin) {
        size_t low = span.begin, high = 0;
        const uint8_t* bins = task_.bins + column;
        for (size_t k = span.begin; k < span.end; ++k) {
            const uint32_t row = rows[k];
            const bool goes_left = bins[row * task_.n_columns] <= bin;
            rows[low] = row;
            spare_[high] = row;
            low += goes_left;
            high += !goes_left;
        }
        std::copy_n(spare_.begin(), high, rows.begin() + static_cast<std::ptrdiff_t>(low));
        return low;
    }

    const TreeTask& task_;
    GrownTree tree_;
    std::vector<Leaf> leaves_;
    std::vector<uint32_t> order_, others_, spare_;
    std::vector<Place> places_;
    std::vector<double> terms_, scratch_;  // the cell of each row; the sums on both sides of a cut
    std::vector<std::vector<double>> free_;  // histograms that nobody needs any more
    double least_ = 0.0, l2_ = 0.0;
    int value_exponent_ = 0, gain_exponent_ = 0;
};

inline GrownTree grown_tree(const TreeTask& task) {
    return task.outputs == 1 ? TreeGrower<1>(task).grow() : TreeGrower<0>(task).grow();
}

}  // namespace mercer
