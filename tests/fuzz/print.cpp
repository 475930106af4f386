#include <string>

#include <filch/combinations.hpp>

#include "program.hpp"

namespace filch::fuzz {
namespace {

std::string number(int n) { return std::to_string(n); }
std::string named(char letter, int id) {
  std::string name = number(id);
  name.insert(name.begin(), letter);
  return name;
}

class printer {
 public:
  std::string text;

  void line(int depth, const std::string& words) {
    text += std::string(2 * static_cast<std::size_t>(depth), ' ') + words + "\n";
  }

  void print_block(const block& statements, int depth, const std::string& i) {
    for (const node& n : statements) print(n, depth, i);
  }

  /// The statements as the body of a lambda that ends what `before` begins.
  void print_lambda(const std::string& before, const block& statements, int depth, const std::string& i,
                    const std::string& after) {
    if (statements.empty()) return line(depth, before + " {}" + after);
    line(depth, before + " {");
    print_block(statements, depth + 1, i);
    line(depth, "}" + after);
  }

  void print(const node& n, int d, const std::string& i) {
    const std::string id = number(n.id);
    const std::string own = named('i', n.id);
    switch (n.what) {
      case kind::work:
        return line(
            d, n.flag ? "{ const blocking here; work(" + number(n.count) + "); }" : "work(" + number(n.count) + ");");
      case kind::toss:
        return line(d, (n.count == -1 ? "" : "if (" + i + " == " + number(n.count) + ") ") + "throw " + id + ";");
      case kind::fork:
        return print_fork(n, d, i);
      case kind::group:
        return print_group(n, d, i);
      case kind::make:
        return line(d, named('g', n.group) + ".emplace();");
      case kind::run:
        return print_run(n, d, i);
      case kind::wait:
        return line(d, group_of(n) + "wait();");
      case kind::cancel:
        return line(d, group_of(n) + "cancel();");
      case kind::loop:
        return print_loop(n, d, own);
      case kind::reduce:
        print_lambda("parallel_reduce(0, " + number(n.count) + ", affine{}, [&](int " + own + ")", n.parts[0], d, own,
                     ", compose, " + (has_weights(n) ? weights_in_words(n) : number(n.grain)) + ");");
        return;
      case kind::scan:
        return line(d, "scan_" + number(n.count) + "_numbers(" + number(n.grain) + ");");
      case kind::sort:
        return line(d, std::string(n.flag ? "stable_sort_" : "sort_") + number(n.count) + "_numbers();");
      case kind::bag:
        line(d, "std::vector<int> items" + id + "(" + number(n.count) + ", " + number(n.chain) +
                    ");  // links that follow");
        line(d, "for_each_dynamic(items" + id + ".begin(), items" + id + ".end(), [&](int links, feeder<int>& more) {");
        print_block(n.parts[0], d + 1, "number");
        if (n.chain != 0) line(d + 1, "if (links > 0) more.push(links - 1), more.push(0);");
        return line(d, "}, sharing{bag_kind(" + number(n.way) + "), " + number(n.grain) + "});");
      case kind::adaptive:
        line(d,
             "adaptive(task_of_items(" + number(n.count) + ", " + number(n.chain) + ", [&](int links, auto& more) {");
        print_block(n.parts[0], d + 1, "number");
        if (n.chain != 0) line(d + 1, "if (links > 0) more.push(links - 1), more.push(0);");
        return line(
            d, "}), {.budget = " + number(n.grain) + ", .end = termination::" + (n.flag ? "counted" : "join") + "});");
      case kind::lock:
        line(d, "{");
        line(d + 1, "const std::lock_guard hold(mutex" + number(n.count) + ");");
        print_block(n.parts[0], d + 1, i);
        return line(d, "}");
      case kind::attempt:
        line(d, "try {");
        print_block(n.parts[0], d + 1, i);
        return line(d, "} catch (int) {}");
      case kind::guard:
        line(d, "{");
        print_lambda("const at_exit guard" + id + "([&]", n.parts[1], d + 1, i, ");");
        print_block(n.parts[0], d + 1, i);
        return line(d, "}");
      case kind::enter:
        return print_lambda("scheduler" + number(n.way) + ".run([&]", n.parts[0], d, i, ");");
      case kind::guests:
        return print_guests(n, d, own);
      case kind::recurse:
        return print_recursion(n, d);
      case kind::futures:
        return print_futures(n, d, i);
      case kind::pipe:
        return print_pipe(n, d, own);
      case kind::graph:
        return print_graph(n, d, own);
    }
  }

 private:
  static std::string group_of(const node& n) { return named('g', n.group) + "_."; }

