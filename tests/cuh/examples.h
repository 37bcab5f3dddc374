/* examples.h - what the examples in the comments of recsort.cuh say that there is. */
#ifndef RS_CUH_EXAMPLES_H
#define RS_CUH_EXAMPLES_H

#include <recsort.cuh>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace
{

struct Position {
  float x, y;
};

struct Entity {
  int id;
  float distance;
  Position at;
};

template <class Element> Element *managed(std::initializer_list<Element> elements)
{
  Element *array, *end;
  if (cudaMallocManaged(&array, elements.size() * sizeof *array)) std::abort();
  end = array;
  for (const Element &element : elements)
    *end++ = element;
  return array;
}

struct arrays {
  float *keys_in = managed({3.f, 1.f, 2.f, 1.f}), *keys_out = managed({0.f, 0.f, 0.f, 0.f});
  int *values_in = managed({10, 20, 30, 40}), *values_out = managed({0, 0, 0, 0});
  Entity *records_in =
      managed<Entity>({{1, 3, {3, 0}}, {2, 1, {1, 0}}, {3, 2, {2, 0}}, {4, 1, {1, 0}}});
  Entity *records_out = managed<Entity>({{}, {}, {}, {}});
  uint32_t *offsets = managed<uint32_t>({0, 2, 4});
  size_t count = 4;
  cudaStream_t stream = nullptr;
};

template <class Example> void call_twice(Example &example)
{
  size_t bytes = 0;
  void *workspace;
  if (example.call(nullptr, bytes) || cudaMalloc(&workspace, bytes) ||
      example.call(workspace, bytes) || cudaStreamSynchronize(example.stream))
    std::abort();
}

double number_of(double element)
{
  return element;
}
double number_of(const Entity &element)
{
  return element.id;
}

template <class Element> void show(const char *name, const Element *elements, size_t count)
{
  std::printf("%s:", name);
  for (size_t i = 0; i < count; i++)
    std::printf(" %g", number_of(elements[i]));
  std::printf("\n");
}

} // namespace

#endif
