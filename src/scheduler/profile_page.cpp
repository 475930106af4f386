#include "scheduler/profile_page.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "scheduler/trace_file.hpp"

namespace filch::detail {
namespace {

double of(std::int64_t part, std::int64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <class... Args>
std::string text(const char* format, Args... args) {
  std::array<char, 512> line{};
  const int size = std::snprintf(line.data(), line.size(), format, args...);
  return {line.data(), std::min(static_cast<std::size_t>(std::max(size, 0)), line.size() - 1)};
}

std::string time_text(double ns) {
  if (ns < 1e3) return text("%.3g ns", ns);
  if (ns < 1e6) return text("%.3g us", ns / 1e3);
  if (ns < 1e9) return text("%.3g ms", ns / 1e6);
  return text("%.3g s", ns / 1e9);
}

/// The function that the loop is in, out of the name that the compiler has for the type of its body: what is before the
/// lambda expression. Else all of it.
std::string readable(std::string_view name) {
  const std::size_t lambda = std::min(name.find("::<lambda"), name.find("::(anonymous class)"));
  if (lambda == std::string_view::npos) {
    // clang: (lambda at FILE:LINE:COLUMN)
    const std::size_t at = name.find("(lambda at ");
    if (at == std::string_view::npos) return std::string(name);
    return std::string(name.substr(at + 11, name.find(')', at) - at - 11));
  }
  int depth = 0;
  std::size_t begin = lambda;
  for (; begin > 0; --begin) {
    const char before = name[begin - 1];
    if (before == '>' || before == ')') ++depth;
    if (before == '<' || before == '(') --depth;
    if (depth < 0 || (depth == 0 && (before == ',' || before == '='))) break;
  }
  while (begin < lambda && name[begin] == ' ') ++begin;
  std::string_view function = name.substr(begin, lambda - begin);
  if (function.starts_with("const ")) function.remove_prefix(6);  // of a lambda expression in a constant
  return std::string(function);
}

std::string parts_json(const std::map<std::string, profiled_part>& parts, bool are_loops) {
  std::string all;
  for (const auto& [name, part] : parts) {
    all += (all.empty() ? "\n  {\"name\": " : ",\n  {\"name\": ") + json_string(are_loops ? readable(name) : name);
    all += text(", \"calls\": %llu, \"iterations\": %llu, \"work_ns\": %lld, \"span_ns\": %lld}",
                static_cast<unsigned long long>(part.calls), static_cast<unsigned long long>(part.iterations),
                static_cast<long long>(part.work_ns), static_cast<long long>(part.span_ns));
  }
  return "[" + all + "]";
}

constexpr std::string_view page_begin = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>filch profile</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.8em; }
table { border-collapse: collapse; } td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd; }
td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; min-width: 6em; } th { font-weight: 600; }
.figures { display: flex; flex-wrap: wrap; gap: .8em; } .figures div { background: #f2f5f8; padding: .6em 1em; border-radius: 6px; }
.figures b { display: block; font-size: 1.3em; } .note { color: #666; } li { margin: .3em 0; }
.bar { display: flex; height: 1.3em; width: 20em; } .bar span { height: 100%; }
</style></head><body>
<script id="profile" type="application/json">
)page";

constexpr std::string_view page_end = R"page(
</script>
<script>
"use strict";
const p = JSON.parse(document.getElementById("profile").textContent);
const body = document.body;
function add(to, tag, text, attributes) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
  to.appendChild(e);
  return e;
}
function time(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  for (const [size, name] of units) if (ns >= size) return Number((ns / size).toPrecision(3)) + " " + name;
  return Number(ns.toPrecision ? ns.toPrecision(3) : ns) + " ns";
}
function number(n) { return n >= 1e5 ? n.toExponential(2) : Number(n.toPrecision(4)).toString(); }
function table(head, rows) {
  const t = add(body, "table");
  const top = add(t, "tr");
  for (const each of head) add(top, "th", each);
  for (const row of rows) {
    const r = add(t, "tr");
    for (const cell of row) add(r, "td", cell);
  }
  return t;
}
const parallelism = p.span_ns > 0 ? p.work_ns / p.span_ns : 1;
add(body, "h1", "Profile of " + p.program);
const figures = add(body, "div", undefined, {class: "figures"});
function figure(name, value) { const d = add(figures, "div", name); d.insertBefore(Object.assign(document.createElement("b"), {textContent: value}), d.firstChild); }
figure("work: all tasks, one after the other", time(p.work_ns));
figure("span: the longest chain", time(p.span_ns));
figure("parallelism: work over span", number(parallelism));
figure("tasks forked", number(p.tasks));
figure("forks in a chain (branching depth)", number(p.forks));
figure("outside of tasks", time(p.outside_ns));
add(body, "h2", "What stands out");
const list = add(body, "ul");
for (const each of p.advice) add(list, "li", each);

