// Lookup of terms in a vocabulary.
#pragma once

#include <vector>

#include "common/checks.h"
#include "text/terms.h"

namespace mercer {

constexpr size_t max_probes = 4096;

// The slots of distinct terms.
inline std::vector<Slot> slots_of(const uint64_t* hashes, size_t size) {
    std::vector<Slot> slots(slots_for(size));
    const size_t mask = slots.size() - 1;
    for (size_t i = 0; i < size; ++i) {
        if (i + 16 < size) prefetch(&slots[hashes[i + 16] & mask]);
        const size_t at = find_slot(slots.data(), mask, hashes[i], [](uint32_t) { return false; });
        // Half of the slots are empty: chance alone never makes a run of this length, chosen hashes would loop for hours.
        require(((at - hashes[i]) & mask) <= max_probes, "the hashes are not those of distinct terms.");
        slots[at] = slot_of(hashes[i], i);
    }
    return slots;
}

// Whether lookups in these slots end and stay within `size` known terms.
inline bool are_slots(const Slot* slots, size_t n_slots, size_t size) {
    size_t filled = 0;
    bool inside = true;
    for (size_t i = 0; i < n_slots; ++i) {
        filled += slots[i] != 0;
        inside &= slots[i] == 0 || number_in(slots[i]) < size;
    }
    return inside && filled <= size;
}

// The number of each wanted term among the known ones, or -1. Memory is prefetched: slots first, then
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
        const size_t at =
            find_slot(slots, mask, wanted.hashes[i], [&](uint32_t k) { return same_term(known, k, wanted, i); });
        found[i] = slots[at] ? static_cast<int32_t>(number_in(slots[at])) : -1;
    }
}

}  // namespace mercer
