// Rows of n-grams hashed into buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "fields.h"
#include "ngram_rows.h"

namespace mercer {

// Sorts words whose upper halves have n_digits digits; equal upper halves keep their order if the lower ones rise.
// Returns where the first n words are now: in `words` or in `spare`.
inline const uint64_t* sort_by_upper_half(std::vector<uint64_t>& words, std::vector<uint64_t>& spare, size_t n,
                                          int digit_bits, int n_digits) {
    uint64_t *from = words.data(), *to;
    if (n < 64) {
        std::sort(from, from + n);
        return from;
    }
    uint32_t ends[512];
    if (spare.size() < n) spare.resize(n);
    to = spare.data();
    for (int digit = 0, shift = 32; digit < n_digits; ++digit, shift += digit_bits) {
        const uint64_t mask = (uint64_t{1} << digit_bits) - 1;
        std::fill_n(ends, mask + 1, 0u);
        for (size_t k = 0; k < n; ++k) ++ends[(from[k] >> shift) & mask];
        uint32_t sum = 0;
        for (uint64_t d = 0; d <= mask; ++d) {
            const uint32_t count = ends[d];
            ends[d] = sum;
            sum += count;
        }
        for (size_t k = 0; k < n; ++k) to[ends[(from[k] >> shift) & mask]++] = from[k];
        std::swap(from, to);
    }
    return from;
}

enum class Weighting { count = 0, binary = 1, log = 2 };

struct Buckets {
    uint64_t seed;
    bool murmur;
    uint64_t n_buckets;
    long nonzeros;
    bool with_signs;
    Weighting weighting;
};

struct HashedRows {
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> values;
};

// n-grams of a document are told apart by their hash; their weights are then added up in buckets.
class Hashing {
   public:
    Hashing(const UnitView& units, const Buckets& map)
        : units(units), map(map), mixed_seed(mix(map.seed)), scale(std::sqrt(double(map.nonzeros))) {
        fields = fields_per_word(map.n_buckets / static_cast<uint64_t>(map.nonzeros));
        field_bits = 64 / fields;
        for (long i = 0; i < map.nonzeros; ++i) block_seeds.push_back(mix(static_cast<uint64_t>(i / fields)));
        slots.resize(64);
        power_of_two = std::has_single_bit(map.n_buckets);
        const int bits = std::max(static_cast<int>(std::bit_width(map.n_buckets - 1)), 1);
        n_digits = (bits + 8) / 9;
        digit_bits = (bits + n_digits - 1) / n_digits;
    }

    HashedRows run() {
        for (size_t doc = 0; doc < units.n_docs; ++doc) {
            if (map.weighting == Weighting::count && map.nonzeros == 1) {
                add_up_counts(doc);
            } else {
                gather(doc);
                spread();
                add_up();
            }
            rows.indptr.push_back(static_cast<int64_t>(rows.indices.size()));
        }
        return std::move(rows);
    }

   private:
    struct Seen {
        uint64_t hash;
        int64_t count;
    };

