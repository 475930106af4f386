#include "worker/closure_pool.hpp"

#include <new>
#include <utility>

namespace filch::detail {

void closure_pool::block_list::end_blocks() noexcept {
  while (size != 0) ::operator delete(blocks[--size]);
}

void closure_pool::end(block_list* all) noexcept {
  while (all != nullptr) {
    block_list* const next = all->next.load();
    all->end_blocks();
    delete all;
    all = next;
  }
}

closure_pool::block_list* closure_pool::make_list() noexcept { return new (std::nothrow) block_list; }

closure_pool::~closure_pool() {
  end(current_);
  end(further_);
  end(returned_.take_all());
}

void* closure_pool::take() noexcept {
  if (current_ == nullptr || current_->size == 0) {
    if (further_ == nullptr) {
      further_ = returned_.take_all();
      if (further_ == nullptr) return nullptr;
      further_size_ = returned_size_.exchange(0, std::memory_order_relaxed);
    }
    delete current_;
    current_ = further_;
    further_ = current_->next.load();
    current_->next.store(nullptr);
    if (further_size_ != 0) --further_size_;
  }
  return current_->blocks[--current_->size];
}

void closure_pool::put(void* block) noexcept {
  if (current_ == nullptr || current_->is_full()) {
    block_list* const made = further_size_ < most_lists ? make_list() : nullptr;
    if (made == nullptr) return ::operator delete(block);
    if (current_ != nullptr) {
      current_->next.store(further_);
      further_ = current_;
      ++further_size_;
    }
    current_ = made;
  }
  current_->blocks[current_->size++] = block;
}

void closure_pool::give_back(block_list& blocks) noexcept {
  if (returned_size_.load(std::memory_order_relaxed) >= most_lists) return end(&blocks);
  returned_size_.fetch_add(1, std::memory_order_relaxed);
  returned_.add(blocks);
}

void* shared_closure_pool::take(closure_pool*& from) noexcept {
  from = nullptr;
  // [CP1] acquire: what the owner before has left. Nobody waits here.
  if (is_owned_.exchange(true, std::memory_order_acquire)) return nullptr;
  from = &pool_;
  void* const block = pool_.take();
  is_owned_.store(false, std::memory_order_release);  // [CP1]
  return block;
}

closure_pool::blocks_on_their_way::~blocks_on_their_way() { end(list_); }

void closure_pool::blocks_on_their_way::add(void* block, closure_pool& pool) noexcept {
  if (list_ != nullptr && (to_ != &pool || list_->is_full())) {
    if (list_->size < least) {
      list_->end_blocks();
    } else {
      to_->give_back(*std::exchange(list_, nullptr));
    }
  }
  if (list_ == nullptr) list_ = make_list();
  if (list_ == nullptr) return ::operator delete(block);
  to_ = &pool;
  list_->blocks[list_->size++] = block;
}

}  // namespace filch::detail
