#include "policy/serial.hpp"

namespace filch::detail {
namespace {

class nothing final : public offer {
 public:
  void activation_ended() noexcept override {}
};

}  // namespace

std::unique_ptr<offer> serial::make_offer() const { return std::make_unique<nothing>(); }

}  // namespace filch::detail
