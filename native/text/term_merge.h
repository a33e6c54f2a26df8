// Merges tables of counted terms: each term once, with the sums of its counts.
//
// A table keeps its terms sorted by the upper eight bits of their hashes, their partition. The terms of a partition are
// contiguous in every table and in the result, so memory is read sequentially, and the slots of a partition stay in the
// cache.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/checks.h"
#include "text/terms.h"

namespace mercer {

struct CountedTerms {
    Terms terms;
    const int64_t *documents, *total;
};

struct MergedTerms {
    std::vector<uint64_t> hashes;
    std::vector<int64_t> bounds{0}, documents, total;
    std::unique_ptr<uint8_t[]> data;
    size_t n_bytes = 0;

    Terms view() const { return {hashes.data(), bounds.data(), data.get(), hashes.size()}; }

    // Reserves memory, which is not touched before it is used.
    void reserve(size_t terms, size_t bytes) {
        hashes.reserve(terms);
        bounds.reserve(terms + 1);
        documents.reserve(terms);
        total.reserve(terms);
        data.reset(new uint8_t[bytes + 16]);
    }

    void add(const Terms& from, size_t i) {
        const size_t length = from.length(i);
        if (from.bounds[i] + static_cast<int64_t>((length | 15) + 1) <= from.bounds[from.size])
            copy_text(data.get() + n_bytes, from.begin(i), length);
        else std::copy_n(from.begin(i), length, data.get() + n_bytes);
        n_bytes += length;
        hashes.push_back(from.hashes[i]);
        documents.push_back(0);
        total.push_back(0);
        bounds.push_back(static_cast<int64_t>(n_bytes));
    }
};

class TermMerge {
  public:
    // codes: receives the number of every term of every table, concatenated.
    TermMerge(const std::vector<CountedTerms>& tables, int32_t* codes)
        : tables(tables), at(tables.size()), limits(tables.size()) {
        for (const CountedTerms& table : tables) {
            this->codes.push_back(codes);
            codes += table.terms.size;
        }
    }

    // The terms of the partitions first .. last - 1.
    MergedTerms run(size_t first, size_t last) {
        size_t n = 0, bytes = 0;
        for (size_t t = 0; t < tables.size(); ++t) {
            const Terms& terms = tables[t].terms;
            at[t] = begin_of(terms, first);
            limits[t] = std::max(begin_of(terms, last), at[t]);
            n += limits[t] - at[t];
            bytes += static_cast<size_t>(terms.bounds[limits[t]] - terms.bounds[at[t]]);
        }
        merged.reserve(n, bytes);
        for (size_t partition = first; partition < last; ++partition) merge(partition);
        require(at == limits, "terms must be in the order of the upper eight bits of their hashes.");
        return std::move(merged);
    }

  private:
    static size_t begin_of(const Terms& terms, size_t partition) {
        const uint64_t* end = terms.hashes + terms.size;
        const auto before = [&](uint64_t hash) { return partition_of(hash) < partition; };
        return static_cast<size_t>(std::partition_point(terms.hashes, end, before) - terms.hashes);
    }

    void merge(size_t partition) {
        std::vector<size_t> ends(tables.size());
        size_t n = 0;
        for (size_t t = 0; t < tables.size(); ++t) {
            const Terms& terms = tables[t].terms;
            size_t end = at[t];
            while (end < limits[t] && partition_of(terms.hashes[end]) == partition) ++end;
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
                merged.add(terms, i);
            }
            const uint32_t number = number_in(slots[slot]);
            numbers[i] = static_cast<int32_t>(number);
            merged.documents[number] += table.documents[i];
            merged.total[number] += table.total[i];
        }
    }

    const std::vector<CountedTerms>& tables;
    std::vector<size_t> at, limits;  // where the next partition begins in each table, and where the last one ends
    std::vector<int32_t*> codes;
    std::vector<Slot> slots;
    MergedTerms merged;
};

}  // namespace mercer
