/* recsort.hpp - stable sorting of arrays of structs, by pointers to their members. C++17, header
 * only: it calls recsort.h, so a program links the library as a C program does.
 *
 *   recsort::sorter<Entity> by({recsort::desc(&Entity::distance), recsort::asc(&Entity::team)});
 *   by.sort(entities); // a std::vector, std::array, std::span, C array or {pointer, count}
 *
 * Also for a struct of arrays (sorter::column), and for a device's memory (device_sorter).
 *
 * What the compiler checks: a record may be moved as bytes, each key is a member of the record or
 * of a base, its type has an order, and an index lies in its array. Offsets and sizes are the
 * compiler's own, so they cannot drift from the struct.
 *
 * Errors: a call that fails throws recsort::error, with the library's text. If its last argument is
 * a recsort_error, it throws nothing: error.status is then RECSORT_OK, or says what went wrong.
 * With -fno-exceptions each call needs that argument; without it the call does not compile.
 *
 * A sort allocates what recsort_sort says and nothing else. A sorter takes a few small arrays from
 * operator new when it is made; unique and apply take a copy of what they move, and free it.
 */
#ifndef RECSORT_RECSORT_HPP
#define RECSORT_RECSORT_HPP

#include "recsort/tools.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace recsort
{

/* ---- Errors and arrays -------------------------------------------------------------------- */

#ifdef __cpp_exceptions
struct error : std::runtime_error {
  explicit error(const recsort_error &told) : std::runtime_error(told.text), details(told)
  {
  }
  recsort_error details; /* its status, too */
};
#endif

/* Where an error goes: into a recsort_error. If a call leaves this argument out, it is thrown. */
class on_error
{
public:
#ifdef __cpp_exceptions
  on_error() = default;
#else
  template <bool Throws = false> on_error()
  {
    static_assert(Throws, "recsort: without exceptions, a call needs a recsort_error");
  }
#endif
  on_error(recsort_error &error) noexcept : given_(&error)
  {
  }

  /* Calls `call` with a recsort_error; true if it returns RECSORT_OK. */
  template <class Call> bool operator()(const Call &call) const
  {
    recsort_error own;
    recsort_error &told = given_ != nullptr ? *given_ : own;
    if (call(&told) == RECSORT_OK) {
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
  /* For arguments only: the list lives as long as the call. */
  constexpr view(std::initializer_list<std::remove_const_t<Element>> list) noexcept
      : view(std::data(list), list.size())
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

/* An element of an array, by a number that the compiler checks: asc(&Entity::position, at<2>). */
template <std::size_t Index> struct at_index {
};
template <std::size_t Index> inline constexpr at_index<Index> at{};

template <class Record> struct field;
template <class Record> struct key;

namespace detail
{

/* What fields and keys of all records are. */
struct any_field {
  std::size_t offset;
  recsort_type type;
  std::size_t count; /* bytes of a string, elements of an array; 0: one value */
};
struct any_key {
  std::array<any_field, RECSORT_MOST_COORDINATES> fields{};
  std::size_t field_count = 0;
  recsort_compute compute{}; /* 0: the value of the one field */
  std::uint32_t bits = 0;
  const char *parameter = nullptr;
  std::array<double, RECSORT_MOST_COORDINATES> origin{}, limit{};
  recsort_order order = RECSORT_ASCENDING;
  recsort_nan nan = RECSORT_NAN_LAST;
};

template <class Array>
using element_of = std::remove_pointer_t<decltype(std::data(std::declval<Array &>()))>;

/* An array of either kind: its element, and how many. */
template <class Type> struct array_traits {
  static constexpr bool is_array = false;
  using plain = Type;
};
template <class Type, std::size_t Count> struct array_traits<Type[Count]> {
  static constexpr bool is_array = true;
  static constexpr std::size_t count = Count;
  using element = std::remove_cv_t<Type>;
  using plain = typename array_traits<element>::plain[Count]; /* of C arrays */
};
template <class Type, std::size_t Count>
struct array_traits<std::array<Type, Count>> : array_traits<Type[Count]> {
};
template <class Type> using plain = typename array_traits<Type>::plain;

/* The values of an array of arrays, one after the other; of another type, one. */
template <class Type, bool IsArray = array_traits<Type>::is_array> struct values_of {
  static constexpr std::size_t count = 1;
  using type = Type;
};
template <class Type> struct values_of<Type, true> {
  using inner = values_of<typename array_traits<Type>::element>;
  static constexpr std::size_t count = array_traits<Type>::count * inner::count;
  using type = typename inner::type;
};

/* What a std::chrono::duration or time_point counts with; known by their names, as <chrono> takes
 * long to compile. */
template <class Type, class = void> struct counter {
  using type = Type;
};
template <class Type> struct counter<Type, std::void_t<typename Type::rep, typename Type::period>> {
  static_assert(sizeof(Type) == sizeof(typename Type::rep));
  using type = typename Type::rep;
};
template <class Type> using counter_of = typename counter<Type>::type;

/* Whether a copy of an object is a copy of its bytes. Its assignment may be another one, as that of
 * std::pair is: what is moved is made anew. */
template <class Type>
inline constexpr bool is_bytes = std::is_trivially_copyable_v<Type> ||
                                 (std::is_trivially_copy_constructible_v<Type> &&
                                  std::is_trivially_destructible_v<Type>);

constexpr recsort_type integer_type(bool is_signed, std::size_t size)
{
  if (size == 1) return is_signed ? RECSORT_INT8 : RECSORT_UINT8;
  if (size == 2) return is_signed ? RECSORT_INT16 : RECSORT_UINT16;
  if (size == 4) return is_signed ? RECSORT_INT32 : RECSORT_UINT32;
  if (size == 8) return is_signed ? RECSORT_INT64 : RECSORT_UINT64;
  return recsort_type{};
}

/* The type of a field with values of a C++ type, or 0: there is none. */
template <class Type> constexpr recsort_type type_of()
{
  if constexpr (!std::is_same_v<counter_of<Type>, Type>) {
    return type_of<counter_of<Type>>();
  } else if constexpr (std::is_enum_v<Type>) {
    using integer = std::underlying_type_t<Type>; /* char is one here */
    return integer_type(std::is_signed_v<integer>, sizeof(integer));
  } else if constexpr (std::is_same_v<Type, bool>) {
    return RECSORT_BOOL;
  } else if constexpr (std::is_same_v<Type, char>) {
    return RECSORT_CHAR;
  } else if constexpr (std::is_integral_v<Type>) {
    return integer_type(std::is_signed_v<Type>, sizeof(Type));
  } else if constexpr (!std::is_class_v<Type> && !std::is_union_v<Type> && sizeof(Type) == 2 &&
                       std::is_convertible_v<Type, float>) {
    /* _Float16 and the like, which compilers add */
    return static_cast<float>(static_cast<Type>(1.001f)) == 1 ? RECSORT_BFLOAT16 : RECSORT_FLOAT16;
  } else if constexpr (std::is_floating_point_v<Type> && sizeof(Type) <= 8) {
    return sizeof(Type) == 4 ? RECSORT_FLOAT32 : RECSORT_FLOAT64;
  } else {
    return recsort_type{};
  }
}

/* A member of a type at an offset, or something in it. */
template <class Type> struct place {
  using type = Type;
  std::size_t offset;
};

/* Arrays that compare as strings or bytes. */
template <class Type, bool IsArray = array_traits<Type>::is_array>
inline constexpr bool is_string = false;
template <class Type>
inline constexpr bool is_string<Type, true> =
    std::is_same_v<typename array_traits<Type>::element, char> ||
    std::is_same_v<typename array_traits<Type>::element, unsigned char> ||
    std::is_same_v<typename array_traits<Type>::element, std::byte>;

template <class Record, class Type> constexpr field<Record> field_at(place<Type> found)
{
  using array = array_traits<Type>;
  if constexpr (std::is_same_v<Type, char>) {
    return {{found.offset, RECSORT_CHAR, 1}};
  } else if constexpr (is_string<Type>) {
    constexpr bool is_text = std::is_same_v<typename array::element, char>;
    return {{found.offset, is_text ? RECSORT_CSTRING : RECSORT_BYTES, array::count}};
  } else {
    using value = typename values_of<Type>::type;
    constexpr recsort_type type = type_of<value>();
    constexpr bool is_struct =
        type == recsort_type{} && (std::is_class_v<value> || std::is_union_v<value>);
    static_assert(!is_struct || array::is_array,
                  "recsort: a struct is no key; name a member of it: asc(&Record::inner, "
                  "&Inner::member); if its members are private, keep a number beside it");
    static_assert(!is_struct || !array::is_array,
                  "recsort: an array of structs is no key; name a member of an element: "
                  "asc(&Record::array, recsort::at<0>, &Element::member)");
    static_assert(!std::is_pointer_v<value>,
                  "recsort: a pointer is no key; keep the number or the text that it points to in "
                  "the record");
    static_assert(type != RECSORT_CHAR, "recsort: an array of strings is no key; name one of them: "
                                        "asc(&Record::array, recsort::at<0>)");
    static_assert(is_struct || std::is_pointer_v<value> || type != recsort_type{},
                  "recsort: a member of this type is no key; keys are integers of at most 64 bits, "
                  "enums, bool, floats of 16, 32 and 64 bits, times of std::chrono, char, and "
                  "arrays of these; convert it to one of them");
    constexpr std::size_t count = values_of<Type>::count;
    return {{found.offset, type, count > 1 ? count : 0}};
  }
}

/* A pointer to a data member is its offset: a number of 8 bytes, or 4 with Microsoft's ABI. */
template <class Record, class Member> std::size_t offset_of(Member Record::*member)
{
  static_assert(!std::is_function_v<Member>,
                "recsort: a function is no key; name a member that holds a value");
  using number = std::conditional_t<sizeof member == 4, std::int32_t, std::int64_t>;
  static_assert(sizeof member == sizeof(number),
                "recsort: define a struct before you name a pointer to its members");
  number offset;
  std::memcpy(&offset, &member, sizeof offset);
  return static_cast<std::size_t>(offset); /* that of a null pointer, -1, is RECSORT_NO_OFFSET */
}

/* The sum of offsets, unless one of them is none. */
constexpr std::size_t offset_sum(std::size_t outer, std::size_t inner)
{
  return outer == RECSORT_NO_OFFSET || inner == RECSORT_NO_OFFSET ? RECSORT_NO_OFFSET
                                                                  : outer + inner;
}

/* The offset of a base, which need not be 0 with Microsoft's ABI. */
template <class Base, class Record> std::size_t base_offset()
{
  auto first = static_cast<char Base::*>(nullptr);
  std::memset(&first, 0, sizeof first);
  return offset_of<Record>(static_cast<char Record::*>(first));
}

/* A member of a base as one of the record. */
template <class Record, class Base> any_field in_record(const field<Base> &found)
{
  any_field moved = found;
  if constexpr (!std::is_same_v<Base, Record>)
    moved.offset = offset_sum(found.offset, base_offset<Base, Record>());
  return moved;
}

/* The record that has all of these for bases, if one of them is it. */
template <class Record, class... More> struct most_derived {
  using type = Record;
};
template <class Record, class Other, class... More>
struct most_derived<Record, Other, More...>
    : most_derived<std::conditional_t<std::is_base_of_v<Record, Other>, Other, Record>, More...> {
};

inline std::size_t size_of(recsort_type type, std::size_t count)
{
  const std::size_t size = recsort_type_describe(type)->size; /* 0: an array of bytes */
  return size > 0 && count > 0 ? size * count : size + count;
}

/* Follows the rest of a path: members of members, elements of arrays. */
template <class Type> place<Type> follow(place<Type> found)
{
  return found;
}
template <class Type, std::size_t Index, class... Rest>
auto follow(place<Type> found, at_index<Index>, Rest... rest)
{
  using array = array_traits<Type>;
  static_assert(array::is_array, "recsort: at<> is for arrays; leave it out");
  static_assert(Index < array::count,
                "recsort: at<> is beyond the end of the array; the first element is at<0>");
  using element = typename array::element;
  return follow(place<element>{offset_sum(found.offset, Index * sizeof(element))}, rest...);
}
template <class Type, class Inner, class Member, class... Rest>
auto follow(place<Type> found, Member Inner::*member, Rest... rest)
{
  static_assert(std::is_same_v<Inner, Type> || /* a union is no base of itself */
                    std::is_base_of_v<Inner, Type>,
                "recsort: a path names a member of another struct; each step is a member of what "
                "the step before it names");
  const std::size_t inside = offset_of<Type>(static_cast<Member Type::*>(member));
  return follow(place<std::remove_cv_t<Member>>{offset_sum(found.offset, inside)}, rest...);
}

template <class... Records>
key<typename most_derived<Records...>::type> key_of(const field<Records> &...coordinates)
{
  using record = typename most_derived<Records...>::type;
  static_assert(sizeof...(coordinates) <= RECSORT_MOST_COORDINATES,
                "recsort: too many coordinates; there are at most 8");
  static_assert(((std::is_same_v<Records, record> || std::is_base_of_v<Records, record>)&&...),
                "recsort: coordinates are members of one record; cast those of its bases: "
                "static_cast<float Record::*>(&Base::x)");
  key<record> made;
  made.fields = {in_record<record>(coordinates)...};
  made.field_count = sizeof...(coordinates);
  return made;
}

template <std::size_t Count, class... Fields>
auto computed(recsort_compute compute, std::uint32_t bits, const double (&least)[Count],
              const double (&most)[Count], const Fields &...coordinates)
{
  static_assert(Count == sizeof...(Fields), "recsort: a number for each coordinate");
  auto made = key_of(coordinates...);
  made.compute = compute;
  made.bits = bits;
  for (std::size_t i = 0; i < Count; i++) {
    made.origin[i] = least[i];
    made.limit[i] = most[i];
  }
  return made;
}
template <class... Fields>
auto computed_with(recsort_compute compute, const char *parameter, const Fields &...coordinates)
{
  auto made = key_of(coordinates...);
  made.compute = compute;
  made.parameter = parameter;
  return made;
}

} // namespace detail

/* A member of a record that has a value of its own. */
template <class Record> struct field : detail::any_field {
};

/* A key of a record. Make one with asc or desc; the strings that it was made from must live until
 * the sorter is made. */
template <class Record> struct key : detail::any_key {
  key() = default;
  /* A key of a base is one of the record. */
  template <class Base, class = std::enable_if_t<!std::is_same_v<Base, Record>>>
  key(const key<Base> &base) : detail::any_key(base)
  {
    static_assert(
        std::is_base_of_v<Base, Record>,
        "recsort: a key names a member of another struct than the record; name one of the "
        "record, or a path that begins with one: asc(&Record::inner, &Inner::member)");
    for (detail::any_field &each : fields)
      each = detail::in_record<Record>(field<Base>{each});
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
 *  - durations and time points of std::chrono as the numbers that they hold;
 *  - an array of these as a whole: by its first element, then by the next one;
 *  - an array of char as a C string: as strncmp compares it. What stands behind the NUL does not
 *    count. bytes(&Entity::name) compares all of its bytes;
 *  - char, and arrays of unsigned char and std::byte, as unsigned bytes over their whole length:
 *    memcmp.
 * A member may be inherited: of a record with several bases that have members, &Record::member
 * works for all. A private member is named where it may be: in a friend, or in a function of the
 * struct, which returns asc(&Record::member_).
 *
 * Not keys: long double, integers of 128 bits, pointers, and bitfields, to which C++ has no
 * pointers. Sort by a file's schema for bitfields.
 *
 * Keys of one sorter may use a member again, but two members that share bytes are refused: a string
 * and its first letter, a member and its bytes(), two members of a union. Sort by the less
 * significant of the two first, with a sorter of its own: equal records keep their order. */
template <class Record, class Member, class... Path>
field<Record> member(Member Record::*first, Path... path)
{
  return detail::field_at<Record>(detail::follow(detail::place<Record>{0}, first, path...));
}

/* A record that is one number, for keys in an array of their own: asc(number<float>()). */
template <class Number> field<Number> number()
{
  return detail::field_at<Number>(detail::place<Number>{0});
}

/* All bytes of a member that is a key by itself, as memcmp compares them:
 * asc(bytes(&Entity::name)). */
template <class Record, class Member, class... Path>
field<Record> bytes(Member Record::*first, Path... path)
{
  const field<Record> by = member(first, path...);
  return {{by.offset, RECSORT_BYTES, detail::size_of(by.type, by.count)}};
}

template <class Record> field<Record> member(const field<Record> &found)
{
  return found;
}

/* The keys of a sorter: of a member or what makes one (bytes, number), or of a computed value. */
template <class Record> key<Record> asc(key<Record> by)
{
  by.order = RECSORT_ASCENDING;
  return by;
}
template <class... By> auto asc(By... by) -> decltype(detail::key_of(member(by...)))
{
  return detail::key_of(member(by...));
}
template <class... By> auto desc(By... by) -> decltype(asc(by...))
{
  auto made = asc(by...);
  made.order = RECSORT_DESCENDING;
  return made;
}

/* The squared distance from a fixed point: asc(distance({0, 0.5}, &Entity::x, &Entity::y)). A
 * coordinate is &Record::member, or what member() returns. recsort.h says how computed keys are
 * computed. */
template <std::size_t Count, class... Coordinates>
auto distance(const double (&from)[Count], Coordinates... coordinates)
{
  return detail::computed(RECSORT_DISTANCE, 0, from, from, member(coordinates)...);
}
/* The same from a point that sorter::set_parameter sets:
 * asc(distance("eye", &Entity::x, &Entity::y)). */
template <class Name, class... Coordinates,
          class = std::enable_if_t<std::is_convertible_v<Name, const char *>>>
auto distance(Name parameter, Coordinates... coordinates)
{
  return detail::computed_with(RECSORT_DISTANCE, parameter, member(coordinates)...);
}
/* The dot product with a vector, such as the depth along an axis: asc(dot({0, 0, 1}, &Entity::x,
 * &Entity::y, &Entity::z)), or with one that sorter::set_parameter sets: asc(dot("forward", ...)).
 */
template <std::size_t Count, class... Coordinates>
auto dot(const double (&with)[Count], Coordinates... coordinates)
{
  return detail::computed(RECSORT_DOT, 0, with, with, member(coordinates)...);
}
template <class Name, class... Coordinates,
          class = std::enable_if_t<std::is_convertible_v<Name, const char *>>>
auto dot(Name parameter, Coordinates... coordinates)
{
  return detail::computed_with(RECSORT_DOT, parameter, member(coordinates)...);
}
/* The places on Morton and Hilbert curves, of a grid of 2^bits cells along each coordinate:
 * asc(morton(16, {0, 0}, {640, 480}, &Entity::x, &Entity::y)). */
template <std::size_t Count, class... Coordinates>
auto morton(std::uint32_t bits, const double (&least)[Count], const double (&most)[Count],
            Coordinates... coordinates)
{
  return detail::computed(RECSORT_MORTON, bits, least, most, member(coordinates)...);
}
template <std::size_t Count, class... Coordinates>
auto hilbert(std::uint32_t bits, const double (&least)[Count], const double (&most)[Count],
             Coordinates... coordinates)
{
  return detail::computed(RECSORT_HILBERT, bits, least, most, member(coordinates)...);
}

/* ---- Sorters ------------------------------------------------------------------------------ */

namespace detail
{

inline recsort_status refuse(const char *text, recsort_error *error,
                             recsort_status status = RECSORT_INVALID_ARGUMENT)
{
  error->status = status;
  error->line = error->column = 0;
  std::snprintf(error->text, sizeof error->text, "%s", text);
  return status;
}
inline recsort_status too_small(std::size_t size, std::size_t needed, recsort_error *error)
{
  char text[96];
  std::snprintf(text, sizeof text, "an array has %zu elements, but %zu are needed", size, needed);
  return refuse(text, error);
}

/* An array of a member; made by column. */
struct any_column {
  const void *from;
  void *to; /* NULL: it is constant */
  std::size_t count, element_size;
  std::size_t offset; /* of the member in a record */
};

/* A schema of the members that some keys name, at their offsets. */
class description
{
public:
  bool allocate(std::size_t keys, std::size_t fields)
  {
    const auto make = [](auto &array, std::size_t count) {
      using element = typename std::remove_reference_t<decltype(array)>::element_type;
      array.reset(new (std::nothrow) element[count]());
      return array != nullptr;
    };
    return make(keys_, keys) && make(computed_, keys) && make(names_, keys + fields) &&
           make(fields_, fields) && make(columns_, fields) && make(coordinates_, fields);
  }

  void add(const any_key &given)
  {
    const char **const coordinates = coordinates_.get() + coordinate_count_;
    for (std::size_t i = 0; i < given.field_count; i++)
      coordinates[i] = name_of(given.fields[i]);
    coordinate_count_ += given.field_count;
    recsort_key_desc &added = keys_[key_count_++];
    added.path = coordinates[0];
    added.order = given.order;
    added.nan = given.nan;
    if (given.compute == recsort_compute{}) return;
    char *const text = names_[field_count_ + computed_count_].data();
    std::snprintf(text, sizeof(name), "computed value %zu", computed_count_);
    recsort_computed_desc &computed = computed_[computed_count_++];
    added.path = computed.name = text;
    computed.compute = given.compute;
    computed.bits = given.bits;
    computed.coordinates = coordinates;
    computed.coordinate_count = given.field_count;
    computed.parameter = given.parameter;
    computed.origin = given.parameter == nullptr ? given.origin.data() : nullptr;
    computed.limit = given.bits > 0 ? given.limit.data() : nullptr;
  }

  recsort_status create(std::size_t record_size, const recsort_allocator *allocator,
                        recsort_schema **schema, recsort_error *error) const
  {
    const std::uint16_t one = 1;
    unsigned char first;
    std::memcpy(&first, &one, 1);
    recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
    desc.record = "record";
    desc.endian = first == 1 ? RECSORT_LITTLE_ENDIAN : RECSORT_BIG_ENDIAN;
    desc.layout = RECSORT_LAYOUT_EXPLICIT;
    desc.size = record_size;
    desc.fields = fields_.get();
    desc.field_count = field_count_;
    desc.keys = keys_.get();
    desc.key_count = key_count_;
    desc.computed = computed_.get();
    desc.computed_count = computed_count_;
    return recsort_schema_create(&desc, allocator, schema, error);
  }

  /* Gives a job the columns of the fields, each of which lies in an array of the caller's. */
  recsort_status find_columns(const any_column *given, std::size_t given_count, recsort_job &job,
                              recsort_error *error) const
  {
    if (columns_ == nullptr) return refuse("columns are for sorters that are made of keys", error);
    job.count = given[0].count;
    for (std::size_t c = 0; c < given_count; c++) {
      if (given[c].count != job.count) return refuse("columns have different sizes", error);
      for (std::size_t i = 0; i < field_count_ && job.column_count < field_count_; i++) {
        const std::size_t inside = fields_[i].offset - given[c].offset; /* huge: before it */
        const std::size_t size = given[c].element_size;
        if (inside < size &&
            size_of(fields_[i].type, fields_[i].size + fields_[i].count) <= size - inside)
          columns_[job.column_count++] = {fields_[i].name,
                                          static_cast<const char *>(given[c].from) + inside, size};
      }
    }
    job.columns = columns_.get();
    return RECSORT_OK;
  }

private:
  using name = std::array<char, 64>;

  /* The name of a member, which several keys may use. */
  const char *name_of(const any_field &used)
  {
    for (std::size_t i = 0; i < field_count_; i++) {
      const recsort_field_desc &known = fields_[i];
      if (known.offset == used.offset && known.type == used.type &&
          known.size + known.count == used.count)
        return known.name;
    }
    const char *const type = recsort_type_describe(used.type)->name;
    const auto offset = static_cast<unsigned long long>(used.offset);
    const auto size = static_cast<unsigned long long>(used.count);
    char *const text = names_[field_count_ + computed_count_].data();
    if (used.offset == RECSORT_NO_OFFSET)
      std::snprintf(text, sizeof(name), "null pointer to a member");
    else if (size > 1) /* a string and its first byte have different names */
      std::snprintf(text, sizeof(name), "%s of %llu at byte %llu", type, size, offset);
    else
      std::snprintf(text, sizeof(name), "%s at byte %llu", type, offset);
    recsort_field_desc &added = fields_[field_count_++];
    added.name = text;
    added.type = used.type;
    added.offset = used.offset;
    if (recsort_type_describe(used.type)->size > 0)
      added.count = used.count;
    else
      added.size = used.count;
    return text;
  }

  std::unique_ptr<recsort_key_desc[]> keys_;
  std::unique_ptr<recsort_computed_desc[]> computed_;
  std::unique_ptr<name[]> names_; /* of fields and computed values */
  std::unique_ptr<recsort_field_desc[]> fields_;
  std::unique_ptr<recsort_column[]> columns_;   /* room for one for each field, */
  std::unique_ptr<const char *[]> coordinates_; /* and here, too */
  std::size_t key_count_ = 0, computed_count_ = 0, field_count_ = 0, coordinate_count_ = 0;
};

} // namespace detail

/* Sorts records of one type, or columns of them. It owns a recsort_sorter; it moves and does not
 * copy. What recsort.h says about each function holds here: one thread at a time may use a sorter,
 * equal records keep their order, and records change only once a sort can no longer fail. */
template <class Record, bool OnDevice = false> class sorter
{
  static_assert(detail::is_bytes<Record>,
                "recsort: a record is moved as bytes, so it has no virtual functions and no "
                "destructor or copy constructor of its own, and neither has a member; put the keys "
                "and an index into a struct, sort those, and move the records by the index");

public:
  /* `options` may set the plugin, threads, reverse, allocator, executor; the rest is filled in. If
   * this fails with a recsort_error, the sorter is empty, and every call of it fails. */
  sorter(view<const key<Record>> keys, on_error failed = {})
      : sorter(keys, recsort_options{}, failed)
  {
  }
  sorter(view<const key<Record>> keys, const recsort_options &options, on_error failed = {})
  {
    failed([&](recsort_error *error) {
      if (keys.size() == 0) return detail::refuse("a sorter needs a key", error);
      std::size_t fields = 0;
      for (std::size_t i = 0; i < keys.size(); i++)
        fields += keys.data()[i].field_count;
      if (!described_.allocate(keys.size(), fields))
        return detail::refuse("out of memory for keys", error, RECSORT_OUT_OF_MEMORY);
      for (std::size_t i = 0; i < keys.size(); i++)
        described_.add(keys.data()[i]);
      recsort_schema *schema = nullptr;
      recsort_status status = described_.create(sizeof(Record), options.allocator, &schema, error);
      if (status == RECSORT_OK) status = open(schema, options, error);
      recsort_schema_destroy(schema);
      return status;
    });
  }
  /* The keys of a schema whose record has the same size; any other is refused. */
  sorter(const recsort_schema *schema, const recsort_options &options, on_error failed = {})
  {
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

  /* The functions that return bool return true if they succeed; if they fail without throwing,
   * those that return something else return 0. */

  /* Jobs, of which you may set more members: records as they are, and in place. */
  recsort_job from(view<const Record> records) const noexcept
  {
    recsort_job made = RECSORT_JOB_INIT;
    made.records = records.data();
    made.count = records.size();
    made.head = head_;
    return made;
  }
  recsort_job in_place(view<Record> records) const noexcept
  {
    recsort_job made = from(records);
    made.sorted = records.data();
    return made;
  }
  /* Only the first `head` records of the order are wanted from now on; 0: all. */
  void set_head(std::size_t head) noexcept
  {
    head_ = head;
  }

  /* The array of a member of all records or, with a path as for asc, of something in it, in place
   * of records: by.column(speeds, &Entity::speed). */
  template <class Array, class Owner, class Member, class... Path>
  static detail::any_column column(Array &&array, Member Owner::*first, Path... path)
  {
    using element = detail::element_of<Array>;
    const auto found = detail::follow(detail::place<Record>{0}, first, path...);
    static_assert(std::is_same_v<detail::plain<std::remove_cv_t<element>>,
                                 detail::plain<typename decltype(found)::type>>,
                  "recsort: the elements of a column have the type of its member");
    void *to = nullptr;
    if constexpr (!std::is_const_v<element>) to = std::data(array);
    return {std::data(array), to, std::size(array), sizeof(element), found.offset};
  }
  /* A job of columns, until the next call of this function. If that fails, the job is refused. */
  template <std::size_t Count>
  recsort_job from(const detail::any_column (&columns)[Count], on_error failed = {}) const
  {
    recsort_job made = from(view<const Record>(nullptr, 0));
    const bool found = failed(
        [&](recsort_error *error) { return described_.find_columns(columns, Count, made, error); });
    if (!found) made.struct_size = 0;
    return made;
  }

  /* The memory that a job takes. */
  recsort_needs plan(const recsort_job &job, on_error failed = {})
  {
    recsort_needs needs = RECSORT_NEEDS_INIT;
    call(failed, recsort_plan, &job, std::size_t{1}, &needs);
    return needs;
  }
  bool run(const recsort_job &job, on_error failed = {})
  {
    return call(failed, recsort_run, &job, std::size_t{1});
  }

  /* The point or vector of the keys with this parameter: by.set_parameter("eye", {1, 2}). */
  bool set_parameter(const char *name, view<const double> point, on_error failed = {})
  {
    return call(failed, recsort_sorter_set_parameter, name, point.data(), point.size());
  }
  /* The same for a device_sorter, but each job reads the point, in the device's memory, anew. */
  bool bind_parameter(const char *name, view<const double> point, on_error failed = {})
  {
    return call(failed, recsort_sorter_bind_parameter, name, point.data(), point.size());
  }
  recsort_stats stats() const noexcept
  {
    recsort_stats filled = {};
    recsort_sorter_get_stats(get(), &filled, sizeof filled);
    return filled;
  }

  bool sort(view<Record> records, on_error failed = {})
  {
    return run(in_place(records), failed);
  }
  /* Columns, in place: by.sort({by.column(speeds, &Entity::speed), by.column(ids, &Entity::id)}).
   */
  template <std::size_t Count>
  bool sort(const detail::any_column (&columns)[Count], on_error failed = {})
  {
    recsort_array arrays[Count];
    for (std::size_t i = 0; i < Count; i++)
      arrays[i] = {columns[i].from, columns[i].to, columns[i].element_size};
    recsort_job job = from(columns, failed);
    job.arrays = arrays;
    job.array_count = Count;
    return job.struct_size != 0 && run(job, failed);
  }
  /* `sorted` has room for as many records as there are or, with a head, are wanted. It is the array
   * itself, or does not overlap it. */
  bool sort_to(view<const Record> records, view<Record> sorted, on_error failed = {})
  {
    recsort_job job = from(records);
    job.sorted = sorted.data();
    return run_into(job, sorted.size(), failed);
  }
  /* Index is uint32_t or uint64_t; `index` is as long as `sorted` of sort_to. */
  template <class Index>
  bool argsort(view<const Record> records, Index &&index, on_error failed = {})
  {
    return argsort(from(records), index, failed);
  }
  template <std::size_t Count, class Index>
  bool argsort(const detail::any_column (&columns)[Count], Index &&index, on_error failed = {})
  {
    const recsort_job job = from(columns, failed);
    return job.struct_size != 0 && argsort(job, index, failed);
  }
  /* The index of the first record whose key is less than that of the record before it; the number
   * of records if they are sorted. */
  std::size_t disorder(view<const Record> records, on_error failed = {})
  {
    std::size_t found = 0;
    call(failed, recsort_check, records.data(), records.size(), &found);
    return found;
  }
  bool is_sorted(view<const Record> records, on_error failed = {})
  {
    std::size_t found = 0;
    return call(failed, recsort_check, records.data(), records.size(), &found) &&
           found == records.size();
  }
  /* Sorts, and keeps the first record of each run of equal keys: returns how many, at the front.
   * Those behind are unspecified. */
  std::size_t unique(view<Record> records, on_error failed = {})
  {
    std::size_t kept = 0;
    const recsort_job job = from(records);
    const bool found = run(job, failed) && call(failed, recsort_unique, &job, &kept);
    return found && apply(records, failed) ? kept : 0;
  }

  /* A job that wants nothing, such as from(records), leaves a permutation in the sorter until the
   * next call that sorts. It moves an array in place, or to one that does not overlap it. Both
   * refuse an array that is too short. */
  template <class Array> bool apply(Array &&array, on_error failed = {})
  {
    return gather(array, array, failed);
  }
  template <class From, class To> bool gather(From &&source, To &&target, on_error failed = {})
  {
    using element = detail::element_of<To>;
    static_assert(std::is_same_v<const detail::element_of<From>, const element>,
                  "recsort: an array is moved to one of the same type");
    static_assert(detail::is_bytes<element>,
                  "recsort: elements are moved as bytes, so they have no destructor or copy "
                  "constructor of their own; take the index of argsort, and move them by it");
    return failed([&](recsort_error *error) {
      unsigned bits = 0;
      std::size_t count = 0;
      const void *const index = recsort_sorter_permutation(get(), &bits, &count);
      if (get() == nullptr || (index == nullptr && std::size(source) > 0))
        return detail::refuse("the sorter keeps no permutation", error);
      if (std::size(target) < count) return detail::too_small(std::size(target), count, error);
      for (std::size_t i = 0; i < count; i++) {
        const std::uint64_t at = bits == 32 ? static_cast<const std::uint32_t *>(index)[i]
                                            : static_cast<const std::uint64_t *>(index)[i];
        if (at >= std::size(source)) return detail::too_small(std::size(source), at + 1, error);
      }
      const std::size_t bytes =
          std::data(source) == std::data(target) ? count * sizeof(element) : 0;
      std::unique_ptr<unsigned char[]> copy(new (std::nothrow) unsigned char[bytes]);
      if (copy == nullptr)
        return detail::refuse("out of memory for an array", error, RECSORT_OUT_OF_MEMORY);
      void *const moved = bytes > 0 ? copy.get() : static_cast<void *>(std::data(target));
      recsort_gather(get(), index, bits, count, std::data(source), sizeof(element), moved);
      if (bytes > 0) std::memcpy(static_cast<void *>(std::data(target)), copy.get(), bytes);
      return RECSORT_OK;
    });
  }

  /* Merges sorted runs in place: run r is records [offsets[r], offsets[r + 1]). */
  bool merge(view<Record> records, view<const std::size_t> offsets, on_error failed = {})
  {
    const std::size_t end = offsets.size() > 0 ? offsets.data()[offsets.size() - 1] : 0;
    return merge(in_place({records.data(), end}), offsets, records.size(), failed);
  }
  /* Merges sorted arrays into another one: by.merge_to({old, fresh}, all). For a number of arrays
   * that is known only when the program runs, give a job part_records. */
  template <std::size_t Count>
  bool merge_to(const view<const Record> (&runs)[Count], view<Record> merged, on_error failed = {})
  {
    std::size_t offsets[Count + 1] = {0};
    const void *arrays[Count];
    for (std::size_t i = 0; i < Count; i++) {
      arrays[i] = runs[i].data();
      offsets[i + 1] = offsets[i] + runs[i].size();
    }
    recsort_job job = from({nullptr, offsets[Count]});
    job.part_records = arrays;
    job.sorted = merged.data();
    return merge(job, offsets, merged.size(), failed);
  }

private:
  /* Calls a function of recsort.h. */
  template <class Function, class... Arguments>
  bool call(const on_error &failed, Function function, Arguments... arguments) const
  {
    return failed([&](recsort_error *error) { return function(get(), arguments..., error); });
  }
  /* Runs a job that writes to an array of `room` elements. */
  bool run_into(const recsort_job &job, std::size_t room, const on_error &failed)
  {
    const std::size_t wanted = job.head > 0 && job.head < job.count ? job.head : job.count;
    if (room >= wanted) return run(job, failed);
    return failed([&](recsort_error *error) { return detail::too_small(room, wanted, error); });
  }
  template <class Index> bool argsort(recsort_job job, Index &&index, const on_error &failed)
  {
    using number = std::remove_pointer_t<decltype(std::data(index))>;
    static_assert(std::is_unsigned_v<number> && (sizeof(number) == 4 || sizeof(number) == 8),
                  "recsort: an index is uint32_t or uint64_t");
    job.permutation = std::data(index);
    job.index_bits = 8 * sizeof(number);
    return run_into(job, std::size(index), failed);
  }
  bool merge(recsort_job job, view<const std::size_t> offsets, std::size_t room,
             const on_error &failed)
  {
    job.parts = RECSORT_RUNS;
    job.offsets = offsets.size() > 0 ? offsets.data() : nullptr;
    job.offset_bits = 8 * sizeof(std::size_t);
    job.part_count = offsets.size() - 1;
    return run_into(job, room, failed);
  }

  recsort_status open(const recsort_schema *schema, recsort_options options, recsort_error *error)
  {
    options.struct_size = sizeof options;
    options.record_size = sizeof(Record);
    options.on_device = OnDevice;
    recsort_sorter *made = nullptr;
    const recsort_status status = recsort_sorter_create(schema, &options, &made, error);
    sorter_.reset(made);
    return status;
  }

  std::unique_ptr<recsort_sorter, void (*)(recsort_sorter *)> sorter_{nullptr,
                                                                      recsort_sorter_destroy};
  detail::description described_;
  std::size_t head_ = 0;
};

/* Sorts records, or columns, in a device's memory (recsort_options.on_device), where a {pointer,
 * count} stands for an array. It takes jobs; calls that are for the host's memory are refused.
 *
 *   recsort::device_sorter<Entity> by({recsort::desc(&Entity::distance)});
 *   recsort_job job = by.in_place({entities, count});
 *   job.stream = stream;
 *   job.workspace_size = by.plan(job).device;
 *   cudaMalloc(&job.workspace, job.workspace_size);
 *   by.run(job); // as often as you like; it enqueues the sort
 *
 * For the shards of one array give get() to recsort_run. */
template <class Record> using device_sorter = sorter<Record, true>;

} // namespace recsort

#endif
