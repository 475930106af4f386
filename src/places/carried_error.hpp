// The error of a place, as the messages of collective operations carry it to all others.
#pragma once

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace filch::detail::places {

/// An error of a place that ends its part of a collective operation with an exception.
struct place_error {
  int place;
  std::string what;
};

/// The same in a message; or none. Longer texts are cut.
struct carried_error {
  int place = std::numeric_limits<int>::max();  ///< the lowest that has one
  std::array<char, 500> what{};

  void set(const place_error& error) noexcept {
    *this = {.place = error.place};
    std::copy_n(error.what.data(), std::min(error.what.size(), what.size() - 1), what.data());
  }
  /// That of the lowest place stays.
  void add(const carried_error& other) noexcept {
    if (other.place < place) *this = other;
  }
  [[nodiscard]] std::optional<place_error> get() const {
    if (place == std::numeric_limits<int>::max()) return std::nullopt;
    return place_error{place, what.data()};
  }
};

/// The text of the exception that is being handled, to be put behind "filch: place N: ".
[[nodiscard]] inline std::string text_of_handled() {
  constexpr std::string_view prefix = "filch: ";
  try {
    throw;
  } catch (const std::exception& e) {
    std::string_view what = e.what();
    if (what.starts_with(prefix)) what.remove_prefix(prefix.size());
    return std::string(what);
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace filch::detail::places
