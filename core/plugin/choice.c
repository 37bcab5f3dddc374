#include "plugin/choice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/platform/clock.h"

/* ---- Candidates ---- */

/* A lost device cannot be asked. */
static recsort_plugin_limits limits_of(const rs_plugin_instance *instance)
{
  recsort_plugin_limits limits = {.size = sizeof limits};
  if (instance->lost)
    limits.max_key_bits = UINT32_MAX;
  else
    instance->plugin->limits(instance->state, &limits);
  return limits;
}

static bool sorts_keys(const rs_choice *choice, const rs_candidate *candidate)
{
  return choice->key_width <= limits_of(&candidate->instance).max_key_bits;
}

static void note_fallback(rs_choice *choice, const recsort_error *cause)
{
  memcpy(choice->fallback, cause->text, sizeof choice->fallback);
}

/* Opens a candidate unless it is open. One that does not open is not tried again. */
static bool is_open(rs_choice *choice, rs_candidate *candidate, recsort_error *error)
{
  if (candidate->instance.plugin) return true;
  if (candidate->dropped || candidate->info.score == 0) return false;
  RS_ASSERT(candidate->plugin);
  if (rs_plugin_open(choice->plugins, candidate, choice->algorithm, &candidate->instance, error) ==
      RECSORT_OK)
    return true;
  if (rs_plugin_offers(candidate, choice->algorithm)) note_fallback(choice, error);
  candidate->dropped = true;
  return false;
}

/* The best candidate from number `first` on that is meant for `count` records, or else the best
 * one. Skips plugins that cannot sort such keys. NULL: no plugin is left, and `error` says why
 * the last one cannot be used. */
static rs_candidate *find_best(rs_choice *choice, size_t first, size_t count, recsort_error *error)
{
  rs_candidate *best = NULL;
  for (size_t i = first; i < choice->plugins->count; i++) {
    rs_candidate *const candidate = choice->plugins->candidates[i];
    if (!is_open(choice, candidate, error)) continue;
    if (!sorts_keys(choice, candidate)) {
      (void)rs_fail(error, RECSORT_PLUGIN_ERROR, "plugin \"%s\" cannot sort keys of %u bits",
                    candidate->info.name, choice->key_width);
      continue;
    }
    if (count >= limits_of(&candidate->instance).least_count) return candidate;
    if (!best) best = candidate;
  }
  return best;
}

/* ---- Reasons ---- */

RS_PRINTS(2, 3) static void say(rs_choice *choice, const char *format, ...)
{
  const size_t length = strlen(choice->why);
  RS_ASSERT(length < sizeof choice->why);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(choice->why + length, sizeof choice->why - length, format, arguments);
  va_end(arguments);
}

static const recsort_plugin_info *find_refused(const rs_registry *plugins)
{
  for (size_t i = 0; i < plugins->count; i++)
    if (plugins->candidates[i]->info.reason) return &plugins->candidates[i]->info;
  return NULL;
}

static void explain_best(rs_choice *choice)
{
  recsort_error error;
  const rs_candidate *const best = find_best(choice, 0, SIZE_MAX, &error);
  if (!best) return; /* none sorts such keys */
  const uint64_t least = limits_of(&best->instance).least_count;
  if (choice->in_use != best) {
    say(choice, "fewer than %llu records are not worth \"%s\", the best here",
        (unsigned long long)least, best->info.name);
    return;
  }
  say(choice, "the best of those that can be used here (score %u)", best->info.score);
  if (least)
    say(choice, "; the next best sorts fewer than %llu records", (unsigned long long)least);
}

/* Explains the choice of "auto". */
static void explain(rs_choice *choice)
{
  const recsort_plugin_info *const refused = find_refused(choice->plugins);
  choice->why[0] = '\0';
  switch (choice->reason) {
  case RS_NAMED:
    break;
  case RS_ALONE:
    say(choice, "sorts have not taken %g s yet, so that no other plugin is loaded",
        RS_CHOICE_SHARE * RS_CHOICE_START);
    return;
  case RS_TRIED:
    say(choice, "tried for so many records");
    break;
  case RS_FASTEST:
    say(choice, "the fastest of those that can be used here for so many records");
    break;
  case RS_BEST:
    explain_best(choice);
  }
  for (size_t i = 0; i < choice->plugins->count; i++) {
    const rs_candidate *const candidate = choice->plugins->candidates[i];
    if (candidate->instance.plugin && !sorts_keys(choice, candidate))
      say(choice, "; \"%s\" cannot sort keys of %u bits", candidate->info.name, choice->key_width);
  }
  if (refused) say(choice, "; \"%s\" cannot be used here: %s", refused->name, refused->reason);
}

