// Compiled twins of mercer/_numeric/text/ngrams.py: documents to units, units to rows of n-grams, lists of terms.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/arrays.h"
#include "text/ngram_buckets.h"
#include "text/ngram_rows.h"
#include "text/term_lists.h"
#include "text/term_merge.h"
#include "text/term_order.h"
#include "text/text_units.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
void check_bounds(const Vector<T>& bounds, size_t limit, const char* message) {
    require(are_bounds(bounds.data(), bounds.shape(0), limit), message);
}

template <class T>
Array<T> numpy_of(std::vector<T>&& values) {
    const size_t n = values.size();
    return owned_array(std::move(values), {n});
}

template <class T>
Array<T> numpy_of(std::unique_ptr<T[]>&& values, size_t n) {
    T* owned = values.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array<T>(owned, {n}, owner);
}

template <class Offset>
nb::tuple text_units(const Vector<uint8_t>& data, const Vector<Offset>& offsets, int kind, long min_length,
                     bool lowercase, const Vector<uint8_t>& flags, const Vector<uint32_t>& lower,
                     const Vector<uint8_t>& stop_data, const Vector<int64_t>& stop_bounds) {
    check_bounds(offsets, data.shape(0), "offsets must rise within the bytes of data.");
    check_bounds(stop_bounds, stop_data.shape(0), "stop_bounds must rise within the bytes of stop_data.");
    require(kind >= 0 && kind <= 2, "kind must be 0, 1 or 2.");
    require(flags.shape(0) == n_code_points && lower.shape(0) >= n_code_points,
            "flags and lower must cover all code points.");
    std::unordered_set<std::string_view> stop;
    const auto* words = reinterpret_cast<const char*>(stop_data.data());
    for (size_t i = 0; i + 1 < stop_bounds.shape(0); ++i)
        stop.insert(
            {words + stop_bounds.data()[i], static_cast<size_t>(stop_bounds.data()[i + 1] - stop_bounds.data()[i])});
    const size_t n = offsets.shape(0) - 1;
    const Offset* at = offsets.data();
    Units made;
    {
        nb::gil_scoped_release released;
        UnitMaker maker(static_cast<Kind>(kind), min_length, lowercase, {flags.data(), lower.data()}, stop,
                        static_cast<size_t>(at[n] - at[0]), n);
        for (size_t i = 0; i < n; ++i) maker.document(data.data() + at[i], data.data() + at[i + 1]);
        made = maker.finish();
    }
    return nb::make_tuple(numpy_of(std::move(made.bytes), made.n_bytes + padding_bytes),
                          numpy_of(std::move(made.starts), made.n_units + 1), numpy_of(std::move(made.runs)),
                          numpy_of(std::move(made.docs)));
}

UnitView view_of(const Vector<uint8_t>& bytes, const Vector<uint32_t>& starts, const Vector<int64_t>& runs,
                 const Vector<int64_t>& docs, uint32_t gap, long low, long high, bool whole) {
    require(1 <= low && low <= high, "n-grams of low to high units need 1 <= low <= high.");
    require(bytes.shape(0) >= padding_bytes, "bytes must end with 32 bytes of padding.");
    check_bounds(starts, bytes.shape(0) - padding_bytes, "starts must rise within bytes.");
    check_bounds(runs, starts.shape(0) - 1, "runs must rise within starts.");
    check_bounds(docs, runs.shape(0) - 1, "docs must rise within runs.");
    for (size_t i = 1; i < starts.shape(0) && gap; ++i)
        require(starts.data()[i] - starts.data()[i - 1] >= gap, "units must be longer than the gap.");
    return {bytes.data(), starts.data(), runs.data(), docs.data(), docs.shape(0) - 1, gap, low, high, whole};
}

