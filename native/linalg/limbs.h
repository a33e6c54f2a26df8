// Floats as integers times a power of two, and long accumulators per column that sum them exactly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mercer {

using int128 = __int128;
using uint128 = unsigned __int128;

constexpr uint64_t infinity_bits = 0x7FF0000000000000u;
constexpr int64_t radix = int64_t{1} << 32;

inline uint64_t magnitude_bits(double x) { return std::bit_cast<uint64_t>(x) & 0x7FFFFFFFFFFFFFFFu; }

// |x| = mantissa * 2^(biased exponent - 1075); subnormal numbers have exponent 1, as the smallest normal ones.
inline int exponent_of(uint64_t magnitude) { return std::max<int>(magnitude >> 52, 1); }
inline uint64_t mantissa_of(uint64_t magnitude) {
    return (magnitude & 0xFFFFFFFFFFFFFu) | (static_cast<uint64_t>(magnitude >= (uint64_t{1} << 52)) << 52);
}

// The exponents of the smallest and largest nonzero numbers.
struct Range {
    uint64_t smallest = UINT64_MAX;  // of magnitude - 1, which puts zero last
    uint64_t largest = 0;

    void include(double x) {
        const uint64_t magnitude = magnitude_bits(x);
        smallest = std::min(smallest, magnitude - 1);
        largest = std::max(largest, magnitude);
    }
    void include(const Range& other) {
        smallest = std::min(smallest, other.smallest);
        largest = std::max(largest, other.largest);
    }
    bool empty() const { return largest == 0; }
    bool finite() const { return largest < infinity_bits; }
    int lowest() const { return exponent_of(smallest + 1); }
    int highest() const { return exponent_of(largest); }
};

struct Words {
    uint64_t word[2];
};
inline Words words_of(uint128 x) { return {{static_cast<uint64_t>(x), static_cast<uint64_t>(x >> 64)}}; }

// Limbs of every column in the window that terms mantissa * 2^e, lowest <= e <= highest, can touch.
class Limbs {
  public:
    Limbs(size_t n_columns, int lowest, int highest, int words)
        : n_columns_(n_columns), low_(lowest >> 5),
          width_((highest >> 5) - low_ + 2 * words + 3),  // the last two hold the carries of 2^64 terms
          limbs_(n_columns * width_) {}

    // Adds +-(words) * 2^exponent to a column; limbs stay within int64 for 2^30 of these between two carries.
    template <int n_words>
    void deposit(size_t column, const uint64_t (&words)[n_words], bool negative, int exponent) {
        const unsigned shift = exponent & 31;
        int64_t* limb = limbs_.data() + column * width_ + ((exponent >> 5) - low_);
        const int64_t sign = -static_cast<int64_t>(negative);
        const auto add = [&](int k, uint64_t digit) { limb[k] += (static_cast<int64_t>(digit) ^ sign) - sign; };
        uint64_t spill = 0;  // bits shifted out of a word
        for (int k = 0; k < n_words; ++k) {
            const uint64_t shifted = (words[k] << shift) | spill;
            add(2 * k, shifted & (radix - 1));
            add(2 * k + 1, shifted >> 32);
            spill = (words[k] >> 1) >> (63 - shift);
        }
        add(2 * n_words, spill);
    }

    void carry() {
        for (size_t j = 0; j < n_columns_; ++j) carry(limbs_.data() + j * width_);
    }

    // Carries, then drops limbs that no column needs.
    void make_canonical() {
        size_t bottom = width_, top = 0;
        for (size_t j = 0; j < n_columns_; ++j) {
            int64_t* limb = limbs_.data() + j * width_;
            carry(limb);
            bottom = std::min(bottom, first_nonzero(limb, bottom));
            top = std::max(top, limbs_needed(limb));
        }
        const size_t kept = top == 0 ? 0 : top - bottom;
        for (size_t j = 0; j < n_columns_ && kept > 0; ++j) {
            int64_t* limb = std::copy_n(limbs_.data() + j * width_ + bottom, kept, limbs_.data() + j * kept);
            limb[-1] = static_cast<int32_t>(limb[-1]);  // the last limb carries the sign
        }
        low_ = kept == 0 ? 0 : low_ + static_cast<int>(bottom);
        width_ = kept;
        limbs_.resize(n_columns_ * kept);
    }

    int low() const { return low_; }

    std::vector<size_t> shape() const { return {n_columns_, width_}; }
    std::vector<int64_t>&& take() { return std::move(limbs_); }

  private:
    void carry(int64_t* limb) const {
        for (size_t t = 0; t + 1 < width_; ++t) {
            limb[t + 1] += limb[t] >> 32;
            limb[t] &= radix - 1;
        }
    }

    static size_t first_nonzero(const int64_t* limb, size_t end) {
        size_t t = 0;
        while (t < end && limb[t] == 0) ++t;
        return t;
    }

    // Limbs of the shortest two's complement; after a carry the last limb is 0 or -1, the sign.
    size_t limbs_needed(const int64_t* limb) const {
        const bool negative = limb[width_ - 1] < 0;
        const int64_t filling = negative ? radix - 1 : 0;
        size_t t = width_ - 1;
        while (t > 0 && limb[t - 1] == filling) --t;
        const bool sign_bit = t > 0 && limb[t - 1] >= radix / 2;
        return sign_bit == negative ? t : t + 1;
    }

    size_t n_columns_;
    int low_;
    size_t width_;
    std::vector<int64_t> limbs_;
};

}  // namespace mercer
