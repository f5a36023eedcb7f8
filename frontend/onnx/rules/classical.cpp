#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

/// The ops of ai.onnx.ml: scalers, encoders, linear models, support vectors and trees. Their
/// coefficients are attributes, not tensors: work is counted, and the attributes are no parameters.
namespace mansard::frontend::onnx {
namespace {

double count_of(const Node& node, std::string_view floats) {
  const auto* attribute = node.attribute(floats);
  return attribute == nullptr ? 0 : attribute->floats_size();
}

double labels_of(const Node& node, std::string_view integers, std::string_view strings) {
  const auto* numbers = node.attribute(integers);
  const auto* names = node.attribute(strings);
  return (numbers == nullptr ? 0 : numbers->ints_size()) +
         (names == nullptr ? 0 : names->strings_size());
}

/// Rows of a table [rows, features]; a vector is one row.
Expr table_rows(const Node& node) {
  return node.rank(0) < 2 ? node.number(1) : node.shape(0).front();
}

Expr table_features(const Node& node) {
  return node.rank(0) == 0 ? node.number(1) : node.shape(0).back();
}

void per_element(Node& node, int type, double arithmetic) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, type, {arithmetic, 0, node.type()});
  }
}

void scale(Node& node) {  // (x - offset) * scale
  per_element(node, pb::TensorProto::FLOAT, 2);
}

void compare_with_one(Node& node) {
  per_element(node, node.has(0) ? node.in(0).type : 0, 1);
}

/// L1 adds and divides, L2 multiplies too, MAX compares and divides.
void normalize(Node& node) {
  per_element(node, pb::TensorProto::FLOAT, node.text("norm", "MAX") == "L2" ? 3 : 2);
}

/// Texts to numbers or numbers to texts; since version 2 the attributes say which.
void encode_labels(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  int type =
      node.in(0).type == pb::TensorProto::STRING ? pb::TensorProto::INT64 : pb::TensorProto::STRING;
  const std::array<std::pair<std::string_view, int>, 3> values = {{
      {"values_floats", pb::TensorProto::FLOAT},
      {"values_int64s", pb::TensorProto::INT64},
      {"values_strings", pb::TensorProto::STRING},
  }};
  for (const auto& [name, of] : values) {
    type = node.has_attribute(name) ? of : type;
  }
  per_element(node, type, 1);
}

void extract_features(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  Shape shape = node.rank(0) < 2 ? Shape{node.number(1)} : node.shape(0);
  if (node.rank(0) < 2) {
    shape.push_back(node.elements(1));
  } else {
    shape.back() = node.elements(1);
  }
  const Expr taken = elements(node.pool(), shape);
  node.emit_many("move", {node.id(0), node.id(1)}, node.set(0, node.in(0).type, shape),
                 {{"n", taken}, {"i", taken}}, {{"function", node.type()}});
}

void encode_one_hot(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  Shape shape = node.shape(0);
  shape.push_back(node.number(labels_of(node, "cats_int64s", "cats_strings")));
  const Expr written = elements(node.pool(), shape);
  node.emit_many("elementwise", {node.id(0)}, node.set(0, pb::TensorProto::FLOAT, shape),
                 {{"n", written}, {"a", node.number(1)}}, {{"function", node.type()}});
}

void join_features(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  double width = 0;
  for (const std::int64_t one : node.list("inputdimensions")) {
    width += static_cast<double>(std::max<std::int64_t>(one, 0));
  }
  const Shape shape{table_rows(node), node.number(width)};
  node.emit_move(present_inputs(node), node.set(0, pb::TensorProto::FLOAT, shape));
}

/// `per_row` operations a row make `columns` scores of it; a classifier names the best first.
void score_rows(Node& node, Expr per_row, double columns, bool classifies) {
  const Expr rows = table_rows(node);
  const Expr width = node.number(std::max(columns, 1.0));
  const ValueId scores = node.set(classifies ? 1 : 0, pb::TensorProto::FLOAT, Shape{rows, width});
  node.emit_many("elementwise", {node.id(0)}, scores,
                 {{"n", product(rows, width)}, {"a", quotient(per_row, width)}},
                 {{"function", node.type()}});
  if (classifies) {
    const int type = node.has_attribute("classlabels_strings") ? pb::TensorProto::STRING
                                                               : pb::TensorProto::INT64;
    node.emit({.kind = "reduce",
               .dims = {{"r", rows}, {"c", width}},
               .operands = {{"x", scores}, {"o", node.set(0, type, Shape{rows})}},
               .attributes = {{"reduction", "ArgMax"}},
               .suffix = ".label"});
  }
}