/* Reports options that the plugin in use lacks: they were meant for another plugin. */
static void note_options(rs_choice *choice)
{
  RS_ASSERT(choice->in_use);
  const char *const name = choice->in_use->info.name;
  const recsort_plugin_info *const refused = find_refused(choice->plugins);
  int length;
  const char *const lacking = rs_registry_lacking(choice->plugins, choice->in_use->plugin, &length);
  if (choice->fallback[0] || !lacking) return;
  if (refused)
    (void)snprintf(choice->fallback, sizeof choice->fallback,
                   "plugin \"%s\" cannot be used here, \"%s\" sorts: %s", refused->name, name,
                   refused->reason);
  else
    (void)snprintf(choice->fallback, sizeof choice->fallback,
                   "no plugin here has the option \"%.*s\": \"%s\" sorts without it", length,
                   lacking, name);
}

/* ---- The choice ---- */

static void use(rs_choice *choice, rs_candidate *candidate, rs_reason reason)
{
  if (choice->in_use == candidate && choice->reason == reason) return;
  choice->in_use = candidate;
  choice->reason = reason;
  if (candidate) explain(choice);
}

static recsort_status load_all(rs_choice *choice, recsort_error *error)
{
  const recsort_status status = rs_registry_load(choice->plugins, error);
  choice->all_loaded = status == RECSORT_OK;
  return status;
}

static bool suffices(const rs_choice *choice, const rs_candidate *candidate)
{
  int length;
  return rs_plugin_offers(candidate, choice->algorithm) &&
         !rs_registry_lacking(choice->plugins, candidate->plugin, &length);
}

static recsort_status open_automatic(rs_choice *choice, recsort_error *error)
{
  rs_candidate *const linked_in = choice->plugins->candidates[0];
  RS_ASSERT(linked_in->plugin && choice->plugins->count > 0);
  recsort_error cause = {0};
  if (suffices(choice, linked_in) && is_open(choice, linked_in, &cause)) {
    use(choice, linked_in, RS_ALONE);
    return RECSORT_OK;
  }
  const recsort_status status = load_all(choice, error);
  if (status) return status;
  choice->asked = true;
  use(choice, find_best(choice, 0, SIZE_MAX, &cause), RS_BEST);
  if (choice->in_use) {
    note_options(choice);
    return RECSORT_OK;
  }
  if (error) *error = cause;
  return cause.status;
}

static recsort_status open_named(rs_choice *choice, const char *name, recsort_error *error)
{
  rs_candidate *found;
  int length;
  const recsort_status status = rs_registry_find(choice->plugins, name, &found, error);
  if (status) return status;
  const char *const lacking = rs_registry_lacking(choice->plugins, found->plugin, &length);
  if (lacking)
    return rs_fail(error, RECSORT_PLUGIN_ERROR, "plugin \"%s\" has no option \"%.*s\"", name,
                   length, lacking);
  choice->in_use = found;
  say(choice, "asked for by name");
  return rs_plugin_open(choice->plugins, found, choice->algorithm, &found->instance, error);
}

/* Gives the reason of each plugin that was refused. */
static recsort_status no_device(const rs_choice *choice, recsort_error *error)
{
  char reasons[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < choice->plugins->count && used < sizeof reasons; i++) {
    const recsort_plugin_info *const info = &choice->plugins->candidates[i]->info;
    if (info->reason)
      used += (size_t)snprintf(reasons + used, sizeof reasons - used, "; \"%s\" cannot be used: %s",
                               info->name, info->reason);
  }
  return rs_fail(error, RECSORT_PLUGIN_ERROR, "no plugin here sorts on a device%s", reasons);
}

/* The best one that does jobs on a device. */
static recsort_status open_for_device(rs_choice *choice, recsort_error *error)
{
  recsort_error cause = {0};
  const recsort_status status = load_all(choice, error);
  if (status) return status;
  for (size_t i = 0; i < choice->plugins->count; i++) {
    rs_candidate *const candidate = choice->plugins->candidates[i];
    if (!rs_plugin_does_devices(candidate) || !is_open(choice, candidate, &cause)) continue;
    use(choice, candidate, RS_BEST);
    return RECSORT_OK;
  }
  if (!cause.status) return no_device(choice, error);
  if (error) *error = cause;
  return cause.status;
}

