/* What must not compile, and the words that must say why. refused.sh compiles the file once for
 * each line "CASE(NAME): words", and once without a case, which must compile. */
#include <recsort/recsort.hpp>

#include <string>

using recsort::asc;
using recsort::at;

struct point {
  float x, y;
};
union choice {
  int number;
  float other;
};
union other_choice {
  int number;
  float other;
};
struct record {
  int number;
  long double extended;
  int *pointer;
  point position;
  float matrix[4];
  union {
    int a;
    float b;
  } either;
  std::array<short, 2> pair;
  choice named;
  point points[2];
  char names[2][4];
  int *pointers[2];
  int call();
};
struct not_trivial {
  int number;
  std::string name;
};
struct not_copied {
  int number;
  not_copied(const not_copied &other);
};
struct has_virtual {
  int number;
  virtual int call();
};
struct base {
  int first;
};
struct second_base {
  int second;
};
struct virtual_base : virtual base {
  int number;
};
struct heir : base, second_base {
};
struct other {
  int number;
};

void refused(recsort::sorter<record> &by, record *records, recsort_error &error)
{
  (void)by, (void)records, (void)error;
#if defined(LONG_DOUBLE) /* CASE(LONG_DOUBLE): a member of this type is no key */
  (void)asc(&record::extended);
#elif defined(POINTER)  /* CASE(POINTER): a pointer is no key; keep the number */
  (void)asc(&record::pointer);
#elif defined(POINTERS) /* CASE(POINTERS): a pointer is no key; keep the number */
  (void)asc(&record::pointers);
#elif defined(FUNCTION) /* CASE(FUNCTION): a function is no key; name a member */
  (void)asc(&record::call);
#elif defined(STRUCT)   /* CASE(STRUCT): a struct is no key; name a member of it */
  (void)asc(&record::position);
#elif defined(UNION)    /* CASE(UNION): a struct is no key; name a member of it */
  (void)asc(&record::either);
#elif defined(ARRAY)   /* CASE(ARRAY): an array of structs is no key; name a member of an element */
  (void)asc(&record::points);
#elif defined(STRINGS) /* CASE(STRINGS): an array of strings is no key; name one of them */
  (void)asc(&record::names);
#elif defined(BEYOND)  /* CASE(BEYOND): at<> is beyond the end of the array; the first */
  (void)asc(&record::matrix, at<4>);
#elif defined(NO_ARRAY)    /* CASE(NO_ARRAY): at<> is for arrays; leave it out */
  (void)asc(&record::number, at<0>);
#elif defined(WRONG_PATH)  /* CASE(WRONG_PATH): a path names a member of another struct */
  (void)asc(&record::position, &other::number);
#elif defined(WRONG_UNION) /* CASE(WRONG_UNION): a path names a member of another struct */
  (void)asc(&record::named, &other_choice::number);
#elif defined(                                                                                     \
    NOT_TRIVIAL) /* CASE(NOT_TRIVIAL): moved as bytes.*put the keys and an index into a struct */
  recsort::sorter<not_trivial>({asc(&not_trivial::number)}, error);
#elif defined(NOT_COPIED)   /* CASE(NOT_COPIED): moved as bytes.*no destructor or copy constructor \
                             */
  recsort::sorter<not_copied>({asc(&not_copied::number)}, error);
#elif defined(VIRTUAL)      /* CASE(VIRTUAL): moved as bytes, so it has no virtual functions */
  recsort::sorter<has_virtual>({asc(&has_virtual::number)}, error);
#elif defined(VIRTUAL_BASE) /* CASE(VIRTUAL_BASE): moved as bytes */
  recsort::sorter<virtual_base>({asc(&virtual_base::number)}, error);
#elif defined(TWO_BASES)    /* CASE(TWO_BASES): coordinates are members of one record; cast those */
  (void)recsort::distance({1, 1}, &heir::first, &heir::second);
#elif defined(OTHER_RECORD) /* CASE(OTHER_RECORD): a key names a member of another struct */
  recsort::sorter<record>({asc(&other::number)}, error);
#elif defined(OTHER_ARRAY)  /* CASE(OTHER_ARRAY): convert|conversion|no matching */
  point points[3];
  by.sort(points, error);
#elif defined(CONSTANT)     /* CASE(CONSTANT): convert|conversion|no matching */
  const record constant[1] = {};
  by.sort(constant, error);
#elif defined(COUNTS)       /* CASE(COUNTS): a number for each coordinate */
  (void)recsort::distance({1}, &record::number, &record::number);
#elif defined(INDEX)        /* CASE(INDEX): an index is uint32_t or uint64_t */
  unsigned short index[1];
  by.argsort({records, 1}, index, error);
#elif defined(COLUMN)       /* CASE(COLUMN): a column have the type of its member */
  (void)by.column(records->matrix, &record::number);
#elif defined(COLUMN_OF)    /* CASE(COLUMN_OF): a path names a member of another struct */
  (void)by.column(records->matrix, &point::x);
#elif defined(MOVED)    /* CASE(MOVED): elements are moved as bytes.*take the index of argsort */
  std::array<std::string, 1> texts;
  by.apply(texts, error);
#elif defined(GATHER)   /* CASE(GATHER): an array is moved to one of the same type */
  by.gather(records->matrix, records->pair, error);
#elif defined(NO_ERROR) /* CASE(NO_ERROR): without exceptions, a call needs a recsort_error */
  by.sort({records, 1});
#else
  by.sort({records, 1}, error);
#endif
}
