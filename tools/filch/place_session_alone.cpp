// Where filch was built without MPI: one place.
#include "lone_farm.hpp"
#include "place_session.hpp"

namespace filch::cli {
namespace {

class alone final : public place_session {
 public:
  [[nodiscard]] int place() const override { return 0; }
  [[nodiscard]] int places() const override { return 1; }
  void run(const places::options& chosen, const std::function<void()>& main) override {
    places::run_alone(chosen, [&] {
      main();
      return 0;
    });
  }
  bench::task_farm& farm() override { return farm_; }

 private:
  bench::lone_farm farm_;
};

}  // namespace

std::unique_ptr<place_session> open_place_session() { return std::make_unique<alone>(); }

}  // namespace filch::cli
