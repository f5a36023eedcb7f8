#include "traces/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace mansard::traces {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;
/// What inflateInit2 takes for "gzip, the largest window".
constexpr int kGzip = 15 + 16;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

struct ByteSource::State {
  std::unique_ptr<std::FILE, FileCloser> file;
  std::span<const char> memory;  ///< Where there is no file.
  bool gzip = false;
  bool in_member = false;
  z_stream inflater{};
  std::vector<char> packed;
  std::string damage;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip) {
      inflateEnd(&inflater);
    }
  }

  std::size_t take(std::span<char> buffer) {
    if (file) {
      const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
      if (std::ferror(file.get()) != 0) {
        damage = std::error_code(errno, std::generic_category()).message();
      }
      return got;
    }
    const std::size_t got = std::min(buffer.size(), memory.size());
    std::copy_n(memory.begin(), got, buffer.begin());
    memory = memory.subspan(got);
    return got;
  }

  bool refill() {
    const std::size_t got = take(packed);
    inflater.next_in = reinterpret_cast<Bytef*>(packed.data());
    inflater.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  /// Looks at the first bytes; a gzip file begins with 1f 8b.
  void recognise() {
    packed.resize(kPiece);
    refill();
    gzip = inflater.avail_in >= 2 && packed[0] == '\x1f' && packed[1] == '\x8b';
    if (gzip) {
      gzip = inflateInit2(&inflater, kGzip) == Z_OK;
      in_member = true;
    }
  }

  std::size_t inflate_into(std::span<char> buffer) {
    inflater.next_out = reinterpret_cast<Bytef*>(buffer.data());
    inflater.avail_out = static_cast<uInt>(buffer.size());
    while (inflater.avail_out > 0 && damage.empty()) {
      if (inflater.avail_in == 0 && !refill()) {
        if (in_member && damage.empty()) {
          damage = "the gzip data ends early";
        }
        break;
      }
      if (!in_member) {  // Another member follows, or zeros that pad the file.
        if (*inflater.next_in == 0) {
          ++inflater.next_in;
          --inflater.avail_in;
          continue;
        }
        inflateReset(&inflater);
        in_member = true;
      }
      step();
    }
    return buffer.size() - inflater.avail_out;
  }

  void step() {
    switch (inflate(&inflater, Z_NO_FLUSH)) {
      case Z_OK:
      case Z_BUF_ERROR:
        return;
      case Z_STREAM_END:
        in_member = false;
        return;
      default:
        damage = fmt::format("the gzip data is damaged ({})",
                             inflater.msg != nullptr ? inflater.msg : "no more is known");
    }
  }

  /// What `recognise` read of a plain file, then the rest.
  std::size_t copy_into(std::span<char> buffer) {
    const std::size_t kept = std::min<std::size_t>(buffer.size(), inflater.avail_in);
    std::memcpy(buffer.data(), inflater.next_in, kept);
    inflater.next_in += kept;
    inflater.avail_in -= static_cast<uInt>(kept);
    return kept + (kept < buffer.size() ? take(buffer.subspan(kept)) : 0);
  }
};

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->recognise();
}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return failure("file-read", fmt::format("cannot read '{}': it is a directory", path));
  }
  auto state = std::make_unique<State>();
  state->file.reset(std::fopen(path.c_str(), "rbe"));
  if (!state->file) {
    return failure("file-read",
                   fmt::format("cannot read '{}': {}", path,
                               std::error_code(errno, std::generic_category()).message()));
  }
  return ByteSource(std::move(state));
}

ByteSource ByteSource::of(std::span<const char> bytes) {
  auto state = std::make_unique<State>();
  state->memory = bytes;
  return ByteSource(std::move(state));
}

std::size_t ByteSource::read(std::span<char> buffer) {
  // zlib counts in 32 bits.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  buffer = buffer.first(std::min(buffer.size(), kMost));
  return state_->gzip ? state_->inflate_into(buffer) : state_->copy_into(buffer);
}

const std::string& ByteSource::damage() const {
  return state_->damage;
}

}  // namespace mansard::traces
