#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/sweep/sweep.hpp"

namespace mansard::cli {

/// Writes points as they come, as CSV or as one JSON object a line. Lines are made in many threads
/// and written whole and in order, so that what was written is valid whenever it ends.
class StreamSink : public model::SweepSink {
 public:
  enum class Form { kCsv, kJsonLines };
  using Write = std::function<void(std::string_view)>;

  StreamSink(Form form, std::vector<std::string> outputs, Write write)
      : form_(form), outputs_(std::move(outputs)), write_(std::move(write)) {}

  /// The first line of a CSV file.
  [[nodiscard]] std::string heading(const model::SweepSpace& space) const;
  [[nodiscard]] std::unique_ptr<Digest> digest(const model::SweepBlock& block) const override;
  void take(Digest& digest) override;
  void pack(const Digest& digest, model::Packer& packer) const override;
  [[nodiscard]] std::unique_ptr<Digest> unpack(model::Unpacker& unpacker) const override;

 private:
  Form form_;
  std::vector<std::string> outputs_;
  Write write_;
};

}  // namespace mansard::cli
