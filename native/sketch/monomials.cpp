// Compiled twins of mercer/_numeric/sketch/monomials.py: all products of up to p entries of a row.
//
// In lexicographic order, the products of k factors whose first factor is entry e are x[e] times a tail of the products
// of k - 1 factors. A row is therefore written in a few long runs, each a constant times values written before; by the
// combinatorial number system, their column indices are those of these values plus a constant.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

// What is computed: products of `low` to `high` factors, of one entry several times if `repeat`. The degree factor
// multiplies all products of that many factors; the run factor multiplies when an entry joins as the t-th of its kind.
struct Task {
    size_t low, high;
    bool repeat;
    const double *degree_factor, *run_factor;

    Task(size_t low, size_t high, bool repeat, const Vector<double>& degree, const Vector<double>& run)
        : low(low), high(high), repeat(repeat), degree_factor(degree.data()), run_factor(run.data()) {
        require(low <= high && degree.shape(0) == high + 1 && run.shape(0) == high + 1,
                "one degree factor and one run factor are needed for each of 0 .. high.");
    }
    // Without repetition an entry can only be the (low - k)-th or later if k more are to follow and `low` to be
    // reached.
    size_t first_entry(size_t k) const { return repeat || k >= low ? 0 : low - k; }
    bool plain() const {
        return !repeat || std::all_of(run_factor, run_factor + high + 1, [](double r) { return r == 1.0; });
    }
};

// counts(k, n): the number of products of k factors from n entries. Entries too large to be needed may wrap.
class Counts {
  public:
    Counts(const Task& task, size_t widest) : stride(widest + 1), values((task.high + 1) * stride) {
        std::fill_n(values.begin(), stride, 1);
        for (size_t k = 1; k <= task.high; ++k)
            for (size_t n = 1; n <= widest; ++n) at(k, n) = at(k, n - 1) + at(k - 1, task.repeat ? n : n - 1);
    }
    uint64_t operator()(size_t k, size_t n) const { return values[k * stride + n]; }

  private:
    uint64_t& at(size_t k, size_t n) { return values[k * stride + n]; }
    size_t stride;
    std::vector<uint64_t> values;
};

// The products of one number of factors: their values and, if sparse, their column numbers.
template <class T, class Index>
struct Part {
    T* value;
    Index* column;
    size_t size;
};

template <class T, class Index, bool sparse>
class Expansion {
  public:
    Expansion(const Task& task, size_t widest, const int64_t* ends)
        : task(task), counts(task, widest), ends(ends), plain(task.plain()), parts(task.high + 1) {}

    // `after[k * m + e]`: the number of products of k factors from columns after that of entry e.
    void row(const T* x, size_t m, const uint64_t* after, T* value, Index* column) {
        out_value = value;
        out_column = column;
        allocate(0, 1);
        parts[0].value[0] = T(1);
        if constexpr (sparse) parts[0].column[0] = static_cast<Index>(ends[0] - 1);
        for (size_t k = 1; k <= task.high; ++k) {
            const size_t first = task.first_entry(k);
            allocate(k, m < first ? 0 : counts(k, m - first));
            multiply(k, first, x, m, after);
        }
        if (task.high == 0) scale(0);  // otherwise the last part was scaled as it was made
        for (size_t k = task.low; k < task.high; ++k) scale(k);
    }

    size_t row_size(size_t m) const {
        size_t size = 0;
        for (size_t k = task.low; k <= task.high; ++k) size += counts(k, m);
        return size;
    }

  private:
    // Memory for part k: in the output if it is part of the result, else in a buffer.
    void allocate(size_t k, size_t size) {
        if (k >= task.low) {
            parts[k] = {out_value, out_column, size};
            out_value += size;
            if constexpr (sparse) out_column += size;
            return;
        }
        std::vector<T>& values = buffer_value[k % 2];
        std::vector<Index>& columns = buffer_column[k % 2];
        if (values.size() < size) values.resize(size);
        if (sparse && columns.size() < size) columns.resize(size);
        parts[k] = {values.data(), columns.data(), size};
    }

    void multiply(size_t k, size_t first, const T* x, size_t m, const uint64_t* after) {
        const Part<T, Index>& before = parts[k - 1];
        const T last = k == task.high ? static_cast<T>(task.degree_factor[k]) : T(1);
        Part<T, Index> to = parts[k];
        for (size_t e = first; e < m; ++e) {
            const size_t rest = m - e - 1, length = counts(k - 1, task.repeat ? rest + 1 : rest);
            const size_t from = before.size - length;
            if constexpr (sparse) {
                const auto step = static_cast<Index>(ends[k] - ends[k - 1] - static_cast<int64_t>(after[k * m + e]));
                const Index* source = before.column + from;
                for (size_t i = 0; i < length; ++i) to.column[i] = source[i] + step;
                to.column += length;
            }
            const T* source = before.value + from;
            if (plain) {
                to.value = scaled(source, length, x[e] * last, to.value);
                continue;
            }
            for (size_t t = k; t-- > 0;) {  // products that already have entry e exactly t times
                const size_t run = counts(k - 1 - t, rest);
                to.value = scaled(source, run, x[e] * static_cast<T>(task.run_factor[t + 1]) * last, to.value);
                source += run;
            }
        }
    }

    static T* scaled(const T* __restrict source, size_t length, T factor, T* __restrict to) {
        for (size_t i = 0; i < length; ++i) to[i] = source[i] * factor;
        return to + length;
    }

    void scale(size_t k) {
        const T factor = static_cast<T>(task.degree_factor[k]);
        if (factor == T(1)) return;
        for (size_t i = 0; i < parts[k].size; ++i) parts[k].value[i] *= factor;
    }