nb::tuple counted_ngrams(const Vector<uint8_t>& bytes, const Vector<uint32_t>& starts, const Vector<int64_t>& runs,
                         const Vector<int64_t>& docs, uint32_t gap, long low, long high, bool whole) {
    const UnitView units = view_of(bytes, starts, runs, docs, gap, low, high, whole);
    CountedRows rows;
    {
        nb::gil_scoped_release released;
        rows = Counting(units).run();
    }
    return nb::make_tuple(numpy_of(std::move(rows.indptr)), numpy_of(std::move(rows.codes)),
                          numpy_of(std::move(rows.counts)), numpy_of(std::move(rows.hashes)),
                          numpy_of(std::move(rows.bounds)), numpy_of(std::move(rows.data)),
                          numpy_of(std::move(rows.documents)), numpy_of(std::move(rows.total)));
}

nb::tuple hashed_ngrams(const Vector<uint8_t>& bytes, const Vector<uint32_t>& starts, const Vector<int64_t>& runs,
                        const Vector<int64_t>& docs, uint32_t gap, long low, long high, bool whole, uint64_t seed,
                        bool murmur, uint64_t n_buckets, long nonzeros, bool with_signs, int weighting) {
    const UnitView units = view_of(bytes, starts, runs, docs, gap, low, high, whole);
    require(nonzeros >= 1 && n_buckets >= 1 && n_buckets < uint64_t{1} << 31 &&
                n_buckets % static_cast<uint64_t>(nonzeros) == 0 && !(murmur && nonzeros > 1),
            "n_buckets must be a multiple of nonzeros below 2^31, and nonzeros 1 with murmur.");
    require(weighting >= 0 && weighting <= 2, "weighting must be 0, 1 or 2.");
    const Buckets map{seed, murmur, n_buckets, nonzeros, with_signs, static_cast<Weighting>(weighting)};
    HashedRows rows;
    {
        nb::gil_scoped_release released;
        rows = Hashing(units, map).run();
    }
    return nb::make_tuple(numpy_of(std::move(rows.indptr)), numpy_of(std::move(rows.indices), rows.size),
                          numpy_of(std::move(rows.values), rows.size));
}

Terms terms_of(const Vector<uint64_t>& hashes, const Vector<int64_t>& bounds, const Vector<uint8_t>& data) {
    check_bounds(bounds, data.shape(0), "bounds must rise within data.");
    require(bounds.shape(0) == hashes.shape(0) + 1, "bounds must have an entry per hash and one more.");
    require(hashes.shape(0) < size_t{1} << 31, "fewer than 2^31 terms are possible: use hashing (n_buckets).");
    return {hashes.data(), bounds.data(), data.data(), hashes.shape(0)};
}

Array<uint64_t> term_hashes(const Vector<int64_t>& bounds, const Vector<uint8_t>& data, uint64_t seed) {
    check_bounds(bounds, data.shape(0), "bounds must rise within data.");
    std::vector<uint64_t> hashes(bounds.shape(0) - 1);
    std::vector<uint8_t> padded;
    const uint64_t mixed = mix(seed);
    for (size_t i = 0; i < hashes.size(); ++i) {
        const uint8_t* p = data.data() + bounds.data()[i];
        padded.assign(p, data.data() + bounds.data()[i + 1]);
        const size_t length = padded.size();
        padded.resize(length + 16);
        hashes[i] = hash_text(padded.data(), length, mixed);
    }
    return numpy_of(std::move(hashes));
}

// Checks only the selected terms: a call may select few of many.
void check_rows(const Vector<int32_t>& rows, const Vector<int64_t>& bounds, size_t limit) {
    const int64_t* at = bounds.data();
    bool good = true;
    for (size_t i = 0; i < rows.shape(0); ++i) {
        const int32_t row = rows.data()[i];
        require(row >= 0 && static_cast<size_t>(row) + 1 < bounds.shape(0), "rows must be numbers of terms.");
        good &= 0 <= at[row] && at[row] <= at[row + 1] && at[row + 1] <= static_cast<int64_t>(limit);
    }
    require(good, "bounds must rise within data.");
}

