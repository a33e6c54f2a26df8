// Compiled twins of mercer/_numeric/trees/histograms.py: histograms of nodes, which merge, and their best splits.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "common/arrays.h"
#include "trees/histogram_cells.h"
#include "trees/split_scan.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Cells = RealCell<1>;

// The first cell of each candidate column, and after the last one the number of cells.
std::vector<size_t> first_cells(const Vector<int64_t>& widths) {
    std::vector<size_t> starts{0};
    for (size_t c = 0; c < widths.shape(0); ++c) {
        require(widths(c) >= 1 && widths(c) <= 256, "a column has 1 to 256 bins.");
        starts.push_back(starts.back() + static_cast<size_t>(widths(c)));
    }
    return starts;
}

using Histograms = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using OutHistograms = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void add_histograms(const Rows<uint8_t>& bins, const Rows<double>& terms, const Vector<int32_t>& nodes,
                    const Vector<int64_t>& columns, const Vector<int64_t>& widths, const OutHistograms& out) {
    const size_t n = bins.shape(0), d = bins.shape(1), chosen = columns.shape(0), n_nodes = out.shape(0);
    require(terms.shape(0) == n && terms.shape(1) == 2 && nodes.shape(0) == n,
            "bins, terms and nodes must have as many rows, terms two columns.");
    require(widths.shape(0) == chosen, "there must be a width for each column.");
    for (size_t c = 0; c < chosen; ++c)
        require(columns(c) >= 0 && columns(c) < static_cast<int64_t>(d), "no such column.");
    const std::vector<size_t> starts = first_cells(widths);
    require(out.shape(1) == starts.back() && out.shape(2) == 2,
            "histograms must have a hessian and a gradient for each bin of the columns.");
    nb::gil_scoped_release release;
    std::vector<size_t> at(chosen);
    for (size_t i = 0; i < n; ++i) {
        const int32_t node = nodes(i);
        if (node < 0) continue;
        require(static_cast<size_t>(node) < n_nodes, "no such node.");
        const uint8_t* row = bins.data() + i * d;
        bool inside = true;
        for (size_t c = 0; c < chosen; ++c) {
            const uint8_t bin = row[columns(c)];
            inside &= bin < widths(c);
            at[c] = starts[c] + bin;
        }
        require(inside, "a bin is beyond the width of its column.");
        Cells{1}.add(at.data(), chosen, terms.data() + 2 * i,
                     out.data() + static_cast<size_t>(node) * 2 * starts.back());
    }
}

auto best_splits(const Histograms& cells, const Vector<int64_t>& widths, const Vector<double>& min_hessian,
                 const Vector<double>& l2) {
    const std::vector<size_t> starts = first_cells(widths);
    const size_t n_nodes = cells.shape(0), columns = widths.shape(0);
    require(cells.shape(1) == starts.back() && cells.shape(2) == 2 && columns != 0,
            "histograms must have a hessian and a gradient for each bin of the columns.");
    require(min_hessian.shape(0) == n_nodes && l2.shape(0) == n_nodes, "each node needs min_hessian and l2.");
    std::vector<int64_t> column(n_nodes, -1), bin(n_nodes, -1);
    std::vector<double> gain(n_nodes), totals(2 * n_nodes);
    {
        nb::gil_scoped_release release;
        const Cells kind{1};
        for (size_t k = 0; k < n_nodes; ++k) {
            const double* node = cells.data() + 2 * starts.back() * k;
            double* total = totals.data() + 2 * k;
            for (size_t b = 0; b < starts[1]; ++b)
                for (size_t o = 0; o < 2; ++o) total[o] += node[2 * b + o];
            if (!(total[0] >= 2.0 * min_hessian(k))) continue;
            const double base = kind.norm(total), weight = total[0] + l2(k);
            BestSplit best = no_split(base, weight);
            for (size_t c = 0; c < columns; ++c)
                scan_column(kind, total, node + 2 * starts[c], c, static_cast<int32_t>(widths(c)) - 1, min_hessian(k),
                            l2(k), static_cast<double*>(nullptr), best);
            if (best.bin < 0) continue;
            column[k] = static_cast<int64_t>(best.column);
            bin[k] = best.bin;
            gain[k] = best.score.over / best.score.under - base / weight;
        }
    }
    return std::make_tuple(owned_array(std::move(column), {n_nodes}), owned_array(std::move(bin), {n_nodes}),
                           owned_array(std::move(gain), {n_nodes}), owned_array(std::move(totals), {n_nodes, 2}));
}

}  // namespace

void bind_histograms(nb::module_& m) {
    using nb::arg;
    m.def("add_histograms", &add_histograms, arg("bins").noconvert(), arg("terms"), arg("nodes"), arg("columns"),
          arg("widths"), arg("out").noconvert());
    m.def("best_splits", &best_splits, arg("cells"), arg("widths"), arg("min_hessian"), arg("l2"));
}
