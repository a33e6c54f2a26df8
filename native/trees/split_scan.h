// The best split of a leaf, from its histogram.
//
// The score of a split is |g|^2/h + |g'|^2/h' for the sums of both sides, a fraction that is compared without a
// division. Only a strictly larger score replaces the best one, so no split lies behind an empty bin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mercer {

constexpr double min_gain = 1e-12;  // of a split, as a fraction of |g|^2 / (h + l2) of its leaf

struct Fraction {
    double over, under;
};

struct BestSplit {
    Fraction score;
    size_t column = 0;
    int32_t bin = -1;  // -1: no split gains
};

// The score that a split must exceed.
inline BestSplit no_split(double base, double weight) { return {{base * (1.0 + min_gain), weight}}; }

// Compares the splits of column `c`, whose cells begin at `cells`, with the best one so far.
template <class Cell>
void scan_column(const Cell& kind, const typename Cell::Word* total, const typename Cell::Word* cells, size_t c,
                 int32_t cuts, double min_hessian, double l2, typename Cell::Word* scratch, BestSplit& best) {
    using Word = typename Cell::Word;
    Word here[std::max<size_t>(Cell::max_words, 1)];
    Word* below = Cell::max_words ? here : scratch;
    std::fill_n(below, kind.width(), Word{});
    const double weight = kind.hessian(total);
    for (int32_t b = 0; b < cuts; ++b, cells += kind.width()) {
        for (size_t o = 0; o < kind.width(); ++o) below[o] += cells[o];
        const double less = kind.hessian(below), more = weight - less;
        if (less < min_hessian) continue;
        if (more < min_hessian) break;
        const double low = less + l2, high = more + l2;
        const Fraction found{kind.norm(below) * high + kind.norm_without(below, total) * low, low * high};
        if (found.over * best.score.under > best.score.over * found.under) best = {found, c, b};
    }
}

}  // namespace mercer
