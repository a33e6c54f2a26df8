// Block-hash projections of dense and CSR rows.
//
// Entries are taken in chunks: all keys are hashed at once, then for each block of outputs all indices and signs, in
// loops that the compiler vectorizes; only the additions are scalar. Outputs of block i receive entries of block i
// only, so every output sums its entries in the order they are stored, whatever the chunks and blocks of rows.
#include "sketch/projection.h"
#include "sketch/projection_simd.h"

namespace mercer::MERCER_LEVEL {
namespace {

constexpr long chunk = 128;
constexpr long dense_rows = 32;  // rows that share the indices of a chunk; their sums stay in the second-level cache
constexpr long scratch_bytes = 1 << 15;
constexpr long streamed_bytes = 1 << 21;  // more than the caller is likely to find in a cache afterwards
constexpr uint64_t golden_gamma = 0x9E3779B97F4A7C15u;

template <class T> struct WordOf;
template <> struct WordOf<float> {
    using Type = uint32_t;
};
template <> struct WordOf<double> {
    using Type = uint64_t;
};
template <class T> using Word = typename WordOf<T>::Type;

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
inline uint64_t hash_key(uint64_t key, uint64_t mixed_seed) { return mix((key ^ mixed_seed) + golden_gamma); }
inline long smaller(long a, long b) { return a < b ? a : b; }

// A word is cut into 2, 4 or 8 fields, one for each of as many blocks, the uppermost for the first.
template <int fields> struct FieldOf;
template <> struct FieldOf<2> {
    typedef uint32_t Type __attribute__((may_alias));
    using Product = uint64_t;
};
template <> struct FieldOf<4> {
    typedef uint16_t Type __attribute__((may_alias));
    using Product = uint32_t;
};
template <> struct FieldOf<8> {
    typedef uint8_t Type __attribute__((may_alias));
    using Product = uint32_t;
};

template <class T, int fields> struct Chunk {
    using Field = typename FieldOf<fields>::Type;
    using Product = typename FieldOf<fields>::Product;

    alignas(64) uint64_t keys[chunk], words[chunk];
    uint32_t first[fields * chunk];  // the first output of each field's block
    uint32_t indices[fields * chunk];
    Word<T> flipped[fields * chunk];  // each value once per field, with its signs
    long count;

    explicit Chunk(const BlockHash<T>& map) {
        for (int e = 0; e < fields * chunk; ++e) first[e] = uint32_t(block_of(e % fields) * map.width);
    }
    void find_indices(const BlockHash<T>& map, long group) {
        const uint64_t seed = map.block_seeds[group];
        for (long k = 0; k < count; ++k) words[k] = hash_key(keys[k], seed);
        if constexpr (has_unpack && fields > 2) {  // the width is a power of two
            const int shift = 64 / fields - __builtin_ctzll(map.width);
            for (long k = 0; k < count; ++k)
                UnpackFields<fields>::indices(words + k, first, shift, indices + fields * k);
            return;
        }
        const Field* field = reinterpret_cast<const Field*>(words);
        const Product width = Product(map.width);
        for (long e = 0; e < fields * count; ++e)
            indices[e] = uint32_t((Product(field[e]) * width) >> (64 / fields)) + first[e];
    }
    // Every value as often as there are fields, each time with the sign of its field.
    void take(const BlockHash<T>& map, const T* x, long step) {
        constexpr int top = 8 * sizeof(T) - 1;
        const Word<T> mask = Word<T>(map.sign_mask) << top;
        for (long k = 0; k < count; ++k) {
            const T value = x[k * step] * map.scale;
            Word<T> bits;
            __builtin_memcpy(&bits, &value, sizeof(T));
            if constexpr (has_unpack && fields > 2)
                UnpackFields<fields>::signs(words + k, bits, mask, flipped + fields * k);
            else
                for (int f = 0; f < fields; ++f) flipped[fields * k + f] = bits;
        }
        if constexpr (has_unpack && fields > 2) return;
        const Field* field = reinterpret_cast<const Field*>(words);
        for (long e = 0; e < fields * count; ++e) flipped[e] ^= (Word<T>(field[e]) << top) & mask;
    }
    void add_to(T* out, long blocks) const {
        if (blocks >= fields) {
            for (long k = 0; k < count; ++k) add_entry(out, fields * k);
        } else {
            for (long e = 0; e < fields * count; ++e)
                if (block_of(e % fields) < blocks) out[indices[e]] += value(e);
        }
    }
    // The blocks do not overlap, so all loads may come before the first store.
    void add_entry(T* out, long e) const {
        T sums[fields];
#pragma GCC unroll 8
        for (int f = 0; f < fields; ++f) sums[f] = out[indices[e + f]];
#pragma GCC unroll 8
        for (int f = 0; f < fields; ++f) sums[f] += value(e + f);
#pragma GCC unroll 8
        for (int f = 0; f < fields; ++f) out[indices[e + f]] = sums[f];
    }
    T value(long e) const {
        T value;
        __builtin_memcpy(&value, flipped + e, sizeof(T));
        return value;
    }
    // The uppermost field is the last in memory on a little-endian machine.
    static constexpr int block_of(int f) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? fields - 1 - f : f; }
};

template <class T> inline void clear(const BlockHash<T>& map, T* out) {
    __builtin_memset(out, 0, sizeof(T) * map.width * map.nonzeros);
}

template <int fields, class T, class Index>
void add_row(const BlockHash<T>& map, Chunk<T, fields>& part, const CsrRows<T, Index>& rows, long row, T* out) {
    const long end = rows.indptr[row + 1];
    for (long first = rows.indptr[row]; first < end; first += chunk) {
        part.count = smaller(chunk, end - first);
        const Index* columns = rows.indices + first;
        for (long k = 0; k < part.count; ++k) part.keys[k] = hash_key(uint64_t(int64_t(columns[k])), map.seed);
        for (long block = 0; block < map.nonzeros; block += fields) {
            part.find_indices(map, block / fields);
            part.take(map, rows.data + first, 1);
            part.add_to(out + block * map.width, map.nonzeros - block);
        }
    }
}

// Many rows are summed in a scratch row each and then streamed.
template <int fields, class T, class Index>
void csr_by(const BlockHash<T>& map, CsrRows<T, Index> rows, T* out, long out_step) {
    Chunk<T, fields> part(map);
    alignas(64) T scratch[scratch_bytes / sizeof(T)];
    const long bytes = sizeof(T) * map.width * map.nonzeros;
    const bool streamed = bytes <= scratch_bytes && bytes * rows.count >= streamed_bytes;
    for (long row = 0; row < rows.count; ++row, out += out_step) {
        T* sums = streamed ? scratch : out;
        clear(map, sums);
        add_row(map, part, rows, row, sums);
        if (streamed) stream(scratch, out, bytes);
    }
    if (streamed) end_of_stream();
}

template <int fields, class T>
void dense_by(const BlockHash<T>& map, DenseRows<T> rows, T* out, long out_step) {
    Chunk<T, fields> part(map);
    for (long top = 0; top < rows.count; top += dense_rows) {
        const long bottom = smaller(rows.count, top + dense_rows);
        for (long row = top; row < bottom; ++row) clear(map, out + row * out_step);
        for (long first = 0; first < rows.columns; first += chunk) {
            part.count = smaller(chunk, rows.columns - first);
            for (long k = 0; k < part.count; ++k) part.keys[k] = hash_key(first + k, map.seed);
            for (long block = 0; block < map.nonzeros; block += fields) {
                part.find_indices(map, block / fields);
                for (long row = top; row < bottom; ++row) {
                    part.take(map, rows.data + row * rows.row_step + first * rows.column_step, rows.column_step);
                    part.add_to(out + row * out_step + block * map.width, map.nonzeros - block);
                }
            }
        }
    }
}

template <class T, class Index>
void csr(const BlockHash<T>& map, CsrRows<T, Index> rows, T* out, long out_step) {
    if (map.fields == 8) csr_by<8>(map, rows, out, out_step);
    else if (map.fields == 4) csr_by<4>(map, rows, out, out_step);
    else csr_by<2>(map, rows, out, out_step);
}

template <class T>
void dense(const BlockHash<T>& map, DenseRows<T> rows, T* out, long out_step) {
    if (map.fields == 8) dense_by<8>(map, rows, out, out_step);
    else if (map.fields == 4) dense_by<4>(map, rows, out, out_step);
    else dense_by<2>(map, rows, out, out_step);
}

template <class T> constexpr ProjectionTable<T> table{dense<T>, csr<T, int32_t>, csr<T, int64_t>};

}  // namespace

// Constant initialization: nothing of a level may run before it is chosen.
extern const ProjectionKernels projection;
constinit const ProjectionKernels projection{table<float>, table<double>};

}  // namespace mercer::MERCER_LEVEL
