// Three questions about the same text, asked at the same time: parallel_invoke runs callables for what they do. Each
// writes its answer to a place of its own; when the call returns, all have been given.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>

#include <filch/filch.hpp>

int main() {
  std::string text;
  for (int i = 0; i != 20'000; ++i) text += "the thief takes the oldest task, the owner the newest; ";

  std::ptrdiff_t words = 0;
  std::size_t commas = 0;
  char last = '\0';
  filch::parallel_invoke([&] { words = std::count(text.begin(), text.end(), ' '); },
                         [&] { commas = static_cast<std::size_t>(std::ranges::count(text, ',')); },
                         [&] { last = *std::ranges::max_element(text); });

  std::cout << words << " words, " << commas << " commas, last letter of the alphabet '" << last << "'\n";
  return words == 200'000 && commas == 20'000 && last == 'w' ? 0 : 1;
}
