#include "vm/machine/machine_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace filch::platform::vm {
namespace {

using nlohmann::json;

/// The file that shapes take their figures from.
constexpr std::string_view generic_name = "generic";
constexpr std::string_view suffix = ".json";

/// Messages are one line, whatever the user or the file put into a name.
[[noreturn]] void reject(std::string message) {
  std::ranges::replace_if(message, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
  throw std::invalid_argument(message);
}

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

/// A value as it stands in the file; a long one is cut.
std::string shown(const json& value) {
  constexpr std::size_t most_letters = 40;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > most_letters) text = text.substr(0, most_letters) + "...";
  return text;
}

/// One object of a machine file. Each key that is asked for is checked; those that nobody asked for are misspelt.
class group {
 public:
  group(std::string file, std::string path, const json& object)
      : file_(std::move(file)), path_(std::move(path)), object_(object) {
    if (!object_.is_object()) wrong(path_.empty() ? "the file" : path_, object_, "an object, {...}");
  }

  [[nodiscard]] bool has(const std::string& key) {
    known_.insert(key);
    return object_.contains(key);
  }

  [[nodiscard]] group subgroup(const std::string& key) { return {file_, full(key), value_of(key, "an object, {...}")}; }

  /// A number from `low` to `high`.
  [[nodiscard]] double number(const std::string& key, const std::string& wanted, double low, double high) {
    const json& value = value_of(key, wanted);
    // JSON has neither infinities nor NaN, so the comparisons are enough.
    const bool fits = value.is_number() && value.get<double>() >= low && value.get<double>() <= high;
    if (!fits) wrong(full(key), value, wanted);
    return value.get<double>();
  }

  /// A second is more than anything takes, and of many of them virtual time does not overflow.
  [[nodiscard]] double nanoseconds(const std::string& key) {
    return number(key, "nanoseconds, a number from 0 to 1e9", 0, 1e9);
  }

  [[nodiscard]] by_distance distances(const std::string& key) {
    group figures = subgroup(key);
    const by_distance read{figures.nanoseconds("same_socket_ns"), figures.nanoseconds("other_socket_ns")};
    figures.finish();
    return read;
  }

  /// A whole number from `low` to `high`.
  [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t low, std::int64_t high) {
    const std::string wanted = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    const json& value = value_of(key, wanted);
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high)
                                                 : value.is_number_integer() && value.get<std::int64_t>() <= high;
    if (!fits || value.get<std::int64_t>() < low) wrong(full(key), value, wanted);
    return value.get<std::int64_t>();
  }

  [[nodiscard]] std::int64_t bytes(const std::string& key) { return whole(key, 0, std::int64_t{1} << 50); }

  [[nodiscard]] int count(const std::string& key) { return static_cast<int>(whole(key, 1, most_hardware_threads)); }

  [[nodiscard]] bool truth(const std::string& key) {
    const json& value = value_of(key, "true or false");
    if (!value.is_boolean()) wrong(full(key), value, "true or false");
    return value.get<bool>();
  }

  /// The value of an enumeration that has that name: its place among all names.
  template <class Enum>
  [[nodiscard]] Enum named(const std::string& key, const std::array<std::string_view, 2>& names) {
    const std::string wanted = json(names.front()).dump() + " or " + json(names.back()).dump();
    const json& value = value_of(key, wanted);
    const auto found = std::ranges::find_if(names, [&](std::string_view name) { return value == name; });
    if (found == names.end()) wrong(full(key), value, wanted);
    return static_cast<Enum>(found - names.begin());
  }

  /// An object of texts under any keys; it may be absent.
  [[nodiscard]] std::map<std::string, std::string> texts(const std::string& key) {
    known_.insert(key);
    std::map<std::string, std::string> read;
    if (!object_.contains(key)) return read;
    const group of_texts(file_, full(key), object_.at(key));
    for (const auto& [name, text] : of_texts.object_.items()) {
      if (!text.is_string()) wrong(of_texts.full(name), text, "a text in quotes");
      read.emplace(name, text.get<std::string>());
    }
    return read;
  }

