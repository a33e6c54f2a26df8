// Compiled twins of mercer/_numeric/text/sequences.py: windows, sparse Gram matrices, subsequences and tree fragments.
#include "text/sequences.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Codes = Vector<int32_t>;
using Indices = Vector<int64_t>;
using Values = Vector<double>;

void check_starts(const Indices& starts, size_t n, const char* name) {
    require(are_bounds(starts.data(), starts.shape(0), n), name, " must rise within 0 .. ", n, ".");
}

nb::ndarray<nb::numpy, uint64_t> window_keys(const Codes& codes, const Indices& starts, const Indices& offsets,
                                             int64_t span, int64_t bits) {
    check_starts(starts, codes.shape(0), "starts");
    require(span >= 1 && span <= INT32_MAX, "span must be a positive number of letters.");
    require(bits >= 0 && bits < 64, "a letter must have fewer than 64 bits.");
    const size_t n_offsets = offsets.shape(0);
    const int64_t* offset = offsets.data();
    for (size_t o = 0; o < n_offsets; ++o)
        require(offset[o] >= 0 && offset[o] < span, "offsets must lie within the span.");
    std::vector<uint64_t> keys;
    {
        nb::gil_scoped_release released;
        const size_t n = starts.shape(0) - 1;
        const int64_t* start = starts.data();
        size_t total = 0;
        for (size_t s = 0; s < n; ++s) total += std::max<int64_t>(start[s + 1] - start[s] - span + 1, 0);
        keys.assign(total, 0);
        uint64_t* key = keys.data();
        for (size_t s = 0; s < n; ++s) {
            const int64_t count = start[s + 1] - start[s] - span + 1;
            for (size_t o = 0; count > 0 && o < n_offsets; ++o) {
                const int32_t* letter = codes.data() + start[s] + offset[o];
                for (int64_t i = 0; i < count; ++i) key[i] = (key[i] << bits) | static_cast<uint32_t>(letter[i]);
            }
            if (count > 0) key += count;
        }
    }
    const size_t size = keys.size();
    return owned_array(std::move(keys), {size});
}

// Values for keys in the order of first appearance: a plain table where keys are small, else open addressing with
// linear probing.
class Numbering {
  public:
    Numbering(size_t expected, uint64_t largest) : plain_(largest < 2 * expected + 65536) {
        size_t size = 64;
        while (size < 2 * expected) size *= 2;
        mask_ = size - 1;
        keys_.resize(plain_ ? 0 : size);
        numbers_.assign(plain_ ? largest + 1 : size, -1);
    }
    int32_t operator()(uint64_t key, int32_t next) {
        if (plain_) {
            int32_t& number = numbers_[key];
            return number >= 0 ? number : number = next;
        }
        size_t slot = (key * 0x9E3779B97F4A7C15u >> 20) & mask_;
        while (numbers_[slot] >= 0 && keys_[slot] != key) slot = (slot + 1) & mask_;
        if (numbers_[slot] < 0) {
            keys_[slot] = key;
            numbers_[slot] = next;
        }
        return numbers_[slot];
    }

  private:
    bool plain_;
    size_t mask_;
    std::vector<uint64_t> keys_;
    std::vector<int32_t> numbers_;
};

nb::tuple count_keys(const Vector<uint64_t>& keys, const Indices& rows, const Values& weights, int64_t n_rows) {
    const size_t n = keys.shape(0);
    require(rows.shape(0) == n && (weights.shape(0) == 0 || weights.shape(0) == n), n,
            " keys need as many rows and weights, not ", rows.shape(0), " and ", weights.shape(0), ".");
    require(n < static_cast<size_t>(INT32_MAX), "more than 2**31 - 2 keys: use fewer rows.");
    const int64_t* row = rows.data();
    bool rising = n == 0 || (row[0] >= 0 && row[n - 1] < n_rows);
    for (size_t i = 1; i < n; ++i) rising &= row[i - 1] <= row[i];
    require(rising, "rows must rise within 0 .. ", n_rows - 1, ".");
    std::vector<int64_t> indptr(n_rows + 1, 0), first;
    std::vector<int32_t> indices;
    std::vector<double> data;
    {
        nb::gil_scoped_release released;
        Numbering number(n, n ? *std::max_element(keys.data(), keys.data() + n) : 0);
        std::vector<int64_t> entry;  // where the column was last met, if in this row
        const double* weight = weights.shape(0) ? weights.data() : nullptr;
        indices.reserve(n);
        data.reserve(n);
        size_t at = 0;
        for (int64_t r = 0; r < n_rows; ++r) {
            const int64_t begin = static_cast<int64_t>(indices.size());
            for (; at < n && row[at] == r; ++at) {
                const int32_t column = number(keys.data()[at], static_cast<int32_t>(first.size()));
                if (static_cast<size_t>(column) == first.size()) {
                    first.push_back(static_cast<int64_t>(at));
                    entry.push_back(-1);
                }
                if (entry[column] < begin) {
                    entry[column] = static_cast<int64_t>(indices.size());
                    indices.push_back(column);
                    data.push_back(0.0);
                }
                data[entry[column]] += weight ? weight[at] : 1.0;
            }
            indptr[r + 1] = static_cast<int64_t>(indices.size());
        }
    }
    const size_t stored = indices.size(), columns = first.size(), pointers = indptr.size();
    return nb::make_tuple(owned_array(std::move(indptr), {pointers}), owned_array(std::move(indices), {stored}),
                          owned_array(std::move(data), {stored}), owned_array(std::move(first), {columns}));
}

