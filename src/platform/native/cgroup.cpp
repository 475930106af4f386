#include "platform/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace filch::platform {
namespace {

namespace fs = std::filesystem;

/// Where one hierarchy is mounted, and which of its directories is the mount's own root.
struct mount {
  fs::path point;
  fs::path root;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

bool lists(const std::string& names, const std::string& wanted) {
  const auto all = split(names, ',');
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

/// Finds the mount of the cpu controller (version 1) or of the unified hierarchy (version 2) in mountinfo.
mount find_mount(const fs::path& root, bool version_2) {
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (version_2 ? after[0] == "cgroup2" : after[0] == "cgroup" && lists(after[2], "cpu")) {
      return {before[4], before[3]};
    }
  }
  return {};
}

/// The process's directory in the hierarchy, from /proc/self/cgroup: "0::/path" or "4:cpu,cpuacct:/path".
fs::path own_path(const fs::path& root, bool version_2) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : lists(controllers, "cpu")) return line.substr(second + 1);
  }
  return {};
}

/// Processors granted by one directory; 0: no limit.
double granted(const fs::path& directory, bool version_2) {
  double quota = 0;
  double period = 0;
  if (version_2) {
    std::ifstream(directory / "cpu.max") >> quota >> period;  // "max 100000" leaves both 0
  } else {
    std::ifstream(directory / "cpu.cfs_quota_us") >> quota;  // -1: no limit
    std::ifstream(directory / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

double least_of(double a, double b) { return a == 0 || (b != 0 && b < a) ? b : a; }

double quota_of(const fs::path& root, bool version_2) {
  const mount where = find_mount(root, version_2);
  const fs::path own = own_path(root, version_2);
  if (where.point.empty() || own.empty()) return 0;
  // In a container the mount may show a part of the hierarchy only.
  fs::path inside = own.lexically_relative(where.root);
  if (inside.empty() || *inside.begin() == "..") inside = ".";
  double quota = granted(root / where.point.relative_path(), version_2);
  fs::path directory = root / where.point.relative_path();
  for (const auto& part : inside) {
    if (part == ".") continue;
    directory /= part;
    quota = least_of(quota, granted(directory, version_2));
  }
  return quota;
}

}  // namespace

double cgroup_quota(const std::filesystem::path& root) { return least_of(quota_of(root, false), quota_of(root, true)); }

}  // namespace filch::platform
