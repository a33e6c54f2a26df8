// From documents in UTF-8 to units: the words of each document, or its characters.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text/text_blocks.h"

namespace mercer {

// Padding after the units, so that whole machine words may be read and written there.
constexpr size_t padding_bytes = 32;

enum class Kind { word = 0, character = 1, character_in_word = 2 };

constexpr uint32_t n_code_points = 0x110000;

// Properties of each code point in the running Python; see mercer/_numeric/text/unicode.py.
struct Unicode {
    enum : uint8_t { is_word = 1, is_space = 2, is_cased = 4, is_ignorable = 8 };
    const uint8_t* flags;
    const uint32_t* lower;  // a value from n_code_points on is the index of a zero-terminated sequence
};

// Units of all documents, concatenated. Unit i is bytes [starts[i], starts[i + 1] - gap); the units of run r are
// [runs[r], runs[r + 1]), and no n-gram crosses a run; the runs of document d are [docs[d], docs[d + 1]).
struct Units {
    std::unique_ptr<uint8_t[]> bytes;
    std::unique_ptr<uint32_t[]> starts;
    size_t n_bytes = 0, n_units = 0;
    std::vector<int64_t> runs{0}, docs{0};
};

// One code point and the number of bytes it takes. Bytes that are not UTF-8 count as U+FFFD, one by one.
inline uint32_t decode(const uint8_t* p, const uint8_t* end, int& size) {
    const uint32_t c = p[0];
    const int length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    size = 1;
    if (length == 1) return c;
    if (length == 0 || end - p < length) return 0xFFFD;
    uint32_t value = c & (0x7F >> length);
    for (int i = 1; i < length; ++i) {
        if ((p[i] & 0xC0) != 0x80) return 0xFFFD;
        value = (value << 6) | (p[i] & 0x3F);
    }
    if ((length == 3 && value < 0x800) || (length == 4 && (value < 0x10000 || value >= n_code_points))) return 0xFFFD;
    size = length;
    return value;
}

inline uint8_t* encode(uint32_t c, uint8_t* to) {
    if (c < 0x80) {
        *to++ = static_cast<uint8_t>(c);
        return to;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = static_cast<uint8_t>((0xF0 << (3 - more)) | (c >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) *to++ = static_cast<uint8_t>(0x80 | ((c >> (6 * i)) & 0x3F));
    return to;
}

class UnitMaker {
  public:
    // Reserves for the worst case: every byte may become the three bytes of U+FFFD, and a unit between two blanks.
    UnitMaker(Kind kind, long min_length, bool lowercase, Unicode unicode,
              const std::unordered_set<std::string_view>& stop, size_t bytes, size_t documents)
        : kind(kind), min_length(min_length), lowercase(lowercase), unicode(unicode), stop(stop) {
        if (bytes > UINT32_MAX / 3)
            throw std::overflow_error("more than 1.4 GB of text in one document: cut it into smaller ones.");
        made.bytes.reset(new uint8_t[3 * bytes + 3 * documents + padding_bytes]);
        made.starts.reset(new uint32_t[2 * bytes + 3 * documents + 1]);
        made.docs.reserve(documents + 1);
        out = made.bytes.get();
        unit_out = made.starts.get();
        for (uint32_t c = 0; c < 128; ++c) {
            plain_lower[c] = static_cast<uint8_t>(lowercase ? unicode.lower[c] : c);
            plain_flags[c] = unicode.flags[plain_lower[c]];
        }
        if (kind == Kind::word) learn_short();
    }

    void document(const uint8_t* begin, const uint8_t* end) {
        first = begin;
        last = end;
        spaces = 0;
        if (kind == Kind::word) walk_words();
        else if (kind == Kind::character) walk<Kind::character>(first, last);
        else walk<Kind::character_in_word>(first, last);
        if (kind == Kind::word) end_word();
        if (kind == Kind::character_in_word) end_padded();
        else made.runs.push_back(n_units());
        made.docs.push_back(static_cast<int64_t>(made.runs.size()) - 1);
    }

    Units finish() {
        *unit_out = position();
        made.n_units = static_cast<size_t>(n_units());
        made.n_bytes = position();
        std::memset(out, 0, padding_bytes);
        return std::move(made);
    }

  private:
    // Reads from p to `end`, and the rest of a character that began before it.
    template <Kind kind_>
    const uint8_t* walk(const uint8_t* p, const uint8_t* end) {
        while (p < end) {
            if (*p < 0x80) {
                put<kind_>(plain_lower[*p], plain_flags[*p]);
                ++p;
                continue;
            }
            if constexpr (kind_ == Kind::word)
                if (put_short(p)) {
                    p += 2;
                    continue;
                }
            int size;
            const uint32_t c = decode(p, last, size);
            if (!lowercase) put<kind_>(c, unicode.flags[c]);
            else put_lower<kind_>(c, p, p + size);
            p += size;
        }
        return p;
    }

    // Blocks of plain text by their masks, the others from their first foreign character on one by one.
    void walk_words() {
        for (const uint8_t* p = first; p < last;) {
            const size_t n = static_cast<size_t>(last - p) < 64 ? static_cast<size_t>(last - p) : 64;
            const TextBlock block(p, n, lowercase);
            const size_t plain = block.foreign ? static_cast<size_t>(std::countr_zero(block.foreign)) : n;
            plain_words(block, plain);
            p = plain == n ? p + n : walk<Kind::word>(p + plain, p + n);
        }
    }

    void plain_words(const TextBlock& block, size_t n) {
        const uint64_t word = n < 64 ? block.word & ((uint64_t{1} << n) - 1) : block.word;
        for (size_t at = 0; at < n;) {
            if (characters == 0) {
                const uint64_t rest = word >> at;
                if (rest == 0) return;
                at += static_cast<size_t>(std::countr_zero(rest));
                word_start = out;
            }
            const size_t left = n - at, run = static_cast<size_t>(std::countr_one(word >> at));
            const size_t length = run < left ? run : left;
            copy_plain(block.bytes + at, length);
            characters += static_cast<long>(length);
            at += length;
            if (at < n) end_word();
        }
    }

    // Writes at min_length sixteen bytes; later writes overwrite the excess.
    void copy_plain(const uint8_t* from, size_t length) {
        std::memcpy(out, from, 16);
        if (length > 16) std::memcpy(out + 16, from + 16, length - 16);
        out += length;
    }

    // Characters of two bytes that are two bytes in lower case too.
    void learn_short() {
        for (uint32_t c = 0x80; c < 0x800; ++c) {
            const uint32_t low = lowercase ? unicode.lower[c] : c;
            const bool simple = low >= 0x80 && low < 0x800 && !(lowercase && c == 0x3A3);
            if (!simple) continue;
            uint8_t bytes[4];
            encode(low, bytes);
            short_forms[c] = {bytes[0], bytes[1], static_cast<uint8_t>(unicode.flags[low] & Unicode::is_word), 1};
        }
    }

    bool put_short(const uint8_t* p) {
        if ((p[0] & 0xE0) != 0xC0 || last - p < 2 || (p[1] & 0xC0) != 0x80) return false;
        const ShortForm& form = short_forms[(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu)];
        if (!form.known) return false;
        if (!form.is_word) {
            end_word();
            return true;
        }
        if (characters++ == 0) word_start = out;
        *out++ = form.first;
        *out++ = form.second;
        return true;
    }

    template <Kind kind_>
    void put_lower(uint32_t c, const uint8_t* at, const uint8_t* next) {
        uint32_t low = c == 0x3A3 && is_final_sigma(at, next) ? 0x3C2 : unicode.lower[c];
        if (low < n_code_points) {
            put<kind_>(low, unicode.flags[low]);
            return;
        }
        for (; unicode.lower[low]; ++low) put<kind_>(unicode.lower[low], unicode.flags[unicode.lower[low]]);
    }

    // Unicode's Final_Sigma: a cased letter before, none after, ignorable characters aside.
    bool is_final_sigma(const uint8_t* at, const uint8_t* next) const {
        uint8_t flags = Unicode::is_ignorable;
        int size;
        while (at > first && (flags & Unicode::is_ignorable)) {
            --at;
            while (at > first && (*at & 0xC0) == 0x80) --at;
            flags = unicode.flags[decode(at, last, size)];
        }
        if ((flags & Unicode::is_ignorable) || !(flags & Unicode::is_cased)) return false;
        for (; next < last; next += size) {
            flags = unicode.flags[decode(next, last, size)];
            if (!(flags & Unicode::is_ignorable)) return !(flags & Unicode::is_cased);
        }
        return true;
    }

    template <Kind kind_>
    void put(uint32_t c, uint8_t flags) {
        if constexpr (kind_ == Kind::word) {
            if (!(flags & Unicode::is_word)) {
                if (characters) end_word();
                return;
            }
            if (characters++ == 0) word_start = out;
            out = encode(c, out);
        } else if constexpr (kind_ == Kind::character) {
            if (!(flags & Unicode::is_space)) spaces = 0;
            else if (++spaces > 1) {  // two spaces or more are one blank; a single one stays what it is
                out = encode(' ', made.bytes.get() + unit_out[-1]);
                return;
            }
            unit(c);
        } else {
            if (flags & Unicode::is_space) {
                end_padded();
                return;
            }
            if (characters++ == 0) unit(' ');
            unit(c);
        }
    }

    void unit(uint32_t c) {
        *unit_out++ = position();
        out = encode(c, out);
    }

    void end_word() {
        if (characters == 0) return;
        bool kept = characters >= min_length;
        if (!stop.empty())
            kept =
                kept && !stop.count({reinterpret_cast<const char*>(word_start), static_cast<size_t>(out - word_start)});
        *unit_out = static_cast<uint32_t>(word_start - made.bytes.get());
        *out = ' ';
        unit_out += kept;
        out = kept ? out + 1 : word_start;
        characters = 0;
    }

    void end_padded() {
        if (characters == 0) return;
        unit(' ');
        made.runs.push_back(n_units());
        characters = 0;
    }

    uint32_t position() const { return static_cast<uint32_t>(out - made.bytes.get()); }
    int64_t n_units() const { return unit_out - made.starts.get(); }

    Kind kind;
    long min_length;
    bool lowercase;
    Unicode unicode;
    const std::unordered_set<std::string_view>& stop;
    struct ShortForm {
        uint8_t first = 0, second = 0, is_word = 0, known = 0;
    };

    uint8_t plain_lower[128], plain_flags[128];
    ShortForm short_forms[0x800];
    Units made;
    const uint8_t *first = nullptr, *last = nullptr;
    uint8_t *out = nullptr, *word_start = nullptr;
    uint32_t* unit_out = nullptr;
    long characters = 0, spaces = 0;
};

}  // namespace mercer
