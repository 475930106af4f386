#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include "drawing.hpp"

namespace filch::cli {

namespace {

constexpr double pixels_per_point = 2;

struct end_surface {
  void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
};
struct end_context {
  void operator()(cairo_t* c) const { cairo_destroy(c); }
};
using surface = std::unique_ptr<cairo_surface_t, end_surface>;
using context = std::unique_ptr<cairo_t, end_context>;

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw std::runtime_error(fmt::format("cannot draw: {}", cairo_status_to_string(status)));
}

cairo_status_t append(void* to, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void set_colour(cairo_t* c, const colour& with) {
  cairo_set_source_rgba(c, with.red, with.green, with.blue, with.opacity);
}

}  // namespace

// What is drawn is recorded, and played to whatever kind of file is asked for.
struct drawing::canvas {
  canvas(double its_width, double its_height) : width(its_width), height(its_height) {
    const cairo_rectangle_t all{0, 0, width, height};
    recorded.reset(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, &all));
    pen.reset(cairo_create(recorded.get()));
    check(cairo_status(pen.get()));
  }

  void play_to(cairo_surface_t* to, double scale) const {
    const context target(cairo_create(to));
    cairo_scale(target.get(), scale, scale);
    cairo_set_source_surface(target.get(), recorded.get(), 0, 0);
    cairo_paint(target.get());
    check(cairo_status(target.get()));
  }

  double width;
  double height;
  surface recorded;
  context pen;
};

drawing::drawing(double width, double height) : canvas_(std::make_unique<canvas>(width, height)) {
  fill_rectangle(0, 0, width, height, {1, 1, 1});
}

drawing::~drawing() = default;

void drawing::fill_rectangle(double x, double y, double width, double height, const colour& with) {
  cairo_t* const pen = canvas_->pen.get();
  set_colour(pen, with);
  cairo_rectangle(pen, x, y, width, height);
  cairo_fill(pen);
}

void drawing::add_point(double x, double y, double size) {
  cairo_rectangle(canvas_->pen.get(), x - size / 2, y - size / 2, size, size);
}

void drawing::draw_points(const colour& with) {
  set_colour(canvas_->pen.get(), with);
  cairo_fill(canvas_->pen.get());
}

void drawing::write_caption(double x, double y, double size, const std::string& text) {
  cairo_t* const pen = canvas_->pen.get();
  cairo_select_font_face(pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(pen, size);
  set_colour(pen, {0, 0, 0});
  cairo_move_to(pen, x, y);
  cairo_show_text(pen, text.c_str());
}

std::string drawing::to_svg() const {
  std::string file;
  const surface svg(cairo_svg_surface_create_for_stream(&append, &file, canvas_->width, canvas_->height));
  canvas_->play_to(svg.get(), 1);
  cairo_surface_finish(svg.get());
  check(cairo_surface_status(svg.get()));
  return file;
}

std::string drawing::to_png() const {
  const auto pixels = [](double points) { return std::max(1, static_cast<int>(points * pixels_per_point)); };
  const surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(canvas_->width), pixels(canvas_->height)));
  canvas_->play_to(image.get(), pixels_per_point);
  std::string file;
  check(cairo_surface_write_to_png_stream(image.get(), &append, &file));
  return file;
}

}  // namespace filch::cli
