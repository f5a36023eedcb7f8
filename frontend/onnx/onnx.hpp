#pragma once

#include <string>
#include <string_view>

#include "ir/graph.hpp"
#include "support/result.hpp"

/// ONNX graphs: any network that an exporter writes.
///
///     file -> strip (tensor data left behind) -> protobuf -> Importer -> ir::Graph
///
/// The graph has one op per node that computes or moves something, in the file's own dimension
/// symbols (`facts.symbols`); `ir::bind_symbols` gives them values. Weights are known by shape
/// only: data of tensors, in the file or beside it, is never read, except of the small integer
/// tensors that shapes are computed with.
namespace mansard::frontend::onnx {

/// Errors: unreadable or malformed files, cyclic graphs, inputs that nothing defines, shapes that
/// contradict each other. All errors of a file at once, up to 20.
[[nodiscard]] Result<ir::Graph> import_file(const std::string& path, const std::string& name);

/// The same of a file's bytes. `path` is for messages.
[[nodiscard]] Result<ir::Graph> import_bytes(std::string_view bytes, const std::string& path,
                                             const std::string& name);

}  // namespace mansard::frontend::onnx