  /// An object of nanoseconds under any keys that end with "_ns"; without that.
  [[nodiscard]] work_prices prices(const std::string& key) {
    constexpr std::string_view unit = "_ns";
    group of_prices = subgroup(key);
    work_prices read;
    for (const auto& [name, price] : of_prices.object_.items()) {
      if (!name.ends_with(unit)) of_prices.fail(of_prices.full(name) + " has no unit; let the name end with _ns");
      read.emplace(name.substr(0, name.size() - unit.size()), of_prices.nanoseconds(name));
    }
    return read;
  }

  /// To be called when every key was asked for.
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (!known_.contains(key)) {
        fail((path_.empty() ? std::string{} : path_ + " ") + "has the unknown key " + shown(key) +
             "; remove it, or use one of " + listed(known_));
      }
    }
  }

  [[noreturn]] void fail(const std::string& what) const { reject("machine file '" + file_ + "': " + what); }

 private:
  [[nodiscard]] std::string full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

  [[noreturn]] void wrong(const std::string& what, const json& value, const std::string& wanted) const {
    fail(what + " is " + shown(value) + "; give " + wanted);
  }

  [[nodiscard]] const json& value_of(const std::string& key, const std::string& wanted) {
    known_.insert(key);
    const auto found = object_.find(key);
    if (found == object_.end()) fail(full(key) + " is missing; give " + wanted);
    return *found;
  }

  std::string file_;
  std::string path_;  // "" for the whole file, "lines.load_owned" for an object inside of it
  const json& object_;
  std::set<std::string> known_;
};

void read_shape(group shape, machine_description& machine) {
  machine.sockets = shape.count("sockets");
  machine.cores_per_socket = shape.count("cores_per_socket");
  machine.threads_per_core = shape.count("threads_per_core");
  machine.core_throughput =
      shape.number("core_throughput", "a number from 1 to threads_per_core", 1, machine.threads_per_core);
  machine.clock_ghz = shape.number("clock_ghz", "gigahertz, from 0.001 to 1000", 0.001, 1000);
  shape.finish();
  const std::int64_t threads =
      std::int64_t{machine.sockets} * machine.cores_per_socket * std::int64_t{machine.threads_per_core};
  if (threads > most_hardware_threads) {
    shape.fail("shape has " + std::to_string(threads) + " hardware threads; give at most " +
               std::to_string(most_hardware_threads));
  }
}

line_costs read_lines(group lines) {
  const line_costs read{.hit_ns = lines.nanoseconds("hit_ns"),
                        .load_owned = lines.distances("load_owned"),
                        .load_shared = lines.distances("load_shared"),
                        .store_owned = lines.distances("store_owned"),
                        .store_shared = lines.distances("store_shared"),
                        .atomic_extra_ns = lines.nanoseconds("atomic_extra_ns")};
  lines.finish();
  return read;
}

memory_costs read_memory(group memory) {
  const memory_costs read{.local_ns = memory.nanoseconds("local_ns"), .remote_ns = memory.nanoseconds("remote_ns")};
  memory.finish();
  return read;
}

data_costs read_data(group data) {
  const data_costs read{.private_bytes = data.bytes("private_bytes"),
                        .shared_bytes = data.bytes("shared_bytes"),
                        .shared_cache = data.named<shared_cache_kind>("shared_cache", shared_cache_names),
                        .numa = data.named<numa_policy>("numa", numa_policy_names),
                        .private_line_ns = data.nanoseconds("private_line_ns"),
                        .shared_line_ns = data.nanoseconds("shared_line_ns"),
                        .local_memory_line_ns = data.nanoseconds("local_memory_line_ns"),
                        .remote_memory_line_ns = data.nanoseconds("remote_memory_line_ns"),
                        .memory_interval_ns = data.nanoseconds("memory_interval_ns")};
  data.finish();
  return read;
}

