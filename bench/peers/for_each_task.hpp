// A task for each item, all of them in one group: the same for every peer whose groups take tasks from within tasks.
#pragma once

namespace filch::bench {

template <class Group, class Item, class Body>
void add_task(Group& to, const Item& item, const Body& body) {
  // oneTBB calls tasks as constants, hence the copy: the body may change its item.
  to.run([&to, &body, item] {
    Item copy = item;
    body(copy, [&](Item&& next) { add_task(to, next, body); });
  });
}

/// Calls body(item, push) for `first` and for every item that push(item) adds, each in a task of its own.
template <class Group, class Item, class Body>
void for_each_task(const Item& first, const Body& body) {
  Group all;
  add_task(all, first, body);
  all.wait();
}

}  // namespace filch::bench