    const Task& task;
    Counts counts;
    const int64_t* ends;
    bool plain;
    std::vector<Part<T, Index>> parts;
    std::vector<T> buffer_value[2];
    std::vector<Index> buffer_column[2];
    T* out_value = nullptr;
    Index* out_column = nullptr;
};

// C(n + k - 1, k) with repetition, C(n, k) without, for k = 0 .. high, `step` apart. What is needed fits 64 bits;
// without repetition the middle of the row may not, so its far side is read off the near one.
void fill_after(uint64_t n, const Task& task, uint64_t* after, size_t step) {
    uint64_t c = after[0] = 1;
    for (uint64_t k = 1; k <= task.high; ++k) {
        if (!task.repeat && 2 * k > n) {
            after[k * step] = k > n ? 0 : after[(n - k) * step];
            continue;
        }
        const uint64_t factor = task.repeat ? n + k - 1 : n - k + 1;
        c = c / k * factor + c % k * factor / k;  // c * factor / k without leaving 64 bits on the way
        after[k * step] = c;
    }
}

template <class T>
void dense_monomials(const Rows<T>& X, size_t low, size_t high, bool repeat, const Vector<double>& degree_factors,
                     const Vector<double>& run_factors, const OutRows<T>& out) {
    const Task task(low, high, repeat, degree_factors, run_factors);
    const size_t n = X.shape(0), d = X.shape(1);
    Expansion<T, int32_t, false> expansion(task, d, nullptr);
    require(out.shape(0) == n && out.shape(1) == expansion.row_size(d), "out must be of shape (", n, ", ",
            expansion.row_size(d), ").");
    nb::gil_scoped_release released;
    for (size_t i = 0; i < n; ++i) expansion.row(X.data() + i * d, d, nullptr, out.data() + i * out.shape(1), nullptr);
}

template <class Index>
size_t checked_widest(const Vector<Index>& indices, const Vector<Index>& indptr, size_t n_data, size_t n_columns) {
    const size_t n = indptr.shape(0);
    const Index* start = indptr.data();
    bool rising = n > 0 && start[0] >= 0 && static_cast<size_t>(start[n - 1]) <= n_data && indices.shape(0) == n_data;
    size_t widest = 0;
    for (size_t i = 1; i < n && rising; ++i) {
        rising = start[i - 1] <= start[i];
        widest = std::max(widest, static_cast<size_t>(start[i] - start[i - 1]));
        for (Index j = start[i - 1]; j < start[i] && rising; ++j)
            rising = indices.data()[j] >= 0 && static_cast<size_t>(indices.data()[j]) < n_columns &&
                     (j == start[i - 1] || indices.data()[j - 1] < indices.data()[j]);
    }
    require(rising, "a canonical CSR matrix is needed: rising columns in every row.");
    return widest;
}

template <class T, class Index, class OutIndex>
void csr_monomials(const Vector<T>& data, const Vector<Index>& indices, const Vector<Index>& indptr, size_t n_columns,
                   size_t low, size_t high, bool repeat, const Vector<double>& degree_factors,
                   const Vector<double>& run_factors, const Vector<int64_t>& ends, const OutVector<T>& out_data,
                   const OutVector<OutIndex>& out_indices) {
    const Task task(low, high, repeat, degree_factors, run_factors);
    require(ends.shape(0) == high + 1, "ends must have an entry for each of 0 .. high.");
    const size_t widest = checked_widest(indices, indptr, data.shape(0), n_columns);
    Expansion<T, OutIndex, true> expansion(task, widest, ends.data());
    const Index* start = indptr.data();
    const size_t n = indptr.shape(0) - 1;
    size_t total = 0;
    for (size_t i = 0; i < n; ++i) total += expansion.row_size(start[i + 1] - start[i]);
    require(out_data.shape(0) == total && out_indices.shape(0) == total, "out_data and out_indices must have ", total,
            " entries.");
    nb::gil_scoped_release released;
    std::vector<uint64_t> after((high + 1) * widest);
    for (size_t i = 0, at = 0; i < n; ++i) {
        const size_t m = start[i + 1] - start[i];
        for (size_t e = 0; e < m; ++e)
            fill_after(n_columns - 1 - indices.data()[start[i] + e], task, after.data() + e, m);
        expansion.row(data.data() + start[i], m, after.data(), out_data.data() + at, out_indices.data() + at);
        at += expansion.row_size(m);
    }
}

template <class T>
void bind_dense(nb::module_& m) {
    m.def("dense_monomials", &dense_monomials<T>, nb::arg("X").noconvert(), nb::arg("low"), nb::arg("high"),
          nb::arg("repeat"), nb::arg("degree_factors"), nb::arg("run_factors"), nb::arg("out").noconvert());
}

template <class T, class Index, class OutIndex>
void bind_csr(nb::module_& m) {
    m.def("csr_monomials", &csr_monomials<T, Index, OutIndex>, nb::arg("data").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::arg("low"),
          nb::arg("high"), nb::arg("repeat"), nb::arg("degree_factors"), nb::arg("run_factors"), nb::arg("ends"),
          nb::arg("out_data").noconvert(), nb::arg("out_indices").noconvert());
}

template <class T>
void bind_all(nb::module_& m) {
    bind_dense<T>(m);
    bind_csr<T, int32_t, int32_t>(m);
    bind_csr<T, int32_t, int64_t>(m);
    bind_csr<T, int64_t, int32_t>(m);
    bind_csr<T, int64_t, int64_t>(m);
}

}  // namespace

void bind_monomials(nb::module_& m) {
    bind_all<double>(m);
    bind_all<float>(m);
}
