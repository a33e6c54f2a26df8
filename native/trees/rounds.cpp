// Compiled twins of mercer/_numeric/trees/rounds.py: rounds of boosting, and the slopes of the losses they descend.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "common/arrays.h"
#include "trees/exponential.h"
#include "trees/tree_grower.h"

namespace nb = nanobind;

namespace {

using namespace mercer;


constexpr double farthest = 35.0;  // log-odds beyond are as certain
constexpr double least_curvature = 1e-6;

// The loss of the rows to learn from: half the squared error, or the logistic loss of one or several outputs.
class Loss {
public:
    Loss(const Rows<double>& targets, const Vector<double>& weight, bool logistic)
        : targets_(targets.data()), weight_(weight.data()), rows_(targets.shape(0)), outputs_(targets.shape(1)),
          logistic_(logistic), power_(logistic ? rows_ * outputs_ : 0) {
        require(weight.shape(0) == rows_, "there must be a weight for each row of targets.");
        require(outputs_ != 0, "there must be an output.");
    }

    size_t rows() const { return rows_; }
    size_t outputs() const { return outputs_; }

    // Gradients and hessians at the scores of these rows, (outputs, rows).
    void slopes(const double* scores, double* gradient, double* hessian) {
        if (!logistic_) {
            errors(scores, gradient, hessian);
        } else if (outputs_ == 1) {
            odds(scores, gradient, hessian);
        } else {
            shares(scores, gradient, hessian);
        }
    }

private:
    void errors(const double* scores, double* gradient, double* hessian) const {
        for (size_t o = 0; o < outputs_; ++o)
            for (size_t i = 0; i < rows_; ++i) {
                gradient[o * rows_ + i] = weight_[i] * (scores[i * outputs_ + o] - targets_[i * outputs_ + o]);
                hessian[o * rows_ + i] = weight_[i];
            }
    }

    void odds(const double* scores, double* gradient, double* hessian) {
        for (size_t i = 0; i < rows_; ++i) {
            const double near = scores[i] < farthest ? scores[i] : farthest;
            power_[i] = exponential(-(near > -farthest ? near : -farthest));
        }
        for (size_t i = 0; i < rows_; ++i) {
            const double p = 1.0 / (1.0 + power_[i]), bend = p * (1.0 - p);
            gradient[i] = weight_[i] * (p - targets_[i]);
            hessian[i] = weight_[i] * (bend > least_curvature ? bend : least_curvature);
        }
    }

    void shares(const double* scores, double* gradient, double* hessian) {
        for (size_t i = 0; i < rows_; ++i) {
            const double *first = scores + i * outputs_, top = *std::max_element(first, first + outputs_);
            for (size_t o = 0; o < outputs_; ++o) power_[i * outputs_ + o] = std::max(first[o] - top, -700.0);
        }
        for (double& each : power_) each = exponential(each);
        const double factor = static_cast<double>(outputs_) / static_cast<double>(outputs_ - 1);
        for (size_t i = 0; i < rows_; ++i) {
            const double* mine = power_.data() + i * outputs_;
            const double sum = std::accumulate(mine, mine + outputs_, 0.0);
            for (size_t o = 0; o < outputs_; ++o) {
                const double p = mine[o] / sum;
                gradient[o * rows_ + i] = weight_[i] * (p - targets_[i * outputs_ + o]);
                hessian[o * rows_ + i] = weight_[i] * std::max(factor * p * (1.0 - p), least_curvature);
            }
        }
    }

