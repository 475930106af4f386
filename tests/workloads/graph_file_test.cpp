// Graphs from files: what is read, and what is said of files that are not graphs.
#include "graph_file.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload.hpp"

namespace filch::bench {
namespace {

/// A file for as long as it lives.
class temporary_file {
 public:
  explicit temporary_file(std::string_view text)
      : path_(std::filesystem::temp_directory_path() / ("filch_graph_" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

graph graph_of_text(std::string_view text) {
  const temporary_file file(text);
  return read_graph_file({"dfs", "file/g", "rlg/5"}, file.path());
}

std::string error_of(std::string_view text) {
  try {
    graph_of_text(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::vector<std::uint32_t>> rows_of(const graph& g) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    const auto row = g.neighbours(v);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

using row_lists = std::vector<std::vector<std::uint32_t>>;

TEST(graph_file, adjacency_graphs_become_undirected) {
  // 0 -> 1, 0 -> 2, 2 -> 0, 2 -> 2, 3 alone
  EXPECT_EQ(rows_of(graph_of_text("AdjacencyGraph\n4\n4\n0\n2\n2\n4\n1\n2\n0\n2\n")),
            (row_lists{{1, 2}, {0}, {0}, {}}));
  EXPECT_EQ(rows_of(graph_of_text("AdjacencyGraph 1 0 0")), (row_lists{{}}));
  EXPECT_EQ(rows_of(graph_of_text("AdjacencyGraph\r\n2\r\n1\r\n0\r\n1\r\n1\r\n")), (row_lists{{1}, {0}}));
}

TEST(graph_file, is_read_alike_in_all_forms) {
  // Those of docs/graphs.md.
  const row_lists path{{1}, {0, 2}, {1}};
  EXPECT_EQ(rows_of(graph_of_text("AdjacencyGraph\n3\n4\n0\n1\n3\n1\n0\n2\n1\n")), path);
  EXPECT_EQ(rows_of(graph_of_text("EdgeArray\n0 1\n1 2\n")), path);
  EXPECT_EQ(rows_of(graph_of_text("# a path\n0 1\n1 2\n")), path);
}

TEST(graph_file, lists_of_edges_may_have_comments) {
  const row_lists expected{{1}, {0, 3}, {}, {1}};
  EXPECT_EQ(rows_of(graph_of_text("0 1\n1 3\n")), expected);
  EXPECT_EQ(rows_of(graph_of_text("# a comment, 9 9\n0\t1\r\n\n% another\n3 1\n1 3")), expected);
  EXPECT_EQ(rows_of(graph_of_text("EdgeArray\n0 1\n1 3\n1 1\n")), expected);
}

TEST(graph_file, that_is_no_graph_is_told_so_with_its_line) {
  const auto says = [](const std::string& what) {
    return "dfs: size 'file/g' names a file whose line " + what + "; try dfs:rlg/5";
  };
  EXPECT_EQ(error_of(""), "dfs: size 'file/g' names a file that is empty; try dfs:rlg/5");
  EXPECT_EQ(error_of(" \r\n\n"), "dfs: size 'file/g' names a file that is empty but for white space; try dfs:rlg/5");
  EXPECT_EQ(error_of("\nWeightedAdjacencyGraph\n1\n0\n0\n"),
            says("2 begins with 'WeightedAdjacencyGraph', which is neither AdjacencyGraph, EdgeArray, nor an edge"));
  EXPECT_EQ(error_of("AdjacencyGraph\n"), says("2 ends where a number of vertices should be"));
  EXPECT_EQ(error_of("AdjacencyGraph\n0\n0\n"), says("2 says that there are no vertices"));
  EXPECT_EQ(error_of("AdjacencyGraph\n-1\n0\n"), says("2 has '-1', which is not a number of vertices"));
  EXPECT_EQ(error_of("AdjacencyGraph\n4294967296\n0\n"),
            says("2 has a number of vertices '4294967296', which is not below 50000001, one past the largest number of "
                 "vertices"));
  EXPECT_EQ(error_of("AdjacencyGraph\n50000001\n0\n"),
            says("2 has a number of vertices '50000001', which is not below 50000001, one past the largest number of "
                 "vertices"));
  EXPECT_EQ(
      error_of("AdjacencyGraph\n50000000\n18000000000000000000\n0\n"),
      says("3 promises 50000000 vertices and 18000000000000000000 neighbours, more than there are in the rest of the "
           "file"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n1\n0\n"),
            says("3 promises 2 vertices and 1 neighbours, more than there are in the rest of the file"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n2\n0000\n1\n"), says("6 ends where a vertex should be"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n2\n0\n1\n0x1\n0\n"), says("6 has '0x1', which is not a vertex"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n2\n0\n1\n1\n2\n"),
            says("7 has a vertex '2', which is not below 2, the number of vertices"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n1\n0\n2\n1\n"),
            says("5 has an offset '2', which is not below 2, one past the number of neighbours"));
  EXPECT_EQ(error_of("AdjacencyGraph\n3\n2\n0\n2\n1\n1\n0\n"),
            says("6 has offset '1' of vertex 2, which is not in ascending order from 0"));
  EXPECT_EQ(error_of("AdjacencyGraph\n2\n1\n0\n1\n1\n0\n"), says("7 has '0' after the last neighbour"));
  EXPECT_EQ(error_of("0 1\n2\n3 4\n"), says("2 has vertex '2' alone, which is no edge"));
  EXPECT_EQ(error_of("0 1\n2"), says("2 has vertex '2' alone, which is no edge"));
  EXPECT_EQ(error_of("0 1\n2 3 0.5\n"), says("2 has '0.5' after an edge"));
  EXPECT_EQ(error_of("0 1\n2 x\n"), says("2 has 'x', which is not a vertex"));
  for (const std::string vertex : {"50000000", "4294967294", "4294967295", "99999999999999999999"}) {
    EXPECT_EQ(error_of("0 " + vertex + "\n"),
              says("1 has a vertex '" + vertex + "', which is not below 50000000, the largest number of vertices"));
  }
  EXPECT_EQ(error_of("# nothing\n"), says("2 ends the file, which has no edges"));
}

TEST(graph_file, has_an_end) {
  const size_context context{"dfs", "file/g", "rlg/5"};
  const auto is_refused = testing::ThrowsMessage<std::invalid_argument>(
      "dfs: size 'file/g' names a device, a pipe or a socket, not a regular file; try dfs:rlg/5");
  EXPECT_THAT([&] { read_graph_file(context, "/dev/zero"); }, is_refused);
  const std::string pipe =
      (std::filesystem::temp_directory_path() / ("filch_pipe_" + std::to_string(getpid()))).string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { read_graph_file(context, pipe); }, is_refused);  // and does not wait for a writer
  std::filesystem::remove(pipe);
}

TEST(graph_file, may_be_named_by_a_link) {
  const temporary_file file("0 1\n");
  const std::string link = file.path() + "_link";
  std::filesystem::create_symlink(file.path(), link);
  EXPECT_EQ(rows_of(read_graph_file({"dfs", "file/g", "rlg/5"}, link)), (row_lists{{1}, {0}}));
  std::filesystem::remove(link);
}

TEST(graph_file, has_words_that_a_message_can_show) {
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of("0 1\n2 \x1b[2Jx\0y\x07\x7f\n"sv),
            "dfs: size 'file/g' names a file whose line 2 has '?[2Jx?y?\?', which is not a vertex; try dfs:rlg/5");
  EXPECT_EQ(
      error_of("\0\0\0"sv),
      "dfs: size 'file/g' names a file whose line 1 begins with '?\?\?', which is neither AdjacencyGraph, EdgeArray, "
      "nor an edge; try dfs:rlg/5");
}

TEST(graph_file, is_an_input_of_all_graph_workloads) {
  const temporary_file file("0 1\n1 2\n2 0\n4 3\n");
  for (const workload& each : workloads()) {
    const bool takes_graphs =
        each.name == "bfs" || each.name == "mis" || each.name == "matching" || each.name.starts_with("dfs");
    if (!takes_graphs) continue;
    const auto made = each.make("file/" + file.path());
    made->prepare();
    made->run(runner::serial);
    EXPECT_TRUE(made->verify()) << each.name << ": " << made->result();
    EXPECT_THAT([&] { each.make("file//no/such/file"); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(
                    ": size 'file//no/such/file' names a file that does not exist or cannot be read; "
                    "try " +
                    each.name + ":")));
    EXPECT_THAT([&] { each.make("file//"); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("names a folder, not a file; try ")));
  }
}

}  // namespace
}  // namespace filch::bench