add(body, "h2", "Speed-up to expect");
const counts = [];
for (let n = 1; n <= 256; n *= 2) counts.push(n);
const bound = n => p.work_ns / (p.work_ns / n + p.span_ns);
const law = n => Math.min(n, parallelism);
const width = 640, height = 340, left = 50, bottom = 40;
const x = n => left + Math.log2(n) / 8 * (width - left - 20);
const y = s => height - bottom - Math.log2(Math.max(s, 1)) / 8 * (height - bottom - 20);
const ns = "http://www.w3.org/2000/svg";
const svg = document.createElementNS(ns, "svg");
svg.setAttribute("width", width); svg.setAttribute("height", height);
svg.setAttribute("role", "img"); svg.setAttribute("aria-label", "speed-up by workers");
body.appendChild(svg);
function draw(tag, attributes, text) {
  const e = document.createElementNS(ns, tag);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text !== undefined) e.textContent = text;
  svg.appendChild(e);
}
for (const n of counts) {
  draw("line", {x1: x(n), y1: y(1), x2: x(n), y2: y(256), stroke: "#eee"});
  draw("line", {x1: x(1), y1: y(n), x2: x(256), y2: y(n), stroke: "#eee"});
  draw("text", {x: x(n), y: height - bottom + 18, "text-anchor": "middle", "font-size": 12}, n);
  draw("text", {x: left - 8, y: y(n) + 4, "text-anchor": "end", "font-size": 12}, n);
}
draw("text", {x: width / 2, y: height - 6, "text-anchor": "middle", "font-size": 12}, "workers");
function line(f, colour, dash) {
  draw("polyline", {points: counts.map(n => x(n) + "," + y(f(n))).join(" "), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash});
}
line(law, "#999", "4 3");
line(bound, "#2a78b5", "");
draw("text", {x: left + 12, y: 24, "font-size": 12, fill: "#777"}, "dashed: no schedule is faster");
draw("text", {x: left + 12, y: 40, "font-size": 12, fill: "#2a78b5"}, "line: any that never idles beside work is as fast");
const predicted = p.predicted || [];
for (const each of predicted) draw("circle", {cx: x(each.workers), cy: y(each.speed_up), r: 5, fill: "#d9541e"});
if (predicted.length) draw("text", {x: left + 12, y: 56, "font-size": 12, fill: "#d9541e"}, "dots: the graph of tasks, run by filch on the virtual machine");
table(["workers", "at most", "at least, but for overheads"].concat(predicted.length ? ["simulated"] : []),
  counts.map(n => {
    const found = predicted.find(each => each.workers === n);
    return [n, number(law(n)), number(bound(n))].concat(predicted.length ? [found ? number(found.speed_up) : ""] : []);
  }));
if (!predicted.length) add(body, "p", "filch profile -- PROGRAM simulates these numbers of workers as well, and shows what real ones did.", {class: "note"});

if (p.parallel) {
  add(body, "h2", "What " + p.parallel.workers.length + " workers did, in " + time(p.parallel.elapsed_ns));
  const kinds = [["working", "#5b9f5b"], ["searching", "#e0b03c"], ["waiting", "#d9541e"], ["sleeping", "#b9c4d0"]];
  const rows = p.parallel.workers;
  const t = table(["worker", "of its time: " + kinds.map(k => k[0]).join(", ")].concat(kinds.map(k => k[0])), []);
  for (const w of rows) {
    const r = add(t, "tr");
    add(r, "td", w.name);
    const bar = add(add(r, "td"), "div", undefined, {class: "bar"});
    const all = kinds.reduce((sum, k) => sum + w[k[0] + "_ns"], 0) || 1;
    for (const [name, colour] of kinds) add(bar, "span", undefined, {style: "width:" + 100 * w[name + "_ns"] / all + "%;background:" + colour, title: name});
    for (const [name] of kinds) add(r, "td", (100 * w[name + "_ns"] / all).toFixed(1) + " %");
  }
  add(body, "h2", "Who took tasks from whom");
  table(["by \\ from"].concat(rows.map(w => w.name)), rows.map((w, i) => [w.name].concat(p.parallel.steals[i].map(number))));
  if (p.parallel.is_tail) add(body, "p", "Only the last 65,536 events of each worker are known; the figures are of that time.", {class: "note"});
}
function parts(title, all, iterations) {
  if (!all.length) return;
  add(body, "h2", title);
  all.sort((a, b) => b.work_ns - a.work_ns);
  table(["where", "calls"].concat(iterations ? ["iterations"] : [], ["work", "of all", "work per call", "parallelism"]), all.slice(0, 40).map(each =>
    [each.name, number(each.calls)].concat(iterations ? [number(each.iterations)] : [],
      [time(each.work_ns), (100 * each.work_ns / p.work_ns).toFixed(1) + " %", time(each.work_ns / each.calls), number(each.span_ns > 0 ? each.work_ns / each.span_ns : 1)])));
}
parts("Loops", p.loops, true);
parts("Named parts", p.named, false);
add(body, "p", "Measured while the program ran in its own order, on one worker. Bags and adaptive tasks count as one task each, what a reduction combines before it is shared as one iteration. Times of tasks below some nanoseconds are not exact.", {class: "note"});
</script></body></html>
)page";

