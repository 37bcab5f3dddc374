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
};
struct not_trivial {
  int number;
  std::string name;
};
struct base {
  int first;
};
struct not_standard : base {
  int second;
};
struct other {
  int number;
};

void refused(recsort::sorter<record> &by, record *records, recsort_error &error)
{
  (void)by, (void)records, (void)error;
#if defined(LONG_DOUBLE) /* CASE(LONG_DOUBLE): a member of this type is no key */
  (void)asc(&record::extended);
#elif defined(POINTER)      /* CASE(POINTER): a member of this type is no key */
  (void)asc(&record::pointer);
#elif defined(STRUCT)       /* CASE(STRUCT): a struct is no key; name a member of it */
  (void)asc(&record::position);
#elif defined(UNION)        /* CASE(UNION): a struct is no key; name a member of it */
  (void)asc(&record::either);
#elif defined(ARRAY)        /* CASE(ARRAY): of arrays, only those of char */
  (void)asc(&record::matrix);
#elif defined(BYTES)        /* CASE(BYTES): of arrays, only those of char */
  (void)recsort::bytes(&record::matrix);
#elif defined(STD_ARRAY)    /* CASE(STD_ARRAY): of arrays, only those of char */
  (void)asc(&record::pair);
#elif defined(BEYOND)       /* CASE(BEYOND): at<> is beyond the end of the array */
  (void)asc(&record::matrix, at<4>);
#elif defined(NO_ARRAY)     /* CASE(NO_ARRAY): at<> is for arrays */
  (void)asc(&record::number, at<0>);
#elif defined(WRONG_PATH)   /* CASE(WRONG_PATH): a path names a member of another struct */
  (void)asc(&record::position, &other::number);
#elif defined(WRONG_UNION)  /* CASE(WRONG_UNION): a path names a member of another struct */
  (void)asc(&record::named, &other_choice::number);
#elif defined(NOT_TRIVIAL)  /* CASE(NOT_TRIVIAL): a record must be trivially copyable */
  recsort::sorter<not_trivial>({asc(&not_trivial::number)}, error);
#elif defined(NOT_STANDARD) /* CASE(NOT_STANDARD): must be standard layout */
  recsort::sorter<not_standard>({asc(&not_standard::second)}, error);
#elif defined(OTHER_RECORD) /* CASE(OTHER_RECORD): no matching */
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
#elif defined(MOVED)        /* CASE(MOVED): elements are moved as bytes */
  std::array<std::string, 1> texts;
  by.apply(texts, error);
#elif defined(GATHER)       /* CASE(GATHER): an array is moved to one of the same type */
  by.gather(records->matrix, records->pair, error);
#elif defined(NO_ERROR)     /* CASE(NO_ERROR): without exceptions, a call needs a recsort_error */
  by.sort({records, 1});
#else
  by.sort({records, 1}, error);
#endif
}