void linear(Node& node, double columns, bool classifies) {
  const Expr terms = product(table_features(node), node.number(2 * std::max(columns, 1.0)));
  score_rows(node, terms, columns, classifies);
}

void regress_linearly(Node& node) {
  if (needs_inputs(node, 1)) {
    linear(node, static_cast<double>(std::max<std::int64_t>(node.integer("targets", 1), 1)), false);
  }
}

double classes(const Node& node, std::string_view integers) {
  return labels_of(node, integers, "classlabels_strings");
}

void classify_linearly(Node& node) {
  if (needs_inputs(node, 1)) {
    linear(node, std::max(classes(node, "classlabels_ints"), count_of(node, "intercepts")), true);
  }
}

/// A kernel value of each support vector and row: a product of 2 x features; then one weighted sum
/// a score.
void support_vectors(Node& node, double vectors, double columns, bool classifies) {
  const Expr kernel = product(table_features(node), node.number(2 * vectors));
  const Expr sums = node.number(2 * vectors * std::max(columns, 1.0));
  score_rows(node, sum(kernel, sums), columns, classifies);
}

void regress_by_support(Node& node) {
  if (needs_inputs(node, 1)) {
    support_vectors(node,
                    static_cast<double>(std::max<std::int64_t>(node.integer("n_supports", 0), 0)),
                    1, false);
  }
}

void classify_by_support(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  double vectors = 0;
  for (const std::int64_t of_class : node.list("vectors_per_class")) {
    vectors += static_cast<double>(std::max<std::int64_t>(of_class, 0));
  }
  support_vectors(node, vectors, classes(node, "classlabels_ints"), true);
}

using TreeNode = std::pair<std::int64_t, std::int64_t>;  ///< Tree and node in it.

/// Comparisons of a row at most: the deepest leaf of every tree. A node is visited once, so that
/// trees that are none end too.
double comparisons(const Node& node) {
  const auto trees = node.list("nodes_treeids");
  const auto ids = node.list("nodes_nodeids");
  const auto yes = node.list("nodes_truenodeids");
  const auto no = node.list("nodes_falsenodeids");
  const auto* modes = node.attribute("nodes_modes");
  const std::size_t count = std::min({trees.size(), ids.size(), yes.size(), no.size()});
  std::map<TreeNode, std::size_t> places;
  std::set<TreeNode> children;
  for (std::size_t i = 0; i < count; ++i) {
    places.emplace(TreeNode{trees[i], ids[i]}, i);
  }
  const auto is_leaf = [&](std::size_t i) {
    return modes != nullptr && i < static_cast<std::size_t>(modes->strings_size()) &&
           modes->strings(static_cast<int>(i)) == "LEAF";
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_leaf(i)) {
      children.insert({trees[i], yes[i]});
      children.insert({trees[i], no[i]});
    }
  }
  std::map<std::int64_t, double> deepest;
  std::deque<std::pair<TreeNode, double>> queue;
  std::set<TreeNode> seen;
  for (const auto& [place, i] : places) {
    if (!children.contains(place)) {
      queue.emplace_back(place, 0);
    }
  }
  for (; !queue.empty(); queue.pop_front()) {
    const auto [place, depth] = queue.front();
    const auto found = places.find(place);
    if (found == places.end() || !seen.insert(place).second) {
      continue;
    }
    double& most = deepest[place.first];
    most = std::max(most, depth);
    if (!is_leaf(found->second)) {
      queue.emplace_back(TreeNode{place.first, yes[found->second]}, depth + 1);
      queue.emplace_back(TreeNode{place.first, no[found->second]}, depth + 1);
    }
  }
  double sum_of_depths = 0;
  for (const auto& [tree, depth] : deepest) {
    sum_of_depths += depth + 1;  // the leaf's weight is added
  }
  return sum_of_depths;
}

