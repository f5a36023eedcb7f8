#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// A small writer of SVG. The same calls give the same text: attributes keep their order, and
/// coordinates are rounded to a tenth.
///
///     Svg svg(640, 480);
///     svg.style(".axis{stroke:#444}");
///     svg.line({0, 10}, {640, 10}, "axis");
///     std::string text = svg.finish();
namespace mansard::cli {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point center() const { return {x + width / 2, y + height / 2}; }
};

class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  Svg(double width, double height, std::string_view title);

  void style(std::string_view css);
  void rect(const Box& box, std::string_view css_class, double corner = 0);
  void polygon(std::span<const Point> corners, std::string_view css_class);
  /// Joins the points; the class should say `fill:none`.
  void polyline(std::span<const Point> points, std::string_view css_class);
  void line(Point a, Point b, std::string_view css_class);
  /// `title` is what a viewer shows when pointed at it.
  void circle(Point center, double radius, std::string_view css_class, std::string_view title = "");
  void text(Point at, std::string_view text, std::string_view css_class,
            Anchor anchor = Anchor::kStart);
  /// Turned by `degrees` clockwise around `at`.
  void turned_text(Point at, double degrees, std::string_view text, std::string_view css_class);
  void open_group(Point origin);  ///< What follows is relative to `origin`.
  void close_group();
  /// The document. Nothing may be added after.
  [[nodiscard]] std::string finish();

 private:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;
  void open(std::string_view element, Attributes attributes, std::string_view end);

  std::string text_;
};

/// A coordinate, rounded to a tenth: "12", "12.5", never "-0".
[[nodiscard]] std::string svg_number(double value);
/// Text with &, <, > and quotes escaped.
[[nodiscard]] std::string svg_escaped(std::string_view text);
/// About how wide a text is in a sans-serif font of that size; rather too wide than too narrow.
[[nodiscard]] double svg_text_width(std::string_view text, double size);

}  // namespace mansard::cli
