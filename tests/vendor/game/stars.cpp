#include <iostream>
#include <recsort/recsort.hpp>
#include <vector>

struct Star {
  float mag;
  int id;
};

int main()
{
  std::vector<Star> stars = {{5.5f, 1}, {2.1f, 2}, {5.5f, 3}};
  recsort::sorter<Star> by({recsort::desc(&Star::mag)});
  by.sort(stars);
  std::cout << stars[0].id << ' ' << stars[1].id << ' ' << stars[2].id << '\n';
}
