// Selection of the instruction-set level.
//
// native/<room>/<family>_kernels.cpp is compiled once per level, each time inside its own namespace (MERCER_LEVEL = v2,
// v3, v4, or baseline on other processors), and hands out one table of function pointers. The binding file, compiled
// for the plain baseline, picks a table at import. A kernel file must not instantiate inline functions shared with
// other files (no std:: templates): the linker keeps one copy of those, and it might be the AVX-512 one.
#pragma once

namespace mercer {

enum class Level { baseline, v2, v3, v4 };

// The best level of this processor, or a lower one named by the environment variable MERCER_ISA.
Level chosen_level();
const char* level_name(Level level);

// The table of the chosen level among those compiled.
#if defined(MERCER_X86_LEVELS)
#define MERCER_PICK(table) \
    (::mercer::chosen_level() == ::mercer::Level::v4   ? ::mercer::v4::table \
     : ::mercer::chosen_level() == ::mercer::Level::v3 ? ::mercer::v3::table \
                                                       : ::mercer::v2::table)
// clang-format off
#define MERCER_DECLARE_TABLE(Type, table) \
    namespace v2 { extern const Type table; } \
    namespace v3 { extern const Type table; } \
    namespace v4 { extern const Type table; }
#else
#define MERCER_PICK(table) (::mercer::baseline::table)
#define MERCER_DECLARE_TABLE(Type, table) \
    namespace baseline { extern const Type table; }
#endif
// clang-format on

}  // namespace mercer
