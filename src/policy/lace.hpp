// Lace (van Dijk and van de Pol 2014): the task stack itself is the deque; its lower part is shared.
//
// As Figure 4 of the paper: the first task after all were stolen is shared at once; a thief that finds the shared part
// empty asks for more, and the owner's next push or join moves the split point to the middle of what is left (grow); an
// owner that comes down to a shared task moves it to the middle of what is not stolen (shrink). Deviations: see
// deque/split_deque.hpp; steal-half as an option, as section 3.3 of the paper sketches it.
//
// Deviation: who looks seldom offers more. An owner in a long task answers nobody, so what is private then stays where
// it is. So the first few tasks that a worker pushes when it has begun something new are all offered; a thief that
// takes the last one on offer asks for the next; and an owner that answers late offers all that it pushes, and takes
// back one by one, until it has answered fast a number of times.
//
// Deviation (`standard` alone): a theft costs its victim about a microsecond. An owner that comes sooner than that to the join
// of what it has offered, with nothing else left, would have been faster without thieves. Its next offer rests for that
// long: thieves wait, and mostly the owner takes it back. A long task is taken a microsecond later; what was before decides no more
// than that.
//
// Loops: whoever asks gets half of the oldest loop, if that is older than all private tasks. With that, with safe
// waits, with victims of the same socket first, and with thieves that take several of many tasks, this is the policy
// `standard`.
#pragma once

#include <cstdint>

#include "deque/split_deque.hpp"
#include "policy/stealing_policy.hpp"

namespace filch::detail {

class lace : public stealing_policy {
 public:
  /// How many tasks a thief takes at a time.
  enum class theft : std::uint8_t {
    one,   ///< as in the paper
    some,  ///< one; of many that have shown to be short, so many as are worth a theft
    half   ///< of those on offer
  };

  lace(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, theft takes);

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  void answer(worker& w) noexcept override;
  [[nodiscard]] bool reclaim(worker& w, slot& s) noexcept override;
  void rejoin(worker& w, slot& s) noexcept override;
  [[nodiscard]] bool can_be_asked() const noexcept override { return true; }

 protected:
  /// What an answer may put on offer.
  enum class offered_parts : std::uint8_t { all, of_loops, of_tasks, nothing };

  void answer(worker& w, offered_parts what) noexcept;
  /// Owner, attention raised for another reason. Does anybody want something, or is nothing on offer?
  [[nodiscard]] static bool is_wanted(const worker& w) noexcept;
  /// Owner. Tasks on its stack that nobody can see yet.
  [[nodiscard]] static std::uint32_t private_tasks(const worker& w) noexcept;
  /// Owner. Tasks on offer.
  [[nodiscard]] static std::uint32_t shared_tasks(const worker& w) noexcept;
  /// Owner. Puts the oldest `count` private tasks on offer.
  static void share(worker& w, std::uint32_t count) noexcept;

 private:
  void offer_tasks(worker& w) noexcept override;
  steal_result take_task(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool shows_task(const worker& victim, const lineage* only) const noexcept override;
  [[nodiscard]] std::uint32_t taken_end(const worker& victim) const noexcept override;
  void stolen_from(worker& victim) noexcept override;
  void ran(worker& w, std::uint32_t tasks, std::uint64_t ticks) noexcept override;
  [[nodiscard]] bool shows_anything(const worker& w) const noexcept;

  struct shared_part;
  /// Of so many private tasks an owner who is asked keeps half; or, where there are many, as many as each worker without
  /// work would get.
  [[nodiscard]] std::uint32_t kept_of(const worker& w, std::uint32_t tasks) const noexcept;
  [[nodiscard]] static shared_part& shared_part_of(const worker& w) noexcept;
  static void set_all_stolen(worker& w, shared_part& part, std::uint32_t head) noexcept;
  [[nodiscard]] static bool offers_all(shared_part& part, std::int64_t now_ns, std::int64_t asked_ns) noexcept;

  theft takes_;
};

}  // namespace filch::detail
