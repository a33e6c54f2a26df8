// Compiled twins of mercer/_numeric/trees/boosting.py: rounds of gradient boosting, and the gradients of their losses.
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

constexpr double max_logit = 35.0;      // logits are clipped to +-max_logit
constexpr double min_curvature = 1e-6;  // smallest hessian of a row of weight 1

// The loss of the training rows: half the squared error, or the logistic (one output) or softmax (several) loss.
class Loss {
  public:
    Loss(const Rows<double>& targets, const Vector<double>& weight, bool logistic)
        : targets_(targets.data()), weight_(weight.data()), rows_(targets.shape(0)), outputs_(targets.shape(1)),
          logistic_(logistic), exp_values_(logistic ? rows_ * outputs_ : 0) {
        require(weight.shape(0) == rows_, "there must be a weight for each row of targets.");
        require(outputs_ != 0, "there must be an output.");
    }

    size_t rows() const { return rows_; }
    size_t outputs() const { return outputs_; }

    // Gradients and hessians of shape (outputs, rows) at the scores of these rows.
    void gradients(const double* scores, double* gradient, double* hessian) {
        if (!logistic_) {
            squared_error_gradients(scores, gradient, hessian);
        } else if (outputs_ == 1) {
            logistic_gradients(scores, gradient, hessian);
        } else {
            softmax_gradients(scores, gradient, hessian);
        }
    }

  private:
    void squared_error_gradients(const double* scores, double* gradient, double* hessian) const {
        for (size_t o = 0; o < outputs_; ++o)
            for (size_t i = 0; i < rows_; ++i) {
                gradient[o * rows_ + i] = weight_[i] * (scores[i * outputs_ + o] - targets_[i * outputs_ + o]);
                hessian[o * rows_ + i] = weight_[i];
            }
    }

    void logistic_gradients(const double* scores, double* gradient, double* hessian) {
        for (size_t i = 0; i < rows_; ++i) {
            const double clipped = scores[i] < max_logit ? scores[i] : max_logit;
            exp_values_[i] = exponential(-(clipped > -max_logit ? clipped : -max_logit));
        }
        for (size_t i = 0; i < rows_; ++i) {
            const double p = 1.0 / (1.0 + exp_values_[i]), curvature = p * (1.0 - p);
            gradient[i] = weight_[i] * (p - targets_[i]);
            hessian[i] = weight_[i] * (curvature > min_curvature ? curvature : min_curvature);
        }
    }

    void softmax_gradients(const double* scores, double* gradient, double* hessian) {
        for (size_t i = 0; i < rows_; ++i) {
            const double *logits = scores + i * outputs_,
                         max_logit_of_row = *std::max_element(logits, logits + outputs_);
            for (size_t o = 0; o < outputs_; ++o)
                exp_values_[i * outputs_ + o] = std::max(logits[o] - max_logit_of_row, -700.0);
        }
        for (double& each : exp_values_) each = exponential(each);
        const double factor = static_cast<double>(outputs_) / static_cast<double>(outputs_ - 1);
        for (size_t i = 0; i < rows_; ++i) {
            const double* exps = exp_values_.data() + i * outputs_;
            const double sum = std::accumulate(exps, exps + outputs_, 0.0);
            for (size_t o = 0; o < outputs_; ++o) {
                const double p = exps[o] / sum;
                gradient[o * rows_ + i] = weight_[i] * (p - targets_[i * outputs_ + o]);
                hessian[o * rows_ + i] = weight_[i] * std::max(factor * p * (1.0 - p), min_curvature);
            }
        }
    }

    const double *targets_, *weight_;
    size_t rows_, outputs_;
    bool logistic_;
    std::vector<double> exp_values_;
};

auto tree_gradients(const Rows<double>& scores, const Rows<double>& targets, const Vector<double>& weight,
                    bool logistic) {
    std::vector<double> gradient(scores.size()), hessian(scores.size());
    {
        nb::gil_scoped_release release;
        Loss loss(targets, weight, logistic);
        require(scores.shape(0) == loss.rows() && scores.shape(1) == loss.outputs(),
                "scores and targets must have the same shape.");
        loss.gradients(scores.data(), gradient.data(), hessian.data());
    }
    const std::vector<size_t> shape{scores.shape(1), scores.shape(0)};
    return std::make_tuple(owned_array(std::move(gradient), shape), owned_array(std::move(hessian), shape));
}

