// Histogram cells: the sums of the hessians and of the gradients of their rows, as integers on a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mercer {

typedef double Pair __attribute__((vector_size(2 * sizeof(double))));

// A hessian followed by gradients, integers stored as doubles; `fixed` is the number of outputs if known at compile
// time.
template <size_t fixed>
struct RealCell {
    using Word = double;
    static constexpr int bits = 52;
    static constexpr size_t max_words = fixed ? fixed + 1 : 0;  // 0: unknown
    size_t outputs;

    size_t width() const { return fixed ? fixed + 1 : outputs + 1; }
    void put(Word* cell, size_t at, double value) const { cell[at] = value; }
    double hessian(const Word* cell) const { return cell[0]; }
    double gradient(const Word* cell, size_t output) const { return cell[output + 1]; }
    double norm(const Word* cell) const {
        double sum = 0.0;
        for (size_t o = 1; o < width(); ++o) sum += cell[o] * cell[o];
        return sum;
    }
    // The squared norm of the difference of a cell and a part of it.
    double norm_without(const Word* part, const Word* cell) const {
        double sum = 0.0;
        for (size_t o = 1; o < width(); ++o) sum += (cell[o] - part[o]) * (cell[o] - part[o]);
        return sum;
    }
    template <class Index>
    void add(const Index* at, size_t columns, const Word* term, Word* cells) const {
        if constexpr (fixed == 1) {
            Pair mine;
            std::memcpy(&mine, term, sizeof mine);
            for (size_t c = 0; c < columns; ++c) {
                Pair cell;
                std::memcpy(&cell, cells + 2 * at[c], sizeof cell);
                cell += mine;
                std::memcpy(cells + 2 * at[c], &cell, sizeof cell);
            }
        } else {
            for (size_t c = 0; c < columns; ++c)
                for (size_t o = 0; o < width(); ++o) cells[width() * at[c] + o] += term[o];
        }
    }
};

// Gradient and hessian packed into one word: one addition updates both, and a histogram takes half the memory.
struct PackedCell {
    using Word = int64_t;
    static constexpr int bits = 31;
    static constexpr size_t max_words = 1;

    static constexpr size_t width() { return 1; }
    static void put(Word* cell, size_t at, double value) {
        if (at == 0) {
            *cell = static_cast<int64_t>(value);
        } else {
            *cell += static_cast<int64_t>(value) * (int64_t{1} << 32);
        }
    }
    static double hessian(const Word* cell) { return static_cast<double>(static_cast<uint32_t>(*cell)); }
    static double gradient(const Word* cell, size_t) { return static_cast<double>(*cell >> 32); }
    static double norm(const Word* cell) { return gradient(cell, 0) * gradient(cell, 0); }
    static double norm_without(const Word* part, const Word* cell) {
        const double rest = gradient(cell, 0) - gradient(part, 0);
        return rest * rest;
    }
    template <class Index>
    static void add(const Index* at, size_t columns, const Word* term, Word* cells) {
        const Word mine = *term;  // a copy, since the compiler must assume that it aliases the cells
        for (size_t c = 0; c < columns; ++c) cells[at[c]] += mine;
    }
};

}  // namespace mercer
