// Compiled twins of mercer/_numeric/solvers/descent.py: dual coordinate descent for the hinge loss, and the perceptron.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/arrays.h"
#include "common/interrupts.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Order = Vector<int64_t>;

// ---- rows: each answers dot(w), norm2() and add(w, step)

template <class T>
struct DenseRow {
    const T* x;
    size_t n;

    // Eight running sums, which the compiler keeps in vector registers.
    template <class F>
    double sum(F term) const {
        double part[8] = {};
        size_t j = 0;
        for (; j + 8 <= n; j += 8)
            for (size_t k = 0; k < 8; ++k) part[k] += term(j + k);
        for (; j < n; ++j) part[j % 8] += term(j);
        return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    }

    double dot(const double* w) const {
        return sum([&](size_t j) { return static_cast<double>(x[j]) * w[j]; });
    }
    double norm2() const {
        return sum([&](size_t j) { return static_cast<double>(x[j]) * x[j]; });
    }
    void add(double* w, double step) const {
        for (size_t j = 0; j < n; ++j) w[j] += step * x[j];
    }
};

template <class T, class Index>
struct SparseRow {
    const T* data;
    const Index* column;
    size_t n;

    double dot(const double* w) const {
        double sum = 0;
        for (size_t k = 0; k < n; ++k) sum += static_cast<double>(data[k]) * w[column[k]];
        return sum;
    }
    double norm2() const {
        double sum = 0;
        for (size_t k = 0; k < n; ++k) sum += static_cast<double>(data[k]) * data[k];
        return sum;
    }
    void add(double* w, double step) const {
        for (size_t k = 0; k < n; ++k) w[column[k]] += step * data[k];
    }
};

template <class T>
struct DenseRows {
    const T* data;
    size_t n_rows, n_columns;

    explicit DenseRows(const Rows<T>& X) : data(X.data()), n_rows(X.shape(0)), n_columns(X.shape(1)) {}
    DenseRow<T> operator[](size_t i) const { return {data + i * n_columns, n_columns}; }
    void check(size_t n_weights) const { require(n_weights == n_columns, "there must be one weight for each column."); }
};

template <class T, class Index>
struct SparseRows {
    const T* data;
    const Index *indices, *indptr;
    size_t n_rows, n_entries;

    SparseRows(const Vector<T>& values, const Vector<Index>& columns, const Vector<Index>& starts)
        : data(values.data()), indices(columns.data()), indptr(starts.data()),
          n_rows(starts.shape(0) ? starts.shape(0) - 1 : 0), n_entries(std::min(values.shape(0), columns.shape(0))) {}
    SparseRow<T, Index> operator[](size_t i) const {
        return {data + indptr[i], indices + indptr[i], static_cast<size_t>(indptr[i + 1] - indptr[i])};
    }
    void check(size_t n_weights) const {
        for (size_t i = 0; i < n_rows; ++i)
            require(indptr[i] >= 0 && indptr[i + 1] >= indptr[i] && static_cast<size_t>(indptr[i + 1]) <= n_entries,
                    "indptr does not describe the rows of these entries.");
        for (size_t k = 0; k < n_entries; ++k)
            require(indices[k] >= 0 && static_cast<size_t>(indices[k]) < n_weights,
                    "an index is at least the number of weights.");
    }
};

void check_order(const Order& order, size_t n_rows) {
    for (size_t k = 0; k < order.shape(0); ++k)
        require(order.data()[k] >= 0 && static_cast<size_t>(order.data()[k]) < n_rows, "order names row ",
                order.data()[k], " of ", n_rows, ".");
}

void check_length(size_t given, size_t n_rows, const char* name) {
    require(given == n_rows, name, " must have one entry for each of ", n_rows, " rows.");
}

// ---- hinge

double violation(double gain, double beta, double upper) {
    if (beta <= 0) return std::max(gain, 0.0);
    return beta >= upper ? std::max(-gain, 0.0) : std::abs(gain);
}

template <class R>
std::pair<double, double> hinge(const R& rows, const Vector<double>& sign, const Vector<double>& upper,
                                const Order& order, OutVector<double>& beta, OutVector<double>& w, double b,
                                double scale, double rho) {
    nb::gil_scoped_release released;
    rows.check(w.shape(0));
    check_order(order, rows.n_rows);
    check_length(sign.shape(0), rows.n_rows, "sign");
    check_length(upper.shape(0), rows.n_rows, "upper");
    check_length(beta.shape(0), rows.n_rows, "beta");
    double worst = 0;
    InterruptCheck interrupt;
    for (size_t k = 0; k < order.shape(0); ++k) {
        const size_t i = order.data()[k];
        const auto x = rows[i];
        interrupt(static_cast<long>(x.n));
        const double y = sign.data()[i], top = upper.data()[i], old = beta.data()[i];
        const double gain = 1.0 - y * (x.dot(w.data()) + b);
        const double wrong = violation(gain, old, top);
        worst = std::max(worst, wrong);
        if (wrong == 0) continue;
        const double curvature = scale * x.norm2() + rho;
        const double updated = curvature > 0 ? std::clamp(old + gain / curvature, 0.0, top) : (gain > 0 ? top : 0.0);
        if (updated == old) continue;
        const double change = (updated - old) * y;
        beta.data()[i] = updated;
        x.add(w.data(), scale * change);
        b += rho * change;
    }
    return {b, worst};
}

template <class T>
std::pair<double, double> hinge_sweep(const Rows<T>& X, const Vector<double>& sign, const Vector<double>& upper,
                                      const Order& order, OutVector<double> beta, OutVector<double> w, double b,
                                      double scale, double rho) {
    return hinge(DenseRows<T>(X), sign, upper, order, beta, w, b, scale, rho);
}

