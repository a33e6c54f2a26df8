// See lasso.h. Compiled once per instruction-set level; no std:: templates here.
//
// Sweeps over the coordinates that are not zero alternate with sweeps over all; every few sweeps the last iterates are
// combined (Anderson acceleration; Bertrand and Massias 2021), and the combination is kept if its objective is lower.
#include "solvers/lasso.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

constexpr long depth = lasso_depth;

inline double absolute(double x) { return x < 0 ? -x : x; }

inline void add_scaled(double* __restrict to, double scale, const double* __restrict row, long m) {
    for (long i = 0; i < m; ++i) to[i] += scale * row[i];
}

inline double dot(const double* x, const double* y, long m) {
    double part[8] = {};
    long i = 0;
    for (; i + 8 <= m; i += 8)
        for (long k = 0; k < 8; ++k) part[k] += x[i + k] * y[i + k];
    for (; i < m; ++i) part[i % 8] += x[i] * y[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

struct Value {
    double objective, gap;
};

// The residual r enters through y'r = yy - w'b and r'r = y'r - w'q; the dual point is r, scaled to be feasible.
Value value_of(const LassoJob& job, const double* w, const double* q) {
    double norm = 0, max_correlation = 0;
    for (long j = 0; j < job.m; ++j) {
        norm += absolute(w[j]);
        const double size = absolute(q[j]);
        max_correlation = size > max_correlation ? size : max_correlation;
    }
    const double yr = job.yy - dot(w, job.b, job.m), rr = yr - dot(w, q, job.m);
    const double scale = max_correlation > job.penalty ? job.penalty / max_correlation : 1.0;
    const double objective = 0.5 * rr + job.penalty * norm;
    return {objective, objective - scale * yr + 0.5 * scale * scale * rr};
}

inline void update(const LassoJob& job, long j) {
    const double* row = job.G + j * job.stride;
    const double curvature = row[j];
    if (curvature <= 0) return;
    const double correlation = job.q[j] + curvature * job.w[j];
    const double updated = correlation > job.penalty    ? (correlation - job.penalty) / curvature
                           : correlation < -job.penalty ? (correlation + job.penalty) / curvature
                                                        : 0.0;
    const double change = updated - job.w[j];
    if (change == 0) return;
    job.w[j] = updated;
    add_scaled(job.q, -change, row, job.m);
}

long sweep_all(const LassoJob& job) {
    long count = 0;
    for (long j = 0; j < job.m; ++j) {
        if (job.w[j] != 0 || absolute(job.q[j]) > job.penalty) update(job, j);
        if (job.w[j] != 0) job.active[count++] = j;
    }
    return count;
}

void store_iterate(const LassoJob& job, long slot) {
    double* to = job.memory + 2 * slot * job.m;
    for (long i = 0; i < job.m; ++i) to[i] = job.w[i];
    for (long i = 0; i < job.m; ++i) to[job.m + i] = job.q[i];
}

// z with A z = 1 by elimination with pivots on the diagonal; false if A is not positive enough.
bool solve_ones(double (&A)[depth][depth], double (&z)[depth]) {
    double trace = 0;
    for (long i = 0; i < depth; ++i) {
        trace += A[i][i];
        z[i] = 1;
    }
    if (!(trace > 0)) return false;
    for (long i = 0; i < depth; ++i) A[i][i] += 1e-12 * trace;
    for (long k = 0; k < depth; ++k) {
        if (!(A[k][k] > 0)) return false;
        for (long i = k + 1; i < depth; ++i) {
            const double factor = A[i][k] / A[k][k];
            for (long l = k; l < depth; ++l) A[i][l] -= factor * A[k][l];
            z[i] -= factor * z[k];
        }
    }
    for (long k = depth - 1; k >= 0; --k) {
        for (long l = k + 1; l < depth; ++l) z[k] -= A[k][l] * z[l];
        z[k] /= A[k][k];
    }
    return true;
}

// Anderson extrapolation: the affine combination of iterates with the smallest residual, kept if it is better.
void extrapolate(const LassoJob& job) {
    const long m = job.m, step = 2 * m;
    double A[depth][depth], z[depth], total = 0;
    for (long i = 0; i < depth; ++i)
        for (long k = 0; k <= i; ++k) {
            const double *a = job.memory + i * step, *c = job.memory + k * step;
            double sum = 0;
            for (long l = 0; l < m; ++l) sum += (a[step + l] - a[l]) * (c[step + l] - c[l]);
            A[i][k] = A[k][i] = sum;
        }
    if (!solve_ones(A, z)) return;
    for (long i = 0; i < depth; ++i) total += z[i];
    if (!(absolute(total) > 0)) return;
    double *w = job.memory, *q = job.memory + m;  // the oldest iterate is not needed any more
    for (long l = 0; l < step; ++l) w[l] = 0;
    for (long i = 0; i < depth; ++i) add_scaled(w, z[i] / total, job.memory + (i + 1) * step, step);
    const Value mixed = value_of(job, w, q), now = value_of(job, job.w, job.q);
    if (!(mixed.objective < now.objective)) return;
    for (long l = 0; l < m; ++l) job.w[l] = w[l];
    for (long l = 0; l < m; ++l) job.q[l] = q[l];
}

// q = b - G w from scratch, to remove the rounding errors of updates.
void recompute_gradient(const LassoJob& job) {
    for (long i = 0; i < job.m; ++i) job.q[i] = job.b[i];
    for (long j = 0; j < job.m; ++j)
        if (job.w[j] != 0) add_scaled(job.q, -job.w[j], job.G + j * job.stride, job.m);
}

LassoDone descend(const LassoJob& job) {
    long sweeps = 0;
    while (true) {
        const long count = sweep_all(job);
        job.interrupt((count + 1) * job.m);
        store_iterate(job, 0);
        for (long slot = 1; slot <= depth; ++slot) {
            for (long i = 0; i < count; ++i) update(job, job.active[i]);
            store_iterate(job, slot);
            job.interrupt((count + 1) * job.m);
        }
        extrapolate(job);
        sweeps += depth + 1;
        double gap = value_of(job, job.w, job.q).gap;
        if (gap > job.tolerance && sweeps < job.max_sweeps) continue;
        recompute_gradient(job);
        gap = value_of(job, job.w, job.q).gap;
        if (gap <= job.tolerance || sweeps >= job.max_sweeps) return {gap, sweeps};
    }
}

}  // namespace

extern const LassoTable lasso;
constinit const LassoTable lasso{descend};

}  // namespace MERCER_LEVEL
}  // namespace mercer
