// Rows of n-grams hashed into buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "common/checks.h"
#include "common/hash_fields.h"
#include "text/ngram_rows.h"
#include "text/row_sort.h"

namespace mercer {

enum class Weighting { count = 0, binary = 1, log = 2 };

struct Buckets {
    uint64_t seed;
    bool murmur;
    uint64_t n_buckets;
    long nonzeros;
    bool with_signs;
    Weighting weighting;
};

// Entries of rows, concatenated, in memory that is not zeroed first.
struct HashedRows {
    std::vector<int64_t> indptr{0};
    std::unique_ptr<int32_t[]> indices;
    std::unique_ptr<double[]> values;
    size_t size = 0, capacity = 0;

    void reserve(size_t more) {
        if (size + more <= capacity) return;
        capacity = std::max(size + more, 2 * capacity);
        std::unique_ptr<int32_t[]> new_indices(new int32_t[capacity]);
        std::unique_ptr<double[]> new_values(new double[capacity]);
        std::copy_n(indices.get(), size, new_indices.get());
        std::copy_n(values.get(), size, new_values.get());
        indices.swap(new_indices);
        values.swap(new_values);
    }
};

// n-grams of a document are identified by their hash; their weights are then summed in buckets.
class Hashing {
  public:
    Hashing(const UnitView& units, const Buckets& map)
        : units(units), map(map), mixed_seed(mix(map.seed)), scale(std::sqrt(double(map.nonzeros))),
          sort_signed_buckets(1, bits_of(map.n_buckets)), sort_entries(32, bits_of(map.n_buckets)) {
        fields = fields_per_word(map.n_buckets / static_cast<uint64_t>(map.nonzeros));
        field_bits = 64 / fields;
        for (long i = 0; i < map.nonzeros; ++i) block_seeds.push_back(mix(static_cast<uint64_t>(i / fields)));
        slots.resize(64);
        power_of_two = std::has_single_bit(map.n_buckets);
    }

    HashedRows run() {
        rows.reserve(expected());
        for (size_t doc = 0; doc < units.n_docs; ++doc) {
            if (map.weighting == Weighting::count && map.nonzeros == 1) {
                add_up_counts(doc);
            } else {
                gather(doc);
                distribute();
                add_up();
            }
            rows.indptr.push_back(static_cast<int64_t>(rows.size));
        }
        return std::move(rows);
    }

  private:
    struct Seen {
        uint64_t hash;
        int64_t count;
    };

    static int bits_of(uint64_t n_buckets) { return std::max(static_cast<int>(std::bit_width(n_buckets - 1)), 1); }

    // Entries reserved at the start.
    size_t expected() const {
        return std::min(units.n_ngrams(0, units.n_docs), (size_t{1} << 24) / static_cast<size_t>(map.nonzeros)) *
               static_cast<size_t>(map.nonzeros);
    }

    // Counts need no table of terms: every occurrence goes to its own signed bucket, an integer whose lowest bit is the
    // sign.
    void add_up_counts(size_t doc) {
        const size_t limit = units.n_ngrams(doc, doc + 1);
        if (signed_buckets.size() < limit) signed_buckets.resize(limit);
        const size_t n =
            map.murmur ? (units.gap ? murmur_buckets<4>(doc) : murmur_buckets<2>(doc)) : keyed_buckets(doc);
        put_counts(sort_signed_buckets(signed_buckets.data(), n), n);
    }

    template <int ready>
    size_t murmur_buckets(size_t doc) {
        uint32_t* to = signed_buckets.data();
        const auto seed = static_cast<uint32_t>(map.seed);
        const uint32_t sign_mask = map.with_signs, gap = units.gap;
        const uint8_t* bytes = units.bytes;
        units.each_start(doc, [&](uint32_t start, const uint32_t* ends, int64_t n) {
            MurmurPrefixes<ready> murmur(bytes + start, seed);
            for (int64_t i = 0; i < n; ++i) {
                const auto hash = static_cast<int32_t>(murmur(ends[i] - gap - start));
                *to++ = static_cast<uint32_t>(murmur_bucket(hash)) << 1 | (sign_mask & static_cast<uint32_t>(hash < 0));
            }
        });
        return static_cast<size_t>(to - signed_buckets.data());
    }

