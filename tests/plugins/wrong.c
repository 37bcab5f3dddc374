/* wrong.c - plugins that must not be used, one for each WRONG_... that it is compiled with. None of
 * their functions may be called, except `score` if the table is complete. */
#include <stdio.h>
#include <stdlib.h>

#include "recsort/plugin.h"

static uint32_t score(const recsort_host *host, char *reason, size_t reason_size)
{
  (void)host;
#ifdef WRONG_SCORE
  (void)snprintf(reason, reason_size, "there is no such device here");
#else
  (void)reason;
  (void)reason_size;
#if !defined WRONG_MUTE
  abort();
#endif
#endif
  return 0;
}

static recsort_status open(const recsort_host *host, void **made, recsort_error *error)
{
  (void)host;
  (void)made;
  (void)error;
  abort();
}

static void close(void *made)
{
  (void)made;
  abort();
}

static void limits(const void *made, recsort_plugin_limits *limits)
{
  (void)made;
  (void)limits;
  abort();
}

static recsort_status work_size(const void *made, const recsort_plugin_job *job,
                                recsort_plugin_work *work, recsort_error *error)
{
  (void)made;
  (void)job;
  (void)work;
  (void)error;
  abort();
}

#ifndef WRONG_GAPS
static recsort_status sort(void *made, const recsort_plugin_job *job, void *memory,
                           recsort_error *error)
{
  (void)made;
  (void)job;
  (void)memory;
  (void)error;
  abort();
}
#endif

#if defined WRONG_ALGORITHM
static const recsort_plugin_algorithm algorithm = {8, 0, "short", "its size ends before its name"};
#elif defined WRONG_NAMELESS
static const recsort_plugin_algorithm algorithm = {sizeof algorithm, 0, NULL, "does nothing"};
#elif defined WRONG_SILENT
static const recsort_plugin_algorithm algorithm = {sizeof algorithm, 0, "none", NULL};
#else
static const recsort_plugin_algorithm algorithm = {sizeof algorithm, 0, "none", "does nothing"};
#endif
#ifdef WRONG_FIRST
static const recsort_plugin_algorithm *const algorithms[] = {NULL, &algorithm};
#else
static const recsort_plugin_algorithm *const algorithms[] = {&algorithm};
#endif

#ifdef WRONG_OPTION /* its size, reserved, name and description */
static const recsort_plugin_option option = {WRONG_OPTION};
#endif
#if defined WRONG_OPTION
static const recsort_plugin_option *const options[] = {&option};
#elif defined WRONG_NO_OPTION
static const recsort_plugin_option *const options[] = {NULL};
#endif

static const recsort_plugin table = {
#ifdef WRONG_SIZE
    .size = WRONG_SIZE,
#else
    .size = sizeof table,
#endif
#ifdef WRONG_ABI
    .abi = RECSORT_PLUGIN_ABI + 1,
#else
    .abi = RECSORT_PLUGIN_ABI,
#endif
    .name = "wrong",
    .version = "0",
    .description = "must not be used",
    .algorithms = algorithms,
    .algorithm_count = 1,
    .score = score,
    .open = open,
    .close = close,
    .limits = limits,
    .work_size = work_size,
#ifdef WRONG_GAPS
    .sort = NULL,
#else
    .sort = sort,
#endif
#if defined WRONG_OPTION || defined WRONG_NO_OPTION
    .options = options,
    .option_count = 1,
#endif
};

#ifdef WRONG_SYMBOL /* the expected symbol is missing */
#define recsort_plugin_entry recsort_plugin_entrance
#endif

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

RECSORT_PLUGIN_EXPORT const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
#ifdef WRONG_HOST
  return host_abi ? NULL : &table;
#elif defined WRONG_MEMBER /* the member that is missing */
  static recsort_plugin gap;
  (void)host_abi;
  gap = table;
  gap.WRONG_MEMBER = 0;
  return &gap;
#else
  (void)host_abi;
  return &table;
#endif
}
