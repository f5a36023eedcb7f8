#include "tests/kernel/generated.hpp"

#include <random>
#include <vector>

#include <fmt/format.h>

namespace mansard::test {
namespace {

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  std::string kernel() {
    text_ =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".shared .align 16 .b8 tile[65536];\n"
        ".visible .entry k(.param .u64 p0, .param .u32 n, .param .u32 m)\n{\n"
        ".reg .pred %p<400>;\n.reg .b32 %r<2000>;\n.reg .b64 %rd<2000>;\n.reg .f32 %f<4>;\n"
        "ld.param.u64 %rd0, [p0];\nld.param.u32 %r0, [n];\nld.param.u32 %r1, [m];\n"
        "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
        "mad.lo.s32 %r5, %r3, %r4, %r2;\nmov.u32 %r6, tile;\nmov.f32 %f0, 0f00000000;\n";
    known_ = {0, 1, 2, 3, 5};
    const int parts = between(1, 3);
    for (int i = 0; i < parts; ++i) {
      statement(0);
    }
    return text_ + "ret;\n}\n";
  }

 private:
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  int any() {
    return known_[static_cast<std::size_t>(between(0, static_cast<int>(known_.size()) - 1))];
  }

  /// A small number that is not negative: a known register modulo 2^k, plus a constant.
  int small(int bits) {
    const int masked = registers_++;
    const int sum = registers_++;
    line("and.b32 %r{}, %r{}, {};", masked, any(), (1 << bits) - 1);
    line("add.s32 %r{}, %r{}, {};", sum, masked, between(0, 3));
    return sum;
  }

  void statement(int depth) {
    switch (between(0, depth < 3 ? 5 : 3)) {
      case 0:
        line("fma.rn.f32 %f0, %f0, %f0, %f0;");
        break;
      case 1:
        access("global", between(0, 1) == 0);
        break;
      case 2:
        access("shared", between(0, 1) == 0);
        break;
      case 3:
        branch(depth);
        break;
      default:
        loop(depth);
        break;
    }
  }

  void body(int depth) {
    const std::vector<int> outside = known_;
    const int parts = between(1, 3);
    for (int i = 0; i < parts; ++i) {
      statement(depth);
    }
    known_ = outside;
  }

  /// At (a * x + b * y) mod 2^14 words, or without the remainder where the numbers are small.
  void access(const char* space, bool load) {
    const bool shared = space == std::string("shared");
    const int a = between(0, 3) == 0 ? between(0, 40) : 1 << between(0, 5);
    const int x = registers_++;
    const int y = registers_++;
    const int index = registers_++;
    line("mul.lo.s32 %r{}, %r{}, {};", x, between(0, 2) == 0 ? any() : 2, a);
    line("mad.lo.s32 %r{}, %r{}, {}, %r{};", y, any(), between(0, 9), x);
    line("and.b32 %r{}, %r{}, 16383;", index, y);
    const int address = registers_++;
    if (shared) {
      line("shl.b32 %r{}, %r{}, 2;", address, index);
      const int at = registers_++;
      line("add.s32 %r{}, %r{}, %r6;", at, address);
      line("{}", load ? fmt::format("ld.shared.f32 %f1, [%r{}];", at)
                      : fmt::format("st.shared.f32 [%r{}], %f0;", at));
      return;
    }
    line("mul.wide.s32 %rd{}, %r{}, 4;", address, index);
    const int at = registers_++;
    line("add.s64 %rd{}, %rd{}, %rd0;", at, address);
    line("{}", load ? fmt::format("ld.global.f32 %f1, [%rd{}];", at)
                    : fmt::format("st.global.f32 [%rd{}], %f0;", at));
  }

  void branch(int depth) {
    const int label = labels_++;
    const int predicate = predicates_++;
    static constexpr const char* kComparisons[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    line("setp.{}.s32 %p{}, %r{}, {};", kComparisons[between(0, 5)], predicate, any(),
         between(0, 20));
    line("@%p{} bra ELSE{};", predicate, label);
    body(depth + 1);
    if (between(0, 1) == 0) {
      line("bra JOIN{};", label);
      line("ELSE{}:", label);
      body(depth + 1);
      line("JOIN{}:", label);
    } else {
      line("ELSE{}:", label);
    }
  }

  /// for (i = first; i < bound; i += step), its test at the end as compilers turn it.
  void loop(int depth) {
    const int label = labels_++;
    const int i = registers_++;
    const int bound = small(between(2, 4));
    const int predicate = predicates_++;
    const int first = small(between(1, 3));
    const bool down = between(0, 3) == 0;
    line("mov.u32 %r{}, %r{};", i, down ? bound : first);
    line("setp.{}.s32 %p{}, %r{}, %r{};", down ? "le" : "ge", predicate, i, down ? first : bound);
    line("@%p{} bra DONE{};", predicate, label);
    line("LOOP{}:", label);
    known_.push_back(i);
    body(depth + 1);
    known_.pop_back();
    const int again = predicates_++;
    line("add.s32 %r{}, %r{}, {};", i, i, (down ? -1 : 1) * between(1, 3));
    line("setp.{}.s32 %p{}, %r{}, %r{};", down ? "gt" : "lt", again, i, down ? first : bound);
    line("@%p{} bra LOOP{};", again, label);
    line("DONE{}:", label);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<int> known_;  ///< Registers that hold numbers here.
  int registers_ = 10;
  int predicates_ = 0;
  int labels_ = 0;
};

}  // namespace

std::string generated_kernel(std::uint32_t seed) {
  return Generator(seed).kernel();
}

}  // namespace mansard::test
