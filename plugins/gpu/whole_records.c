/* whole_records.c - sends records to the device, sorts them there and brings them back.
 *
 *   up       sends pieces of the records through the ring, and makes the keys of each on arrival
 *   sort     sorts pairs of key and index
 *   check    checks that the order is a permutation, before any record moves
 *   down     gathers pieces of the sorted records and brings them back through the ring
 *   confirm  checks that the records of each piece have the sorted keys, and at the end that the
 *            sums of all hashes are those of the records that were sent
 *
 * The device's memory:  | pairs and memory to sort them | records | pieces | facts |
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "gpu/device_records.h"
#include "gpu/gpu_plugin.h"
#include "gpu/over_devices.h"

/* Up to these sizes of a record, in bytes, sending whole records was faster than sending keys and
 * gathering on the host: in all measurements, in most, and in a few (tools/results). */
enum { SURE_SIZE = 40, MOSTLY_SIZE = 128, HARDLY_SIZE = 1024 };

static double seconds_now(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the seconds since *since, and resets it. */
static double lap(double *since)
{
  const double now = seconds_now(), passed = now - *since;
  *since = now;
  return passed;
}

static uint32_t suits(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  if (!device_records_encodable(program) || program->record_size > HARDLY_SIZE)
    return RECSORT_SUITS_NOT;
  if (program->record_size > MOSTLY_SIZE) return RECSORT_SUITS_HARDLY;
  return program->record_size > SURE_SIZE ? RECSORT_SUITS_MOSTLY : RECSORT_SUITS;
}

static const char *reason(const void *instance, const recsort_key_program *program)
{
#define BOTH "; a sorter of many records tries both ways and keeps the faster one"
  if (!device_records_encodable(program))
    return "keys alone: the device does not make keys of more than 128 bits or 16 parts";
  switch (suits(instance, program)) {
  case RECSORT_SUITS:
    return "whole records if they fit on the device: up to 40 bytes, sending them is faster than "
           "gathering on the host";
  case RECSORT_SUITS_MOSTLY:
    return "whole records if they fit on the device: up to 128 bytes, sending them is usually "
           "faster than gathering on the host" BOTH;
  case RECSORT_SUITS_HARDLY:
    return "keys alone: above 128 bytes, gathering on the host is usually faster than sending "
           "whole records" BOTH;
  default:
    return "keys alone: above 1024 bytes, gathering on the host is faster than sending whole "
           "records";
  }
#undef BOTH
}

static recsort_plugin_status sort_entered(gpu_instance *self, const recsort_plugin_job *job,
                                          const recsort_key_program *program, const void *records,
                                          void *sorted, recsort_plugin_times *times,
                                          recsort_plugin_error *error)
{
  device_records s = device_records_plan(self, job, program, gpu_plan_pairs(self->device, job), 0);
  unsigned result = 0;
  recsort_plugin_status status = device_records_reserve(&s, error);
  double clock = seconds_now();
  if (status == RECSORT_PLUGIN_OK) status = device_records_send(&s, records, NULL, NULL, error);
  times->encode = lap(&clock);
  if (status == RECSORT_PLUGIN_OK) status = gpu_sort_pairs(&s.pairs, &s.buffers, &result, error);
  times->sort = lap(&clock);
  if (status == RECSORT_PLUGIN_OK) status = device_records_check(&s, result, error);
  times->verify = lap(&clock);
  if (status == RECSORT_PLUGIN_OK) status = device_records_receive(&s, sorted, error);
  times->permute = lap(&clock);
  return status;
}

/* By a thread that has entered. */
static recsort_plugin_status has_room(gpu_instance *self, const recsort_plugin_job *job,
                                      const recsort_key_program *program, bool *room,
                                      recsort_plugin_error *error)
{
  const device_records s =
      device_records_plan(self, job, program, gpu_plan_pairs(self->device, job), 0);
  return gpu_has_room(self->device, s.bytes, room, error);
}

/* Several devices sort what the first one has no room for. Other records take longest on their way
 * there and back, which is bound by the host's memory, so one is as fast. */
static recsort_plugin_status sort(void *instance, const recsort_plugin_job *job,
                                  const recsort_key_program *program, const void *records,
                                  void *sorted, recsort_plugin_times *times,
                                  recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  bool room = true;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  if (self->device_count > 1) status = has_room(self, job, program, &room, error);
  if (!status && room) status = sort_entered(self, job, program, records, sorted, times, error);
  runtime_leave(self->device);
  return room ? status : over_devices_sort(self, job, program, records, sorted, times, error);
}

const recsort_plugin_records gpu_whole_records = {
    .size = sizeof gpu_whole_records, .suits = suits, .reason = reason, .sort = sort};