  void print_fork(const node& n, int d, const std::string& i) {
    if (n.count != 0) {
      line(d, "{");
      line(++d, "std::unique_lock hold(mutex" + number(n.count) + ", std::defer_lock);");
    }
    const std::string hints = has_hints(n) ? "work{" + number(n.hint / 8) + ", " + number(n.hint % 8) + "}, " : "";
    line(d, n.flag ? "parallel_invoke(" : "fork_join(" + hints);
    for (std::size_t k = 0; k < n.parts.size(); ++k) {
      const char* const after = k + 1 == n.parts.size() ? ");" : ",";
      if (k == 0 && n.count != 0) {
        line(d + 1, "[&] {");
        print_block(n.parts[k], d + 2, i);
        line(d + 2, "hold.lock();");
        line(d + 1, std::string("}") + after);
      } else {
        print_lambda("[&]", n.parts[k], d + 1, i, after);
      }
    }
    if (n.count != 0) line(d - 1, "}");
  }

  void print_group(const node& n, int d, const std::string& i) {
    const std::string name = named('g', n.id);
    const std::string total = number(static_cast<int>(total_of(n)));
    line(d, "{");
    switch (place(n.way)) {
      case place::stack:
      case place::misused:
        line(d + 1, "task_group " + name + "_(" + total + ".0);");
        break;
      case place::late:
        line(d + 1, "std::optional<task_group> " + name + ";  // below, " + name + "_ is *" + name +
                        ", if it is there; its total: " + total);
        break;
      case place::heap:
      case place::shared:
        line(d + 1, "const auto " + name + " = std::make_unique<task_group>(" + total + ".0);  task_group& " + name +
                        "_ = *" + name + ";");
    }
    print_block(n.parts[0], d + 1, i);
    line(d, "}");
  }

  void print_run(const node& n, int d, const std::string& i) {
    const std::string capture = closure(n.way) == closure::plain   ? "[=]"
                                : closure(n.way) == closure::large ? "[=, large]"
                                                                   : "[=, small]";
    const std::string work = n.hint != 0 ? ", " + number(n.hint) : "";
    if (n.parts.size() == 1) return print_lambda(group_of(n) + "run(" + capture, n.parts[0], d, i, work + ");");
    line(d, "{");
    print_lambda("const on_copy copied([=]", n.parts[1], d + 1, i, ");  // its copy constructor calls that");
    const std::string kind_of = closure(n.way) == closure::copying ? "[=, copied]" : "[=, copied, move_may_throw]";
    print_lambda("const auto task = " + kind_of, n.parts[0], d + 1, i, ";");
    line(d + 1, group_of(n) + "run(task" + work + ");");
    line(d, "}");
  }

  static std::string weights_in_words(const node& n) { return "weights(sums_of(i -> i % " + number(n.hint + 1) + "))"; }

  void print_loop(const node& n, int d, const std::string& own) {
    const std::string how = has_weights(n) ? weights_in_words(n)
                                           : "splitting{loop_kind(" + number(n.way) + ") /* " +
                                                 (n.way == 0 ? "inherited" : std::string(name_of(loop_kind(n.way)))) +
                                                 " */, " + number(n.grain) + "}";
    switch (index(n.chain)) {
      case index::ints:
        return print_lambda("parallel_for(0, " + number(n.count) + ", [&](int " + own + ")", n.parts[0], d, own,
                            ", " + how + ");");
      case index::sizes:
        return print_lambda(
            "parallel_for(std::size_t{0}, std::size_t{" + number(n.count) + "}, [&](std::size_t " + own + ")",
            n.parts[0], d, own, ", " + how + ");");
      case index::range:
        line(d, "parallel_for(blocked_range<int>(0, " + number(n.count) + ", " + number(n.grain) +
                    "), [&](const auto& part) {");
        print_lambda("for (int " + own + " = part.begin(); " + own + " != part.end(); ++" + own + ")", n.parts[0],
                     d + 1, own, "");
        return line(d, "}, " + how + ");");
      case index::steps:
        return print_lambda("parallel_for(0, " + number(3 * n.count) + ", 3, [&](int " + own + ")", n.parts[0], d,
                            own + " / 3", ", " + how + ");");
    }
  }

  void print_guests(const node& n, int d, const std::string& own) {
    line(d, "{");
    line(d + 1, "std::vector<std::jthread> guests;");
    const std::string begin = "for (int " + own + " = 0; " + own + " != " + number(n.count) + "; ++" + own +
                              ") guests.emplace_back([&, " + own + "]";
    if (n.flag) {
      print_lambda(begin, n.parts[0], d + 1, own, ");");
    } else {
      print_lambda(begin + " { scheduler" + number(n.way) + ".run([&]", n.parts[0], d + 1, own, "); });");
    }
    line(d, "}");
  }