struct page_closed {
  void operator()(std::FILE* f) const noexcept { static_cast<void>(std::fclose(f)); }
};

}  // namespace

std::vector<std::string> advice_on(const program_profile& profile) {
  const profiled_work& all = profile.work;
  const double work_ns = static_cast<double>(all.work_ns);
  const double parallelism = std::max(1.0, of(all.work_ns, std::max<std::int64_t>(all.span_ns, 1)));
  std::vector<std::string> lines;
  if (all.work_ns == 0) return {"No task took a measurable time."};
  if (parallelism < 2.0 * profile.workers) {
    lines.push_back(text(
        "The parallelism is %.3g: the longest chain of tasks takes %s of %s. %d workers need some times their number; "
        "make "
        "chains shorter, or do more at a time.",
        parallelism, time_text(static_cast<double>(all.span_ns)).c_str(), time_text(work_ns).c_str(), profile.workers));
  }
  if (profile.outside_ns > all.work_ns / 5) {
    const double outside = of(profile.outside_ns, profile.outside_ns + all.work_ns);
    lines.push_back(text(
        "%.0f %% of the time passes outside of tasks: no number of workers makes the program more than %.3g times as "
        "fast.",
        100 * outside, 1 / outside));
  }
  for (const auto& [name, part] : all.loops) {
    const double per_call =
        static_cast<double>(part.work_ns) / static_cast<double>(std::max<std::uint64_t>(part.calls, 1));
    const bool matters = of(part.work_ns, all.work_ns) > 0.02 || part.calls > 1000;
    const std::string where = readable(name).substr(0, 200);
    if (matters && per_call < 10'000) {
      lines.push_back(
          text("The loop in %s is too short to share: %s in each of %llu calls, and it takes some tens of microseconds "
               "to wake "
               "a worker. Put the loop around it in parallel, or put several calls together.",
               where.c_str(), time_text(per_call).c_str(), static_cast<unsigned long long>(part.calls)));
    } else if (of(part.work_ns, all.work_ns) > 0.1 && of(part.span_ns, part.work_ns) > 0.25) {
      lines.push_back(text(
          "The loop in %s has a parallelism of %.2g only: single iterations have a great part of its work (%s of %s).",
          where.c_str(), 1 / of(part.span_ns, part.work_ns),
          time_text(static_cast<double>(part.span_ns) / static_cast<double>(part.calls)).c_str(),
          time_text(per_call).c_str()));
    }
  }
  if (all.tasks > 1000) {
    const double per_task = work_ns / static_cast<double>(all.tasks);
    if (per_task < 20) {
      lines.push_back(text(
          "A task takes %s on average, about what a fork and a join take: stop forking where little is left to do.",
          time_text(per_task).c_str()));
    }
  }
  if (lines.empty()) {
    lines.push_back(text("Nothing: a parallelism of %.3g keeps %.0f workers busy for at least four fifths of the time.",
                         parallelism, std::max(1.0, parallelism / 4)));
  }
  return lines;
}

void write_profile_page(const std::string& path, const program_profile& profile) {
  const profiled_work& all = profile.work;
  std::string advice;
  for (const std::string& line : advice_on(profile)) {
    if (!advice.empty()) advice += ", ";
    advice += json_string(line);
  }
  std::string graph;
  for (const std::int64_t token : all.graph) {
    if (!graph.empty()) graph += ',';
    graph += std::to_string(token);
  }
  const std::string json =
      "{\"program\": " + json_string(profile.program) +
      text(
          ", \"workers\": %d, \"outside_ns\": %lld, \"work_ns\": %lld, \"span_ns\": %lld, \"tasks\": %llu, \"forks\": "
          "%u,\n",
          profile.workers, static_cast<long long>(profile.outside_ns), static_cast<long long>(all.work_ns),
          static_cast<long long>(all.span_ns), static_cast<unsigned long long>(all.tasks), all.forks) +
      "\"loops\": " + parts_json(all.loops, true) + ",\n\"named\": " + parts_json(all.named, false) +
      ",\n\"advice\": [" + advice + "],\n\"graph\": [" + graph + "]}";
  const std::unique_ptr<std::FILE, page_closed> f(std::fopen(path.c_str(), "we"));
  const auto write = [&](std::string_view part) {
    // A text in the page must not end its script.
    return f != nullptr && std::fwrite(part.data(), 1, part.size(), f.get()) == part.size();
  };
  std::string safe;
  for (std::size_t i = 0; i < json.size(); ++i) {
    safe += json[i];
    if (json[i] == '<' && i + 1 < json.size() && json[i + 1] == '/') safe += '\\';
  }
  if (!write(page_begin) || !write(safe) || !write(page_end) || std::fflush(f.get()) != 0) {
    throw std::runtime_error("filch: the profile '" + path + "' cannot be written: " + std::strerror(errno));
  }
}

}  // namespace filch::detail
