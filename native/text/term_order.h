// The order of terms by their bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hashing/text_hash.h"

namespace mercer {

// Sorts terms by sixteen bytes at a time: a radix sort byte by byte, then insertion sort of small groups; groups of
// equal bytes are sorted by the next sixteen.
class TermOrder {
  public:
    // One of several parts of the order: the terms between two quantiles of a sample.
    TermOrder(const int64_t* bounds, const uint8_t* data, size_t n_bytes, const int32_t* rows, size_t n, size_t part,
              size_t parts)
        : bounds(bounds), data(data), n_bytes(static_cast<int64_t>(n_bytes)) {
        std::vector<uint64_t> sample;
        const size_t step = n / 1024 + 1;
        for (size_t i = 0; i < n && parts > 1; i += step) sample.push_back(key(rows[i], 0));
        std::sort(sample.begin(), sample.end());
        const uint64_t from = part == 0 || sample.empty() ? 0 : sample[part * sample.size() / parts];
        const bool endless = part + 1 == parts || sample.empty();
        const uint64_t to = endless ? 0 : sample[(part + 1) * sample.size() / parts];
        items.reserve(n / parts + n / 16 + 16);
        for (size_t i = 0; i < n; ++i)
            if (const uint64_t k = key(rows[i], 0); k >= from && (endless || k < to))
                items.push_back({k, key(rows[i], 8), rows[i]});
        spare.resize(items.size());
        sort(0, items.size(), 0);
    }

    std::vector<int32_t> finish() const {
        std::vector<int32_t> order;
        order.reserve(items.size());
        for (const Item& item : items) order.push_back(item.row);
        return order;
    }

  private:
    struct Item {
        uint64_t high, low;
        int32_t row;

        bool operator<(const Item& other) const { return high < other.high || (high == other.high && low < other.low); }
        bool operator==(const Item& other) const { return high == other.high && low == other.low; }
        uint8_t byte(int i) const { return static_cast<uint8_t>(i < 8 ? high >> (56 - 8 * i) : low >> (120 - 8 * i)); }
    };

    size_t left(int32_t row, size_t depth) const {
        const auto length = static_cast<size_t>(bounds[row + 1] - bounds[row]);
        return length > depth ? length - depth : 0;
    }

    // The next eight bytes in big-endian order. Bytes past the end of the data are never read.
    uint64_t key(int32_t row, size_t depth) const {
        const size_t n = left(row, depth) < 8 ? left(row, depth) : 8;
        if (n == 0) return 0;
        const uint8_t* p = data + bounds[row] + depth;
        if (bounds[row] + static_cast<int64_t>(depth) + 8 <= n_bytes) return __builtin_bswap64(word_at(p, n));
        uint64_t word = 0;
        for (size_t i = 0; i < n; ++i) word |= uint64_t{p[i]} << (56 - 8 * i);
        return word;
    }

    void sort(size_t from, size_t to, size_t depth) {
        for (size_t i = from; i < to && depth > 0; ++i) {
            items[i].high = key(items[i].row, depth);
            items[i].low = key(items[i].row, depth + 8);
        }
        by_byte(items.data() + from, to - from, 0);
        for (size_t i = from; i < to;) {
            size_t j = i + 1;
            while (j < to && items[j] == items[i]) ++j;
            if (j - i > 1) sort_equal(i, j, depth);
            i = j;
        }
    }

    void by_byte(Item* some, size_t n, int byte) {
        if (n <= 24) return insert(some, n);
        if (byte == 16) return;
        uint32_t ends[256] = {};
        for (size_t i = 0; i < n; ++i) ++ends[some[i].byte(byte)];
        if (ends[some[0].byte(byte)] == n) return by_byte(some, n, byte + 1);
        uint32_t sum = 0;
        for (uint32_t& end : ends) {
            const uint32_t count = end;
            end = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; ++i) spare[ends[some[i].byte(byte)]++] = some[i];
        std::copy_n(spare.data(), n, some);
        for (uint32_t begin = 0, value = 0; value < 256; begin = ends[value++])
            if (ends[value] - begin > 1) by_byte(some + begin, ends[value] - begin, byte + 1);
    }

    static void insert(Item* some, size_t n) {
        for (size_t i = 1; i < n; ++i) {
            const Item item = some[i];
            size_t at = i;
            for (; at > 0 && item < some[at - 1]; --at) some[at] = some[at - 1];
            some[at] = item;
        }
    }

    // Those that end within these bytes come first, the shorter before the longer (a zero byte may be text).
    void sort_equal(size_t from, size_t to, size_t depth) {
        const auto middle = std::partition(items.begin() + from, items.begin() + to,
                                           [&](const Item& item) { return left(item.row, depth) <= 16; });
        std::sort(items.begin() + from, middle,
                  [&](const Item& a, const Item& b) { return left(a.row, depth) < left(b.row, depth); });
        const auto next = static_cast<size_t>(middle - items.begin());
        if (to - next > 1) sort(next, to, depth + 16);
    }

    const int64_t* bounds;
    const uint8_t* data;
    int64_t n_bytes;
    std::vector<Item> items, spare;
};

}  // namespace mercer