// One table of a list: (hashes, bounds, data, documents, total).
CountedTerms table_of(nb::handle table) {
    // Not converted: the copy would not outlive this function.
    const auto hashes = nb::cast<Vector<uint64_t>>(table[0], false);
    const auto bounds = nb::cast<Vector<int64_t>>(table[1], false);
    const auto data = nb::cast<Vector<uint8_t>>(table[2], false);
    const auto documents = nb::cast<Vector<int64_t>>(table[3], false), total = nb::cast<Vector<int64_t>>(table[4], false);
    const size_t n = hashes.shape(0);
    require(bounds.shape(0) == n + 1 && documents.shape(0) == n && total.shape(0) == n,
            "one hash and two counts per term are needed, and one more bound.");
    require(bounds.data()[0] == 0 && bounds.data()[n] == static_cast<int64_t>(data.shape(0)) &&
                are_bounds(bounds.data(), n + 1, data.shape(0)),
            "bounds must rise from the first byte to the last.");
    return {{hashes.data(), bounds.data(), data.data(), n}, documents.data(), total.data()};
}

// The list keeps the arrays alive.
nb::tuple merge_terms(const nb::list& tables,
                      const nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& codes, size_t first,
                      size_t last) {
    std::vector<CountedTerms> all;
    size_t n = 0;
    for (nb::handle table : tables) {
        all.push_back(table_of(table));
        n += all.back().terms.size;
    }
    require(codes.shape(0) == n, "one code per term is needed.");
    require(first < last && last <= n_partitions, "first .. last must be a range of partitions.");
    MergedTerms merged;
    {
        nb::gil_scoped_release released;
        merged = TermMerge(all, codes.data()).run(first, last);
    }
    return nb::make_tuple(numpy_of(std::move(merged.hashes)), numpy_of(std::move(merged.bounds)),
                          numpy_of(std::move(merged.data), merged.n_bytes), numpy_of(std::move(merged.documents)),
                          numpy_of(std::move(merged.total)));
}

Array<int32_t> sort_terms(const Vector<int64_t>& bounds, const Vector<uint8_t>& data, const Vector<int32_t>& rows,
                          size_t part, size_t parts) {
    check_rows(rows, bounds, data.shape(0));
    require(part < parts && parts <= 256, "part must be one of at most 256 parts.");
    std::vector<int32_t> order;
    {
        nb::gil_scoped_release released;
        order = TermOrder(bounds.data(), data.data(), data.shape(0), rows.data(), rows.shape(0), part, parts).finish();
    }
    return numpy_of(std::move(order));
}

nb::tuple take_terms(const Vector<int64_t>& bounds, const Vector<uint8_t>& data, const Vector<int32_t>& rows) {
    check_rows(rows, bounds, data.shape(0));
    const int64_t* from = bounds.data();
    const size_t n = rows.shape(0);
    std::vector<int64_t> new_bounds(n + 1);
    std::vector<uint8_t> taken;
    {
        nb::gil_scoped_release released;
        for (size_t i = 0; i < n; ++i) {
            const int32_t row = rows.data()[i];
            new_bounds[i + 1] = new_bounds[i] + from[row + 1] - from[row];
        }
        taken.resize(static_cast<size_t>(new_bounds[n]));
        for (size_t i = 0; i < n; ++i) {
            if (i + 8 < n) prefetch(data.data() + from[rows.data()[i + 8]]);
            std::copy_n(data.data() + from[rows.data()[i]], new_bounds[i + 1] - new_bounds[i],
                        taken.data() + new_bounds[i]);
        }
    }
    return nb::make_tuple(numpy_of(std::move(new_bounds)), numpy_of(std::move(taken)));
}

void scale_rows(const Vector<int64_t>& indptr,
                const nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values, int norm) {
    check_bounds(indptr, values.shape(0), "indptr must rise within values.");
    require(norm == 1 || norm == 2, "norm must be 1 or 2.");
    nb::gil_scoped_release released;
    for (size_t i = 0; i + 1 < indptr.shape(0); ++i) {
        double *begin = values.data() + indptr.data()[i], *end = values.data() + indptr.data()[i + 1], size = 0.0;
        for (const double* v = begin; v < end; ++v) size += norm == 1 ? std::abs(*v) : *v * *v;
        if (norm == 2) size = std::sqrt(size);
        if (size > 0.0)
            for (double* v = begin; v < end; ++v) *v /= size;
    }
}