template <class T, class Index>
std::pair<double, double> hinge_sweep_csr(const Vector<T>& data, const Vector<Index>& indices,
                                          const Vector<Index>& indptr, const Vector<double>& sign,
                                          const Vector<double>& upper, const Order& order, OutVector<double> beta,
                                          OutVector<double> w, double b, double scale, double rho) {
    return hinge(SparseRows<T, Index>(data, indices, indptr), sign, upper, order, beta, w, b, scale, rho);
}

// ---- perceptron

struct Weights {
    OutRows<double>&W, &U;
    OutVector<double>&b, &c;
    size_t n_classes, n_columns;

    double* row(OutRows<double>& M, size_t k) const { return M.data() + k * n_columns; }

    template <class Row>
    void update(const Row& x, size_t k, double step, double visits) const {
        x.add(row(W, k), step);
        x.add(row(U, k), visits * step);
        b.data()[k] += step;
        c.data()[k] += visits * step;
    }

    // Learns from one row; true if it was a mistake.
    template <class Row>
    bool visit(const Row& x, int64_t label, double visits, double* scores) const {
        for (size_t k = 0; k < n_classes; ++k) scores[k] = x.dot(row(W, k)) + b.data()[k];
        if (n_classes == 1) {
            const double y = label == 1 ? 1.0 : -1.0;
            if (!(y * scores[0] <= 0)) return false;
            update(x, 0, y, visits);
            return true;
        }
        const size_t right = label;
        size_t runner_up = right == 0 ? 1 : 0;
        for (size_t k = 0; k < n_classes; ++k)
            if (k != right && scores[k] > scores[runner_up]) runner_up = k;
        if (!(scores[right] <= scores[runner_up])) return false;
        update(x, right, 1.0, visits);
        update(x, runner_up, -1.0, visits);
        return true;
    }
};

template <class R>
nb::ndarray<nb::numpy, int64_t> perceptron(const R& rows, const Order& label, const Order& order, OutRows<double>& W,
                                           OutVector<double>& b, OutRows<double>& U, OutVector<double>& c,
                                           double visits) {
    std::vector<int64_t> mistakes;
    {
        nb::gil_scoped_release released;
        const size_t K = W.shape(0), top = K == 1 ? 2 : K;
        rows.check(W.shape(1));
        check_order(order, rows.n_rows);
        check_length(label.shape(0), rows.n_rows, "label");
        require(K != 0 && U.shape(0) == K && U.shape(1) == W.shape(1) && b.shape(0) == K && c.shape(0) == K,
                "W, b, U and c must have one row for each class.");
        for (size_t i = 0; i < rows.n_rows; ++i)
            require(label.data()[i] >= 0 && static_cast<size_t>(label.data()[i]) < top,
                    "a label is at least the number of classes.");
        const Weights weights{W, U, b, c, K, W.shape(1)};
        std::vector<double> scores(K);
        InterruptCheck interrupt;
        for (size_t k = 0; k < order.shape(0); ++k) {
            const size_t i = order.data()[k];
            interrupt(static_cast<long>(rows[i].n * K));
            if (weights.visit(rows[i], label.data()[i], visits + static_cast<double>(k), scores.data()))
                mistakes.push_back(k);
        }
    }
    const size_t n = mistakes.size();
    return owned_array(std::move(mistakes), {n});
}

template <class T>
nb::ndarray<nb::numpy, int64_t> perceptron_sweep(const Rows<T>& X, const Order& label, const Order& order,
                                                 OutRows<double> W, OutVector<double> b, OutRows<double> U,
                                                 OutVector<double> c, double visits) {
    return perceptron(DenseRows<T>(X), label, order, W, b, U, c, visits);
}

template <class T, class Index>
nb::ndarray<nb::numpy, int64_t> perceptron_sweep_csr(const Vector<T>& data, const Vector<Index>& indices,
                                                     const Vector<Index>& indptr, const Order& label,
                                                     const Order& order, OutRows<double> W, OutVector<double> b,
                                                     OutRows<double> U, OutVector<double> c, double visits) {
    return perceptron(SparseRows<T, Index>(data, indices, indptr), label, order, W, b, U, c, visits);
}

// ---- bindings; output arrays must not be converted copies (noconvert)

template <class T>
void bind_dense(nb::module_& m) {
    using nb::arg;
    m.def("hinge_sweep", &hinge_sweep<T>, arg("X").noconvert(), arg("sign"), arg("upper"), arg("order"),
          arg("beta").noconvert(), arg("w").noconvert(), arg("b"), arg("scale"), arg("rho"));
    m.def("perceptron_sweep", &perceptron_sweep<T>, arg("X").noconvert(), arg("label"), arg("order"),
          arg("W").noconvert(), arg("b").noconvert(), arg("U").noconvert(), arg("c").noconvert(), arg("visits"));
}

template <class T, class Index>
void bind_csr(nb::module_& m) {
    using nb::arg;
    m.def("hinge_sweep_csr", &hinge_sweep_csr<T, Index>, arg("data").noconvert(), arg("indices").noconvert(),
          arg("indptr").noconvert(), arg("sign"), arg("upper"), arg("order"), arg("beta").noconvert(),
          arg("w").noconvert(), arg("b"), arg("scale"), arg("rho"));
    m.def("perceptron_sweep_csr", &perceptron_sweep_csr<T, Index>, arg("data").noconvert(), arg("indices").noconvert(),
          arg("indptr").noconvert(), arg("label"), arg("order"), arg("W").noconvert(), arg("b").noconvert(),
          arg("U").noconvert(), arg("c").noconvert(), arg("visits"));
}

}  // namespace

void bind_descent(nb::module_& m) {
    bind_dense<double>(m);
    bind_dense<float>(m);
    bind_csr<double, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<float, int32_t>(m);
}
