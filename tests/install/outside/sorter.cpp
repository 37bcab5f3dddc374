// sorter.cpp - the same with recsort.hpp.
#include <recsort/recsort.hpp>

#include <iostream>
#include <vector>

struct item {
  std::int32_t price;
  char name[4];
};

int main()
{
  std::vector<item> items = {{3, "c"}, {-1, "e"}, {7, "a"}, {3, "d"}, {7, "b"}};
  recsort::sorter<item>({recsort::desc(&item::price)}).sort(items);
  for (const item &one : items)
    std::cout << one.name;
  std::cout << '\n';
}