Array<uint64_t> term_slots(const Vector<uint64_t>& hashes) {
    nb::gil_scoped_release released;
    std::vector<uint64_t> slots = slots_of(hashes.data(), hashes.shape(0));
    nb::gil_scoped_acquire held;
    return numpy_of(std::move(slots));
}

Array<int32_t> find_terms(const Vector<uint64_t>& slots, const Vector<uint64_t>& known_hashes,
                          const Vector<int64_t>& known_bounds, const Vector<uint8_t>& known_data,
                          const Vector<uint64_t>& hashes, const Vector<int64_t>& bounds, const Vector<uint8_t>& data) {
    const Terms known = terms_of(known_hashes, known_bounds, known_data), wanted = terms_of(hashes, bounds, data);
    require(slots.shape(0) == slots_for(known.size), "slots must be those of the known terms.");
    std::vector<int32_t> found(wanted.size);
    {
        nb::gil_scoped_release released;
        require(are_slots(slots.data(), slots.shape(0), known.size), "slots must be those of the known terms.");
        find_all(slots.data(), slots.shape(0), known, wanted, found.data());
    }
    return numpy_of(std::move(found));
}

nb::tuple renumber_rows(const Vector<int64_t>& indptr, const Vector<int32_t>& codes, const Vector<int32_t>& counts,
                        const Vector<int32_t>& numbers) {
    check_bounds(indptr, codes.shape(0), "indptr must rise within codes.");
    require(counts.shape(0) == codes.shape(0), "codes and counts must be of one length.");
    HashedRows rows;
    {
        nb::gil_scoped_release released;
        rows = renumbered(indptr.data(), indptr.shape(0) - 1, codes.data(), counts.data(), numbers.data(),
                          numbers.shape(0));
    }
    return nb::make_tuple(numpy_of(std::move(rows.indptr)), numpy_of(std::move(rows.indices), rows.size),
                          numpy_of(std::move(rows.values), rows.size));
}

template <class Offset>
void bind_units(nb::module_& m) {
    using namespace nb::literals;
    m.def("text_units", &text_units<Offset>, "data"_a, "offsets"_a.noconvert(), "kind"_a, "min_length"_a, "lowercase"_a,
          "flags"_a, "lower"_a, "stop_data"_a, "stop_bounds"_a);
}

}  // namespace

void bind_ngrams(nb::module_& m) {
    using namespace nb::literals;
    bind_units<int32_t>(m);
    bind_units<int64_t>(m);
    m.def("counted_ngrams", &counted_ngrams, "bytes"_a, "starts"_a, "runs"_a, "docs"_a, "gap"_a, "low"_a, "high"_a,
          "whole"_a);
    m.def("hashed_ngrams", &hashed_ngrams, "bytes"_a, "starts"_a, "runs"_a, "docs"_a, "gap"_a, "low"_a, "high"_a,
          "whole"_a, "seed"_a, "murmur"_a, "n_buckets"_a, "nonzeros"_a, "with_signs"_a, "weighting"_a);
    m.def("term_hashes", &term_hashes, "bounds"_a, "data"_a, "seed"_a);
    m.def("merge_terms", &merge_terms, "tables"_a, "codes"_a.noconvert(), "first"_a, "last"_a);
    m.def("sort_terms", &sort_terms, "bounds"_a, "data"_a, "rows"_a, "part"_a, "parts"_a);
    m.def("take_terms", &take_terms, "bounds"_a, "data"_a, "rows"_a);
    m.def("scale_rows", &scale_rows, "indptr"_a, "values"_a.noconvert(), "norm"_a);
    m.def("term_slots", &term_slots, "hashes"_a);
    m.def("find_terms", &find_terms, "slots"_a, "known_hashes"_a, "known_bounds"_a, "known_data"_a, "hashes"_a,
          "bounds"_a, "data"_a);
    m.def("renumber_rows", &renumber_rows, "indptr"_a, "codes"_a, "counts"_a, "numbers"_a);
}
