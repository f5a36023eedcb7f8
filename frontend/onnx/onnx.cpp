#include "frontend/onnx/onnx.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/onnx/importer.hpp"
#include "frontend/onnx/strip.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::string_view kPointer = "version https://git-lfs";

/// A file's bytes, mapped: what is not looked at is not read.
class Mapping {
 public:
  Mapping(void* at, std::size_t size) : at_(at), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (at_ != nullptr) {
      ::munmap(at_, size_);
    }
  }
  [[nodiscard]] std::string_view bytes() const {
    return at_ == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(at_), size_);
  }

 private:
  void* at_;
  std::size_t size_;
};

Result<Mapping> map_file(const std::string& path) {
  const auto failed = [&] {
    return failure("file-unreadable", fmt::format("{}: {}", path, std::strerror(errno)));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return failed();
  }
  struct stat status = {};
  if (::fstat(file, &status) != 0 || S_ISDIR(status.st_mode)) {
    ::close(file);
    return failure("file-unreadable", fmt::format("{}: is no file", path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) {
    return failed();
  }
  return Mapping(at, size);
}

/// protobuf prints its complaints unless told not to; a library never prints.
void silence_protobuf() {
  static std::once_flag once;
  std::call_once(once, [] { google::protobuf::SetLogHandler(nullptr); });
}

}  // namespace

Result<ir::Graph> import_bytes(std::string_view bytes, const std::string& path,
                               const std::string& name) {
  if (bytes.empty()) {
    return failure("onnx-malformed", fmt::format("{}: the file is empty", path));
  }
  if (bytes.starts_with(kPointer)) {
    return failure("onnx-pointer", fmt::format("{}: is a Git LFS pointer, not the model", path), {},
                   "fetch it with git lfs pull");
  }
  silence_protobuf();
  const std::optional<std::string> header = strip_tensor_data(bytes);
  pb::ModelProto model;
  if (!header) {
    return failure("onnx-malformed",
                   fmt::format("{}: is no ONNX model, or is cut short: its bytes are no protobuf "
                               "message",
                               path));
  }
  constexpr int kDeepest = 200;
  google::protobuf::io::ArrayInputStream stream(header->data(), static_cast<int>(header->size()));
  google::protobuf::io::CodedInputStream input(&stream);
  input.SetRecursionLimit(kDeepest);
  if (header->size() > INT32_MAX || !model.ParseFromCodedStream(&input) ||
      !input.ConsumedEntireMessage()) {
    return failure(
        "onnx-malformed",
        fmt::format("{}: is no ONNX model: a field has a type that ONNX does not give it", path));
  }
  return Importer(model, path, name).run();
}

Result<ir::Graph> import_file(const std::string& path, const std::string& name) {
  const Result<Mapping> file = map_file(path);
  if (!file) {
    return failure(file.error());
  }
  return import_bytes(file->bytes(), path, name);
}

}  // namespace mansard::frontend::onnx
