#include "platform/modules.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace filch::platform {
namespace {

void function_of_the_program() {}

const void* address_of_function(void (*f)()) {
  const void* address;
  static_assert(sizeof address == sizeof f);
  std::memcpy(&address, &f, sizeof address);
  return address;
}

TEST(modules, the_program_is_first_and_all_have_versions) {
  const auto& all = modules_at_start();
  ASSERT_GE(all.size(), 2U);  // at least libc
  EXPECT_EQ(all.front().name, "the program");
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].id, i);
    EXPECT_FALSE(all[i].version.empty()) << all[i].name;
    EXPECT_LT(all[i].begin, all[i].end);
  }
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const module& m) { return m.name.starts_with("libc.so"); }));
}

TEST(modules, a_function_of_the_program_is_found_again) {
  const void* const address = address_of_function(&function_of_the_program);
  const auto where = locate(address);
  ASSERT_TRUE(where);
  EXPECT_EQ(where->module, 0U);
  // What the dynamic linker says, which does not ask this code.
  Dl_info said;
  ASSERT_NE(dladdr(address, &said), 0);
  EXPECT_EQ(where->offset,
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(said.dli_fbase));
  EXPECT_EQ(address_of(*where), address);
}

TEST(modules, a_function_of_a_shared_library_is_found_again) {
  // A function that no sanitizer replaces by its own.
  const void* const address = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  ASSERT_NE(address, nullptr);
  const auto where = locate(address);
  ASSERT_TRUE(where);
  ASSERT_LT(where->module, modules_at_start().size());
  EXPECT_TRUE(modules_at_start()[where->module].name.starts_with("libc.so"));
  EXPECT_EQ(address_of(*where), address);
}

TEST(modules, one_that_is_loaded_later_is_found_and_keeps_its_name) {
  const std::size_t at_start = modules_at_start().size();
  // Part of the C library's package, and nothing that this program has loaded.
  void* const library = dlopen("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const void* const address = dlsym(library, "__ctype_get_mb_cur_max");
  ASSERT_NE(address, nullptr);
  const auto where = locate(address);
  ASSERT_TRUE(where);
  EXPECT_GE(where->module, at_start);  // no position in the list: another process may have loaded others before it
  EXPECT_EQ(address_of(*where), address);
  EXPECT_EQ(locate(address)->module, where->module);
  EXPECT_EQ(modules_at_start().size(), at_start);
}

TEST(modules, what_belongs_to_none_is_not_found) {
  const int on_stack = 0;
  EXPECT_FALSE(locate(&on_stack));
  EXPECT_FALSE(locate(nullptr));
  EXPECT_EQ(address_of({1U << 30U, 0}), nullptr);
  EXPECT_EQ(address_of({0, UINT64_MAX}), nullptr);
}

}  // namespace
}  // namespace filch::platform