system_costs read_system(group system) {
  const system_costs read{.pause_ns = system.nanoseconds("pause_ns"),
                          .park_ns = system.nanoseconds("park_ns"),
                          .wake_call_ns = system.nanoseconds("wake_call_ns"),
                          .wake_latency_ns = system.nanoseconds("wake_latency_ns"),
                          .signal_call_ns = system.nanoseconds("signal_call_ns"),
                          .signal_latency_ns = system.nanoseconds("signal_latency_ns")};
  system.finish();
  return read;
}

runtime_costs read_runtime(group runtime) {
  const runtime_costs read{.spawn_ns = runtime.nanoseconds("spawn_ns")};
  runtime.finish();
  return read;
}

network_costs read_network(group network) {
  const network_costs read{.latency_ns = network.nanoseconds("latency_ns"),
                           .ns_per_byte = network.nanoseconds("ns_per_byte"),
                           .send_overhead_ns = network.nanoseconds("send_overhead_ns"),
                           .receive_overhead_ns = network.nanoseconds("receive_overhead_ns"),
                           .read_ns = network.nanoseconds("read_ns"),
                           .atomic_ns = network.nanoseconds("atomic_ns"),
                           .poll_ns = network.nanoseconds("poll_ns"),
                           .jitter = network.number("jitter", "a share, a number from 0 to 1000", 0, 1000)};
  network.finish();
  return read;
}

/// The whole file as text.
std::string contents_of(const std::filesystem::path& path) {
  const auto unreadable = [&](const std::string& reason) {
    reject("machine file '" + path.string() + "' cannot be read (" + reason +
           "); give the path of a JSON file, a name such as " + std::string(generic_name) +
           ", or a shape such as 4x12");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) unreadable("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) unreadable(std::generic_category().message(errno));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) unreadable("reading failed");
  return text;
}

/// The library keeps the last of several equal keys without a word; in a machine file that is a mistake.
class duplicate_keys {
 public:
  explicit duplicate_keys(const std::string& file) : file_(file) {}

  void see(json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key && !open_.back().insert(value.get<std::string>()).second) {
      reject("machine file '" + file_ + "': the key " + shown(value) + " is given twice; give it once");
    }
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> open_;  // keys of the objects that are open, outermost first
};

/// "line 3, column 11" of the letter that is the `number`th of the text, counted from 1.
std::string place_in(std::string_view text, std::size_t number) {
  const std::string_view before = text.substr(0, number == 0 ? 0 : number - 1);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
         std::to_string(before.size() - line_start + 1);
}

json parse(const std::string& text, const std::string& file) {
  duplicate_keys keys(file);
  // "[json.exception.parse_error.101] parse error at line 3, column 5: ...": the code means nothing to the user, and
  // the library's position is off where a number ends a line.
  const auto after = [](const std::string& message, std::string_view mark) {
    const std::size_t found = message.find(mark);
    return found == std::string::npos ? message : message.substr(found + mark.size());
  };
  try {
    return json::parse(text, [&](int /*depth*/, json::parse_event_t event, json& value) {
      keys.see(event, value);
      return true;
    });
  } catch (const json::parse_error& e) {
    reject("machine file '" + file + "' is not valid JSON at " + place_in(text, e.byte) + ": " + after(e.what(), ": ") +
           "; correct it there");
  } catch (const json::exception& e) {
    reject("machine file '" + file + "' is not valid JSON: " + after(e.what(), "] ") + "; correct it");
  }
}

machine_description read_machine(const std::filesystem::path& path) {
  const std::string file = path.string();
  const json whole = parse(contents_of(path), file);
  group top(file, "", whole);
  machine_description machine{};
  machine.name = path.stem().string();
  machine.about = top.texts("about");
  machine.sources = top.texts("sources");
  machine.calibrated = top.truth("calibrated");
  read_shape(top.subgroup("shape"), machine);
  machine.lines = read_lines(top.subgroup("lines"));
  machine.memory = read_memory(top.subgroup("memory"));
  machine.data = read_data(top.subgroup("data"));
  machine.system = read_system(top.subgroup("system"));
  machine.runtime = read_runtime(top.subgroup("runtime"));
  if (top.has("network")) machine.network = read_network(top.subgroup("network"));
  machine.work = top.prices("work");
  top.finish();
  return machine;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// The two numbers of "4x12", as texts.
std::optional<std::pair<std::string_view, std::string_view>> parts_of_shape(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const std::pair parts{text.substr(0, cross), text.substr(cross + 1)};
  if (!is_digits(parts.first) || !is_digits(parts.second)) return std::nullopt;
  return parts;
}

/// One number of a shape, of digits only.
int count_in_shape(std::string_view shape, std::string_view digits, const std::string& what) {
  int count = 0;
  const std::errc error = std::from_chars(digits.data(), digits.data() + digits.size(), count).ec;
  if (error == std::errc{} && count == 0) {
    reject("machine '" + std::string(shape) + "' has no " + what + "; give 1 or more of them, as in 4x12");
  }
  if (error != std::errc{} || count > most_hardware_threads) {
    reject("machine '" + std::string(shape) + "' has too many " + what + "; give at most " +
           std::to_string(most_hardware_threads) + " cores in all");
  }
  return count;
}

machine_description machine_of_shape(std::string_view shape, std::string_view sockets, std::string_view cores,
                                     const std::filesystem::path& folder) {
  const int socket_count = count_in_shape(shape, sockets, "sockets");
  const int core_count = count_in_shape(shape, cores, "cores per socket");
  machine_description machine = read_machine(folder / (std::string(generic_name) + std::string(suffix)));
  const std::int64_t threads = std::int64_t{socket_count} * core_count * std::int64_t{machine.threads_per_core};
  if (threads > most_hardware_threads) {
    reject("machine '" + std::string(shape) + "' has " + std::to_string(threads) + " cores; give at most " +
           std::to_string(most_hardware_threads));
  }
  machine.name = shape;
  machine.sockets = socket_count;
  machine.cores_per_socket = core_count;
  return machine;
}

}  // namespace

std::vector<std::string> machine_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    if (entry->path().extension() == suffix) names.push_back(entry->path().stem().string());
  }
  if (error) {
    reject("machine folder '" + folder.string() + "' cannot be read (" + error.message() +
           "); give the path of a machine file instead of a name");
  }
  std::ranges::sort(names);
  return names;
}

