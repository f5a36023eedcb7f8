#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mansard::traces {

/// Hands on the text of a Kineto trace of that many kernels, each with its op, launch and flow,
/// laid out as PyTorch 2 writes them, about 2 kB a kernel, piece by piece:
/// `take(std::string_view)`.
template <typename Take>
void generate_trace(std::size_t kernels, const Take& take) {
  std::string text =
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
      "\"NVIDIA H200\", \"numSms\": 132\n    }\n  ],\n  \"traceEvents\": [\n";
  const auto append = [&text](std::string_view format, const auto&... values) {
    fmt::vformat_to(std::back_inserter(text), format, fmt::make_format_args(values...));
  };
  for (std::size_t i = 0; i < kernels; ++i) {
    const std::size_t us = 5206962656684 + i * 10;
    append(
        "{}  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 414, "
        "\"tid\": "
        "414,\n    \"ts\": {}.899, \"dur\": 9.677,\n    \"args\": {{\n      \"External id\": "
        "{},\"Record "
        "function id\": 0, \"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", "
        "\"c10::BFloat16\"], \"Input Dims\": [[16, 4096], [4096, 14336]], \"Ev Idx\": {}\n    }}\n "
        " }},\n",
        i == 0 ? "" : ",\n", us, i + 1, i);
    append(
        "  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernelExC\", "
        "\"pid\": "
        "414, \"tid\": 414,\n    \"ts\": {}.235, \"dur\": 5.232,\n    \"args\": {{\n      "
        "\"External id\": "
        "{}, \"cbid\": 430, \"correlation\": {}\n    }}\n  }},\n",
        us + 2, i + 1, i + 17);
    append(
        "  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 414, \"tid\": 414, \"ts\": {}.235,\n    "
        "\"cat\": "
        "\"ac2g\", \"name\": \"ac2g\"\n  }},\n",
        i + 17, us + 2);
    append(
        "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
        "at::native::elementwise_kernel<128, 4, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
        "TensorIteratorBase&)::"
        "{{lambda()#3}}::operator()() const::{{lambda()#12}}::operator()() "
        "const::{{lambda(c10::BFloat16)#1}}>("
        "at::TensorIteratorBase&, "
        "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#3}}"
        "::operator()() const::{{lambda()#12}}::operator()() const::{{lambda(c10::BFloat16)#1}} "
        "const&)::"
        "{{lambda(int)#{}}}>(int, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda>)\", "
        "\"pid\": 0, \"tid\": 7,\n    \"ts\": {}.068, \"dur\": 6.984,\n    \"args\": {{\n      "
        "\"External id\": {}, "
        "\"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": "
        "{},\n      "
        "\"registers per thread\": 32,\n      \"shared memory\": 0,\n      \"blocks per SM\": "
        "0.242424,\n      "
        "\"warps per SM\": 0.969697,\n      \"grid\": [{}, 1, 1],\n      \"block\": [128, 1, 1],\n "
        "     \"est. "
        "achieved occupancy %\": 2\n    }}\n  }},\n",
        i % 40, us + 5, i + 1, i + 17, i % 1000 + 1);
    append(
        "  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {}.068,\n    "
        "\"cat\": "
        "\"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }}",
        i + 17, us + 5);
    take(text);
    text.clear();
  }
  take(text +
       "\n  ],\n  \"traceName\": \"generated\",\n  \"baseTimeNanoseconds\": "
       "1719853884000000000\n}\n");
}

inline std::string generated_trace(std::size_t kernels) {
  std::string text;
  generate_trace(kernels, [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace mansard::traces
