#include "cli/views/plot/svg.hpp"

#include <cmath>

#include <fmt/format.h>

namespace mansard::cli {
namespace {

std::string_view name_of(Svg::Anchor anchor) {
  switch (anchor) {
    case Svg::Anchor::kStart:
      return "start";
    case Svg::Anchor::kMiddle:
      return "middle";
    case Svg::Anchor::kEnd:
      return "end";
  }
  return "start";
}

std::string list_of(std::span<const Point> points) {
  std::string list;
  for (const Point& point : points) {
    list +=
        fmt::format("{}{},{}", list.empty() ? "" : " ", svg_number(point.x), svg_number(point.y));
  }
  return list;
}

/// Widths of characters in em, of common sans-serif fonts (DejaVu Sans, the widest of them).
double em_width(char c) {
  constexpr std::string_view kNarrow = "iljI.,:;'|![]()ft/";
  constexpr std::string_view kWide = "mwMW@%";
  if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) {
    return 0;  // a further byte of a character
  }
  if (kNarrow.find(c) != std::string_view::npos) {
    return 0.38;
  }
  return kWide.find(c) != std::string_view::npos ? 0.96 : 0.64;
}

}  // namespace

std::string svg_number(double value) {
  const double tenths = std::round(value * 10);
  const double rounded = tenths == 0 ? 0 : tenths / 10;
  return std::trunc(rounded) == rounded ? fmt::format("{:.0f}", rounded)
                                        : fmt::format("{:.1f}", rounded);
}

std::string svg_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

double svg_text_width(std::string_view text, double size) {
  double em = 0;
  for (const char c : text) {
    em += em_width(c);
  }
  return em * size;
}

Svg::Svg(double width, double height, std::string_view title) {
  const std::string w = svg_number(width);
  const std::string h = svg_number(height);
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n<title>{2}</title>\n",
      w, h, svg_escaped(title));
}

void Svg::open(std::string_view element, Attributes attributes, std::string_view end) {
  text_ += fmt::format("<{}", element);
  for (const auto& [name, value] : attributes) {
    if (!value.empty()) {
      text_ += fmt::format(" {}=\"{}\"", name, svg_escaped(value));
    }
  }
  text_ += end;
}

void Svg::style(std::string_view css) {
  text_ += fmt::format("<style>{}</style>\n", css);
}

void Svg::rect(const Box& box, std::string_view css_class, double corner) {
  open("rect",
       {{"x", svg_number(box.x)},
        {"y", svg_number(box.y)},
        {"width", svg_number(box.width)},
        {"height", svg_number(box.height)},
        {"rx", corner > 0 ? svg_number(corner) : ""},
        {"class", std::string(css_class)}},
       "/>\n");
}

void Svg::polygon(std::span<const Point> corners, std::string_view css_class) {
  open("polygon", {{"points", list_of(corners)}, {"class", std::string(css_class)}}, "/>\n");
}

void Svg::polyline(std::span<const Point> points, std::string_view css_class) {
  open("polyline", {{"points", list_of(points)}, {"class", std::string(css_class)}}, "/>\n");
}

void Svg::line(Point a, Point b, std::string_view css_class) {
  open("line",
       {{"x1", svg_number(a.x)},
        {"y1", svg_number(a.y)},
        {"x2", svg_number(b.x)},
        {"y2", svg_number(b.y)},
        {"class", std::string(css_class)}},
       "/>\n");
}

void Svg::circle(Point center, double radius, std::string_view css_class, std::string_view title) {
  open("circle",
       {{"cx", svg_number(center.x)},
        {"cy", svg_number(center.y)},
        {"r", svg_number(radius)},
        {"class", std::string(css_class)}},
       title.empty() ? "/>\n" : ">");
  if (!title.empty()) {
    text_ += fmt::format("<title>{}</title></circle>\n", svg_escaped(title));
  }
}

void Svg::text(Point at, std::string_view text, std::string_view css_class, Anchor anchor) {
  open("text",
       {{"x", svg_number(at.x)},
        {"y", svg_number(at.y)},
        {"class", std::string(css_class)},
        {"text-anchor", anchor == Anchor::kStart ? "" : std::string(name_of(anchor))}},
       ">");
  text_ += svg_escaped(text) + "</text>\n";
}

void Svg::turned_text(Point at, double degrees, std::string_view text, std::string_view css_class) {
  open("text",
       {{"transform", fmt::format("translate({} {}) rotate({})", svg_number(at.x), svg_number(at.y),
                                  svg_number(degrees))},
        {"class", std::string(css_class)}},
       ">");
  text_ += svg_escaped(text) + "</text>\n";
}

void Svg::open_group(Point origin) {
  open("g",
       {{"transform", fmt::format("translate({} {})", svg_number(origin.x), svg_number(origin.y))}},
       ">\n");
}

void Svg::close_group() {
  text_ += "</g>\n";
}

std::string Svg::finish() {
  return std::exchange(text_, {}) + "</svg>\n";
}

}  // namespace mansard::cli
