// Fuzzer of the tokenizer: arbitrary bytes to units, units to n-grams, counted and hashed, and lookups of their terms.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "fuzz/bytes.h"
#include "text/ngram_buckets.h"
#include "text/ngram_rows.h"
#include "text/term_lists.h"
#include "text/term_merge.h"
#include "text/term_order.h"
#include "text/text_units.h"

namespace {

using namespace mercer;

std::vector<uint8_t> flags(n_code_points);
std::vector<uint32_t> lower;

// The documents: the rest of the bytes, cut where a byte 0xFF is.
Units units_of(const FuzzBytes& bytes, Kind kind, long min_length, bool lowercase) {
    static const std::unordered_set<std::string_view> stop{"a", "the", "ab"};
    std::vector<const uint8_t*> ends;
    const uint8_t *begin = bytes.rest(), *end = begin + bytes.left();
    for (const uint8_t* p = begin; p < end; ++p)
        if (*p == 0xFF) ends.push_back(p);
    ends.push_back(end);
    UnitMaker maker(kind, min_length, lowercase, {flags.data(), lower.data()}, stop, bytes.left(), ends.size());
    for (const uint8_t* stop_at : ends) {
        maker.document(begin, stop_at);
        begin = stop_at;
    }
    return maker.finish();
}

Terms terms_of(const CountedRows& rows) {
    return {rows.hashes.data(), rows.bounds.data(), rows.data.data(), rows.hashes.size()};
}

void check_lookups(const CountedRows& rows) {
    const size_t n = rows.hashes.size();
    const Terms terms = terms_of(rows);
    const std::vector<Slot> slots = slots_of(rows.hashes.data(), n);
    must(are_slots(slots.data(), slots.size(), n));
    std::vector<int32_t> found(n);
    find_all(slots.data(), slots.size(), terms, terms, found.data());
    for (size_t i = 0; i < n; ++i) must(found[i] == static_cast<int32_t>(i));
    std::iota(found.begin(), found.end(), 0);
    const auto order = TermOrder(rows.bounds.data(), rows.data.data(), rows.data.size(), found.data(), n, 0, 1).finish();
    const auto text = [&](int32_t i) {
        return std::string_view(reinterpret_cast<const char*>(terms.begin(i)), terms.length(i));
    };
    must(order.size() == n && std::is_sorted(order.begin(), order.end(), [&](int a, int b) { return text(a) < text(b); }));
}

void check_merge(const CountedRows& rows) {
    const size_t n = rows.hashes.size();
    const CountedTerms table{terms_of(rows), rows.documents.data(), rows.total.data()};
    std::vector<int32_t> codes(2 * n);
    const MergedTerms merged = TermMerge({table, table}, codes.data()).run(0, n_partitions);
    must(merged.hashes.size() == n);
    for (size_t i = 0; i < n; ++i) must(merged.total[codes[i]] == 2 * rows.total[i]);
}

// Weights of all buckets, without signs, add up to the number of n-grams.
void check_buckets(const UnitView& units, const Buckets& map, size_t n_ngrams) {
    const HashedRows rows = Hashing(units, map).run();
    double sum = 0.0;
    for (size_t k = 0; k < rows.size; ++k) {
        must(rows.indices[k] >= 0 && static_cast<uint64_t>(rows.indices[k]) < map.n_buckets);
        sum += rows.values[k];
    }
    if (!map.with_signs && map.nonzeros == 1 && map.weighting == Weighting::count)
        must(sum == static_cast<double>(n_ngrams));
}

}  // namespace

// MERCER_UNICODE names a file of the tables of mercer/_numeric/text/unicode.py: flags, then lower case.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const char* path = std::getenv("MERCER_UNICODE");
    std::FILE* file = path ? std::fopen(path, "rb") : nullptr;
    if (!file || std::fread(flags.data(), 1, flags.size(), file) != flags.size()) {
        std::fputs("MERCER_UNICODE must name the file of the Unicode tables.\n", stderr);
        std::exit(2);
    }
    uint32_t value;
    while (std::fread(&value, sizeof value, 1, file) == 1) lower.push_back(value);
    std::fclose(file);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    FuzzBytes bytes(data, size);
    const auto kind = static_cast<Kind>(bytes.within(0, 2));
    const bool lowercase = bytes.flag();
    const long low = bytes.within(1, 4), more[] = {0, 1, 2, 30, INT32_MAX, INT64_MAX / 2};
    const long high = low + more[bytes.within(0, 5)];
    constexpr uint64_t sizes[] = {1, 7, 16, 720, uint64_t{1} << 20, (uint64_t{1} << 31) - 8};
    Buckets map{bytes.byte(), bytes.flag(), sizes[bytes.within(0, 5)], 1, bytes.flag(), Weighting(bytes.within(0, 2))};
    if (map.n_buckets % 8 == 0 && !map.murmur) map.nonzeros = bytes.within(1, 2) * 4;
    // All n-grams of a long text are many more than its bytes: one in 16 such texts is enough.
    const long min_length = bytes.within(1, 3);
    if (high - low > 2 && map.seed % 16) bytes.keep(24);
    const Units made = units_of(bytes, kind, min_length, lowercase);
    const uint32_t gap = kind == Kind::word;
    const UnitView units{made.bytes.get(), made.starts.get(),     made.runs.data(), made.docs.data(),
                         made.docs.size() - 1, gap, low, high, kind == Kind::character_in_word};
    const size_t n_ngrams = units.n_ngrams(0, units.n_docs);
    const CountedRows rows = Counting(units).run();
    must(std::accumulate(rows.counts.begin(), rows.counts.end(), size_t{0}) == n_ngrams);
    check_lookups(rows);
    if (map.seed % 8 == 0) check_merge(rows);
    check_buckets(units, map, n_ngrams);
    return 0;
}