recsort_status rs_choice_open(rs_choice *choice, rs_registry *plugins,
                              const recsort_options *options, const char *algorithm,
                              uint32_t key_width, recsort_error *error)
{
  const char *const name = options->plugin;
  choice->plugins = plugins;
  choice->algorithm = algorithm;
  choice->key_width = key_width;
  choice->automatic = !name || strcmp(name, "auto") == 0;
  if (choice->automatic)
    return options->on_device ? open_for_device(choice, error) : open_automatic(choice, error);
  const recsort_status status = open_named(choice, name, error);
  if (status || !options->on_device || choice->in_use->instance.device) return status;
  return rs_fail(error, RECSORT_PLUGIN_ERROR, "plugin \"%s\" sorts nothing on a device", name);
}

void rs_choice_close(rs_choice *choice)
{
  for (size_t i = 0; choice->plugins && i < choice->plugins->count; i++)
    rs_plugin_close(&choice->plugins->candidates[i]->instance);
  rs_plugin_close(&choice->linked_in);
  rs_registry_destroy(choice->plugins);
}

/* ---- The fastest one ---- */

/* The plugin that is linked in, while "auto" may use it. */
static rs_candidate *linked_in_of(const rs_choice *choice)
{
  for (size_t i = 0; i < choice->plugins->count; i++) {
    rs_candidate *const candidate = choice->plugins->candidates[i];
    if (!candidate->library && candidate->instance.plugin && !candidate->dropped) return candidate;
  }
  return NULL;
}

/* True if so many seconds more may be lost. */
static bool can_lose(const rs_choice *choice, double seconds)
{
  return seconds <= choice->spent / RS_CHOICE_SHARE - choice->lost;
}

/* True if a plugin may sort `count` records. */
static bool competes(rs_choice *choice, rs_candidate *candidate, size_t count)
{
  recsort_error cause;
  if (!is_open(choice, candidate, &cause) || candidate->instance.lost) return false;
  const recsort_plugin_limits limits = limits_of(&candidate->instance);
  return choice->key_width <= limits.max_key_bits && count >= limits.least_count &&
         count <= limits.max_count;
}

/* True if it is time to try it. A slower plugin is expected to lose as much time as the one that is
 * linked in takes. */
static bool may_try(const rs_choice *choice, const rs_candidate *candidate,
                    const rs_candidate *linked_in, size_t count, bool whole)
{
  RS_ASSERT(linked_in);
  if (rs_pace_tries(&candidate->pace, count, whole) == RS_PACE_TRIES) return false;
  if (candidate == linked_in) return true;
  return rs_pace_tries(&linked_in->pace, count, whole) > 0 &&
         can_lose(choice, rs_pace_expects(&linked_in->pace, count, whole));
}

/* Uses one that is to be tried, or else the fastest. False: the one that is linked in is the only
 * one. */
static bool use_fastest(rs_choice *choice, rs_candidate *linked_in, size_t count, bool whole)
{
  rs_candidate *best = linked_in;
  double least = 0;
  RS_ASSERT(linked_in);
  for (size_t i = 0; i < choice->plugins->count; i++) {
    rs_candidate *const candidate = choice->plugins->candidates[i];
    if (candidate == linked_in && i == 0) return false;
    if (!competes(choice, candidate, count)) continue;
    if (may_try(choice, candidate, linked_in, count, whole)) {
      use(choice, candidate, RS_TRIED);
      return true;
    }
    const bool known = rs_pace_tries(&candidate->pace, count, whole) > 0;
    const double seconds = rs_pace_expects(&candidate->pace, count, whole);
    if (known && (least == 0 || seconds < least)) {
      best = candidate;
      least = seconds;
    }
    if (candidate == linked_in) break;
  }
  use(choice, best, RS_FASTEST);
  return true;
}

/* Loads all plugins, and opens the ones with a better score than the one that is linked in. If
 * there is no memory for them, that one goes on. */
static void start(rs_choice *choice, const rs_candidate *linked_in)
{
  const double before = rs_clock_seconds();
  recsort_error cause;
  if (load_all(choice, &cause) == RECSORT_OK)
    for (size_t i = 0; choice->plugins->candidates[i] != linked_in; i++)
      (void)is_open(choice, choice->plugins->candidates[i], &cause);
  choice->lost += rs_clock_seconds() - before;
}