machine_description load_machine(std::string_view name_or_path_or_shape, const std::filesystem::path& folder) {
  const std::string given(name_or_path_or_shape);
  if (const auto shape = parts_of_shape(given)) return machine_of_shape(given, shape->first, shape->second, folder);
  if (given.find('/') != std::string::npos || given.ends_with(suffix)) return read_machine(given);
  const std::vector<std::string> names = machine_names(folder);
  if (!std::ranges::binary_search(names, given)) {
    reject("unknown machine '" + given + "'; use one of " + listed(names) +
           ", the path of a JSON file, or a shape such as 4x12");
  }
  return read_machine(folder / (given + std::string(suffix)));
}

machine_description scaled(const machine_description& machine, double communication_factor) {
  if (!std::isfinite(communication_factor) || communication_factor <= 0) {
    reject("communication factor '" + std::to_string(communication_factor) + "' is no scale; give a number above 0");
  }
  machine_description result = machine;
  line_costs& lines = result.lines;
  for (by_distance* const transfer : {&lines.load_owned, &lines.load_shared, &lines.store_owned, &lines.store_shared}) {
    transfer->same_socket_ns *= communication_factor;
    transfer->other_socket_ns *= communication_factor;
  }
  data_costs& data = result.data;
  system_costs& system = result.system;
  for (double* const latency :
       {&result.memory.local_ns, &result.memory.remote_ns, &data.shared_line_ns, &data.local_memory_line_ns,
        &data.remote_memory_line_ns, &data.memory_interval_ns, &system.park_ns, &system.wake_call_ns,
        &system.wake_latency_ns, &system.signal_call_ns, &system.signal_latency_ns}) {
    *latency *= communication_factor;
  }
  if (result.network) {
    network_costs& network = *result.network;
    for (double* const cost : {&network.latency_ns, &network.ns_per_byte, &network.read_ns, &network.atomic_ns}) {
      *cost *= communication_factor;
    }
  }
  return result;
}

}  // namespace filch::platform::vm
