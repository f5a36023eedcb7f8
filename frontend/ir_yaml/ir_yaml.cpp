#include "frontend/ir_yaml/ir_yaml.hpp"

#include "ir/graph_text.hpp"
#include "support/document.hpp"

namespace mansard::frontend::ir_yaml {

Result<ir::Graph> import_file(const std::string& path) {
  const Result<Node> document = read_document(path);
  if (!document) {
    return failure(document.error());
  }
  return ir::parse_graph(*document);
}

}  // namespace mansard::frontend::ir_yaml
