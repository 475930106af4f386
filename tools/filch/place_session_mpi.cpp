// Where filch was built with MPI: the places that mpirun has started, or without it one.
//
// MPI begins and ends here, once, so that filch::places::run can be called again and again: it does not end what it has
// found begun.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <mpi.h>

#include "lone_farm.hpp"
#include "mpi_farm.hpp"
#include "place_session.hpp"

namespace filch::cli {
namespace {

class mpi_session final : public place_session {
 public:
  mpi_session() {
    // As filch::places::run finds out who has launched it. Otherwise it needs no MPI.
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    is_launched_ = std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
    if (!is_launched_) return;
    // Debian's default one-sided operations of Open MPI crash. Others may be chosen.
    setenv("OMPI_MCA_osc", "sm,pt2pt", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);  // filch::places::run looks what was provided
    MPI_Comm_rank(MPI_COMM_WORLD, &place_);
    MPI_Comm_size(MPI_COMM_WORLD, &places_);
    if (places_ > 1) farm_ = std::make_unique<bench::mpi_farm>();
  }
  ~mpi_session() override {
    farm_.reset();
    if (is_launched_) MPI_Finalize();
  }
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  [[nodiscard]] int place() const override { return place_; }
  [[nodiscard]] int places() const override { return places_; }
  void run(const places::options& chosen, const std::function<void()>& main) override {
    places::run(0, nullptr, chosen, [&](int, char**) { main(); });
  }
  bench::task_farm& farm() override { return *farm_; }

 private:
  bool is_launched_ = false;
  int place_ = 0;
  int places_ = 1;
  std::unique_ptr<bench::task_farm> farm_ = std::make_unique<bench::lone_farm>();
};

}  // namespace

std::unique_ptr<place_session> open_place_session() { return std::make_unique<mpi_session>(); }

}  // namespace filch::cli
