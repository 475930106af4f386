// Pictures of rectangles, points and captions, as SVG and as PNG. There are two of this class: by cairo, and, where that
// is absent, one that says so.
#pragma once

#include <memory>
#include <string>

namespace filch::cli {

/// Each part from 0 to 1.
struct colour {
  double red;
  double green;
  double blue;
  double opacity = 1;
};

/// Of number `i` out of `count`: from blue, by green, to red.
colour scale_colour(int i, int count);

class drawing {
 public:
  /// In points, of which SVG and PNG have one unit and two pixels. y grows downwards.
  /// Throws std::runtime_error when this program was built without cairo.
  drawing(double width, double height);
  ~drawing();
  drawing(const drawing&) = delete;
  drawing& operator=(const drawing&) = delete;

  void fill_rectangle(double x, double y, double width, double height, const colour& with);
  /// Squares around their centres; drawn when draw_points is called, all together, since pictures have thousands of
  /// them.
  void add_point(double x, double y, double size);
  void draw_points(const colour& with);
  /// Begins at x; y is the base line.
  void write_caption(double x, double y, double size, const std::string& text);

  /// The contents of such a file. Nothing is drawn afterwards. One drawing at a time exists.
  [[nodiscard]] std::string to_svg() const;
  [[nodiscard]] std::string to_png() const;

 private:
  struct canvas;
  std::unique_ptr<canvas> canvas_;
};

}  // namespace filch::cli
