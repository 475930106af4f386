// Reductions: parallel_reduce combines the values of all iterations. Sums of floating-point numbers depend on the order
// of the additions, so elsewhere their last digits change from run to run. Here they do not: the values are combined
// along one fixed tree, whatever the number of workers and whoever helps.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>

#include <filch/filch.hpp>

namespace {

// Over an index: bounds, initial value, value of one iteration. They are added unless another function is given.
double integral_of_quarter_circle(long strips) {
  const double width = 1.0 / static_cast<double>(strips);
  return filch::parallel_reduce(0L, strips, 0.0, [=](long i) {
    const double x = (static_cast<double>(i) + 0.5) * width;
    return 4 / (1 + x * x) * width;
  });
}

// Over a range: the body adds the values of one part to what it is given, in a loop that the compiler can unroll. The
// part has the grain of the range: 1000 numbers.
double sum_of_roots(long n) {
  return filch::parallel_reduce(
      filch::blocked_range<long>(0, n, 1000), 0.0,
      [](const filch::blocked_range<long>& part, double sum) {
        for (long i = part.begin(); i != part.end(); ++i) sum += std::sqrt(static_cast<double>(i));
        return sum;
      },
      [](double a, double b) { return a + b; });
}

// What a piece of text leaves open: `)` that want a `(` on their left, and `(` that want a `)` on their right. Pieces
// are always combined with their neighbours, the left one first, so the order of the text is kept.
struct parentheses {
  long closing = 0;
  long opening = 0;
};

parentheses check(const std::string& text) {
  return filch::parallel_reduce(
      text.begin(), text.end(), parentheses{}, [](char c) { return parentheses{c == ')' ? 1 : 0, c == '(' ? 1 : 0}; },
      [](const parentheses& a, const parentheses& b) {
        const long matched = std::min(a.opening, b.closing);
        return parentheses{a.closing + b.closing - matched, a.opening - matched + b.opening};
      });
}

}  // namespace

int main() {
  filch::scheduler one({.workers = 1});
  const double pi = one.run([] { return integral_of_quarter_circle(1'000'000); });
  const double roots = one.run([] { return sum_of_roots(1'000'000); });
  std::cout << std::setprecision(17) << "pi is about " << pi << ", the sum of the roots " << roots << '\n';
  if (std::abs(pi - 3.14159265358979) > 1e-9) return 1;

  for (const int workers : {2, 3, 4}) {
    filch::scheduler some({.workers = workers});
    const bool same =
        some.run([&] { return integral_of_quarter_circle(1'000'000) == pi && sum_of_roots(1'000'000) == roots; });
    std::cout << workers << " workers: " << (same ? "the same to the last bit" : "not the same") << '\n';
    if (!same) return 1;
  }

  std::string text;
  for (int i = 0; i < 10'000; ++i) text += i % 3 == 0 ? "((a) b) " : "(c (d)) ";
  const parentheses balanced = check(text);
  const parentheses wrong = check(")" + text + "((");
  std::cout << "the text leaves " << balanced.closing + balanced.opening << " parentheses open, with three more "
            << wrong.closing + wrong.opening << '\n';
  return balanced.closing + balanced.opening == 0 && wrong.closing == 1 && wrong.opening == 2 ? 0 : 1;
}
