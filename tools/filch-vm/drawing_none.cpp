#include <stdexcept>
#include <string>

#include "drawing.hpp"

namespace filch::cli {

struct drawing::canvas {};

drawing::drawing(double /*width*/, double /*height*/) {
  throw std::runtime_error("this program was built without drawing; install libcairo2-dev and build it again");
}

drawing::~drawing() = default;

void drawing::fill_rectangle(double /*x*/, double /*y*/, double /*width*/, double /*height*/, const colour& /*with*/) {}
void drawing::add_point(double /*x*/, double /*y*/, double /*size*/) {}
void drawing::draw_points(const colour& /*with*/) {}
void drawing::write_caption(double /*x*/, double /*y*/, double /*size*/, const std::string& /*text*/) {}
std::string drawing::to_svg() const { return {}; }
std::string drawing::to_png() const { return {}; }

}  // namespace filch::cli
