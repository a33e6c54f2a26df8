// Tables of counted terms put together: each term once, with the sums of its counts.
//
// A table keeps its terms in the order of the upper eight bits of their hashes, their share. The terms of one share stand
// together in every table and in the result, so memory is read from front to back, and the slots of a share stay in the
// cache.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "terms.h"

namespace mercer {

struct CountedTerms {
    Terms terms;
    const int64_t *documents, *total;
};

struct MergedTerms {
    std::vector<uint64_t> hashes;
    std::vector<int64_t> bounds{0}, documents, total;
    std::vector<uint8_t> data;

    Terms view() const { return {hashes.data(), bounds.data(), data.data(), hashes.size()}; }
};

class TermMerge {
   public:
    // codes: room for the number of every term of every table, one table after the other.
    TermMerge(const std::vector<CountedTerms>& tables, int32_t* codes) : tables(tables), at(tables.size()) {
        for (const CountedTerms& table : tables) {
            this->codes.push_back(codes);
            codes += table.terms.size;
        }
    }

    // The terms of some shares.
    MergedTerms run(size_t first, size_t last) {
        for (size_t t = 0; t < tables.size(); ++t) {
            const Terms& terms = tables[t].terms;
            at[t] = static_cast<size_t>(std::partition_point(terms.hashes, terms.hashes + terms.size,
                                                             [&](uint64_t hash) { return share_of(hash) < first; }) -
                                        terms.hashes);
        }
        for (size_t share = first; share < last; ++share) merge(share);
        return std::move(merged);
    }

   private:
    void merge(size_t share) {
        std::vector<size_t> ends(tables.size());
        size_t n = 0;
        for (size_t t = 0; t < tables.size(); ++t) {
            const Terms& terms = tables[t].terms;
            size_t end = at[t];
            while (end < terms.size && share_of(terms.hashes[end]) == share) ++end;
            if (end < terms.size && share_of(terms.hashes[end]) < share)
                throw std::invalid_argument("terms must be in the order of the upper eight bits of their hashes.");
            ends[t] = end;
            n += end - at[t];
        }
        slots.assign(slots_for(n), 0);
        for (size_t t = 0; t < tables.size(); ++t) {
            add(tables[t], at[t], ends[t], codes[t]);
            at[t] = ends[t];
        }
    }

    void add(const CountedTerms& table, size_t from, size_t to, int32_t* numbers) {
        const Terms& terms = table.terms;
        const size_t mask = slots.size() - 1;
        for (size_t i = from; i < to; ++i) {
            const size_t slot = find_slot(slots.data(), mask, terms.hashes[i],
                                          [&](uint32_t k) { return same_term(merged.view(), k, terms, i); });
            if (slots[slot] == 0) {
                const size_t number = merged.hashes.size();
                if (number >= size_t{1} << 31)
                    throw std::overflow_error("fewer than 2^31 terms are possible: use hashing (n_buckets).");
                slots[slot] = slot_of(terms.hashes[i], number);
                merged.hashes.push_back(terms.hashes[i]);
                merged.documents.push_back(0);
                merged.total.push_back(0);
                merged.data.insert(merged.data.end(), terms.begin(i), terms.begin(i) + terms.length(i));
                merged.bounds.push_back(static_cast<int64_t>(merged.data.size()));
            }
            const uint32_t number = number_in(slots[slot]);
            numbers[i] = static_cast<int32_t>(number);
            merged.documents[number] += table.documents[i];
            merged.total[number] += table.total[i];
        }
    }

    const std::vector<CountedTerms>& tables;
    std::vector<size_t> at;  // where the next share begins in each table
    std::vector<int32_t*> codes;
    std::vector<Slot> slots;
    MergedTerms merged;
};

}  // namespace mercer
