// Rows of n-gram counts from units, by the number of each n-gram among the distinct ones of a block.
#pragma once

#include <algorithm>
#include <vector>

#include "text/terms.h"

namespace mercer {

// Units as arrays, see text/text_units.h.
struct UnitView {
    const uint8_t* bytes;
    const uint32_t* starts;
    const int64_t *runs, *docs;
    size_t n_docs;
    uint32_t gap;
    long low, high;
    bool whole;

    // The number of n-grams of documents `first` to `last`, repetitions included.
    size_t n_ngrams(size_t first, size_t last) const {
        size_t total = 0;
        for (int64_t r = docs[first]; r < docs[last]; ++r) {
            const int64_t size = runs[r + 1] - runs[r], longest = std::min<int64_t>(size, high);
            if (size < low) total += whole && size > 0;
            else total += static_cast<size_t>((longest - low + 1) * (2 * size - low - longest + 2) / 2);
        }
        return total;
    }

    template <class Visit>
    void each(size_t doc, Visit visit) const {
        for (int64_t r = docs[doc]; r < docs[doc + 1]; ++r)
            each_ngram(starts, gap, runs[r], runs[r + 1], low, high, whole, visit);
    }

    // Calls visit(start, ends, n) for n-grams that begin at one unit and end, but for the gap, at ends[0 .. n - 1].
    template <class Visit>
    void each_start(size_t doc, Visit visit) const {
        for (int64_t r = docs[doc]; r < docs[doc + 1]; ++r)
            each_first_unit(starts, runs[r], runs[r + 1], low, high, whole, visit);
    }
};

struct CountedRows {
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> codes, counts;
    std::vector<uint64_t> hashes;
    std::vector<int64_t> bounds{0}, documents, total;
    std::vector<uint8_t> data;
};

// Numbers the distinct n-grams of a block.
class Counting {
  public:
    explicit Counting(const UnitView& units) : units(units) {
        const size_t n = units.n_ngrams(0, units.n_docs);
        slots.resize(slots_for(std::min(n / 2, size_t{1} << 20)));
        mask = slots.size() - 1;
        entries.reserve(n / 2);
        rows.codes.reserve(n);
        rows.counts.reserve(n);
    }

    CountedRows run() {
        for (size_t doc = 0; doc < units.n_docs; ++doc) {
            units.each(doc, [&](uint32_t start, uint32_t length) {
                const uint64_t hash = hash_text(units.bytes + start, length, 0);
                prefetch(&slots[hash & mask]);
                waiting[n_waiting++] = {hash, start, length};
                if (n_waiting == batch) flush(doc);
            });
            flush(doc);
            rows.indptr.push_back(static_cast<int64_t>(rows.codes.size()));
        }
        keep_terms();
        return std::move(rows);
    }

  private:
    struct Ngram {
        uint64_t hash;
        uint32_t start, length;
    };
    struct Entry {
        Ngram ngram;
        uint32_t doc, entry;  // the last document with it, plus one, and its index among the codes
        uint32_t documents, total;
    };

    // Prefetches the entries that the slots refer to.
    void flush(size_t doc) {
        for (size_t i = 0; i < n_waiting; ++i) {
            const Slot slot = slots[waiting[i].hash & mask];
            prefetch(entries.data() + (slot ? number_in(slot) : 0));
        }
        for (size_t i = 0; i < n_waiting; ++i) add(waiting[i], doc);
        n_waiting = 0;
    }

    void add(const Ngram& ngram, size_t doc) {
        const size_t at = find_slot(slots.data(), mask, ngram.hash, [&](uint32_t e) {
            const Ngram& other = entries[e].ngram;
            // mix is a bijection: up to eight bytes, equal hashes and lengths are equal texts
            return other.hash == ngram.hash && other.length == ngram.length &&
                   (ngram.length <= 8 || same_text(units.bytes + other.start, units.bytes + ngram.start, ngram.length));
        });
        if (slots[at] == 0) {
            slots[at] = slot_of(ngram.hash, entries.size());
            entries.push_back({ngram, 0, 0, 0, 0});
            if (2 * entries.size() > slots.size()) grow();
            count(entries.back(), static_cast<int32_t>(entries.size() - 1), doc);
        } else {
            const uint32_t e = number_in(slots[at]);
            count(entries[e], static_cast<int32_t>(e), doc);
        }
    }

    void count(Entry& entry, int32_t code, size_t doc) {
        ++entry.total;
        if (entry.doc == doc + 1) {
            ++rows.counts[entry.entry];
            return;
        }
        entry.doc = static_cast<uint32_t>(doc + 1);
        entry.entry = static_cast<uint32_t>(rows.codes.size());
        ++entry.documents;
        rows.codes.push_back(code);
        rows.counts.push_back(1);
    }

    void grow() {
        std::vector<Slot> larger(2 * slots.size());
        mask = larger.size() - 1;
        for (size_t e = 0; e < entries.size(); ++e) {
            const uint64_t hash = entries[e].ngram.hash;
            larger[find_slot(larger.data(), mask, hash, [](uint32_t) { return false; })] = slot_of(hash, e);
        }
        slots.swap(larger);
    }

    // Sorts the terms by partition, then by first appearance, and renumbers the codes.
    void keep_terms() {
        const size_t n = entries.size();
        std::vector<uint32_t> ranks(n), order(n);
        size_t ends[n_partitions + 1] = {};
        for (const Entry& entry : entries) ++ends[partition_of(entry.ngram.hash) + 1];
        for (size_t partition = 0; partition < n_partitions; ++partition) ends[partition + 1] += ends[partition];
        for (size_t e = 0; e < n; ++e) ranks[e] = static_cast<uint32_t>(ends[partition_of(entries[e].ngram.hash)]++);
        for (size_t e = 0; e < n; ++e) order[ranks[e]] = static_cast<uint32_t>(e);
        for (int32_t& code : rows.codes) code = static_cast<int32_t>(ranks[static_cast<size_t>(code)]);
        rows.hashes.resize(n);
        rows.documents.resize(n);
        rows.total.resize(n);
        rows.bounds.resize(n + 1);
        size_t n_bytes = 0;
        for (const Entry& entry : entries) n_bytes += entry.ngram.length;
        rows.data.resize(n_bytes + 16);
        for (size_t i = 0; i < n; ++i) {
            const Entry& entry = entries[order[i]];
            rows.hashes[i] = entry.ngram.hash;
            rows.documents[i] = entry.documents;
            rows.total[i] = entry.total;
            rows.bounds[i + 1] = rows.bounds[i] + entry.ngram.length;
            copy_text(rows.data.data() + rows.bounds[i], units.bytes + entry.ngram.start, entry.ngram.length);
        }
        rows.data.resize(n_bytes);
    }

    static constexpr size_t batch = 64;
    const UnitView& units;
    std::vector<Slot> slots;
    size_t mask;
    std::vector<Entry> entries;
    CountedRows rows;
    Ngram waiting[batch];
    size_t n_waiting = 0;
};

}  // namespace mercer
