#include "worker/piece_pool.hpp"

#include <algorithm>
#include <bit>

namespace filch::detail {
namespace {

constexpr std::uint32_t pieces_per_page = 64;

std::uint64_t offered_word(std::uint64_t version) noexcept {
  return task_state{.status = task_status::offered, .id = version}.pack();
}

std::uint64_t bit_of(const piece& p) noexcept { return std::uint64_t{1} << (p.index % pieces_per_page); }

}  // namespace

struct piece_pool::page {
  alignas(64) platform::atomic<std::uint64_t> offered;
  platform::atomic<std::uint64_t> used;
  piece pieces[pieces_per_page];
};

piece_pool::piece_pool()
    : memory_(most_pages * sizeof(page)),
      // Zeroed pages are records that nobody uses: no part of one is read before it is written, but for its state.
      pages_(static_cast<page*>(memory_.data())) {}

// [PP6] seq_cst: as [PP2] and [PP4], for the first piece of a new page. No exploration catches this: it needs 65
// pieces.
std::uint32_t piece_pool::pages() const noexcept { return count_.load(std::memory_order_seq_cst); }

const platform::atomic<std::uint64_t>& piece_pool::used_of(std::uint32_t index) const noexcept {
  return pages_[index].used;
}

piece* piece_pool::get() noexcept {
  for (std::uint32_t i = first_free_; i < most_pages; ++i) {
    page& in = pages_[i];
    const std::uint64_t used = in.used.load(std::memory_order_relaxed);  // the owner's own
    if (~used == 0) continue;
    first_free_ = i;
    if (i >= pages()) count_.store(i + 1, std::memory_order_seq_cst);  // [PP6]
    const auto which = static_cast<std::uint32_t>(std::countr_one(used));
    piece& p = in.pieces[which];
    p.index = i * pieces_per_page + which;
    in.used.store(used | bit_of(p), std::memory_order_relaxed);  // [PP5]
    return &p;
  }
  first_free_ = most_pages;
  return nullptr;
}

void piece_pool::set_up(piece& p, task_function run, std::uint64_t share_number, void* whole) noexcept {
  p.run.store(run);
  p.number.store(share_number, std::memory_order_relaxed);  // [PP11], [PP13]
  p.whole.store(whole, std::memory_order_relaxed);          // [PP13]
}

bool piece_pool::has_run(const piece& p) noexcept {
  // [PP14] acquire: what the piece did, as [TS3].
  return task_state::unpack(p.state.load(std::memory_order_acquire)).finished();
}

bool piece_pool::take(seen_piece seen, std::uint64_t taken) noexcept {
  // [PP12] release: the thief itself, for whoever follows the piece to it: it may be a guest that has just attached, of
  // whom the reader knows by this word only; and the activation's entry, as [TS1]. The piece was acquired by [PP3].
  // No exploration catches this: explorations do not look for races on the table of the team. ThreadSanitizer does, in
  // the stress tests.
  return seen.p->state.compare_exchange_strong(seen.word, taken, std::memory_order_release, std::memory_order_relaxed);
}

void piece_pool::put(piece& p) noexcept {
  conceal(p);
  const std::uint32_t i = p.index / pieces_per_page;
  auto& used = pages_[i].used;
  used.store(used.load(std::memory_order_relaxed) & ~bit_of(p), std::memory_order_relaxed);  // [PP5]
  if (i < first_free_) first_free_ = i;
  std::uint32_t end = count_.load(std::memory_order_relaxed);  // the owner's own
  if (i + 1 != end) return;
  while (end > 1 && used_of(end - 1).load(std::memory_order_relaxed) == 0) --end;  // [PP5]
  // [PP6] relaxed: who still looks at the pages that are gone finds nothing.
  if (end <= i) count_.store(end, std::memory_order_relaxed);
}

void piece_pool::conceal(const piece& p) noexcept {
  auto& offered = pages_[p.index / pieces_per_page].offered;
  const std::uint64_t before = offered.load(std::memory_order_relaxed);  // the owner's own
  // relaxed: a bit too many does no harm, its record's state tells.
  if ((before & bit_of(p)) != 0) offered.store(before & ~bit_of(p), std::memory_order_relaxed);
}

void piece_pool::offer(piece& p, piece_start start, std::uint64_t version) noexcept {
  p.starts[version & 1].store(start);
  // [PP1] release: what the piece consists of, for [PP3].
  p.state.store(offered_word(version), std::memory_order_release);
  auto& offered = pages_[p.index / pieces_per_page].offered;
  // [PP2] seq_cst: the piece, for whoever sees the bit ([PP4]); and before the look for sleepers ([SL1]) in the one
  // total order, so that a worker which falls asleep ([SL3]) is seen, or sees the bit.
  offered.store(offered.load(std::memory_order_relaxed) | bit_of(p), std::memory_order_seq_cst);
  show_from(p.index / pieces_per_page);
}

seen_piece piece_pool::on_offer(piece& p) noexcept {
  // [PP7] relaxed: the owner's own piece; when it was taken, [TS3] gets what was done.
  const std::uint64_t word = p.state.load(std::memory_order_relaxed);
  if (task_state::unpack(word).status != task_status::offered) return {};
  return {&p, word};
}

bool piece_pool::take_back(seen_piece seen) noexcept {
  // [PP8] relaxed: that it is one of owner and thief who has the piece follows from the word alone.
  if (!seen.p->state.compare_exchange_strong(seen.word, task_state{.status = task_status::reclaimed}.pack(),
                                             std::memory_order_relaxed, std::memory_order_relaxed)) {
    return false;
  }
  conceal(*seen.p);
  return true;
}

bool piece_pool::shorten(seen_piece seen, piece_start to, std::uint64_t version) noexcept {
  seen.p->starts[version & 1].store(to);
  // [PP9] release: the new start, for [PP3].
  return seen.p->state.compare_exchange_strong(seen.word, offered_word(version), std::memory_order_release,
                                               std::memory_order_relaxed);
}

unsigned piece_pool::count_offered(unsigned limit) noexcept {
  unsigned count = 0;
  for (std::uint32_t i = 0; i < pages() && count < limit; ++i) {
    page& in = pages_[i];
    std::uint64_t offered = in.offered.load(std::memory_order_relaxed);  // the owner's own
    for (std::uint64_t left = offered; left != 0 && count < limit; left &= left - 1) {
      piece& p = in.pieces[std::countr_zero(left)];
      if (on_offer(p)) {
        ++count;
      } else {
        conceal(p);
      }
    }
  }
  return count;
}

template <class Visit>
void piece_pool::visit_offered(std::uint32_t index, Visit&& visit) const {
  page& in = pages_[index];
  // [PP4] seq_cst: after [SL3] in the one total order; pairs with [PP2].
  for (std::uint64_t left = in.offered.load(std::memory_order_seq_cst); left != 0; left &= left - 1) {
    piece& p = in.pieces[std::countr_zero(left)];
    // [PP3] acquire: what the piece consists of, from [PP1] or [PP9], for whoever takes it.
    const std::uint64_t word = p.state.load(std::memory_order_acquire);
    if (task_state::unpack(word).status != task_status::offered) continue;
    // [PP13] relaxed: should this be the number of a later use of the record, taking it fails.
    visit(seen_piece{&p, word}, p.number.load(std::memory_order_relaxed));
  }
}

seen_piece piece_pool::oldest(std::uint64_t above) const noexcept {
  const std::uint32_t end = pages();
  const std::uint32_t begin = first_offered_.load(std::memory_order_relaxed);  // [PP15]
  std::uint32_t empty_until = begin;
  seen_piece found;
  for (std::uint32_t i = begin; i < end && !found; ++i) {
    bool empty = true;
    std::uint64_t version = 0;
    visit_offered(i, [&](seen_piece seen, std::uint64_t number) {
      empty = false;
      const std::uint64_t its_version = task_state::unpack(seen.word).id;
      if (!began_after(number, above) || (found && began_after(its_version, version))) return;
      found = seen;
      version = its_version;
    });
    if (empty && empty_until == i) ++empty_until;
  }
  // Never behind the last page: nothing is known of pages to come.
  if (empty_until != begin && empty_until < end)
    first_offered_.store(empty_until, std::memory_order_relaxed);  // [PP15]
  return found;
}

bool piece_pool::something_offered(std::uint64_t above) const noexcept {
  const std::uint32_t end = pages();
  for (std::uint32_t i = 0; i < end; ++i) {
    bool found = false;
    visit_offered(i, [&](seen_piece /*seen*/, std::uint64_t number) { found = found || began_after(number, above); });
    if (!found) continue;
    show_from(i);
    return true;
  }
  return false;
}

void piece_pool::show_from(std::uint32_t index) const noexcept {
  // [PP15] relaxed: a hint. With a wrong one searches fail, until the next last look before a sleep, which relies on no
  // hint, puts it right.
  if (first_offered_.load(std::memory_order_relaxed) > index) first_offered_.store(index, std::memory_order_relaxed);
}

std::vector<seen_piece> piece_pool::all_of(std::uint64_t share_number) const {
  std::vector<seen_piece> found;
  const std::uint32_t end = pages();
  for (std::uint32_t i = 0; i < end; ++i) {
    visit_offered(i, [&](seen_piece seen, std::uint64_t number) {
      if (number == share_number) found.push_back(seen);
    });
  }
  std::sort(found.begin(), found.end(), [](seen_piece a, seen_piece b) {
    return began_after(task_state::unpack(b.word).id, task_state::unpack(a.word).id);
  });
  return found;
}

bool piece_pool::is_taken(std::uint32_t index, std::uint64_t bits, std::uint64_t above, lineage& who) const noexcept {
  const piece& p = pages_[index].pieces[std::countr_zero(bits)];
  // [PP10] acquire: the activation's entry, as [TS7].
  const std::uint64_t word = p.state.load(std::memory_order_acquire);
  const task_state state = task_state::unpack(word);
  if (state.status != task_status::taken) return false;
  // [PP11] relaxed: should this be the number of a later use of the record, then the piece that the state told of has
  // ended, and nothing that was made in it is left to be taken.
  if (!began_after(p.number.load(std::memory_order_relaxed), above)) return false;
  who = {state.thief, state.id};
  return true;
}

}  // namespace filch::detail