    const double *targets_, *weight_;
    size_t rows_, outputs_;
    bool logistic_;
    std::vector<double> power_;
};

auto tree_slopes(const Rows<double>& scores, const Rows<double>& targets, const Vector<double>& weight, bool logistic) {
    std::vector<double> gradient(scores.size()), hessian(scores.size());
    {
        nb::gil_scoped_release release;
        Loss loss(targets, weight, logistic);
        require(scores.shape(0) == loss.rows() && scores.shape(1) == loss.outputs(), "scores and targets must have the same shape.");
        loss.slopes(scores.data(), gradient.data(), hessian.data());
    }
    const std::vector<size_t> shape{scores.shape(1), scores.shape(0)};
    return std::make_tuple(owned_array(std::move(gradient), shape), owned_array(std::move(hessian), shape));
}

// The nodes of trees in a row.
struct Grove {
    std::vector<int64_t> sizes;
    std::vector<int32_t> column, bin, left, right;
    std::vector<double> value, gain;

    void add(const GrownTree& tree, double rate) {
        sizes.push_back(static_cast<int64_t>(tree.column.size()));
        column.insert(column.end(), tree.column.begin(), tree.column.end());
        bin.insert(bin.end(), tree.bin.begin(), tree.bin.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        for (double each : tree.value) value.push_back(rate * each);
        gain.insert(gain.end(), tree.gain.begin(), tree.gain.end());
    }
};

auto grow_rounds(const Rows<uint8_t>& bins, const OutRows<double>& scores, const Rows<double>& targets,
                 const Vector<double>& weight, bool logistic, const Rows<int64_t>& columns,
                 const Vector<int64_t>& widths, size_t max_leaves, double least_hessian, double l2, double rate) {
    Grove grove;
    {
        nb::gil_scoped_release release;
        const size_t n = bins.shape(0), outputs = targets.shape(1);
        Loss loss(targets, weight, logistic);
        require(scores.shape(0) == n && scores.shape(1) == outputs, "scores must have the rows of bins and the columns of targets.");
        require(loss.rows() != 0 && loss.rows() <= n && columns.shape(1) != 0 && max_leaves >= 1, "trees need rows, columns and a leaf.");
        require(widths.shape(0) == bins.shape(1), "there must be a width for each column.");
        require(columns.shape(0) % outputs == 0, "a round has a tree for each output.");
        std::vector<double> gradient(loss.rows() * outputs), hessian(loss.rows() * outputs);
        TreeTask task{bins.data(), n, bins.shape(1), nullptr, nullptr, 1, std::vector<uint32_t>(loss.rows()), {}, {},
                      max_leaves, least_hessian, l2, true};
        std::iota(task.rows.begin(), task.rows.end(), 0u);
        for (size_t t = 0; t < columns.shape(0); ++t) {
            const size_t o = t % outputs;  // the trees of a round all go by the scores before it
            if (o == 0) loss.slopes(scores.data(), gradient.data(), hessian.data());
            task.gradient = gradient.data() + o * loss.rows();
            task.hessian = hessian.data() + o * loss.rows();
            task.allow(columns.data() + t * columns.shape(1), columns.shape(1), widths.data());
            const GrownTree tree = grown_tree(task);
            grove.add(tree, rate);
            const double* value = grove.value.data() + grove.value.size() - tree.value.size();
            for (size_t i = 0; i < n; ++i) scores.data()[i * outputs + o] += value[tree.leaf[i]];
        }
    }
    const size_t trees = grove.sizes.size(), nodes = grove.column.size();
    return std::make_tuple(owned_array(std::move(grove.sizes), {trees}), owned_array(std::move(grove.column), {nodes}),
                           owned_array(std::move(grove.bin), {nodes}), owned_array(std::move(grove.left), {nodes}),
                           owned_array(std::move(grove.right), {nodes}), owned_array(std::move(grove.value), {nodes}),
                           owned_array(std::move(grove.gain), {nodes}));
}

}  // namespace

void bind_rounds(nb::module_& m) {
    using nb::arg;
    m.def("tree_slopes", &tree_slopes, arg("scores"), arg("targets"), arg("weight"), arg("logistic"));
    m.def("grow_rounds", &grow_rounds, arg("bins").noconvert(), arg("scores").noconvert(), arg("targets"),
          arg("weight"), arg("logistic"), arg("columns"), arg("widths"), arg("max_leaves"), arg("least_hessian"),
          arg("l2"), arg("rate"));
}
