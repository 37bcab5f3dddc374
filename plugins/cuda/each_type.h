/* each_type.h - generic code in C: includes the file TYPED_SOURCE once for each type of pair, with
 *
 *   KEY, INDEX      the types of a pair
 *   TYPED(name)     `name` for these types
 *   KEYED(name)     `name` for this type of key
 *
 * DEVICE_SORT(name) then defines name_sort, which picks TYPED(name) by the job's widths.
 */
#include "cuda/device.h"

#define KEY uint32_t
#define KEYED(name) name##_32
#define INDEX uint32_t
#define TYPED(name) name##_32_32
#include TYPED_SOURCE
#undef INDEX
#undef TYPED
#define INDEX uint64_t
#define TYPED(name) name##_32_64
#include TYPED_SOURCE
#undef KEY
#undef KEYED
#undef INDEX
#undef TYPED

#define KEY uint64_t
#define KEYED(name) name##_64
#define INDEX uint32_t
#define TYPED(name) name##_64_32
#include TYPED_SOURCE
#undef INDEX
#undef TYPED
#define INDEX uint64_t
#define TYPED(name) name##_64_64
#include TYPED_SOURCE
#undef KEY
#undef KEYED
#undef INDEX
#undef TYPED

#define KEY device_uint128
#define KEYED(name) name##_128
#define INDEX uint32_t
#define TYPED(name) name##_128_32
#include TYPED_SOURCE
#undef INDEX
#undef TYPED
#define INDEX uint64_t
#define TYPED(name) name##_128_64
#include TYPED_SOURCE
#undef KEY
#undef KEYED
#undef INDEX
#undef TYPED
#undef TYPED_SOURCE
#undef KEY
#undef KEYED
#undef INDEX
#undef TYPED

#define DEVICE_SORT(name)                                                                          \
  device_status name##_sort(const device_job *job, const device_buffers *buffers,                  \
                            unsigned *result)                                                      \
  {                                                                                                \
    const bool wide = job->index_bits == 64;                                                       \
    if (job->count == 0) {                                                                         \
      *result = 0;                                                                                 \
      return 0;                                                                                    \
    }                                                                                              \
    if (job->key_width == 32) return (wide ? name##_32_64 : name##_32_32)(job, buffers, result);   \
    if (job->key_width == 64) return (wide ? name##_64_64 : name##_64_32)(job, buffers, result);   \
    return (wide ? name##_128_64 : name##_128_32)(job, buffers, result);                           \
  }
