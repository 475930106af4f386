#include "places/mpi/launch.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "places/mpi/failure.hpp"
#include "places/mpi/polling.hpp"
#include "platform/modules.hpp"

namespace filch::detail::places {

namespace {

/// The number in a variable of the environment. Nothing: it is not set, or no number.
std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view all(text);
  int number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  if (error != std::errc{} || end != all.data() + all.size() || number < 0) return std::nullopt;
  return number;
}

/// The library's name and version, in one line: "Open MPI v4.1.4" or "MPICH 4.0.2".
std::string library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  constexpr std::string_view mpich = "MPICH Version:";
  if (text.starts_with(mpich)) {
    text.erase(0, mpich.size());
    text.erase(0, text.find_first_not_of(" \t"));
    text.insert(0, "MPICH ");
  }
  return text;
}

std::optional<launch> by_open_mpi() {
  const auto places = number_in("OMPI_COMM_WORLD_SIZE");
  if (!places) return std::nullopt;
  return launch{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", *places, number_in("OMPI_COMM_WORLD_RANK").value_or(0)};
}

// MPICH's and Intel's mpirun, and srun --mpi=pmi2.
std::optional<launch> by_pmi() {
  const auto places = number_in("PMI_SIZE");
  const auto place = number_in("PMI_RANK");
  if (!places || !place) return std::nullopt;
  return launch{"MPICH's mpirun, or one of its kind,", "PMI_SIZE", *places, *place};
}

// srun tells each program how many its step has. Without --mpi they do not know each other.
std::optional<launch> by_slurm() {
  const auto places = number_in("SLURM_STEP_NUM_TASKS");
  const bool has_pmix = std::getenv("PMIX_RANK") != nullptr;
  if (places && (has_pmix || *places > 1))
    return launch{"srun", "SLURM_STEP_NUM_TASKS", *places, number_in("SLURM_PROCID").value_or(0)};
  // Others that speak PMIx do not say how many.
  if (has_pmix) return launch{"a launcher", "PMIX_RANK", 0, number_in("PMIX_RANK").value_or(0)};
  return std::nullopt;
}

}  // namespace

std::optional<launch> find_launch() {
  // One launcher may have started a script with another in it; then the variables of both are there. The one of the same
  // kind as the library is what counts.
  const bool is_open_mpi = library().starts_with("Open MPI");
  auto found = is_open_mpi ? by_open_mpi() : by_pmi();
  if (!found) found = is_open_mpi ? by_pmi() : by_open_mpi();
  return found ? found : by_slurm();
}

session::session(const launch& by, int& argc, char**& argv) {
  // Before MPI loads modules of its own, which may be different ones at each place.
  static_cast<void>(platform::modules_at_start());
  start(argc, argv);
  check_places(by);
  // Polled from the start: places may come late.
  MPI_Request copied = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &communicator_, &copied);
  wait_for(copied);
  compare_modules();
}

session::~session() {
  MPI_Comm_free(&communicator_);
  if (!was_started_) MPI_Finalize();
}

void session::start(int& argc, char**& argv) {
  int started = 0;
  MPI_Initialized(&started);
  was_started_ = started != 0;
  if (was_started_) {
    MPI_Query_thread(&thread_level_);
  } else {
    // Debian's default one-sided operations of Open MPI crash, and have no windows across hosts. Others may be chosen.
    setenv("OMPI_MCA_osc", "sm,pt2pt", 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &thread_level_);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &place_);
  MPI_Comm_size(MPI_COMM_WORLD, &places_);
}

void session::check_places(const launch& by) {
  if (by.places != 0 && by.places != places_) {
    const std::string name = library();
    std::string remedy = by.by == "srun" ? "use another srun --mpi=... (srun --mpi=list says which there are)"
                                         : "use the mpirun of the MPI that the program was built with";
    refuse_at(by.place, "filch: " + by.by + " has started " + std::to_string(by.places) + " places (" + by.variable +
                            "), but this program was built with " + name + ", which sees " + std::to_string(places_) +
                            "; " + remedy +
                            ", or build it with the launcher's (cmake -DMPI_EXECUTABLE_SUFFIX=.openmpi or .mpich)");
  }
  if (thread_level_ < MPI_THREAD_SERIALIZED) {
    const std::string why =
        was_started_ ? "the program has begun MPI for fewer threads than filch needs; begin it by MPI_Init_thread with "
                       "MPI_THREAD_SERIALIZED or more, or leave that to filch"
                     : library() +
                           " does not let more than one thread communicate (MPI_THREAD_SERIALIZED), which filch needs; "
                           "build MPI with threads";
    refuse_at(place_, "filch: " + why);
  }
}

int session::compare_with_first(const std::string& own, std::string& first) {
  auto length = static_cast<std::uint64_t>(own.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&length, 1, MPI_UINT64_T, 0, communicator_, &request);
  wait_for(request);
  first = own;
  first.resize(length);
  MPI_Ibcast(first.data(), static_cast<int>(length), MPI_CHAR, 0, communicator_, &request);
  wait_for(request);

  int differing = own == first ? places_ : place_;
  int lowest = places_;
  MPI_Iallreduce(&differing, &lowest, 1, MPI_INT, MPI_MIN, communicator_, &request);
  wait_for(request);
  return lowest;
}

void session::compare_policies(const std::string& own) {
  std::string first;
  const int lowest = compare_with_first(own, first);
  if (lowest == places_) return;
  refuse_together(lowest != place_
                      ? ""
                      : "filch: place " + std::to_string(place_) + " has policy of places '" + own + "', and '" +
                            first +
                            "' at place 0; say the same at all places (Open MPI: mpirun -x FILCH_PLACES_POLICY)");
}

void session::compare_modules() {
  const auto& own = platform::modules_at_start();
  std::string names;
  for (const auto& m : own) names += m.name + '\n' + m.version + '\n';
  std::string first;
  const int lowest = compare_with_first(names, first);
  if (lowest == places_) return;
  std::string line;
  if (lowest == place_) {
    // Lines of place 0 that are not looked at yet.
    std::string_view rest(first);
    const auto next = [&rest] {
      const std::string one(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      return one;
    };
    std::string what = "it has fewer libraries";
    for (const auto& m : own) {
      const std::string name = next();
      const std::string version = next();
      if (name == m.name && version == m.version) continue;
      if (name == m.name) {
        what = m.name + " is of another build (" + m.version + ", not " + version + ")";
      } else {
        what = m.name + " is loaded where place 0 has " + (name.empty() ? "nothing more" : name);
      }
      break;
    }
    line = "filch: place " + std::to_string(place_) + " does not run the same program as place 0: " + what +
           "; start the same build, with the same libraries, everywhere";
  }
  refuse_together(line);
}

void session::refuse_together(const std::string& line) {
  if (!line.empty()) say(line);
  // Until the line is written nobody ends.
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator_, &request);
  wait_for(request);
  refuse("");
}

void session::refuse_at(int place, const std::string& line) {
  if (place == 0) refuse(line);
  std::this_thread::sleep_for(time_for_the_line);
  refuse("");
}

void session::refuse(const std::string& line) {
  if (!line.empty()) say(line);
  MPI_Finalize();  // also the program's: to a launcher, who exits without has crashed
  std::exit(2);
}

}  // namespace filch::detail::places