    size_t keyed_buckets(size_t doc) {
        uint32_t* to = signed_buckets.data();
        const uint64_t n_buckets = map.n_buckets, seed = mixed_seed, block_seed = block_seeds[0];
        const uint64_t sign_mask = map.with_signs;
        const int bits = field_bits;
        const uint32_t gap = units.gap;
        const uint8_t* bytes = units.bytes;
        units.each_start(doc, [&](uint32_t start, const uint32_t* ends, int64_t n) {
            for (int64_t i = 0; i < n; ++i) {
                const uint64_t hash = hash_text(bytes + start, ends[i] - gap - start, seed);
                const uint64_t field = mix((hash ^ block_seed) + text_gamma) >> (64 - bits);
                *to++ = static_cast<uint32_t>(((field * n_buckets) >> bits) << 1 | (sign_mask & field));
            }
        });
        return static_cast<size_t>(to - signed_buckets.data());
    }

    // Sorted signed buckets to entries, without a branch on repeated buckets, which are hard to predict.
    void put_counts(const uint32_t* sorted, size_t n) {
        if (n == 0) return;
        rows.reserve(n);
        int32_t* index = rows.indices.get() + rows.size;
        double* value = rows.values.get() + rows.size;
        uint32_t before = sorted[0] >> 1;
        int64_t sum = 0;
        size_t at = 0;
        for (size_t k = 0; k < n; ++k) {
            const uint32_t bucket = sorted[k] >> 1;
            const bool is_new = bucket != before;
            const int64_t one = 1 - 2 * static_cast<int64_t>(sorted[k] & 1);
            at += is_new;
            sum = is_new ? one : sum + one;
            before = bucket;
            index[at] = static_cast<int32_t>(bucket);
            value[at] = static_cast<double>(sum);
        }
        rows.size += at + 1;
    }

    // scikit-learn's bucket: the absolute value of the signed hash modulo the number of buckets.
    uint64_t murmur_bucket(int32_t hash) const {
        const auto size = static_cast<uint64_t>(hash < 0 ? -int64_t{hash} : hash);
        return power_of_two ? size & (map.n_buckets - 1) : size % map.n_buckets;
    }

    void gather(size_t doc) {
        seen.clear();
        std::fill(slots.begin(), slots.end(), 0u);
        units.each(doc, [&](uint32_t start, uint32_t length) {
            const uint8_t* p = units.bytes + start;
            add(map.murmur ? murmur3(p, length, static_cast<uint32_t>(map.seed)) * text_gamma
                           : hash_text(p, length, mixed_seed));
        });
        if (slots.size() > 64 && 8 * seen.size() < slots.size()) slots.resize(slots.size() / 2);
    }

    void add(uint64_t hash) {
        const size_t mask = slots.size() - 1;
        size_t at = (hash >> 20) & mask;
        while (slots[at] && seen[slots[at] - 1].hash != hash) at = (at + 1) & mask;
        if (slots[at]) {
            ++seen[slots[at] - 1].count;
            return;
        }
        seen.push_back({hash, 1});
        slots[at] = static_cast<uint32_t>(seen.size());
        if (2 * seen.size() > slots.size()) grow();
    }

    void grow() {
        slots.assign(2 * slots.size(), 0u);
        const size_t mask = slots.size() - 1;
        for (size_t k = 0; k < seen.size(); ++k) {
            size_t at = (seen[k].hash >> 20) & mask;
            while (slots[at]) at = (at + 1) & mask;
            slots[at] = static_cast<uint32_t>(k + 1);
        }
    }

    double weight(int64_t count) const {
        switch (map.weighting) {
            case Weighting::binary: return 1.0;
            case Weighting::log: return 1.0 + std::log(double(count));
            default: return double(count);
        }
    }