// The nodes of all trees, concatenated.
struct TreeNodes {
    std::vector<int64_t> sizes;
    std::vector<int32_t> column, bin, left, right;
    std::vector<double> value, gain;

    void add(const GrownTree& tree, double learning_rate) {
        sizes.push_back(static_cast<int64_t>(tree.column.size()));
        column.insert(column.end(), tree.column.begin(), tree.column.end());
        bin.insert(bin.end(), tree.bin.begin(), tree.bin.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        for (double each : tree.value) value.push_back(learning_rate * each);
        gain.insert(gain.end(), tree.gain.begin(), tree.gain.end());
    }
};

auto grow_rounds(const Rows<uint8_t>& bins, const OutRows<double>& scores, const Rows<double>& targets,
                 const Vector<double>& weight, bool logistic, const Rows<int64_t>& columns,
                 const Vector<int64_t>& widths, size_t max_leaf_nodes, double min_hessian, double l2,
                 double learning_rate) {
    TreeNodes nodes;
    {
        nb::gil_scoped_release release;
        const size_t n = bins.shape(0), outputs = targets.shape(1);
        Loss loss(targets, weight, logistic);
        require(scores.shape(0) == n && scores.shape(1) == outputs,
                "scores must have the rows of bins and the columns of targets.");
        require(loss.rows() != 0 && loss.rows() <= n && columns.shape(1) != 0 && max_leaf_nodes >= 1,
                "trees need rows, columns and a leaf.");
        require(widths.shape(0) == bins.shape(1), "there must be a width for each column.");
        require(columns.shape(0) % outputs == 0, "a round has a tree for each output.");
        std::vector<double> gradient(loss.rows() * outputs), hessian(loss.rows() * outputs);
        TreeTask task{bins.data(), n,  bins.shape(1),  nullptr,     nullptr, 1,   std::vector<uint32_t>(loss.rows()),
                      {},          {}, max_leaf_nodes, min_hessian, l2,      true};
        std::iota(task.rows.begin(), task.rows.end(), 0u);
        for (size_t t = 0; t < columns.shape(0); ++t) {
            const size_t o = t % outputs;  // all trees of a round use the scores before it
            if (o == 0) loss.gradients(scores.data(), gradient.data(), hessian.data());
            task.gradient = gradient.data() + o * loss.rows();
            task.hessian = hessian.data() + o * loss.rows();
            task.set_columns(columns.data() + t * columns.shape(1), columns.shape(1), widths.data());
            task.interrupt(static_cast<long>(n * columns.shape(1)));
            const GrownTree tree = grown_tree(task);
            nodes.add(tree, learning_rate);
            const double* value = nodes.value.data() + nodes.value.size() - tree.value.size();
            for (size_t i = 0; i < n; ++i) scores.data()[i * outputs + o] += value[tree.leaf[i]];
        }
    }
    const size_t n_trees = nodes.sizes.size(), n_nodes = nodes.column.size();
    return std::make_tuple(
        owned_array(std::move(nodes.sizes), {n_trees}), owned_array(std::move(nodes.column), {n_nodes}),
        owned_array(std::move(nodes.bin), {n_nodes}), owned_array(std::move(nodes.left), {n_nodes}),
        owned_array(std::move(nodes.right), {n_nodes}), owned_array(std::move(nodes.value), {n_nodes}),
        owned_array(std::move(nodes.gain), {n_nodes}));
}

}  // namespace

void bind_boosting(nb::module_& m) {
    using nb::arg;
    m.def("tree_gradients", &tree_gradients, arg("scores"), arg("targets"), arg("weight"), arg("logistic"));
    m.def("grow_rounds", &grow_rounds, arg("bins").noconvert(), arg("scores").noconvert(), arg("targets"),
          arg("weight"), arg("logistic"), arg("columns"), arg("widths"), arg("max_leaf_nodes"), arg("min_hessian"),
          arg("l2"), arg("learning_rate"));
}
