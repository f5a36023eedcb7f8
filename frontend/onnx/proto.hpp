#pragma once

/// The messages of ONNX, from Debian's libonnx (1.12, IR 8). Newer files parse too: fields that it
/// does not know are kept aside. Only this folder sees them.
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

namespace mansard::frontend::onnx {
namespace pb = ::onnx;
}  // namespace mansard::frontend::onnx
