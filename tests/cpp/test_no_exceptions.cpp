/* recsort.hpp as an engine compiles it: -fno-exceptions -fno-rtti. Every error comes back in a
 * recsort_error; refused.cpp shows that a call without one does not compile. */
#include <recsort/recsort.hpp>

#include <cstdlib>

namespace
{

struct entity {
  int serial;
  float distance;
};

void expect(bool good, const char *what)
{
  if (good) return;
  std::printf("FAIL %s\n", what);
  std::exit(1);
}

} // namespace

int main()
{
  recsort_error error;
  recsort::sorter<entity> by({recsort::desc(&entity::distance)}, error);
  expect(bool(by) && error.status == RECSORT_OK, "a sorter");
  entity entities[] = {{0, 1}, {1, 3}, {2, 1}, {3, 3}, {4, 2}};
  expect(by.sort(entities, error) && error.status == RECSORT_OK, "a sort");
  const int order[] = {1, 3, 4, 0, 2};
  for (int i = 0; i < 5; i++)
    expect(entities[i].serial == order[i], "the order");
  expect(by.is_sorted(entities, error), "sorted records");
  expect(!by.sort_to({entities, 4}, {entities + 1, 4}, error), "an overlap");
  expect(error.status == RECSORT_INVALID_ARGUMENT && error.text[0] != '\0', "its error");

  recsort_options options = RECSORT_OPTIONS_INIT;
  options.plugin = "none such";
  recsort::sorter<entity> none({recsort::asc(&entity::distance)}, options, error);
  expect(!none && error.status == RECSORT_PLUGIN_ERROR, "a sorter without its plugin");
  expect(!none.sort(entities, error), "a sort by no sorter");
}
