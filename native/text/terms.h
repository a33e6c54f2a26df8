// Distinct strings of bytes and their numbers: open addressing over (hash, bytes), so that no two are ever confused.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing/text_hash.h"

namespace mercer {

// Concatenated terms: term i is data[bounds[i]] .. data[bounds[i + 1]].
struct Terms {
    const uint64_t* hashes;
    const int64_t* bounds;
    const uint8_t* data;
    size_t size;

    const uint8_t* begin(size_t i) const { return data + bounds[i]; }
    size_t length(size_t i) const { return static_cast<size_t>(bounds[i + 1] - bounds[i]); }
};

inline bool same_term(const Terms& a, size_t i, const Terms& b, size_t j) {
    return a.hashes[i] == b.hashes[j] && a.length(i) == b.length(j) &&
           std::memcmp(a.begin(i), b.begin(j), a.length(i)) == 0;
}

inline void prefetch(const void* p) { __builtin_prefetch(p); }

// A slot is 0 if empty, else the upper half of a hash, then a number plus one.
using Slot = uint64_t;
inline Slot slot_of(uint64_t hash, uint64_t number) { return (hash & ~uint64_t{0xFFFFFFFF}) | (number + 1); }
inline uint32_t number_in(Slot slot) { return static_cast<uint32_t>(slot) - 1; }
inline bool may_hold(Slot slot, uint64_t hash) { return (slot ^ hash) >> 32 == 0; }

// Terms are partitioned by the upper bits of their hashes, see text/term_merge.h.
constexpr size_t n_partitions = 256;
inline size_t partition_of(uint64_t hash) { return hash >> 56; }

inline size_t slots_for(size_t terms) {
    size_t size = 16;
    while (size < 2 * terms) size *= 2;
    return size;
}

// The slot of a hash for which `is_it(number)`, or the empty one where it would go.
template <class IsIt>
inline size_t find_slot(const Slot* slots, size_t mask, uint64_t hash, IsIt is_it) {
    size_t at = hash & mask;
    while (slots[at] && !(may_hold(slots[at], hash) && is_it(number_in(slots[at])))) at = (at + 1) & mask;
    return at;
}

// Calls visit(start, ends, n) for the n-grams of low to high units of a run: those that begin at one unit at a time,
// and end (but for the gap) at ends[0 .. n - 1]. A run shorter than n units has none, or is itself one, once, if
// `whole` (as in scikit-learn's char_wb).
template <class Visit>
inline void each_first_unit(const uint32_t* starts, int64_t first, int64_t last, long low, long high, bool whole,
                            Visit visit) {
    const int64_t size = last - first;
    if (whole && size <= high) {
        const int64_t longest = size < low ? low : size;
        for (int64_t n = low; n < longest; ++n)
            for (int64_t i = first; i + n <= last; ++i) visit(starts[i], starts + i + n, 1);
        if (size) visit(starts[first], starts + last, 1);
        return;
    }
    for (int64_t i = first; i < last; ++i) {
        const int64_t longest = high < last - i ? high : last - i;
        if (longest >= low) visit(starts[i], starts + i + low, longest - low + 1);
    }
}

// Calls visit(start, length) for each of them.
template <class Visit>
inline void each_ngram(const uint32_t* starts, uint32_t gap, int64_t first, int64_t last, long low, long high,
                       bool whole, Visit visit) {
    each_first_unit(starts, first, last, low, high, whole, [&](uint32_t start, const uint32_t* ends, int64_t n) {
        for (int64_t i = 0; i < n; ++i) visit(start, ends[i] - gap - start);
    });
}

}  // namespace mercer
