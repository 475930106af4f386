#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

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

void require_drawn(cairo_status_t status) {
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

// Whatever is drawn is drawn twice.
struct drawing::canvas {
  canvas(double width, double height)
      : svg(cairo_svg_surface_create_for_stream(&append, &svg_file, width, height)),
        image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(width), pixels(height))),
        pens{context(cairo_create(svg.get())), context(cairo_create(image.get()))} {
    cairo_scale(pens[1].get(), pixels_per_point, pixels_per_point);
    for (const context& pen : pens) require_drawn(cairo_status(pen.get()));
  }

  static int pixels(double points) { return std::max(1, static_cast<int>(points * pixels_per_point)); }

  template <class Draw>
  void with_each(const Draw& draw) const {
    for (const context& pen : pens) draw(pen.get());
  }

  std::string svg_file;
  surface svg;
  surface image;
  std::array<context, 2> pens;
};

drawing::drawing(double width, double height) : canvas_(std::make_unique<canvas>(width, height)) {
  fill_rectangle(0, 0, width, height, {1, 1, 1});
}

drawing::~drawing() {
  canvas_.reset();
  // Fonts that cairo, and fontconfig below it, have kept for the next drawing; no other one exists now.
  cairo_debug_reset_static_data();
  FcFini();
}

void drawing::fill_rectangle(double x, double y, double width, double height, const colour& with) {
  canvas_->with_each([&](cairo_t* pen) {
    set_colour(pen, with);
    cairo_rectangle(pen, x, y, width, height);
    cairo_fill(pen);
  });
}

void drawing::add_point(double x, double y, double size) {
  canvas_->with_each([&](cairo_t* pen) { cairo_rectangle(pen, x - size / 2, y - size / 2, size, size); });
}

void drawing::draw_points(const colour& with) {
  canvas_->with_each([&](cairo_t* pen) {
    set_colour(pen, with);
    cairo_fill(pen);
  });
}

void drawing::write_caption(double x, double y, double size, const std::string& text) {
  canvas_->with_each([&](cairo_t* pen) {
    cairo_select_font_face(pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(pen, size);
    set_colour(pen, {0, 0, 0});
    cairo_move_to(pen, x, y);
    cairo_show_text(pen, text.c_str());
  });
}

std::string drawing::to_svg() const {
  cairo_surface_finish(canvas_->svg.get());
  require_drawn(cairo_surface_status(canvas_->svg.get()));
  return canvas_->svg_file;
}

std::string drawing::to_png() const {
  std::string file;
  require_drawn(cairo_surface_write_to_png_stream(canvas_->image.get(), &append, &file));
  return file;
}

}  // namespace filch::cli
