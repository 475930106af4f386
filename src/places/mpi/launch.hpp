// Who has started this program, and how many times; and whether what it started fits together.
//
// A program that mpirun of another MPI starts runs without a complaint, as so many programs of one place each. So the
// number of places that MPI sees is compared with the number that the launcher has put into the environment.
// Closures travel as addresses inside of modules; so all places must have the same modules.
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

namespace filch::detail::places {

struct launch {
  std::string by;        ///< for messages
  std::string variable;  ///< which says how many
  int places;            ///< 0 if the launcher does not say
  int place;             ///< 0 if it does not say
};

/// What the environment says. Nothing: nobody has launched this.
[[nodiscard]] std::optional<launch> find_launch();

/// MPI, from start to end.
class session {
 public:
  /// Starts MPI, and checks that places fit together; collective. Ends the program with status 2 and one line if they do
  /// not.
  session(const launch& by, int& argc, char**& argv);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Filch's own: no message of the program gets into it.
  [[nodiscard]] MPI_Comm communicator() const noexcept { return communicator_; }
  [[nodiscard]] int place() const noexcept { return place_; }
  [[nodiscard]] int places() const noexcept { return places_; }

  /// Collective. Ends the program, as the constructor, if places steal by different protocols: they would not understand
  /// each other's messages.
  void compare_policies(const std::string& own);

  /// Ends MPI and the program, with status 2. All places do, or those that MPI does not know of
  /// each other. A line that is not empty is said first.
  [[noreturn]] void refuse(const std::string& line);
  /// All places do: place 0 says why. Launchers end all when one ends, so the others are not to be first.
  [[noreturn]] void refuse_at(int place, const std::string& line);

 private:
  void start(int& argc, char**& argv);
  void check_places(const launch& by);
  /// Collective: one place has a line to say.
  [[noreturn]] void refuse_together(const std::string& line);
  /// Collective: what place 0 has for `own`. @return the lowest place that has something else; places_: none has.
  int compare_with_first(const std::string& own, std::string& first);
  void compare_modules();

  bool was_started_ = false;  ///< by the program, before
  int thread_level_ = 0;
  int place_ = 0;
  int places_ = 1;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

}  // namespace filch::detail::places
