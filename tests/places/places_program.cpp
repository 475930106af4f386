// One place of a job of the tests; places_test.py starts it.
//
//   places_program check [rma]   the network and the load boards; prints "checked by P places" at place 0
//   places_program end HOW       through places::run(); the last place ends as HOW says: returns, throws, exits, exits_3,
//                                is_killed, has_child, which exits, or takes no part in what the others do: is_missing_in_finish, is_missing_in_reduction,
//                                is_alone_in_finish, is_alone_in_reduction. Place 0 prints "after the last barrier" when run() has returned.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/places.hpp>

#include "places/mpi/boards.hpp"
#include "places/mpi/launch.hpp"
#include "places/mpi/mpi_network.hpp"
#include "places/mpi/polling.hpp"
#include "places/mpi/rma_board.hpp"
#include "places/mpi/shared_board.hpp"
#include "places/mpi/sharers.hpp"

namespace {

using namespace filch::detail::places;

int this_place = 0;

void expect(bool is_true, const std::string& what) {
  if (is_true) return;
  std::fprintf(stderr, "place %d: not true: %s\n", this_place, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Looks until it is true, and fails if that takes too long for a lively job.
template <class IsTrue, class Meanwhile>
void await(const std::string& what, const IsTrue& is_true, const Meanwhile& meanwhile) {
  const auto start = std::chrono::steady_clock::now();
  poll_until(is_true, [&] {
    expect(std::chrono::steady_clock::now() - start < std::chrono::seconds(40), what + ", in 40 s");
    return meanwhile();
  });
}

// ---- The network: what arrives is what was sent, all of it, in order.

constexpr std::size_t longest = std::size_t{1} << 20U;

/// What message `number` from one place to another is, by formula.
struct expected {
  std::size_t length;
  std::size_t start;  ///< in the pattern
  message_kind kind;
  std::uint8_t channel;
  std::uint32_t finish;

  expected(int from, int to, int number) {
    std::seed_seq seed{from, to, number};
    std::minstd_rand random(seed);
    // Of each length about as many as of twice that, but fewer of the longest, which take time.
    const auto bits = static_cast<std::size_t>(std::uniform_int_distribution<>(0, number % 8 == 0 ? 20 : 13)(random));
    length = number % 16 == 1 ? 0 : std::uniform_int_distribution<std::size_t>(0, std::size_t{1} << bits)(random);
    if (number == 8) length = longest;
    start = std::uniform_int_distribution<std::size_t>(0, 4095)(random);
    kind = static_cast<message_kind>(random() % 15);
    channel = static_cast<std::uint8_t>(random());
    finish = static_cast<std::uint32_t>(random());
  }
};

std::vector<std::byte> pattern_bytes() {
  std::vector<std::byte> bytes(longest + 4096);
  std::mt19937_64 random(42);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

void check_messages(mpi_network& net) {
  const int places = net.places();
  const int me = net.place();
  const int each = std::max(20, 4000 / (places * places));
  const std::vector<std::byte> pattern = pattern_bytes();
  std::vector<int> sent(static_cast<std::size_t>(places));
  std::vector<int> received(static_cast<std::size_t>(places));
  std::minstd_rand random(static_cast<unsigned>(me));
  int left_to_send = each * places;
  int left_to_receive = each * places;
  message m;
  await(
      "all messages arrive", [&] { return left_to_send == 0 && left_to_receive == 0; },
      [&] {
        bool any = false;
        for (int burst = static_cast<int>(random() % 8); burst > 0 && left_to_send > 0; --burst) {
          const int to = static_cast<int>(random() % static_cast<unsigned>(places));
          int& number = sent[static_cast<std::size_t>(to)];
          if (number == each) continue;
          const expected e(me, to, number++);
          message out;
          out.kind = e.kind;
          out.channel = e.channel;
          out.finish = e.finish;
          const auto first = pattern.begin() + static_cast<std::ptrdiff_t>(e.start);
          out.contents.assign(first, first + static_cast<std::ptrdiff_t>(e.length));
          net.send(to, std::move(out));
          --left_to_send;
          any = true;
        }
        while (net.receive(m)) {
          any = true;
          --left_to_receive;
          expect(m.from >= 0 && m.from < places, "a message says who has sent it");
          const expected e(m.from, me, received[static_cast<std::size_t>(m.from)]++);
          expect(m.kind == e.kind && m.channel == e.channel && m.finish == e.finish,
                 "messages of a place come in order");
          expect(m.contents.size() == e.length, "a message is as long as it was");
          expect(m.contents.empty() || std::memcmp(m.contents.data(), &pattern[e.start], e.length) == 0,
                 "a message is what was sent");
        }
        return any;
      });
  expect(std::all_of(received.begin(), received.end(), [&](int n) { return n == each; }), "no message is lost");
}

message empty(message_kind kind) {
  message m;
  m.kind = kind;
  return m;
}

/// For tests only: the network itself has none.
void barrier(mpi_network& net, MPI_Comm beside, const std::function<void(const message&)>& receive) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(beside, &request);
  message m;
  await(
      "all places come", [&] { return is_complete(request); },
      [&] {
        if (!receive || !net.receive(m)) return false;
        receive(m);
        return true;
      });
}

void check_receipts(mpi_network& net, MPI_Comm beside) {
  const int next = (net.place() + 1) % net.places();
  const receipt early = net.send_with_receipt(next, empty(message_kind::steal));
  for (int i = 0; i < 200; ++i) expect(!net.has_arrived(early), "what nobody has received has not arrived");
  barrier(net, beside, nullptr);
  for (int i = 0; i < 200; ++i) expect(!net.has_arrived(early), "what nobody has received has not arrived");
  barrier(net, beside, nullptr);
  int received = 0;
  const auto receive = [&] {
    message m;
    const bool found = net.receive(m);
    if (found) ++received;
    return found;
  };
  await("a receipt comes", [&] { return net.has_arrived(early); }, receive);
  // Of each second one nobody asks whether it has arrived.
  for (int i = 0; i < 100; ++i) {
    const receipt r = net.send_with_receipt(next, empty(message_kind::steal));
    if (i % 2 == 0) await("a receipt comes", [&] { return net.has_arrived(r); }, receive);
  }
  await("messages with receipts arrive", [&] { return received == 101; }, receive);
}

// ---- Load boards.

void check_loads(mpi_network& net, MPI_Comm beside) {
  const auto handle = [&](const message& m) { expect(net.board().handle(m), "only the board has sent anything"); };
  const auto receive = [&] {
    message m;
    if (!net.receive(m)) return false;
    handle(m);
    return true;
  };
  for (const int base : {100, 200, load_board::hunting}) {
    net.board().publish(base == load_board::hunting ? base : base + net.place());
    // What was published may take a moment.
    for (int place = 0; place < net.places(); ++place) {
      const int wanted = base == load_board::hunting ? base : base + place;
      await("a load is read", [&] { return net.board().read(place) == wanted; }, receive);
    }
    barrier(net, beside, handle);
  }
}

void check_own_lock(mpi_network& net) {
  const auto nothing = [&] {
    message m;
    return net.receive(m);
  };
  std::optional<bool> has;
  const auto asks = [&] { return (has = net.board().try_lock(net.place())).has_value(); };
  for (int i = 0; i < 3; ++i) {
    await("the lock's answer comes", asks, nothing);
    expect(*has, "a free lock is taken");
    await("the lock's answer comes", asks, nothing);
    expect(!*has, "a taken lock is not taken");
    net.board().unlock(net.place());
  }
}

/// Baseline stealing with nothing to steal: each thief takes a victim's lock, shows itself, and waits for an answer. If two
/// thieves had a lock at once one would never be answered, or two would count as one.
void check_thieves(mpi_network& net, MPI_Comm beside) {
  constexpr int rounds = 20;
  std::minstd_rand random(static_cast<unsigned>(net.place()) + 1);
  enum { chooses, asks, waits, has_ended } state = chooses;
  int victim = 0;
  int answers = 0;
  std::int64_t answered = 0;
  const auto take = [&](const message& m) {
    if (net.board().handle(m)) return;
    expect(m.kind == message_kind::no_tasks && state == waits && m.from == victim,
           "the victim answers its thief, once");
    net.board().unlock(victim);
    state = ++answers == rounds ? has_ended : chooses;
  };
  const auto turn = [&] {
    message m;
    bool any = net.receive(m);
    if (any) take(m);
    if (const int thief = net.board().thief(); thief != load_board::nobody) {
      expect(thief >= 0 && thief < net.places() && thief != net.place(), "a thief is another place");
      // Before the answer, after which the next may come.
      net.board().clear_thief();
      net.send(thief, empty(message_kind::no_tasks));
      ++answered;
      any = true;
    }
    if (state == chooses) {
      // Often the same, so that thieves meet.
      victim = static_cast<int>(random() % 2 == 0 ? 0 : random() % static_cast<unsigned>(net.places()));
      if (victim != net.place()) state = asks;
    } else if (state == asks) {
      if (random() % 8 == 0) {
        state = chooses;  // forgets the question, as a hunt does when tasks have come
      } else if (const auto has = net.board().try_lock(victim)) {
        if (*has) net.board().set_thief(victim);
        state = *has ? waits : chooses;
        any = true;
      }
    }
    return any;
  };
  if (net.places() > 1) await("all thieves are answered", [&] { return state == has_ended; }, turn);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(beside, &request);
  await("all thieves are answered", [&] { return is_complete(request); }, turn);
  std::int64_t sum = 0;
  MPI_Iallreduce(&answered, &sum, 1, MPI_INT64_T, MPI_SUM, beside, &request);
  await("all say how many", [&] { return is_complete(request); }, turn);
  expect(net.places() == 1 || sum == std::int64_t{rounds} * net.places(), "as many answers as questions");
}

void check_board(session& all, MPI_Comm beside, std::unique_ptr<mpi_board> board) {
  mpi_network net(all.communicator(), std::move(board));
  check_loads(net, beside);
  check_own_lock(net);
  barrier(net, beside, [&](const message& m) { expect(net.board().handle(m), "only the board has sent anything"); });
  check_thieves(net, beside);
  net.finish();
}

int check(int argc, char** argv) {
  const auto by = find_launch();
  if (!by) {
    std::fputs("check needs mpirun\n", stderr);
    return 2;
  }
  session all(*by, argc, argv);
  this_place = all.place();
  MPI_Comm beside = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &beside, &request);
  wait_for(request);
  {
    mpi_network net(all.communicator(), nullptr);
    check_messages(net);
    barrier(net, beside, nullptr);
    check_receipts(net, beside);
    barrier(net, beside, nullptr);
    // What nobody receives is no harm.
    for (int i = 0; i < 3; ++i) net.send((all.place() + 1) % all.places(), empty(message_kind::steal));
    net.finish();
  }
  check_board(all, beside, nullptr);
  auto shared = shared_board::make(all.communicator());
  expect(shared != nullptr, "places on one host share memory");
  check_board(all, beside, std::move(shared));
  if (argc > 2 && std::string_view(argv[2]) == "rma")
    check_board(all, beside, std::make_unique<rma_board>(all.communicator()));
  auto chosen = make_mpi_board(all);
  expect(dynamic_cast<shared_board*>(chosen.get()) != nullptr, "places on one host share memory without being told to");
  if (all.place() == 0) std::printf("checked by %d places\n", all.places());
  MPI_Comm_free(&beside);
  return 0;
}

// Of each place a line: by how many its processors are shared, and how many workers it has.
int say_workers(int argc, char** argv) {
  int sharers = 1;
  if (const auto by = find_launch()) {
    session all(*by, argc, argv);
    sharers = places_on_these_processors(all.communicator());
    return filch::places::run(argc, argv, {}, [sharers](int, char**) {
      std::printf("%d sharers, %d workers\n", sharers, filch::places::workers());
    });
  }
  return 2;
}

bool child_exits() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int end_as(std::string_view how) {
  int started = 0;
  MPI_Initialized(&started);
  int place = 0;
  int places = 1;
  if (started != 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    MPI_Comm_size(MPI_COMM_WORLD, &places);
  }
  if (place == 0) {
    std::printf("%d places, MPI is %s\n", places, started != 0 ? "running" : "not running");
    std::fflush(stdout);
  }
  const bool is_last = place == places - 1;
  const std::string part = is_last ? "is_alone_in_" : "is_missing_in_";  // what has this place take part
  if (how == part + "finish") filch::places::finish_spmd([] { filch::places::async_any([] {}); });
  if (how == part + "reduction") static_cast<void>(filch::places::all_reduce(1, std::plus<>()));
  if (how == "throws_in_finish") {
    filch::places::finish_spmd([is_last] {
      if (is_last) throw std::runtime_error("has thrown on purpose");
    });
  }
  if (!is_last || how == "returns" || how.starts_with("is_alone_in") || how.starts_with("is_missing_in")) return 0;
  // The others are waiting by then.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (how == "throws") throw std::runtime_error("has thrown on purpose");
  if (how == "has_child") return child_exits() ? 0 : 1;
  if (how == "exits") std::exit(0);
  if (how == "exits_3") std::exit(3);
  std::raise(SIGKILL);
  return 0;
}

/// MPI is the program's, and for one thread.
int begin_for_one_thread(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  const int result =
      filch::places::run(argc, argv, {}, [](int, char**) { std::printf("%d places\n", filch::places::count()); });
  MPI_Finalize();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "check") return check(argc, argv);
  if (what == "workers") return say_workers(argc, argv);
  if (what == "begun") return begin_for_one_thread(argc, argv);
  if (what != "end" || argc < 3) {
    std::fprintf(stderr, "usage: %s check | workers | begun | end HOW\n", argv[0]);
    return 2;
  }
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool is_first = rank == nullptr || std::string_view(rank) == "0";
  const std::string_view how = argv[2];
  const int result = filch::places::run(argc, argv, {}, [how](int, char**) { return end_as(how); });
  if (is_first) std::puts("after the last barrier");
  return result;
}
