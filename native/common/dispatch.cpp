#include "common/dispatch.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mercer {
namespace {

Level best_level() {
#if defined(MERCER_X86_LEVELS)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        throw std::runtime_error("this processor lacks SSE4.2, which the compiled core needs");
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return Level::v2;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return wide ? Level::v4 : Level::v3;
#else
    return Level::baseline;
#endif
}

Level limited_by_environment(Level best) {
    const char* wanted = std::getenv("MERCER_ISA");
    if (!wanted || !*wanted) return best;
    for (Level level : {Level::baseline, Level::v2, Level::v3, Level::v4})
        if (std::string(wanted) == level_name(level) && level <= best &&
            (level != Level::baseline || best == Level::baseline))
            return level;
    throw std::runtime_error("MERCER_ISA=" + std::string(wanted) + " cannot run here; this processor's best is " +
                             level_name(best) + " (unset MERCER_ISA, or name it or a lower level: v2, v3, v4)");
}

}  // namespace

const char* level_name(Level level) {
    switch (level) {
        case Level::v2: return "v2";
        case Level::v3: return "v3";
        case Level::v4: return "v4";
        default: return "baseline";
    }
}

Level chosen_level() {
    static const Level level = limited_by_environment(best_level());
    return level;
}

}  // namespace mercer
