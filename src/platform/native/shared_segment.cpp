#include "platform/shared_segment.hpp"

#include <array>
#include <random>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace filch::platform {

namespace {

std::string name_of(const shared_segment::key& k) { return "filch-" + std::to_string(k.number); }

}  // namespace

shared_segment::shared_segment(std::size_t bytes) noexcept : bytes_(bytes) {
  std::random_device random;
  key_.process = getpid();
  key_.number = (std::uint64_t{random()} << 32U) | random();
  file_ = memfd_create(name_of(key_).c_str(), MFD_CLOEXEC);
  key_.file = file_;
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0) map();
}

shared_segment::shared_segment(const key& of, std::size_t bytes) noexcept : bytes_(bytes), key_(of) {
  const std::string path = "/proc/" + std::to_string(of.process) + "/fd/" + std::to_string(of.file);
  // Looked at before it is opened: elsewhere it is a file of somebody else.
  std::array<char, 256> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  const std::string_view found(target.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
  if (!found.starts_with("/memfd:" + name_of(of) + ' ')) return;
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ >= 0) map();
}

shared_segment::~shared_segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
}

void shared_segment::map() noexcept {
  void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (at != MAP_FAILED) data_ = at;
}

}  // namespace filch::platform