void regress_by_trees(Node& node) {
  if (needs_inputs(node, 1)) {
    score_rows(node, node.number(comparisons(node)),
               static_cast<double>(std::max<std::int64_t>(node.integer("n_targets", 1), 1)), false);
  }
}

void classify_by_trees(Node& node) {
  if (needs_inputs(node, 1)) {
    score_rows(node, node.number(comparisons(node)), classes(node, "classlabels_int64s"), true);
  }
}

/// Counts of n-grams: as many columns as the pool has.
void count_grams(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  std::int64_t last = -1;
  for (const std::int64_t column : node.list("ngram_indexes")) {
    last = std::max(last, column);
  }
  Shape shape;
  if (node.rank(0) > 1) {
    shape.push_back(node.shape(0).front());
  }
  shape.push_back(node.number(static_cast<double>(last) + 1));
  const Expr written = elements(node.pool(), shape);
  node.emit_many("elementwise", {node.id(0)}, node.set(0, pb::TensorProto::FLOAT, shape),
                 {{"n", written}, {"a", node.number(1)}}, {{"function", node.type()}});
}

/// The ensemble of version 5: each tree's root by number, and its nodes after each other.
void ensemble(Node& node) {
  if (needs_inputs(node, 1)) {
    const double inner = static_cast<double>(node.list("nodes_featureids").size());
    const double trees =
        static_cast<double>(std::max<std::size_t>(node.list("tree_roots").size(), 1));
    // Balanced trees: a comparison a level and the leaf's weight.
    const double depth = std::ceil(std::log2(inner / trees + 1));
    score_rows(node, node.number((depth + 1) * trees),
               static_cast<double>(std::max<std::int64_t>(node.integer("n_targets", 1), 1)), false);
  }
}

/// A dictionary of each row: the same scores under names.
void name_scores(Node& node) {
  if (needs_inputs(node, 1)) {
    node.importer().value(node.view(0, 0, node.shape(0))).is_sequence = true;
  }
}

/// Out of a dictionary: a column for each word.
void from_dictionary(Node& node) {
  const double words =
      node.type() == "DictVectorizer"
          ? labels_of(node, "int64_vocabulary", "string_vocabulary")
          : static_cast<double>(std::max<std::int64_t>(node.integer("max_map", 1), 1));
  node.set(0, pb::TensorProto::FLOAT, Shape{node.number(1), node.number(words)});
}

constexpr std::array kRules = {
    RuleEntry{"TfIdfVectorizer", count_grams},
    RuleEntry{"ai.onnx.ml.ArrayFeatureExtractor", extract_features},
    RuleEntry{"ai.onnx.ml.Binarizer", compare_with_one},
    RuleEntry{"ai.onnx.ml.CastMap", from_dictionary, true},
    RuleEntry{"ai.onnx.ml.CategoryMapper", encode_labels},
    RuleEntry{"ai.onnx.ml.DictVectorizer", from_dictionary, true},
    RuleEntry{"ai.onnx.ml.FeatureVectorizer", join_features},
    RuleEntry{"ai.onnx.ml.Imputer", compare_with_one},
    RuleEntry{"ai.onnx.ml.LabelEncoder", encode_labels},
    RuleEntry{"ai.onnx.ml.LinearClassifier", classify_linearly},
    RuleEntry{"ai.onnx.ml.LinearRegressor", regress_linearly},
    RuleEntry{"ai.onnx.ml.Normalizer", normalize},
    RuleEntry{"ai.onnx.ml.OneHotEncoder", encode_one_hot},
    RuleEntry{"ai.onnx.ml.SVMClassifier", classify_by_support},
    RuleEntry{"ai.onnx.ml.SVMRegressor", regress_by_support},
    RuleEntry{"ai.onnx.ml.Scaler", scale},
    RuleEntry{"ai.onnx.ml.TreeEnsemble", ensemble},
    RuleEntry{"ai.onnx.ml.TreeEnsembleClassifier", classify_by_trees},
    RuleEntry{"ai.onnx.ml.TreeEnsembleRegressor", regress_by_trees},
    RuleEntry{"ai.onnx.ml.ZipMap", name_scores},
};

}  // namespace

std::span<const RuleEntry> classical_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
