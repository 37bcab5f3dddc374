/* recsort.hpp and recsort.cuh in one program: keys of the same names sort on both sides, and in the
 * same order. */
#include <recsort.hpp>

#include <recsort.cuh>

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cuh/device_array.h"

using recsort::asc;
using recsort::desc;

namespace
{

enum class team : char { RED = -2, GREEN = 1 };

struct position {
  float x, y;
};

struct entity {
  unsigned serial;
  position at;
  team side;
  char letter;
  char name[6];
};

struct named : entity {
};

std::vector<entity> entities()
{
  std::vector<entity> made(3000);
  for (unsigned i = 0; i < made.size(); i++) {
    std::memset((void *)&made[i], 0, sizeof made[i]);
    made[i].serial = i;
    made[i].at = {(float)(i * 7 % 5), (float)(i * 11 % 3)};
    made[i].side = i % 3 ? team::RED : team::GREEN;
    made[i].letter = (char)(i * 31);
    made[i].name[0] = (char)('a' + i % 7);
  }
  return made;
}

template <class... Keys> bool sort_alike(const char *what, const Keys &...keys)
{
  std::vector<entity> records = entities();
  device_array<entity> array(records);
  run(what, [&](void *workspace, size_t &bytes) {
    return recsort::sort_records(workspace, bytes, array.data, array.data, records.size(), stream,
                                 keys...);
  });
  recsort::sorter<entity>({keys...}).sort(records);
  if (std::memcmp(records.data(), array.read().data(), records.size() * sizeof(entity)) == 0)
    return true;
  std::printf("%s: the headers sort differently\n", what);
  return false;
}

/* Keys that only recsort.hpp has: a string, a distance, another place for NaNs, a key of a base. */
bool sorts_by_others()
{
  std::vector<entity> records = entities();
  recsort::sorter<entity>({asc(&entity::name), desc(&entity::serial)}).sort(records);
  if (records[0].name[0] != 'a' || records[0].serial != 2996) return false;
  recsort::sorter<entity>({desc(recsort::distance({0}, &entity::serial))}).sort(records);
  if (records[0].serial != 2999) return false;
  recsort::sorter<entity>({asc(&entity::at, &position::x).with_nan(RECSORT_NAN_FIRST)})
      .sort(records);
  if (records[0].at.x != 0) return false;
  recsort::sorter<named> of_base({asc(&entity::serial)});
  return true;
}

} // namespace

static_assert(!std::is_same_v<recsort::order, recsort_order>);

int main()
{
  bool good = sort_alike("a number", desc(&entity::serial));
  good = sort_alike("a letter", asc(&entity::letter)) && good;
  good = sort_alike("an enum and a letter", asc(&entity::side), desc(&entity::letter)) && good;
  good = sort_alike("members of a member", desc(&entity::at, &position::x),
                    asc(&entity::at, &position::y)) &&
         good;
  good = sorts_by_others() && good;
  std::puts(good ? "both sort alike" : "wrong");
  return !good;
}
