/* recsort.hpp with Microsoft's ABI, where a pointer to a member has 4 bytes, `long` has 4, and a
 * base can lie behind an empty one. msvc.sh checks that all_right returns true. */
#include <recsort/recsort.hpp>

using recsort::asc;
using recsort::at;

struct point {
  float x, y;
};
struct empty {
};
struct also_empty {
};
struct base {
  long first;
  double second;
};
struct record {
  char letter;
  long number;
  point place;
  point places[3];
  wchar_t wide;
};
struct derived : base {
};
struct behind : empty, also_empty, base {
};
struct several : point, base {
  float own;
};
struct around {
  int before;
  behind inner;
};

static_assert(sizeof(&record::number) == 4 && sizeof(long) == 4);

template <class Record> bool is_at(const recsort::key<Record> &key, std::uint64_t offset)
{
  return key.fields[0].offset == offset;
}

extern "C" bool all_right()
{
  const recsort::key<several> inherited = asc(&several::second);
  const auto mixed = recsort::dot({1, 1}, &several::second, &several::own);
  const recsort::key<behind> of_base = asc(&behind::second);
  return is_at(asc(&record::letter), 0) && is_at(asc(&record::number), 4) &&
         is_at(asc(&record::place, &point::y), 12) &&
         is_at(asc(&record::places, at<2>, &point::y), 36) &&
         is_at(asc(&record::wide), offsetof(record, wide)) &&
         is_at(asc(static_cast<long record::*>(nullptr)), RECSORT_NO_OFFSET) &&
         is_at<derived>(asc(&derived::second), 8) && is_at(inherited, 16) && is_at(mixed, 16) &&
         mixed.fields[1].offset == 24 && is_at(of_base, __builtin_offsetof(behind, second)) &&
         is_at(asc(&around::inner, &base::first),
               8 + __builtin_offsetof(behind, second) - sizeof(double)) &&
         asc(&record::number).fields[0].type == RECSORT_INT32 &&
         asc(&record::wide).fields[0].type == RECSORT_UINT16;
}

template class recsort::sorter<record>;
template class recsort::sorter<record, true>;

void use(recsort::sorter<record> &by, record (&records)[3], float (&ys)[3], recsort_error &error)
{
  std::uint32_t index[3];
  by.sort({by.column(ys, &record::place, &point::y)}, error);
  by.argsort(records, index, error);
  by.apply(ys, error);
  by.merge_to({records, records}, records, error);
  by.set_parameter("eye", {1, 2}, error);
}
