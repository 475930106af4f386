// Closures that cereal can write and read may travel to other places: function objects with serialize(Archive&), or with
// save and load, which can be default-constructed. Needs cereal 1.3 (https://uscilab.github.io/cereal), header files only.
//
//     #include <cereal/types/vector.hpp>  // cereal's, for each type of containers
//
//     struct sum_up {
//       std::vector<double> values;
//       template <class Archive>
//       void serialize(Archive& archive) { archive(values); }
//       void operator()() const;
//     };
//     filch::places::async_at(1, sum_up{{1, 2, 3}});
//
// What is trivially copyable and at most 480 bytes travels as its bytes, whatever it has. A closure_codec of the program's
// own is used before this one. A closure that cannot be written or read throws what cereal throws: async_at at the caller,
// the rest as the error of the place that reads; a closure of async_any that cannot be written is run where it was made. Codecs may be
// called by a thread that is no worker: they call nothing of places.
#pragma once

#include <concepts>
#include <cstddef>
#include <istream>
#include <ostream>
#include <span>
#include <streambuf>
#include <vector>

#include <cereal/archives/binary.hpp>

#include <filch/places.hpp>

namespace filch::detail::places {

template <class F>
concept cereal_can_write_and_read =
    std::default_initializable<F> && cereal::traits::is_output_serializable<F, cereal::BinaryOutputArchive>::value &&
    cereal::traits::is_input_serializable<F, cereal::BinaryInputArchive>::value;

/// Appends to bytes.
class byte_sink final : public std::streambuf {
 public:
  explicit byte_sink(std::vector<std::byte>& to) : to_(to) {}

 private:
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
    to_.insert(to_.end(), bytes, bytes + count);
    return count;
  }
  int_type overflow(int_type c) override {
    to_.push_back(static_cast<std::byte>(traits_type::to_char_type(c)));
    return c;
  }

  std::vector<std::byte>& to_;
};

/// Reads bytes, which it does not change.
class byte_source final : public std::streambuf {
 public:
  explicit byte_source(std::span<const std::byte> from) {
    auto* const first = const_cast<char*>(reinterpret_cast<const char*>(from.data()));
    setg(first, first, first + from.size());
  }
};

}  // namespace filch::detail::places

namespace filch::places {

template <class F>
  requires detail::places::cereal_can_write_and_read<F>
struct closure_codec<F> {
  static void write(const F& f, std::vector<std::byte>& to) {
    detail::places::byte_sink sink(to);
    std::ostream out(&sink);
    cereal::BinaryOutputArchive archive(out);
    archive(f);
  }
  static F read(std::span<const std::byte> from) {
    detail::places::byte_source source(from);
    std::istream in(&source);
    cereal::BinaryInputArchive archive(in);
    F f;
    archive(f);
    return f;
  }
};

}  // namespace filch::places
