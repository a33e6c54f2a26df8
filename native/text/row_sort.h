// Sorts the entries of a row by column, for columns that are roughly uniformly distributed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mercer {

// Sorts words by the `n_bits` bits from bit `low` on, the column. The order of equal columns is unspecified.
template <class Word>
class RowSort {
  public:
    RowSort(int low, int n_bits) : low(low), n_bits(n_bits) {}

    // Returns where the sorted words are now: at `words` or in a buffer of this object.
    const Word* operator()(Word* words, size_t n) {
        if (n < 2) return words;
        if (spare.size() < n) spare.resize(n + n / 2);
        if (n <= max_bins && into_bins(words, n)) return spare.data();
        return by_digits(words, n);
    }

  private:
    // One pass into about as many bins as words, by the highest bits; an insertion sort then moves few words.
    bool into_bins(const Word* words, size_t n) {
        const int wanted = std::bit_width(n), bits = wanted < n_bits ? wanted : n_bits, shift = low + n_bits - bits;
        const size_t n_bins = size_t{1} << bits;
        std::fill_n(ends, n_bins, uint16_t{0});
        for (size_t k = 0; k < n; ++k) ++ends[words[k] >> shift];
        uint32_t sum = 0, largest = 0;
        for (size_t bin = 0; bin < n_bins; ++bin) {
            const uint32_t count = ends[bin];
            largest = largest < count ? count : largest;
            ends[bin] = static_cast<uint16_t>(sum);
            sum += count;
        }
        if (largest > max_in_bin) return false;
        Word* to = spare.data();
        for (size_t k = 0; k < n; ++k) to[ends[words[k] >> shift]++] = words[k];
        for (size_t k = 1; k < n; ++k) {
            const Word word = to[k];
            size_t at = k;
            for (; at > 0 && to[at - 1] > word; --at) to[at] = to[at - 1];
            to[at] = word;
        }
        return true;
    }

    // Digits of equal width, the lowest first.
    const Word* by_digits(Word* words, size_t n) {
        const int n_digits = (n_bits + 8) / 9, width = (n_bits + n_digits - 1) / n_digits;
        const Word mask = (Word{1} << width) - 1;
        Word *from = words, *to = spare.data();
        uint32_t offsets[512];
        for (int digit = 0, shift = low; digit < n_digits; ++digit, shift += width) {
            std::fill_n(offsets, mask + 1, 0u);
            for (size_t k = 0; k < n; ++k) ++offsets[(from[k] >> shift) & mask];
            uint32_t sum = 0;
            for (size_t d = 0; d <= mask; ++d) {
                const uint32_t count = offsets[d];
                offsets[d] = sum;
                sum += count;
            }
            for (size_t k = 0; k < n; ++k) to[offsets[(from[k] >> shift) & mask]++] = from[k];
            std::swap(from, to);
        }
        return from;
    }

    static constexpr size_t max_bins = 8191, max_in_bin = 255;
    int low, n_bits;
    uint16_t ends[2 * max_bins + 2];
    std::vector<Word> spare;
};

}  // namespace mercer
