/* device.c - has the plugin do jobs in the memory of devices (see recsort_plugin_device). */
#include "base/assert.h"
#include "base/struct_size.h"
#include "sorter.h"

recsort_status rs_device_ask(const recsort_sorter *sorter, const recsort_job *jobs,
                             size_t job_count, recsort_needs *needs, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  RS_ASSERT(sorter->on_device && instance->device);
  recsort_error reported = {0};
  recsort_status status = rs_plugin_check_lost(instance, error);
  if (status) return status;
  status = instance->device->plan(instance->state, instance->algorithm, &sorter->plan.program, jobs,
                                  job_count, needs, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

static recsort_status check(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                            recsort_error *error)
{
  const recsort_status status = rs_plan_check_parameters(&sorter->plan, error);
  return status ? status : rs_jobs_check(sorter, jobs, job_count, error);
}

recsort_status rs_device_plan(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                              recsort_needs *needs, recsort_error *error)
{
  recsort_status status = check(sorter, jobs, job_count, error);
  for (size_t j = 0; j < job_count && !status; j++)
    status = rs_check_size(needs + j, recsort_needs, RECSORT_NEEDS_INIT, error);
  return status ? status : rs_device_ask(sorter, jobs, job_count, needs, error);
}

static recsort_status run(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                          recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  RS_ASSERT(sorter->on_device && instance->device);
  recsort_error reported = {0};
  recsort_status status = rs_plugin_check_lost(instance, error);
  if (status) return status;
  status = instance->device->run(instance->state, instance->algorithm, &sorter->plan.program, jobs,
                                 job_count, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status rs_device_run(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                             recsort_error *error)
{
  RS_ASSERT(sorter->on_device);
  recsort_status status = check(sorter, jobs, job_count, error);
  if (!status && jobs->columns)
    status =
        rs_plan_set_columns(&sorter->plan, jobs->columns, jobs->column_count, jobs->count, error);
  if (!status) status = rs_jobs_check_arrays(sorter, jobs, job_count, error);
  if (!status) status = run(sorter, jobs, job_count, error);
  sorter->plan.program.columns = NULL;
  return status;
}