  void print_futures(const node& n, int d, const std::string& i) {
    line(d, "{");
    std::string waits;
    std::string gets;
    std::string all;
    for (std::size_t k = 0; k < n.parts.size(); ++k) {
      const std::string name = named('f', n.id) + "_" + std::to_string(k);
      const std::string before = named('f', n.id) + "_" + std::to_string(k - 1);
      const bool follows = waiting(n.way) == waiting::chain && k != 0;
      print_lambda("const future<> " + name + " = " +
                       (follows ? before + ".then(" : "scheduler" + number(n.grain) + ".submit(") + "[&]",
                   n.parts[k], d + 1, i, ");");
      waits.insert(n.flag ? 0 : waits.size(), name + ".wait();  ");
      gets += name + ".get();  ";
      all += (all.empty() ? "" : ", ") + name;
    }
    switch (waiting(n.way)) {
      case waiting::each:
        line(d + 1, waits);
        break;
      case waiting::all:
        line(d + 1, "when_all(std::vector{" + all + "}).wait();");
        break;
      case waiting::chain:
        line(d + 1, named('f', n.id) + "_" + std::to_string(n.parts.size() - 1) + ".wait();");
    }
    line(d + 1, gets);
    line(d, "}");
  }

  static std::string stage_in_words(order o) {
    return o == order::parallel ? "parallel" : o == order::serial ? "serial" : "serial_in_order";
  }

  void print_pipe(const node& n, int d, const std::string& own) {
    const auto [first, second] = orders_of(n);
    line(d, "pipeline(" + number(n.grain) + ", numbers_below(" + number(n.count) + "),");
    print_lambda("    " + stage_in_words(first) + "([&](int " + own + ")", n.parts[0], d, own, "),");
    line(d, "    " + stage_in_words(second) + "([] {}));");
  }

  void print_graph(const node& n, int d, const std::string& own) {
    const std::string g = named('g', n.id);
    line(d, "{");
    line(d + 1,
         "task_graph " + g + ";  // of those up to 8 before it each has one in " + number(n.grain) + " to wait for");
    print_lambda("for (int " + own + " = 0; " + own + " != " + number(n.count) + "; ++" + own + ") " + g + ".add([&, " +
                     own + "]",
                 n.parts[0], d + 1, own, ", before(" + own + "));");
    line(d + 1, "for (int k = 0; k != " + number(n.chain) + "; ++k) " + g + ".run();");
    line(d, "}");
  }

  void print_recursion(const node& n, int d) {
    const std::string f = named('f', n.id);
    line(d, "const auto " + f + " = [&](const auto& self, int depth) -> void {");
    print_block(n.parts[0], d + 1, "depth");
    line(d + 1, "if (depth == 0) return;");
    switch (shape(n.way)) {
      case shape::forks:
        line(d + 1, "fork_join([&] { self(self, depth - 1); }, [] {});");
        break;
      case shape::groups:
        line(d + 1, "task_group g;");
        line(d + 1, "g.run([&] { self(self, depth - 1); });  g.run([] {});  g.wait();");
        break;
      case shape::heap_groups:
        line(d + 1, "const auto g = std::make_unique<task_group>();");
        line(d + 1, "g->run([&] { self(self, depth - 1); });  g->run([] {});  g->wait();");
        break;
      case shape::loops:
        line(d + 1, "parallel_for(0, 2, [&](int k) { if (k == 0) self(self, depth - 1); });");
    }
    line(d, "};");
    line(d, f + "(" + f + ", " + number(n.count) + ");");
  }
};

std::string initializer(const options& o) {
  std::string text = "{.workers = " + number(o.workers) + ", .policy = \"" + o.policy + "\", .join = \"" + o.join +
                     "\", .loop = \"" + o.loop + "\"";
  if (o.steal_half) text += ", .steal_half = true";
  if (o.push_half) text += ", .push_half = true";
  if (o.deal_interval_ns) text += ", .deal_interval_ns = " + std::to_string(*o.deal_interval_ns);
  if (o.interrupt_after_ns) text += ", .interrupt_after_ns = " + std::to_string(*o.interrupt_after_ns);
  if (o.stack_bytes != options{}.stack_bytes) text += ", .stack_bytes = " + std::to_string(o.stack_bytes);
  return text + "}";
}

}  // namespace

std::string print(const program& p) {
  printer out;
  out.line(0, "// seed " + std::to_string(p.seed));
  for (std::size_t k = 0; k < p.schedulers.size(); ++k) {
    out.line(0, "scheduler scheduler" + std::to_string(k) + "(" + initializer(p.schedulers[k]) + ");");
  }
  out.print_lambda("scheduler0.run([&]", p.body, 0, "0", ");");
  return out.text;
}

}  // namespace filch::fuzz