    void distribute() {
        entries.clear();
        values.clear();
        for (const Seen& one : seen) {
            if (map.murmur) {
                distribute_murmur(one);
                continue;
            }
            const uint64_t width = map.n_buckets / static_cast<uint64_t>(map.nonzeros);
            const double value = weight(one.count);
            uint64_t word = 0;
            for (long i = 0; i < map.nonzeros; ++i) {
                if (i % fields == 0) word = mix((one.hash ^ block_seeds[i]) + text_gamma);
                const uint64_t field = (word << (field_bits * (i % fields))) >> (64 - field_bits);
                const double sign = map.with_signs && (field & 1) ? -1.0 : 1.0;
                add_entry(static_cast<uint64_t>(i) * width + ((field * width) >> field_bits), sign * value / scale);
            }
        }
    }

    void distribute_murmur(const Seen& one) {
        constexpr uint64_t inverse = 0xF1DE83E19937733Du;  // of the odd number text_gamma, modulo 2^64
        const auto hash = static_cast<int32_t>(static_cast<uint32_t>(one.hash * inverse));
        add_entry(murmur_bucket(hash), (map.with_signs && hash < 0 ? -1.0 : 1.0) * weight(one.count));
    }

    void add_entry(uint64_t bucket, double value) {
        entries.push_back(bucket << 32 | values.size());
        values.push_back(value);
    }

    void add_up() {
        const size_t n = values.size();
        const uint64_t* sorted = sort_entries(entries.data(), n);
        rows.reserve(n);
        uint64_t before = UINT64_MAX;
        for (size_t k = 0; k < n; ++k) {
            const uint64_t key = sorted[k];
            const double value = values[key & 0xFFFFFFFF];
            if (key >> 32 == before) {
                rows.values[rows.size - 1] += value;
                continue;
            }
            before = key >> 32;
            rows.indices[rows.size] = static_cast<int32_t>(before);
            rows.values[rows.size++] = value;
        }
    }

    const UnitView& units;
    const Buckets& map;
    uint64_t mixed_seed;
    double scale;
    std::vector<uint64_t> block_seeds;
    int fields, field_bits;  // of a hash word, see common/hash_fields.h
    std::vector<uint32_t> slots;
    std::vector<Seen> seen;
    std::vector<uint64_t> entries;  // a bucket in the upper half, the index of its value in the lower
    std::vector<uint32_t> signed_buckets;
    std::vector<double> values;
    RowSort<uint32_t> sort_signed_buckets;
    RowSort<uint64_t> sort_entries;
    bool power_of_two;
    HashedRows rows;
};

// Rows of counts with codes replaced by their numbers, sorted; codes without one (-1) are left out.
inline HashedRows renumbered(const int64_t* indptr, size_t n, const int32_t* codes, const int32_t* counts,
                             const int32_t* numbers, size_t n_numbers) {
    int32_t largest = 1;
    for (size_t i = 0; i < n_numbers; ++i) largest = std::max(largest, numbers[i]);
    RowSort<uint64_t> sort(32, static_cast<int>(std::bit_width(static_cast<uint32_t>(largest))));
    HashedRows rows;
    rows.indptr.reserve(n + 1);
    rows.reserve(static_cast<size_t>(indptr[n] - indptr[0]));
    std::vector<uint64_t> row;
    for (size_t i = 0; i < n; ++i) {
        row.resize(static_cast<size_t>(indptr[i + 1] - indptr[i]));
        size_t size = 0;
        for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) {
            const auto code = static_cast<size_t>(codes[k]);
            require(code < n_numbers, "every code needs a number.");
            const int32_t number = numbers[code];
            row[size] = static_cast<uint64_t>(static_cast<uint32_t>(number)) << 32 | static_cast<uint32_t>(counts[k]);
            size += number >= 0;
        }
        const uint64_t* sorted = sort(row.data(), size);
        for (size_t k = 0; k < size; ++k) {
            rows.indices[rows.size + k] = static_cast<int32_t>(sorted[k] >> 32);
            rows.values[rows.size + k] = static_cast<double>(static_cast<uint32_t>(sorted[k]));
        }
        rows.size += size;
        rows.indptr.push_back(static_cast<int64_t>(rows.size));
    }
    return rows;
}

}  // namespace mercer
