/* Classes with what C++ adds to C: bases, access, namespaces, nested and scoped types. */
#ifndef SAMPLE_HPP
#define SAMPLE_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace game
{

enum class team : std::int8_t { red = -2, blue, green = 7 };
enum class mask : unsigned char {};

struct base {
  double weight;
  static int count;
};
struct tags {
  char16_t wide;
};

class sample : public base, public tags
{
public:
  using numbers = std::array<short, 3>;
  struct inner {
    team side;
    long value;
  };
  static constexpr int size = 3;
  sample *next;
  team side;
  mask flags;
  std::byte raw[3], one;
  numbers some;
  inner parts[2];
  bool yes : 1, no : 1;
};

template <class Number> struct pair {
  Number first, second;
};

class closed
{
public:
  closed(int &to) : reference(to)
  {
  }

private:
  const int &reference;
  int sample::inner::*pointer = nullptr;

protected:
  pair<float> secret = {0, 0};
};

inline pair<int> instance;

} // namespace game

using game::sample;

#define FILL(r) r->weight = REAL, r->side = TRUTH ? game::team::red : game::team::green

#endif