    // Counts need not be known one term at a time: every occurrence goes to its bucket by itself.
    void add_up_counts(size_t doc) {
        const auto n_units = static_cast<size_t>(units.runs[units.docs[doc + 1]] - units.runs[units.docs[doc]]);
        const size_t most = n_units * static_cast<size_t>(units.high - units.low + 1);
        if (places.size() < most) places.resize(most);
        const uint64_t n_buckets = map.n_buckets, seed = mixed_seed, block_seed = block_seeds[0];
        const uint64_t sign_mask = map.with_signs;
        const int bits = field_bits;
        const uint8_t* bytes = units.bytes;
        uint64_t* to = places.data();
        if (map.murmur) {
            const auto murmur_seed = static_cast<uint32_t>(map.seed);
            units.each(doc, [&](uint32_t start, uint32_t length) {
                const auto hash = static_cast<int32_t>(murmur3(bytes + start, length, murmur_seed));
                *to++ = murmur_place(hash) << 32 | (sign_mask & static_cast<uint64_t>(hash < 0));
            });
        } else {
            units.each(doc, [&](uint32_t start, uint32_t length) {
                const uint64_t word = mix((hash_text(bytes + start, length, seed) ^ block_seed) + text_gamma);
                const uint64_t field = word >> (64 - bits);
                *to++ = ((field * n_buckets) >> bits) << 32 | (sign_mask & field);
            });
        }
        const auto n = static_cast<size_t>(to - places.data());
        const uint64_t* sorted = sort_by_upper_half(places, spare, n, digit_bits, n_digits);
        const size_t begin = rows.indices.size();
        rows.indices.resize(begin + n);
        rows.values.resize(begin + n);
        int32_t* index = rows.indices.data() + begin - 1;
        double* value = rows.values.data() + begin - 1;
        uint64_t before = UINT64_MAX;
        for (size_t k = 0; k < n; ++k) {
            const uint64_t place = sorted[k] >> 32;
            const double one = 1.0 - 2.0 * static_cast<double>(sorted[k] & 1);
            if (place != before) {
                *++index = static_cast<int32_t>(place);
                *++value = one;
                before = place;
            } else {
                *value += one;
            }
        }
        const auto kept = static_cast<size_t>(index + 1 - rows.indices.data());
        rows.indices.resize(kept);
        rows.values.resize(kept);
    }

    // scikit-learn's bucket: the absolute value of the signed hash modulo the number of buckets.
    uint64_t murmur_place(int32_t hash) const {
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

    void spread() {
        places.clear();
        values.clear();
        for (const Seen& one : seen) {
            if (map.murmur) {
                spread_murmur(one);
                continue;
            }
            const uint64_t width = map.n_buckets / static_cast<uint64_t>(map.nonzeros);
            const double value = weight(one.count);
            uint64_t word = 0;
            for (long i = 0; i < map.nonzeros; ++i) {
                if (i % fields == 0) word = mix((one.hash ^ block_seeds[i]) + text_gamma);
                const uint64_t field = (word << (field_bits * (i % fields))) >> (64 - field_bits);
                const double sign = map.with_signs && (field & 1) ? -1.0 : 1.0;
                piece(static_cast<uint64_t>(i) * width + ((field * width) >> field_bits), sign * value / scale);
            }
        }
    }

    void spread_murmur(const Seen& one) {
        constexpr uint64_t inverse = 0xF1DE83E19937733Du;  // of the odd number text_gamma, modulo 2^64
        const auto hash = static_cast<int32_t>(static_cast<uint32_t>(one.hash * inverse));
        piece(murmur_place(hash), (map.with_signs && hash < 0 ? -1.0 : 1.0) * weight(one.count));
    }

    void piece(uint64_t place, double value) {
        places.push_back(place << 32 | values.size());
        values.push_back(value);
    }

    void add_up() {
        const uint64_t* sorted = sort_by_upper_half(places, spare, values.size(), digit_bits, n_digits);
        uint64_t before = UINT64_MAX;
        for (size_t k = 0; k < values.size(); ++k) {
            const uint64_t key = sorted[k];
            const double value = values[key & 0xFFFFFFFF];
            if (key >> 32 == before) {
                rows.values.back() += value;
                continue;
            }
            before = key >> 32;
            rows.indices.push_back(static_cast<int32_t>(before));
            rows.values.push_back(value);
        }
    }

    const UnitView& units;
    const Buckets& map;
    uint64_t mixed_seed;
    double scale;
    std::vector<uint64_t> block_seeds;
    int fields, field_bits;  // of a hash word, see fields.h
    std::vector<uint32_t> slots;
    std::vector<Seen> seen;
    std::vector<uint64_t> places, spare;  // a place beside the number of its value
    std::vector<double> values;
    int digit_bits, n_digits;
    bool power_of_two;
    HashedRows rows;
};

}  // namespace mercer
