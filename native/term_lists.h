// Lists of terms: which are the same, where they stand in a vocabulary, and their order.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "terms.h"

namespace mercer {

// The slots of terms that are all different.
inline std::vector<Slot> slots_of(const uint64_t* hashes, size_t size) {
    std::vector<Slot> slots(slots_for(size));
    const size_t mask = slots.size() - 1;
    for (size_t i = 0; i < size; ++i) {
        if (i + 16 < size) prefetch(&slots[hashes[i + 16] & mask]);
        slots[find_slot(slots.data(), mask, hashes[i], [](uint32_t) { return false; })] = slot_of(hashes[i], i);
    }
    return slots;
}

// The number of each wanted term among the known ones, or -1. Memory is asked for in good time: slots first, then
// the bounds of what they name, then its bytes.
inline void find_all(const Slot* slots, size_t n_slots, const Terms& known, const Terms& wanted, int32_t* found) {
    const size_t mask = n_slots - 1;
    constexpr size_t ahead = 8;
    for (size_t i = 0; i < wanted.size; ++i) {
        if (i + 3 * ahead < wanted.size) prefetch(&slots[wanted.hashes[i + 3 * ahead] & mask]);
        if (i + 2 * ahead < wanted.size) {
            const Slot slot = slots[wanted.hashes[i + 2 * ahead] & mask];
            if (slot) {
                prefetch(known.bounds + number_in(slot));
                prefetch(known.hashes + number_in(slot));
            }
        }
        if (i + ahead < wanted.size) {
            const Slot slot = slots[wanted.hashes[i + ahead] & mask];
            if (slot) prefetch(known.begin(number_in(slot)));
        }
        const size_t at = find_slot(slots, mask, wanted.hashes[i],
                                    [&](uint32_t k) { return same_term(known, k, wanted, i); });
        found[i] = slots[at] ? static_cast<int32_t>(number_in(slots[at])) : -1;
    }
}

struct DistinctTerms {
    std::vector<int32_t> first;
    std::vector<int64_t> documents, total;
};

// The distinct terms of a list in the order of first appearance, with the sums of two counts: of the terms in `rows`.
// Only their places among the codes are written.
inline DistinctTerms distinct_of(const Terms& terms, const int64_t* documents, const int64_t* total,
                                 const int32_t* rows, size_t n, int32_t* codes) {
    DistinctTerms found;
    std::vector<Slot> slots(slots_for(n));
    const size_t mask = slots.size() - 1;
    constexpr size_t ahead = 8;
    for (size_t m = 0; m < n; ++m) {
        const auto i = static_cast<size_t>(rows[m]);
        if (m + 4 * ahead < n) prefetch(terms.hashes + rows[m + 4 * ahead]);
        if (m + 3 * ahead < n) {
            prefetch(&slots[terms.hashes[rows[m + 3 * ahead]] & mask]);
            prefetch(terms.bounds + rows[m + 3 * ahead]);
            prefetch(documents + rows[m + 3 * ahead]);
            prefetch(total + rows[m + 3 * ahead]);
        }
        if (m + 2 * ahead < n) {
            prefetch(terms.begin(static_cast<size_t>(rows[m + 2 * ahead])));
            if (const Slot slot = slots[terms.hashes[rows[m + 2 * ahead]] & mask])
                prefetch(terms.bounds + found.first[number_in(slot)]);
        }
        if (m + ahead < n)
            if (const Slot slot = slots[terms.hashes[rows[m + ahead]] & mask])
                prefetch(terms.begin(static_cast<size_t>(found.first[number_in(slot)])));
        const size_t at = find_slot(slots.data(), mask, terms.hashes[i], [&](uint32_t k) {
            return same_term(terms, static_cast<size_t>(found.first[k]), terms, i);
        });
        if (slots[at] == 0) {
            slots[at] = slot_of(terms.hashes[i], found.first.size());
            found.first.push_back(static_cast<int32_t>(i));
            found.documents.push_back(0);
            found.total.push_back(0);
        }
        const uint32_t code = number_in(slots[at]);
        codes[i] = static_cast<int32_t>(code);
        found.documents[code] += documents[i];
        found.total[code] += total[i];
    }
    return found;
}

// Sorts some terms by their bytes, eight at a time: equal stretches are sorted by the next eight.
class TermOrder {
   public:
    // Of several parts of the order only one, all terms between two quantiles of a sample.
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
            if (const uint64_t k = key(rows[i], 0); k >= from && (endless || k < to)) items.push_back({k, rows[i]});
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
        uint64_t key;
        int32_t row;
    };

    size_t left(int32_t row, size_t depth) const {
        const auto length = static_cast<size_t>(bounds[row + 1] - bounds[row]);
        return length > depth ? length - depth : 0;
    }

    // The next eight bytes, the first the heaviest. Bytes beyond the end of the data are never read.
    uint64_t key(int32_t row, size_t depth) const {
        const uint8_t* p = data + bounds[row] + depth;
        const size_t n = left(row, depth) < 8 ? left(row, depth) : 8;
        if (n && bounds[row] + static_cast<int64_t>(depth) + 8 <= n_bytes) return __builtin_bswap64(word_at(p, n));
        uint64_t word = 0;
        for (size_t i = 0; i < n; ++i) word |= uint64_t{p[i]} << (56 - 8 * i);
        return word;
    }

    void sort(size_t from, size_t to, size_t depth) {
        for (size_t i = from; i < to && depth > 0; ++i) items[i].key = key(items[i].row, depth);
        std::sort(items.begin() + from, items.begin() + to, [](const Item& a, const Item& b) { return a.key < b.key; });
        for (size_t i = from; i < to;) {
            size_t j = i + 1;
            while (j < to && items[j].key == items[i].key) ++j;
            if (j - i > 1) sort_equal(i, j, depth);
            i = j;
        }
    }

    // Those that end within these eight bytes come first, the shorter before the longer (a zero byte may be text).
    void sort_equal(size_t from, size_t to, size_t depth) {
        const auto middle = std::partition(items.begin() + from, items.begin() + to,
                                           [&](const Item& item) { return left(item.row, depth) <= 8; });
        std::sort(items.begin() + from, middle,
                  [&](const Item& a, const Item& b) { return left(a.row, depth) < left(b.row, depth); });
        const auto next = static_cast<size_t>(middle - items.begin());
        if (to - next > 1) sort(next, to, depth + 8);
    }

    const int64_t* bounds;
    const uint8_t* data;
    int64_t n_bytes;
    std::vector<Item> items;
};

}  // namespace mercer
