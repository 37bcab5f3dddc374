/* A second source file with recsort.cuh. All names of the header but those of namespace recsort are
 * free for a program. */
#include "cuh/calls.h"
#include "cuh/another.h"

#include <recsort.cuh> /* once more */

using namespace recsort;

/* ---- Names that the kernels have, too ---- */

struct workspace {
  int place;
};
struct call {
  workspace head;
};
static int pairs(call records)
{
  return records.head.place;
}
static int plan_min(int sample, int segment_sort)
{
  return sample < segment_sort ? sample : segment_sort;
}

int names_of_another()
{
  return plan_min(pairs({{7}}), 9);
}

std::vector<named_call> calls_of_another(call_arrays &on)
{
  return calls_on(on);
}