void rs_choice_for(rs_choice *choice, size_t count, bool whole, bool loads)
{
  recsort_error cause;
  if (!choice->automatic) return;
  rs_candidate *const linked_in = linked_in_of(choice);
  const bool timed = linked_in && rs_choice_is_timed(choice, count);
  if (!choice->all_loaded && timed && loads && can_lose(choice, RS_CHOICE_START))
    start(choice, linked_in);
  if (!choice->all_loaded) return; /* the one that is linked in is in use */
  if (!timed || !use_fastest(choice, linked_in, count, whole))
    use(choice, find_best(choice, 0, count, &cause), RS_BEST);
}

bool rs_choice_take(rs_choice *choice, size_t number, size_t count)
{
  RS_ASSERT(number < choice->plugins->count);
  rs_candidate *const candidate = choice->plugins->candidates[number];
  const rs_candidate *const linked_in = linked_in_of(choice);
  if (!choice->automatic || !choice->all_loaded) return false;
  for (size_t i = 0; i < number; i++)
    if (choice->plugins->candidates[i] == linked_in) return false; /* its score is too low */
  if (!competes(choice, candidate, count)) return false;
  use(choice, candidate, RS_TRIED);
  return true;
}

bool rs_choice_is_timed(const rs_choice *choice, size_t count)
{
  return choice->automatic && !choice->asked && count >= RS_LOAD_LEAST;
}

void rs_choice_note(rs_choice *choice, size_t count, bool whole, double seconds)
{
  const rs_candidate *const linked_in = linked_in_of(choice);
  RS_ASSERT(choice->in_use && count > 0 && seconds >= 0);
  choice->spent += seconds;
  if (linked_in && choice->in_use != linked_in &&
      rs_pace_tries(&linked_in->pace, count, whole) > 0) {
    const double longer = seconds - rs_pace_expects(&linked_in->pace, count, whole);
    if (longer > 0) choice->lost += longer;
  }
  rs_pace_note(&choice->in_use->pace, count, whole, seconds);
}

void rs_choice_note_failure(rs_choice *choice, double seconds)
{
  choice->lost += seconds;
}

/* ---- Failures ---- */

static size_t number_of(const rs_choice *choice, const rs_candidate *candidate)
{
  size_t number = 0;
  while (choice->plugins->candidates[number] != candidate)
    number++;
  RS_ASSERT(number < choice->plugins->count);
  return number;
}

bool rs_choice_replace(rs_choice *choice, size_t count, const recsort_error *cause)
{
  rs_candidate *const failed = choice->in_use;
  recsort_error error = {0};
  if (!choice->automatic || !failed) return false;
  const size_t next = number_of(choice, failed) + 1;
  if (next == choice->plugins->count || choice->plugins->candidates[next]->info.score == 0)
    return false;
  rs_plugin_close(&failed->instance); /* the next one may need its memory */
  failed->dropped = true;
  note_fallback(choice, cause);
  use(choice, find_best(choice, next, count, &error), RS_BEST);
  RS_ASSERT(choice->in_use != failed);
  return choice->in_use != NULL;
}

/* ---- Whole records ---- */

bool rs_choice_moves(const rs_choice *choice, const recsort_key_program *program)
{
  RS_ASSERT(choice->in_use);
  const rs_plugin_instance *const instance = &choice->in_use->instance;
  return instance->records && instance->records->suits(instance->state, program);
}

/* ---- Merges ---- */

recsort_status rs_choice_merger(rs_choice *choice, rs_plugin_instance **merger,
                                recsort_error *error)
{
  *merger = &choice->linked_in;
  if (choice->linked_in.plugin) return RECSORT_OK;
  return rs_plugin_open(choice->plugins, rs_registry_linked_in(choice->plugins), NULL,
                        &choice->linked_in, error);
}

void rs_choice_describe(const rs_choice *choice, const recsort_key_program *program,
                        recsort_stats *stats)
{
  stats->choice = choice->why;
  stats->fallback = choice->fallback[0] ? choice->fallback : NULL;
  if (!choice->in_use) return;
  const rs_plugin_instance *const instance = &choice->in_use->instance;
  RS_ASSERT(instance->plugin);
  stats->plugin = instance->plugin->name;
  stats->algorithm = instance->plugin->algorithms[instance->algorithm]->name;
  if (instance->records) stats->transfer = instance->records->reason(instance->state, program);
}
