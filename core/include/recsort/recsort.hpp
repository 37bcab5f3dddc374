/* recsort.hpp - stable sorting of arrays of structs, by pointers to their members. C++17, header
 * only: it calls recsort.h, so a program links the library as a C program does.
 *
 *   recsort::sorter<Entity> by({recsort::desc(&Entity::distance), recsort::asc(&Entity::team)});
 *   by.sort(entities); // a std::vector, std::array, std::span, C array or {pointer, count}
 *
 * What the compiler checks: a record is standard layout and trivially copyable, each key is a
 * member of the record, its type has an order, and an index lies in its array. Offsets and sizes
 * are the compiler's own, so they cannot drift from the struct.
 *
 * Errors: a call that fails throws recsort::error, with the library's text. If its last argument is
 * a recsort_error, it throws nothing: error.status is then RECSORT_OK, or says what went wrong.
 * With -fno-exceptions each call needs that argument; without it the call does not compile.
 *
 * A sort allocates what recsort_sort says and nothing else. Making a sorter takes a few small
 * arrays from operator new besides, and frees them.
 */
#ifndef RECSORT_RECSORT_HPP
#define RECSORT_RECSORT_HPP

#include "recsort/recsort.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace recsort
{

/* ---- Errors ------------------------------------------------------------------------------- */

#ifdef __cpp_exceptions
class error : public std::runtime_error
{
public:
  explicit error(const recsort_error &details) : std::runtime_error(details.text), details_(details)
  {
  }
  recsort_status status() const noexcept
  {
    return details_.status;
  }
  const recsort_error &details() const noexcept
  {
    return details_;
  }

private:
  recsort_error details_;
};
#endif

/* Where an error goes: into a recsort_error, or, if a call leaves this argument out, it is thrown.
 */
class on_error
{
public:
#ifdef __cpp_exceptions
  on_error() = default;
#endif
  on_error(recsort_error &error) noexcept : given_(&error)
  {
  }

  /* Calls `call` with a recsort_error; true if it returns RECSORT_OK. */
  template <class Call> bool operator()(const Call &call) const
  {
    recsort_error own;
    recsort_error &told = given_ != nullptr ? *given_ : own;
    const recsort_status status = call(&told);
    if (status == RECSORT_OK) {
      told.status = RECSORT_OK;
      told.text[0] = '\0';
      return true;
    }
#ifdef __cpp_exceptions
    if (given_ == nullptr) throw error(told);
#endif
    return false;
  }

private:
  recsort_error *given_ = nullptr;
};

namespace detail
{

template <class> inline constexpr bool no = false;

/* What a call takes if it is given no recsort_error. */
template <class Record> on_error thrown()
{
#ifdef __cpp_exceptions
  return {};
#else
  static_assert(no<Record>, "recsort: without exceptions, a call needs a recsort_error");
  recsort_error none{};
  return none;
#endif
}

} // namespace detail

/* ---- Arrays ------------------------------------------------------------------------------- */

/* An array that belongs to someone else. Anything that has std::data and std::size becomes one, and
 * so does {pointer, count}. */
template <class Element> class view
{
public:
  constexpr view(Element *data, std::size_t size) noexcept : data_(data), size_(size)
  {
  }
  template <class Array,
            class = std::enable_if_t<std::is_convertible_v<
                std::remove_pointer_t<decltype(std::data(std::declval<Array &>()))> (*)[],
                Element (*)[]>>>
  constexpr view(Array &&array) noexcept : data_(std::data(array)), size_(std::size(array))
  {
  }
  constexpr Element *data() const noexcept
  {
    return data_;
  }
  constexpr std::size_t size() const noexcept
  {
    return size_;
  }

private:
  Element *data_;
  std::size_t size_;
};

/* ---- Keys --------------------------------------------------------------------------------- */

/* A member of a record that has a value of its own. */
template <class Record> struct field {
  std::uint64_t offset;
  recsort_type type;
  std::uint64_t count; /* bytes of a string; otherwise 0 */
};

/* An element of an array, by a number that the compiler checks: asc(&Entity::position, at<2>). */
template <std::size_t Index> struct at_index {
};
template <std::size_t Index> inline constexpr at_index<Index> at{};

namespace detail
{

/* An array of either kind: its element, and how many. */
template <class Type> struct array_traits {
  static constexpr bool is_array = false;
};
template <class Type, std::size_t Count> struct array_traits<Type[Count]> {
  static constexpr bool is_array = true;
  static constexpr std::size_t count = Count;
  using element = std::remove_cv_t<Type>;
};
template <class Type, std::size_t Count>
struct array_traits<std::array<Type, Count>> : array_traits<Type[Count]> {
};

constexpr recsort_type float_type(int digits, std::size_t size)
{
  if (digits == 53 && size == 8) return RECSORT_FLOAT64;
  if (digits == 24 && size == 4) return RECSORT_FLOAT32;
  if (digits == 11 && size == 2) return RECSORT_FLOAT16;
  if (digits == 8 && size == 2) return RECSORT_BFLOAT16;
  return recsort_type{};
}

constexpr recsort_type integer_type(bool is_signed, std::size_t size)
{
  switch (size) {
  case 1:
    return is_signed ? RECSORT_INT8 : RECSORT_UINT8;
  case 2:
    return is_signed ? RECSORT_INT16 : RECSORT_UINT16;
  case 4:
    return is_signed ? RECSORT_INT32 : RECSORT_UINT32;
  case 8:
    return is_signed ? RECSORT_INT64 : RECSORT_UINT64;
  default:
    return recsort_type{};
  }
}

template <class Type> struct is_half : std::false_type {
};
#ifdef __FLT16_MAX__ /* std::numeric_limits does not know _Float16 in C++17 */
template <> struct is_half<_Float16> : std::true_type {
};
#endif

/* The type of a field with values of a C++ type, or 0: there is none. */
template <class Type> constexpr recsort_type type_of()
{
  if constexpr (std::is_enum_v<Type>) {
    using integer = std::underlying_type_t<Type>; /* char is one here */
    return integer_type(std::is_signed_v<integer>, sizeof(integer));
  } else if constexpr (std::is_same_v<Type, bool>) {
    return RECSORT_BOOL;
  } else if constexpr (std::is_same_v<Type, char>) {
    return RECSORT_CHAR;
  } else if constexpr (std::is_integral_v<Type>) {
    return integer_type(std::is_signed_v<Type>, sizeof(Type));
  } else if constexpr (is_half<Type>::value) {
    return RECSORT_FLOAT16;
  } else if constexpr (std::is_floating_point_v<Type>) {
    return float_type(std::numeric_limits<Type>::digits, sizeof(Type));
  } else {
    return recsort_type{};
  }
}

/* A member of a type, at an offset. */
template <class Record, class Type> constexpr field<Record> field_at(std::uint64_t offset)
{
  using array = array_traits<Type>;
  if constexpr (std::is_same_v<Type, char>) {
    return {offset, RECSORT_CHAR, 1};
  } else if constexpr (array::is_array) {
    using element = typename array::element;
    constexpr bool is_bytes =
        std::is_same_v<element, unsigned char> || std::is_same_v<element, std::byte>;
    constexpr bool is_text = std::is_same_v<element, char>;
    static_assert(is_bytes || is_text,
                  "recsort: of arrays, only those of char, unsigned char and std::byte are keys; "
                  "name an element of others: asc(&Record::array, recsort::at<0>)");
    return {offset, is_text ? RECSORT_CSTRING : RECSORT_BYTES, array::count};
  } else if constexpr (std::is_class_v<Type> || std::is_union_v<Type>) {
    static_assert(no<Type>, "recsort: a struct is no key; name a member of it: "
                            "asc(&Record::inner, &Inner::member)");
    return {};
  } else {
    static_assert(type_of<Type>() != recsort_type{},
                  "recsort: a member of this type is no key; keys are integers of at most 64 bits, "
                  "enums, bool, floats of 16, 32 and 64 bits, char, and arrays of bytes");
    return {offset, type_of<Type>(), 0};
  }
}

template <class Record> constexpr void check_record()
{
  static_assert(std::is_standard_layout_v<Record>,
                "recsort: a record must be standard layout: one access control for all members, no "
                "virtual functions, members in one class of the hierarchy only");
  static_assert(std::is_trivially_copyable_v<Record>,
                "recsort: a record must be trivially copyable: it is moved as bytes");
  static_assert(sizeof(Record) <= 2147483647, "recsort: a record has at most 2147483647 bytes");
}

/* In the C++ ABI of every compiler for Linux, a pointer to a data member is its offset. In a record
 * of standard layout, that holds for members of its bases too, which begin where the record does.
 */
template <class Record, class Member> std::uint64_t offset_of(Member Record::*member)
{
  static_assert(std::is_standard_layout_v<Record>,
                "recsort: a struct with a key must be standard layout");
  static_assert(!std::is_function_v<Member>, "recsort: a function is no key");
  static_assert(sizeof member == sizeof(std::ptrdiff_t));
  std::ptrdiff_t offset;
  std::memcpy(&offset, &member, sizeof offset);
  return static_cast<std::uint64_t>(offset); /* that of a null pointer, -1, is RECSORT_NO_OFFSET */
}

/* The sum of offsets, unless one of them is none. */
constexpr std::uint64_t offset_sum(std::uint64_t outer, std::uint64_t inner)
{
  return outer == RECSORT_NO_OFFSET || inner == RECSORT_NO_OFFSET ? RECSORT_NO_OFFSET
                                                                  : outer + inner;
}

template <class Record> std::uint64_t size_of(const field<Record> &given)
{
  const std::uint64_t size = recsort_type_describe(given.type)->size; /* 0: an array of bytes */
  return size > 0 ? size : given.count;
}

/* Follows the rest of a path to a member of type Type: members of members, elements of arrays. */
template <class Record, class Type> field<Record> follow(std::uint64_t offset)
{
  return field_at<Record, std::remove_cv_t<Type>>(offset);
}
template <class Record, class Type, std::size_t Index, class... Rest>
field<Record> follow(std::uint64_t offset, at_index<Index>, Rest... rest);
template <class Record, class Type, class Inner, class Member, class... Rest>
field<Record> follow(std::uint64_t offset, Member Inner::*member, Rest... rest)
{
  static_assert(std::is_same_v<Inner, std::remove_cv_t<Type>> || /* a union is no base of itself */
                    std::is_base_of_v<Inner, Type>,
                "recsort: a path names a member of another struct");
  return follow<Record, Member>(offset_sum(offset, offset_of(member)), rest...);
}
template <class Record, class Type, std::size_t Index, class... Rest>
field<Record> follow(std::uint64_t offset, at_index<Index>, Rest... rest)
{
  using array = array_traits<std::remove_cv_t<Type>>;
  static_assert(array::is_array, "recsort: at<> is for arrays");
  if constexpr (array::is_array) {
    static_assert(Index < array::count, "recsort: at<> is beyond the end of the array");
    using element = typename array::element;
    return follow<Record, element>(offset_sum(offset, Index * sizeof(element)), rest...);
  } else {
    return {};
  }
}

template <class Record> const field<Record> &as_field(const field<Record> &given)
{
  return given;
}
template <class Record, class Member> field<Record> as_field(Member Record::*member)
{
  return follow<Record, Member>(offset_of(member));
}

} // namespace detail

/* A key of a record. Make one with asc or desc; the strings that it was made from must live until
 * the sorter is made. */
template <class Record> struct key {
  std::array<field<Record>, RECSORT_MOST_COORDINATES> fields{};
  std::size_t field_count = 0;
  recsort_compute compute{}; /* 0: the value of the one field */
  std::uint32_t bits = 0;
  const char *parameter = nullptr;
  std::array<double, RECSORT_MOST_COORDINATES> origin{}, limit{};
  recsort_order order = RECSORT_ASCENDING;
  recsort_nan nan = RECSORT_NAN_LAST;

  key() = default;
  /* A key of a base is one of the record. */
  template <class Base, class = std::enable_if_t<!std::is_same_v<Base, Record> &&
                                                 std::is_base_of_v<Base, Record>>>
  key(const key<Base> &base)
      : field_count(base.field_count), compute(base.compute), bits(base.bits),
        parameter(base.parameter), origin(base.origin), limit(base.limit), order(base.order),
        nan(base.nan)
  {
    for (std::size_t i = 0; i < field_count; i++)
      fields[i] = {base.fields[i].offset, base.fields[i].type, base.fields[i].count};
  }

  /* Where NaNs go; the library refuses this for keys that are no floats. */
  key with_nan(recsort_nan where) const
  {
    key changed = *this;
    changed.nan = where;
    return changed;
  }
};

/* A member of a record: &Entity::speed, or a path: (&Entity::position, &Point::x),
 * (&Entity::parts, at<3>, &Part::id). Its type decides how it compares:
 *  - integers, enums (as the integers that they are), bool and floats of 16, 32 and 64 bits as
 *    numbers; _Float16 too, where the compiler has it;
 *  - an array of char as a C string: as strncmp compares it. What stands behind the NUL does not
 *    count. bytes(&Entity::name) compares all of its bytes;
 *  - char, and arrays of unsigned char and std::byte, as unsigned bytes over their whole length:
 *    memcmp.
 * Not keys: long double, integers of 128 bits, pointers, and bitfields, to which C++ has no
 * pointers. Sort by a file's schema for bitfields.
 *
 * Keys of one sorter may use a member again, but two members that share bytes are refused: a string
 * and its first letter, a member and its bytes(), two members of a union. Sort by the less
 * significant of the two first, with a sorter of its own: equal records keep their order. */
template <class Record, class Member, class... Path>
field<Record> member(Member Record::*first, Path... path)
{
  return detail::follow<Record, Member>(detail::offset_of(first), path...);
}

/* All bytes of a member that is a key by itself, as memcmp compares them:
 * asc(bytes(&Entity::name)). An array must be one of char, unsigned char or std::byte; of another,
 * name an element. */
template <class Record, class Member, class... Path>
field<Record> bytes(Member Record::*first, Path... path)
{
  const field<Record> by = member(first, path...);
  return {by.offset, RECSORT_BYTES, detail::size_of(by)};
}

template <class Record> key<Record> asc(const field<Record> &by)
{
  key<Record> made;
  made.fields[0] = by;
  made.field_count = 1;
  return made;
}
template <class Record> key<Record> asc(key<Record> by)
{
  by.order = RECSORT_ASCENDING;
  return by;
}
template <class Record, class Member, class... Path>
key<Record> asc(Member Record::*first, Path... path)
{
  return asc(member(first, path...));
}
template <class... By> auto desc(By... by) -> decltype(asc(by...))
{
  auto made = asc(by...);
  made.order = RECSORT_DESCENDING;
  return made;
}

namespace detail
{

template <class Record, class... More>
key<Record> computed(recsort_compute compute, const field<Record> &first, const More &...more)
{
  static_assert(sizeof...(more) < RECSORT_MOST_COORDINATES, "recsort: too many coordinates");
  key<Record> made;
  made.fields = {first, more...};
  made.field_count = 1 + sizeof...(more);
  made.compute = compute;
  return made;
}

template <class Key, std::size_t Count>
Key on_curve(Key made, std::uint32_t bits, const double (&least)[Count],
             const double (&most)[Count])
{
  made.bits = bits;
  for (std::size_t i = 0; i < Count; i++) {
    made.origin[i] = least[i];
    made.limit[i] = most[i];
  }
  return made;
}

} // namespace detail

/* The squared distance from a point that sorter::set_parameter sets:
 * asc(distance("eye", &Entity::x, &Entity::y)). A coordinate is &Record::member, or what member()
 * returns. recsort.h says how computed keys are computed. */
template <class Name, class... Coordinates,
          class = std::enable_if_t<std::is_convertible_v<Name, const char *>>>
auto distance(Name parameter, Coordinates... coordinates)
{
  auto made = detail::computed(RECSORT_DISTANCE, detail::as_field(coordinates)...);
  made.parameter = parameter;
  return made;
}
/* The squared distance from a fixed point: asc(distance({0, 0.5}, &Entity::x, &Entity::y)). */
template <std::size_t Count, class... Coordinates>
auto distance(const double (&from)[Count], Coordinates... coordinates)
{
  static_assert(Count == sizeof...(Coordinates), "recsort: a number for each coordinate");
  auto made = detail::computed(RECSORT_DISTANCE, detail::as_field(coordinates)...);
  for (std::size_t i = 0; i < Count; i++)
    made.origin[i] = from[i];
  return made;
}
/* The places on Morton and Hilbert curves, of a grid of 2^bits cells along each coordinate:
 * asc(morton(16, {0, 0}, {640, 480}, &Entity::x, &Entity::y)). */
template <std::size_t Count, class... Coordinates>
auto morton(std::uint32_t bits, const double (&least)[Count], const double (&most)[Count],
            Coordinates... coordinates)
{
  static_assert(Count == sizeof...(Coordinates), "recsort: a number for each coordinate");
  return detail::on_curve(detail::computed(RECSORT_MORTON, detail::as_field(coordinates)...), bits,
                          least, most);
}
template <std::size_t Count, class... Coordinates>
auto hilbert(std::uint32_t bits, const double (&least)[Count], const double (&most)[Count],
             Coordinates... coordinates)
{
  static_assert(Count == sizeof...(Coordinates), "recsort: a number for each coordinate");
  return detail::on_curve(detail::computed(RECSORT_HILBERT, detail::as_field(coordinates)...), bits,
                          least, most);
}

/* ---- Schema and sorter -------------------------------------------------------------------- */

namespace detail
{

struct destroy {
  void operator()(recsort_schema *schema) const noexcept
  {
    recsort_schema_destroy(schema);
  }
  void operator()(recsort_sorter *sorter) const noexcept
  {
    recsort_sorter_destroy(sorter);
  }
};

using owned_schema = std::unique_ptr<recsort_schema, destroy>;

/* A schema of the members that some keys name, at their offsets. */
template <class Record> class description
{
public:
  recsort_status create(view<const key<Record>> keys, const recsort_allocator *allocator,
                        owned_schema &schema, recsort_error *error)
  {
    if (!allocate(keys)) {
      error->status = RECSORT_OUT_OF_MEMORY;
      error->line = error->column = 0;
      std::snprintf(error->text, sizeof error->text, "out of memory: %zu keys", keys.size());
      return error->status;
    }
    for (std::size_t i = 0; i < keys.size(); i++) {
      if (shares_bytes(keys, i, error)) return error->status;
      add_key(keys.data()[i], i);
    }
    recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
    desc.record = "record";
    desc.endian =
        __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN;
    desc.layout = RECSORT_LAYOUT_EXPLICIT;
    desc.size = sizeof(Record);
    desc.fields = fields_.get();
    desc.field_count = field_count_;
    desc.keys = keys_.get();
    desc.key_count = keys.size();
    desc.computed = computed_.get();
    desc.computed_count = computed_count_;
    recsort_schema *made = nullptr;
    const recsort_status status = recsort_schema_create(&desc, allocator, &made, error);
    schema.reset(made);
    return status;
  }

private:
  using name = std::array<char, 64>;

  bool allocate(view<const key<Record>> keys)
  {
    std::size_t fields = 0;
    for (std::size_t i = 0; i < keys.size(); i++)
      fields += keys.data()[i].field_count;
    fields_.reset(new (std::nothrow) recsort_field_desc[fields]());
    field_names_.reset(new (std::nothrow) name[fields]);
    keys_.reset(new (std::nothrow) recsort_key_desc[keys.size()]());
    computed_.reset(new (std::nothrow) recsort_computed_desc[keys.size()]());
    computed_names_.reset(new (std::nothrow) name[keys.size()]);
    coordinates_.reset(new (std::nothrow) const char *[fields]);
    return fields_ && field_names_ && keys_ && computed_ && computed_names_ && coordinates_;
  }

  /* Whether key `place` has a member that shares bytes with another one of it or a key before it.
   */
  static bool shares_bytes(view<const key<Record>> keys, std::size_t place, recsort_error *error)
  {
    const key<Record> &given = keys.data()[place];
    for (std::size_t i = 0; i < given.field_count; i++)
      for (std::size_t before = 0; before <= place; before++) {
        const key<Record> &other = keys.data()[before];
        for (std::size_t j = 0; j < (before < place ? other.field_count : i); j++)
          if (overlap(given.fields[i], other.fields[j]))
            return refuse(given.fields[i], place + 1, other.fields[j], before + 1, error);
      }
    return false;
  }

  static bool overlap(const field<Record> &a, const field<Record> &b)
  {
    if (a.offset == RECSORT_NO_OFFSET || b.offset == RECSORT_NO_OFFSET) return false;
    if (a.offset == b.offset && a.type == b.type && a.count == b.count) return false; /* the same */
    return a.offset < b.offset + size_of(b) && b.offset < a.offset + size_of(a);
  }

  static bool refuse(const field<Record> &a, std::size_t key_of_a, const field<Record> &b,
                     std::size_t key_of_b, recsort_error *error)
  {
    name name_of_a, name_of_b;
    describe(a, name_of_a.data());
    describe(b, name_of_b.data());
    error->status = RECSORT_INVALID_KEY;
    error->line = error->column = 0;
    if (key_of_a == key_of_b)
      std::snprintf(error->text, sizeof error->text,
                    "key %zu: its coordinates \"%s\" and \"%s\" share bytes; leave one out",
                    key_of_a, name_of_b.data(), name_of_a.data());
    else
      std::snprintf(error->text, sizeof error->text,
                    "key %zu, \"%s\", shares bytes with key %zu, \"%s\"; sort with a sorter of the "
                    "keys from key %zu on, then with a sorter of the keys before it",
                    key_of_a, name_of_a.data(), key_of_b, name_of_b.data(), key_of_a);
    return true;
  }

  /* The name of a member, which several keys may use. */
  const char *name_of(const field<Record> &used)
  {
    for (std::size_t i = 0; i < field_count_; i++) {
      const recsort_field_desc &known = fields_[i];
      if (known.offset == used.offset && known.type == used.type && known.count == used.count)
        return known.name;
    }
    char *const text = field_names_[field_count_].data();
    describe(used, text);
    recsort_field_desc &added = fields_[field_count_++];
    added.name = text;
    added.type = used.type;
    added.offset = used.offset;
    added.count = used.count;
    return text;
  }

  static void describe(const field<Record> &used, char *text)
  {
    const char *const type = recsort_type_name(used.type);
    const auto offset = static_cast<unsigned long long>(used.offset);
    const auto count = static_cast<unsigned long long>(used.count);
    if (count > 1) /* a string and its first byte have different names */
      std::snprintf(text, sizeof(name), "%s of %llu at byte %llu", type, count, offset);
    else
      std::snprintf(text, sizeof(name), "%s at byte %llu", type, offset);
    if (used.offset == RECSORT_NO_OFFSET) std::strcpy(text, "null pointer to a member");
  }

  void add_key(const key<Record> &given, std::size_t place)
  {
    recsort_key_desc &added = keys_[place];
    added.order = given.order;
    added.nan = given.nan;
    added.path =
        given.compute == recsort_compute{} ? name_of(given.fields[0]) : add_computed(given);
  }

  const char *add_computed(const key<Record> &given)
  {
    char *const text = computed_names_[computed_count_].data();
    std::snprintf(text, sizeof(name), "computed value %zu", computed_count_);
    recsort_computed_desc &added = computed_[computed_count_++];
    added.name = text;
    added.compute = given.compute;
    added.bits = given.bits;
    added.coordinates = coordinates_.get() + coordinate_count_;
    added.coordinate_count = given.field_count;
    for (std::size_t i = 0; i < given.field_count; i++)
      coordinates_[coordinate_count_++] = name_of(given.fields[i]);
    added.parameter = given.parameter;
    added.origin = given.parameter == nullptr ? given.origin.data() : nullptr;
    added.limit = given.compute == RECSORT_DISTANCE ? nullptr : given.limit.data();
    return text;
  }

  std::unique_ptr<recsort_field_desc[]> fields_;
  std::unique_ptr<name[]> field_names_, computed_names_;
  std::unique_ptr<recsort_key_desc[]> keys_;
  std::unique_ptr<recsort_computed_desc[]> computed_;
  std::unique_ptr<const char *[]> coordinates_;
  std::size_t field_count_ = 0, computed_count_ = 0, coordinate_count_ = 0;
};

} // namespace detail

/* Sorts records of one type. It owns a recsort_sorter; it moves and does not copy. What recsort.h
 * says about each function holds here: one thread at a time may use a sorter, equal records keep
 * their order, and records change only once a sort can no longer fail. */
template <class Record> class sorter
{
public:
  /* `options` may set the plugin, threads, reverse, allocator, executor, head; the rest is filled
   * in. If this fails with a recsort_error, the sorter is empty, and every call of it fails. */
  sorter(std::initializer_list<key<Record>> keys, on_error failed = detail::thrown<Record>())
      : sorter(keys, recsort_options{}, failed)
  {
  }
  sorter(std::initializer_list<key<Record>> keys, const recsort_options &options,
         on_error failed = detail::thrown<Record>())
      : sorter(view<const key<Record>>(keys.begin(), keys.size()), options, failed)
  {
  }
  /* Keys that are known only when the program runs: a std::vector of them. */
  sorter(view<const key<Record>> keys, const recsort_options &options,
         on_error failed = detail::thrown<Record>())
  {
    detail::check_record<Record>();
    failed([&](recsort_error *error) {
      if (keys.size() == 0) return refuse("a sorter needs a key", error);
      detail::owned_schema schema;
      const recsort_status status =
          detail::description<Record>().create(keys, options.allocator, schema, error);
      return status != RECSORT_OK ? status : open(schema.get(), options, error);
    });
  }
  /* The keys of a schema whose record has the same size; any other is refused. */
  sorter(const recsort_schema *schema, const recsort_options &options,
         on_error failed = detail::thrown<Record>())
  {
    detail::check_record<Record>();
    failed([&](recsort_error *error) { return open(schema, options, error); });
  }

  explicit operator bool() const noexcept
  {
    return sorter_ != nullptr;
  }
  /* For the functions of recsort.h that have no counterpart here. */
  recsort_sorter *get() const noexcept
  {
    return sorter_.get();
  }

  /* The functions below that return bool return true if they succeed; if they fail without
   * throwing, those that return something else return 0. */

  bool sort(view<Record> records, on_error failed = detail::thrown<Record>())
  {
    return failed([&](recsort_error *error) {
      return recsort_sort(get(), records.data(), records.size(), error);
    });
  }
  /* Only the first `head` records of the order are wanted from now on; 0: all. */
  bool set_head(std::size_t head, on_error failed = detail::thrown<Record>())
  {
    const bool set =
        failed([&](recsort_error *error) { return recsort_sorter_set_head(get(), head, error); });
    if (set) head_ = head;
    return set;
  }
  /* `sorted` has room for at least as many records as there are or, with a head, are wanted. It
   * does not overlap them. */
  bool sort_to(view<const Record> records, view<Record> sorted,
               on_error failed = detail::thrown<Record>())
  {
    return failed([&](recsort_error *error) {
      const std::size_t count = wanted(records.size());
      if (sorted.size() < count) return too_small(sorted.size(), count, error);
      return recsort_sort_to(get(), records.data(), records.size(), sorted.data(), error);
    });
  }
  /* Index is uint32_t or uint64_t; `index` is as long as `sorted` of sort_to. */
  template <class Index>
  bool argsort(view<const Record> records, Index &&index,
               on_error failed = detail::thrown<Record>())
  {
    auto to = index_view(index);
    return failed([&](recsort_error *error) {
      const std::size_t count = wanted(records.size());
      if (to.size() < count) return too_small(to.size(), count, error);
      return recsort_argsort(get(), records.data(), records.size(), to.data(),
                             8 * sizeof *to.data(), error);
    });
  }
  /* The index of the first record whose key is less than that of the record before it; the number
   * of records if they are sorted. */
  std::size_t disorder(view<const Record> records, on_error failed = detail::thrown<Record>())
  {
    std::size_t found = 0;
    failed([&](recsort_error *error) {
      return recsort_check(get(), records.data(), records.size(), &found, error);
    });
    return found;
  }
  bool is_sorted(view<const Record> records, on_error failed = detail::thrown<Record>())
  {
    std::size_t found = 0;
    return failed([&](recsort_error *error) {
             return recsort_check(get(), records.data(), records.size(), &found, error);
           }) &&
           found == records.size();
  }
  /* Sorts, and keeps the first record of each run of equal keys: returns how many, at the front.
   * Those behind are unspecified. */
  std::size_t unique(view<Record> records, on_error failed = detail::thrown<Record>())
  {
    recsort_permutation kept = RECSORT_PERMUTATION_INIT;
    const auto steps = [&](recsort_error *error) {
      recsort_status status =
          recsort_find_permutation(get(), records.data(), records.size(), &kept, error);
      if (status == RECSORT_OK)
        status = recsort_permutation_unique(get(), records.data(), &kept, error);
      if (status == RECSORT_OK)
        status = recsort_permutation_apply(get(), &kept, records.data(), sizeof(Record), error);
      return status;
    };
    return failed(steps) ? kept.count : 0;
  }
  /* A permutation that the sorter keeps until its next call, to permute other arrays alike. */
  recsort_permutation permutation(view<const Record> records,
                                  on_error failed = detail::thrown<Record>())
  {
    recsort_permutation found = RECSORT_PERMUTATION_INIT;
    failed([&](recsort_error *error) {
      return recsort_find_permutation(get(), records.data(), records.size(), &found, error);
    });
    return found;
  }
  template <class Array>
  bool apply(const recsort_permutation &permutation, Array &&array,
             on_error failed = detail::thrown<Record>())
  {
    using element = std::remove_pointer_t<decltype(std::data(array))>;
    static_assert(std::is_trivially_copyable_v<element>, "recsort: elements are moved as bytes");
    return failed([&](recsort_error *error) {
      if (std::size(array) < permutation.count)
        return too_small(std::size(array), permutation.count, error);
      return recsort_permutation_apply(get(), &permutation, std::data(array), sizeof(element),
                                       error);
    });
  }

  /* Merges sorted runs in place: run r is records [offsets[r], offsets[r + 1]). */
  bool merge(view<Record> records, view<const std::size_t> offsets,
             on_error failed = detail::thrown<Record>())
  {
    return failed([&](recsort_error *error) {
      if (offsets.size() == 0) return refuse("the offsets of runs are missing", error);
      const std::size_t end = offsets.data()[offsets.size() - 1];
      if (records.size() < end) return too_small(records.size(), end, error);
      return recsort_merge(get(), records.data(), offsets.data(), offsets.size() - 1, error);
    });
  }
  /* Merges sorted arrays into another one: by.merge_to({old, fresh}, all). For a number of arrays
   * that is known only when the program runs, give get() to recsort_merge_to. */
  template <std::size_t Count>
  bool merge_to(const view<const Record> (&runs)[Count], view<Record> merged,
                on_error failed = detail::thrown<Record>())
  {
    std::size_t offsets[Count + 1] = {0};
    const void *arrays[Count];
    for (std::size_t i = 0; i < Count; i++) {
      arrays[i] = runs[i].data();
      offsets[i + 1] = offsets[i] + runs[i].size();
    }
    recsort_runs given = RECSORT_RUNS_INIT;
    given.count = Count;
    given.offsets = offsets;
    given.arrays = arrays;
    return failed([&](recsort_error *error) {
      if (merged.size() < offsets[Count]) return too_small(merged.size(), offsets[Count], error);
      return recsort_merge_to(get(), &given, merged.data(), error);
    });
  }

  /* The point that distances with this parameter are from: by.set_parameter("eye", {1, 2}). */
  bool set_parameter(const char *name, std::initializer_list<double> point,
                     on_error failed = detail::thrown<Record>())
  {
    return set_parameter(name, view<const double>(point.begin(), point.size()), failed);
  }
  bool set_parameter(const char *name, view<const double> point,
                     on_error failed = detail::thrown<Record>())
  {
    return failed([&](recsort_error *error) {
      return recsort_sorter_set_parameter(get(), name, point.data(), point.size(), error);
    });
  }

  /* Bytes that the sorter will hold once it has sorted `count` records. */
  std::size_t memory_needed(std::size_t count, bool in_place = true,
                            on_error failed = detail::thrown<Record>())
  {
    std::size_t bytes = 0;
    failed([&](recsort_error *error) {
      return recsort_memory_needed(get(), count, in_place, &bytes, error);
    });
    return bytes;
  }
  recsort_stats stats() const noexcept
  {
    recsort_stats filled = {};
    recsort_sorter_get_stats(get(), &filled, sizeof filled);
    return filled;
  }

private:
  recsort_status open(const recsort_schema *schema, recsort_options options, recsort_error *error)
  {
    options.struct_size = sizeof options;
    options.record_size = sizeof(Record);
    recsort_sorter *made = nullptr;
    const recsort_status status = recsort_sorter_create(schema, &options, &made, error);
    sorter_.reset(made);
    head_ = options.head;
    return status;
  }

  std::size_t wanted(std::size_t count) const noexcept
  {
    return head_ > 0 && head_ < count ? head_ : count;
  }

  static recsort_status refuse(const char *text, recsort_error *error)
  {
    error->status = RECSORT_INVALID_ARGUMENT;
    error->line = error->column = 0;
    std::snprintf(error->text, sizeof error->text, "%s", text);
    return error->status;
  }
  static recsort_status too_small(std::size_t size, std::size_t needed, recsort_error *error)
  {
    char text[96];
    std::snprintf(text, sizeof text, "an array has %zu elements, but %zu are needed", size, needed);
    return refuse(text, error);
  }

  template <class Index> static auto index_view(Index &&index)
  {
    using number = std::remove_pointer_t<decltype(std::data(index))>;
    static_assert(std::is_unsigned_v<number> && (sizeof(number) == 4 || sizeof(number) == 8),
                  "recsort: an index is uint32_t or uint64_t");
    return view<number>(index);
  }

  std::unique_ptr<recsort_sorter, detail::destroy> sorter_;
  std::size_t head_ = 0;
};

} // namespace recsort

#endif