void add_sparse_gram(const Indices& indptr, const Codes& indices, const Values& data, const Indices& t_indptr,
                     const Codes& t_rows, const Values& t_data, double coefficient, bool symmetric, int64_t start,
                     OutRows<double> out) {
    const int64_t n = out.shape(0), m = out.shape(1), n_columns = static_cast<int64_t>(t_indptr.shape(0)) - 1;
    check_starts(indptr, indices.shape(0), "indptr");
    check_starts(t_indptr, t_rows.shape(0), "t_indptr");
    require(start >= 0 && start + n < static_cast<int64_t>(indptr.shape(0)) && data.shape(0) == indices.shape(0) &&
                t_data.shape(0) == t_rows.shape(0),
            "out, start and the arrays of the matrices do not fit each other.");
    bool inside = true;
    for (size_t e = 0; e < indices.shape(0); ++e) inside &= indices.data()[e] >= 0 && indices.data()[e] < n_columns;
    for (size_t e = 0; e < t_rows.shape(0); ++e) inside &= t_rows.data()[e] >= 0 && t_rows.data()[e] < m;
    require(inside, "a column or row number lies outside the matrices.");
    nb::gil_scoped_release released;
    const int64_t* end = t_indptr.data() + 1;
    std::vector<int64_t> begin(t_indptr.data(), t_indptr.data() + n_columns);
    const int32_t* row = t_rows.data();
    const double* value = t_data.data();
    InterruptCheck interrupt;
    for (int64_t i = 0; i < n; ++i) {
        double* line = out.data() + i * m;
        for (int64_t e = indptr.data()[start + i]; e < indptr.data()[start + i + 1]; ++e) {
            const int32_t column = indices.data()[e];
            int64_t& from = begin[column];
            if (symmetric)
                while (from < end[column] && row[from] < start + i) ++from;  // rows rise: never needed again
            const double scaled = coefficient * data.data()[e];
            interrupt(end[column] - from + 1);
            for (int64_t p = from; p < end[column]; ++p) line[row[p]] += scaled * value[p];
        }
    }
}

void check_pairs(const Indices& left, const Indices& right, int64_t n) {
    require(left.shape(0) == right.shape(0), "left and right must be of one length.");
    for (size_t p = 0; p < left.shape(0); ++p)
        require(left.data()[p] >= 0 && left.data()[p] < n && right.data()[p] >= 0 && right.data()[p] < n,
                "a pair names an item that is not there.");
}

nb::ndarray<nb::numpy, double> subsequence_pairs(const Codes& codes, const Indices& starts, const Indices& left,
                                                 const Indices& right, int64_t length, double decay,
                                                 const Rows<double>& similarity) {
    check_starts(starts, codes.shape(0), "starts");
    const auto letters = static_cast<int64_t>(similarity.shape(0));
    require(similarity.shape(1) == similarity.shape(0), "similarity must be square.");
    for (size_t c = 0; letters > 0 && c < codes.shape(0); ++c)
        require(codes.data()[c] >= 0 && codes.data()[c] < letters, "codes must lie within the table `similarity`.");
    check_pairs(left, right, static_cast<int64_t>(starts.shape(0)) - 1);
    require(length >= 1, "length must be at least 1.");
    const size_t n = left.shape(0);
    std::vector<double> result(n);
    {
        nb::gil_scoped_release released;
        constexpr size_t lanes = subsequence_lanes;
        const auto& table = MERCER_PICK(sequences);
        const int64_t* start = starts.data();
        std::vector<int64_t> others;
        std::vector<double> workspace;
        double found[lanes];
        InterruptCheck interrupt;
        for (size_t p = 0; p < n;) {
            const int64_t i = left.data()[p];
            size_t q = p;
            int64_t m = 0;
            for (; q < n && q < p + lanes && left.data()[q] == i; ++q)
                m = std::max(m, start[right.data()[q] + 1] - start[right.data()[q]]);
            others.assign(lanes * m, -1);
            for (size_t lane = 0; lane < q - p; ++lane) {
                const int64_t j = right.data()[p + lane];
                for (int64_t c = 0; c < start[j + 1] - start[j]; ++c)
                    others[c * lanes + lane] = codes.data()[start[j] + c];
            }
            workspace.resize(lanes * (length * (m + 1) + m));
            table.subsequences(codes.data() + start[i], start[i + 1] - start[i], others.data(), m, length, decay,
                               letters > 0 ? similarity.data() : nullptr, letters, workspace.data(), found,
                               interrupt);
            for (size_t lane = 0; lane < q - p; ++lane) result[p + lane] = found[lane];
            p = q;
        }
    }
    return owned_array(std::move(result), {n});
}

