// Fuzzer of the tree walkers: arbitrary nodes are refused, or all walkers add the same values.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "fuzz/bytes.h"
#include "trees/tree_walks.h"

namespace {

using namespace mercer;

constexpr int64_t odd_numbers[] = {INT64_MIN, -1, 0, 65534, 65535, 65536, INT32_MAX, int64_t{1} << 40, INT64_MAX};
constexpr double odd_values[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf(), -0.0, 1e308, 5e-324};

struct Forest {
    std::vector<int64_t> column, left, right, roots, output;
    std::vector<double> threshold, value;

    Nodes nodes() const {
        return {column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(column.size())};
    }
};

double number(FuzzBytes& bytes) {
    const uint8_t byte = bytes.byte();
    return byte < 250 ? double(byte % 16) - 8.0 : odd_values[byte - 250];
}

// A child after its parent, in most cases.
int64_t child(FuzzBytes& bytes, int64_t node) {
    const uint8_t byte = bytes.byte();
    return byte < 240 ? node + 1 + byte % 12 : byte < 247 ? int64_t(byte % 8) : odd_numbers[byte - 247];
}

Forest forest_of(FuzzBytes& bytes, int64_t columns, int64_t outputs) {
    Forest made;
    const int64_t n = bytes.within(0, 63), n_trees = bytes.within(0, 19);
    for (int64_t k = 0; k < n; ++k) {
        const uint8_t column = bytes.byte();
        made.column.push_back(column < 120   ? -1 - int64_t(column & 1)
                              : column < 247 ? column % columns
                                             : odd_numbers[column - 247]);
        made.left.push_back(child(bytes, k));
        made.right.push_back(child(bytes, k));
        made.threshold.push_back(number(bytes));
        made.value.push_back(number(bytes));
    }
    for (int64_t t = 0; t < n_trees; ++t) {
        const uint8_t root = bytes.byte();
        made.roots.push_back(root < 250 ? root % (n + 1) : odd_numbers[root - 250]);
        made.output.push_back(bytes.byte() < 250 ? t % outputs : odd_numbers[t % 9]);
    }
    return made;
}

// A chain of splits with leaves beside it: valid, and as deep as the fuzzer wants.
Forest chain_of(FuzzBytes& bytes, int64_t columns, int64_t outputs) {
    Forest made;
    for (int64_t tree = bytes.within(1, 9); tree > 0; --tree) {
        const int64_t splits = bytes.byte() % (tree == 1 ? 256 : 32);  // one deep tree, so that a run stays short
        made.roots.push_back(int64_t(made.column.size()));
        made.output.push_back(tree % outputs);
        for (int64_t k = 0; k <= 2 * splits; ++k) {
            const auto node = int64_t(made.column.size());
            const bool leaf = k % 2 || k == 2 * splits;
            made.column.push_back(leaf ? -1 : bytes.byte() % columns);
            made.left.push_back(node + (bytes.flag() ? 1 : 2));
            made.right.push_back(2 * node + 3 - made.left.back());
            made.threshold.push_back(number(bytes));
            made.value.push_back(number(bytes));
        }
    }
    return made;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && !(a[i] != a[i] && b[i] != b[i])) return false;
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    FuzzBytes bytes(data, size);
    const int64_t columns = bytes.within(1, 6), outputs = bytes.within(1, 3);
    const size_t rows = bytes.byte() % 8 ? bytes.within(0, 20) : bytes.within(100, 350);
    const Forest forest = bytes.flag() ? chain_of(bytes, columns, outputs) : forest_of(bytes, columns, outputs);
    std::vector<double> X(rows * columns);
    for (double& x : X) x = number(bytes);
    const NumberRows view{X.data(), rows, size_t(columns)};
    std::vector<double> plain(rows * outputs), packed(rows * outputs);
    bool walked = false;
    try {
        add_plain_trees(forest.nodes(), forest.roots.data(), forest.output.data(), forest.roots.size(), view,
                        plain.data(), outputs);
        walked = true;
    } catch (const std::invalid_argument&) {
    }
    try {
        const PackedTrees trees(forest.nodes(), forest.roots.data(), forest.roots.size());
        add_packed(trees, forest.output.data(), view, packed.data(), outputs);
        if (walked) must(same(plain, packed));
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
