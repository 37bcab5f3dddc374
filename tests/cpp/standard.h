/* Stand-ins for the headers of the standard library that recsort.hpp includes, to compile it for
 * Microsoft's ABI where only clang is. They are declarations; nothing is linked. */
#ifndef STANDARD_H
#define STANDARD_H

#include <stddef.h>
#include <stdint.h>

extern "C" int snprintf(char *, size_t, const char *, ...);

namespace std
{

using ::int32_t, ::int64_t, ::size_t, ::snprintf, ::uint16_t, ::uint32_t, ::uint64_t;
enum class byte : unsigned char {};

inline void *memcpy(void *to, const void *from, size_t size)
{
  return __builtin_memcpy(to, from, size);
}
inline void *memset(void *to, int value, size_t size)
{
  return __builtin_memset(to, value, size);
}

/* ---- type_traits and utility ---- */

template <class T> struct type_is {
  using type = T;
};
template <bool Condition, class T = void> struct enable_if {
};
template <class T> struct enable_if<true, T> : type_is<T> {
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;
template <bool Condition, class T, class> struct conditional : type_is<T> {
};
template <class T, class Other> struct conditional<false, T, Other> : type_is<Other> {
};
template <bool Condition, class T, class Other>
using conditional_t = typename conditional<Condition, T, Other>::type;

template <class T> struct remove_const : type_is<T> {
};
template <class T> struct remove_const<const T> : type_is<T> {
};
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile : type_is<T> {
};
template <class T> struct remove_volatile<volatile T> : type_is<T> {
};
template <class T> using remove_cv_t = typename remove_volatile<remove_const_t<T>>::type;
template <class T> struct remove_pointer : type_is<T> {
};
template <class T> struct remove_pointer<T *> : type_is<T> {
};
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct remove_reference : type_is<T> {
};
template <class T> struct remove_reference<T &> : type_is<T> {
};
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_extent : type_is<T> {
};
template <class T> struct remove_extent<T[]> : type_is<T> {
};
template <class T> using underlying_type_t = __underlying_type(T);

template <class T, class U> inline constexpr bool is_same_v = __is_same(T, U);
template <class T, class U> inline constexpr bool is_convertible_v = __is_convertible_to(T, U);
template <class T, class U> inline constexpr bool is_base_of_v = __is_base_of(T, U);
template <class T> inline constexpr bool is_const_v = __is_const(T);
template <class T> inline constexpr bool is_enum_v = __is_enum(T);
template <class T> inline constexpr bool is_class_v = __is_class(T);
template <class T> inline constexpr bool is_union_v = __is_union(T);
template <class T> inline constexpr bool is_function_v = __is_function(T);
template <class T> inline constexpr bool is_integral_v = __is_integral(T);
template <class T> inline constexpr bool is_signed_v = __is_signed(T);
template <class T> inline constexpr bool is_unsigned_v = __is_unsigned(T);
template <class T> inline constexpr bool is_floating_point_v = __is_floating_point(T);
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
inline constexpr bool is_trivially_copy_constructible_v = __is_trivially_constructible(T,
                                                                                       const T &);
template <class T> inline constexpr bool is_trivially_destructible_v = __has_trivial_destructor(T);
template <class T> inline constexpr bool is_pointer_v = false;
template <class T> inline constexpr bool is_pointer_v<T *> = true;
template <class...> using void_t = void;

template <class T> T &&declval() noexcept;

/* ---- Containers ---- */

template <class T> class initializer_list
{
  const T *first_;
  size_t size_;

public:
  const T *begin() const noexcept
  {
    return first_;
  }
  const T *end() const noexcept
  {
    return first_ + size_;
  }
  size_t size() const noexcept
  {
    return size_;
  }
};

template <class T, size_t Count> struct array {
  T elements[Count];
  T *data() noexcept
  {
    return elements;
  }
  const T *data() const noexcept
  {
    return elements;
  }
  size_t size() const noexcept
  {
    return Count;
  }
  T *begin() noexcept
  {
    return elements;
  }
  T *end() noexcept
  {
    return elements + Count;
  }
  T &operator[](size_t i) noexcept
  {
    return elements[i];
  }
  const T &operator[](size_t i) const noexcept
  {
    return elements[i];
  }
};

template <class T> constexpr auto data(T &container) -> decltype(container.data())
{
  return container.data();
}
template <class T> constexpr auto data(const T &container) -> decltype(container.data())
{
  return container.data();
}
template <class T, size_t Count> constexpr T *data(T (&array)[Count]) noexcept
{
  return array;
}
template <class T> constexpr const T *data(initializer_list<T> list) noexcept
{
  return list.begin();
}
template <class T> constexpr auto size(const T &container) -> decltype(container.size())
{
  return container.size();
}
template <class T, size_t Count> constexpr size_t size(const T (&)[Count]) noexcept
{
  return Count;
}

/* ---- memory, new and stdexcept ---- */

template <class T> struct default_delete;
template <class T> struct default_delete<T[]> {
  void operator()(T *made) const noexcept
  {
    delete[] made;
  }
};
template <class T, class Delete = default_delete<T>> class unique_ptr
{
public:
  using element_type = typename remove_extent<T>::type;

private:
  element_type *kept_ = nullptr;
  Delete delete_{};

public:
  unique_ptr() = default;
  explicit unique_ptr(element_type *kept) : kept_(kept)
  {
  }
  unique_ptr(element_type *kept, Delete how) : kept_(kept), delete_(how)
  {
  }
  unique_ptr(unique_ptr &&other) noexcept : kept_(other.kept_), delete_(other.delete_)
  {
    other.kept_ = nullptr;
  }
  ~unique_ptr()
  {
    reset(nullptr);
  }
  void reset(element_type *kept) noexcept
  {
    if (kept_) delete_(kept_);
    kept_ = kept;
  }
  element_type *get() const noexcept
  {
    return kept_;
  }
  element_type &operator[](size_t i) const noexcept
  {
    return kept_[i];
  }
  bool operator==(nullptr_t) const noexcept
  {
    return !kept_;
  }
  bool operator!=(nullptr_t) const noexcept
  {
    return kept_;
  }
};

struct nothrow_t {
};
inline constexpr nothrow_t nothrow;

class runtime_error
{
public:
  explicit runtime_error(const char *);
  runtime_error(const runtime_error &) noexcept;
  virtual ~runtime_error();
};

} // namespace std

void *operator new[](std::size_t, const std::nothrow_t &) noexcept;

#endif