struct Forest {
    const int64_t *productions, *child_starts, *children, *starts;
    std::vector<int64_t> order;  // the nodes of each tree by production, then by index
    size_t largest = 0;
};

double tree_pair(const Forest& f, int64_t i, int64_t j, double decay, std::vector<double>& delta,
                 InterruptCheck& interrupt) {
    const int64_t a = f.starts[i], b = f.starts[j], width = f.starts[j + 1] - b;
    const int64_t* begin = f.order.data() + b;
    const int64_t* end = begin + width;
    double total = 0.0;
    for (int64_t v = a; v < f.starts[i + 1]; ++v) {  // children come before parents
        const int64_t kind = f.productions[v];
        interrupt(width);
        const int64_t* w = std::lower_bound(begin, end, kind,
                                            [&](int64_t node, int64_t wanted) { return f.productions[node] < wanted; });
        const int64_t n_children = f.child_starts[v + 1] - f.child_starts[v];
        const int64_t* mine = f.children + f.child_starts[v];
        for (; w != end && f.productions[*w] == kind; ++w) {
            const int64_t* theirs = f.children + f.child_starts[*w];
            double value = decay;
            for (int64_t c = 0; c < n_children; ++c) {
                if (f.productions[mine[c]] == f.productions[theirs[c]])  // else the entry is of another pair of trees
                    value *= 1.0 + delta[(mine[c] - a) * width + theirs[c] - b];
            }
            delta[(v - a) * width + *w - b] = value;
            total += value;
        }
    }
    return total;
}

nb::ndarray<nb::numpy, double> tree_pairs(const Indices& productions, const Indices& child_starts,
                                          const Indices& children, const Indices& starts, const Indices& left,
                                          const Indices& right, double decay) {
    const size_t n_nodes = productions.shape(0), n_trees = starts.shape(0) - 1;
    check_starts(starts, n_nodes, "starts");
    check_starts(child_starts, children.shape(0), "child_starts");
    check_pairs(left, right, static_cast<int64_t>(n_trees));
    require(child_starts.shape(0) == n_nodes + 1, "child_starts needs an entry per node and one.");
    Forest forest{productions.data(), child_starts.data(), children.data(), starts.data(), {}, 0};
    for (size_t t = 0; t < n_trees; ++t)
        for (int64_t v = starts.data()[t]; v < starts.data()[t + 1]; ++v)
            for (int64_t c = forest.child_starts[v]; c < forest.child_starts[v + 1]; ++c)
                require(forest.children[c] >= starts.data()[t] && forest.children[c] < v,
                        "children must come before their parents, in the same tree.");
    std::unordered_map<int64_t, int64_t> arity;  // nodes of one production are compared child by child
    for (size_t v = 0; v < n_nodes; ++v) {
        const int64_t count = forest.child_starts[v + 1] - forest.child_starts[v];
        require(arity.try_emplace(forest.productions[v], count).first->second == count,
                "nodes of the same production need the same number of children.");
    }
    const size_t n = left.shape(0);
    std::vector<double> result(n);
    {
        nb::gil_scoped_release released;
        forest.order.resize(n_nodes);
        for (size_t v = 0; v < n_nodes; ++v) forest.order[v] = static_cast<int64_t>(v);
        for (size_t t = 0; t < n_trees; ++t)
            std::stable_sort(forest.order.begin() + starts.data()[t], forest.order.begin() + starts.data()[t + 1],
                             [&](int64_t v, int64_t w) { return forest.productions[v] < forest.productions[w]; });
        std::vector<double> delta;
        InterruptCheck interrupt;
        for (size_t p = 0; p < n; ++p) {
            const int64_t i = left.data()[p], j = right.data()[p];
            const size_t cells = static_cast<size_t>(starts.data()[i + 1] - starts.data()[i]) *
                                 static_cast<size_t>(starts.data()[j + 1] - starts.data()[j]);
            if (delta.size() < cells) delta.resize(cells);
            result[p] = tree_pair(forest, i, j, decay, delta, interrupt);
        }
    }
    return owned_array(std::move(result), {n});
}

}  // namespace

void bind_sequences(nb::module_& m) {
    m.def("window_keys", &window_keys, nb::arg("codes"), nb::arg("starts"), nb::arg("offsets"), nb::arg("span"),
          nb::arg("bits"));
    m.def("count_keys", &count_keys, nb::arg("keys"), nb::arg("rows"), nb::arg("weights"), nb::arg("n_rows"));
    m.def("add_sparse_gram", &add_sparse_gram, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("t_indptr"), nb::arg("t_rows"), nb::arg("t_data"), nb::arg("coefficient"), nb::arg("symmetric"),
          nb::arg("start"), nb::arg("out"));
    m.def("subsequence_pairs", &subsequence_pairs, nb::arg("codes"), nb::arg("starts"), nb::arg("left"),
          nb::arg("right"), nb::arg("length"), nb::arg("decay"), nb::arg("similarity"));
    m.def("tree_pairs", &tree_pairs, nb::arg("productions"), nb::arg("child_starts"), nb::arg("children"),
          nb::arg("starts"), nb::arg("left"), nb::arg("right"), nb::arg("decay"));
}
