#include "cli/views/plot/svg.hpp"

#include <catch2/catch.hpp>

#include "cli/views/plot/label_placement.hpp"
#include "cli/views/plot/scales.hpp"

namespace mansard::cli {
namespace {

TEST_CASE("coordinates are rounded to a tenth and zero has no sign") {
  CHECK(svg_number(12) == "12");
  CHECK(svg_number(12.34) == "12.3");
  CHECK(svg_number(-0.04) == "0");
}

TEST_CASE("text is escaped") {
  CHECK(svg_escaped("a < b & \"c\" > d") == "a &lt; b &amp; &quot;c&quot; &gt; d");
}

TEST_CASE("a document holds its elements in the order of the calls") {
  Svg svg(10, 20, "a & b");
  svg.line({0, 1}, {2, 3.25}, "axis");
  svg.open_group({1, 2});
  svg.circle({1, 1}, 2, "op", "x < y");
  svg.close_group();
  CHECK(
      svg.finish() ==
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"20\" viewBox=\"0 0 10 20\" "
      "role=\"img\">\n<title>a &amp; b</title>\n"
      "<line x1=\"0\" y1=\"1\" x2=\"2\" y2=\"3.3\" class=\"axis\"/>\n"
      "<g transform=\"translate(1 2)\">\n"
      "<circle cx=\"1\" cy=\"1\" r=\"2\" class=\"op\"><title>x &lt; y</title></circle>\n"
      "</g>\n</svg>\n");
}

TEST_CASE("a logarithmic scale puts equal factors at equal distances") {
  const LogScale scale{.low = 1, .high = 1000, .from = 0, .to = 300};
  CHECK(scale(1) == Approx(0).margin(1e-9));
  CHECK(scale(10) == Approx(100));
  CHECK(scale(1000) == Approx(300));
  CHECK(decades(scale) == std::vector<double>{1, 10, 100, 1000});
  CHECK(decade_text(0.1) == "0.1");
  CHECK(decade_text(1e10) == "10 G");
}

bool apart(const Box& a, const Box& b) {
  return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
}

TEST_CASE("labels of circles in one place do not cover each other and stay on the page") {
  std::vector<LabelWish> wishes(10, LabelWish{{{200, 200}, 10}, 90, 14});
  const std::vector<Disc> discs{{{200, 200}, 10}};
  const Box page{0, 0, 400, 400};
  const auto labels = place_labels(wishes, {.discs = discs}, page);
  REQUIRE(labels.size() == wishes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Box& box = labels[i].box;
    CHECK((box.x >= 0 && box.y >= 0 && box.right() <= 400 && box.bottom() <= 400));
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(apart(box, labels[j].box));
    }
  }
}

TEST_CASE("a label far from its circle has a leader from the circle's edge") {
  const std::vector<LabelWish> wishes{{{{100, 100}, 10}, 40, 14}};
  const std::vector<Box> taken{{40, 60, 130, 80}};  // around the circle
  const auto labels = place_labels(wishes, {.boxes = taken}, {0, 0, 400, 400});
  REQUIRE(labels.front().leader);
  const Segment& leader = *labels.front().leader;
  CHECK(std::hypot(leader.from.x - 100, leader.from.y - 100) == Approx(10));
}

}  // namespace
}  // namespace mansard::cli
