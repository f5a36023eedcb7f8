#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/sweep/settings.hpp"
#include "model/outputs.hpp"
#include "model/sweep/sweep.hpp"

namespace mansard::cli {

/// The full name of an output, and what it is.
struct OutputName {
  std::string name;
  Dimension dimension;
};

/// Makes the variants of a sweep: sets what its structural axes say, builds the model, and compiles
/// the wanted outputs.
class VariantMaker {
 public:
  struct Wanted {
    std::vector<std::string> outputs;
    std::string where;  ///< Empty: every point is wanted.
    bool interpret = false;
  };
  VariantMaker(const model::SweepSpace& space, Question question, Wanted wanted)
      : space_(space), question_(std::move(question)), wanted_(std::move(wanted)) {}

  /// A combination that cannot run is a variant without a function, with the reason. A mistake of
  /// the user (an unknown name) goes to `errors` as well.
  [[nodiscard]] model::SweepVariant make(std::span<const std::uint64_t> places);
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }
  /// Of the outputs wanted, in their order, once a variant was made.
  [[nodiscard]] const std::vector<OutputName>& outputs() const { return outputs_; }

 private:
  [[nodiscard]] Result<model::BatchFunction> build(std::span<const std::uint64_t> places);
  [[nodiscard]] Result<Question> question_at(std::span<const std::uint64_t> places) const;
  [[nodiscard]] Result<model::BatchFunction> compile(const model::Predictor& predictor,
                                                     const model::Workload& workload);
  [[nodiscard]] Result<std::shared_ptr<const ir::Graph>> graph_of(const ModelOptions& options);

  const model::SweepSpace& space_;
  Question question_;
  Wanted wanted_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const ir::Graph>> graphs_;
  std::vector<OutputName> outputs_;
  Diagnostics errors_;
};

}  // namespace mansard::cli
