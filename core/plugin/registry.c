#include "plugin/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/platform/files.h"
#include "base/platform/libraries.h"
#include "base/pool.h"
#include "plugin/builtin.h"

#define PLUGIN_PREFIX "librecsort_"
#define PLUGIN_FOLDER "/recsort" /* beside the library */

static void *host_allocate(void *context, size_t size)
{
  const rs_registry *list = context;
  return rs_allocate(&list->arena.allocator, size);
}

static void host_release(void *context, void *memory, size_t size)
{
  const rs_registry *list = context;
  rs_release(&list->arena.allocator, memory, size);
}

static void host_run(void *context, void (*task)(void *argument, size_t number), void *argument,
                     size_t count)
{
  const team *const t = &((const rs_registry *)context)->team;
  t->run(t->context, task, argument, count);
}

/* ---- One candidate ---- */

static size_t options_of(const recsort_plugin *plugin)
{
  return plugin->options ? plugin->option_count : 0;
}

/* Why the table cannot be used; NULL: it can. */
static const char *table_fault(const recsort_plugin *plugin)
{
  if (plugin->size != sizeof *plugin || plugin->abi != RECSORT_PLUGIN_ABI)
    return "it was built for another version of the plugin interface";
  if (!plugin->name || !plugin->version || !plugin->description || !plugin->algorithms ||
      plugin->algorithm_count == 0 || !plugin->score || !plugin->open || !plugin->close ||
      !plugin->limits || !plugin->work_size || !plugin->sort)
    return "its table has gaps";
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    if (!plugin->algorithms[i] || plugin->algorithms[i]->size != sizeof *plugin->algorithms[i] ||
        !plugin->algorithms[i]->name || !plugin->algorithms[i]->description)
      return "its table has gaps";
  for (size_t i = 0; i < options_of(plugin); i++)
    if (!plugin->options[i] || plugin->options[i]->size != sizeof *plugin->options[i] ||
        !plugin->options[i]->name || !plugin->options[i]->description)
      return "its table has gaps";
  return NULL;
}

static bool describe_options(rs_registry *list, rs_candidate *candidate)
{
  const recsort_plugin *plugin = candidate->plugin;
  const size_t count = options_of(plugin);
  const char **names = rs_arena_array(&list->arena, count, sizeof *names);
  const char **texts = rs_arena_array(&list->arena, count, sizeof *texts);
  if (!names || !texts) return false;
  for (size_t i = 0; i < count; i++) {
    names[i] = plugin->options[i]->name;
    texts[i] = plugin->options[i]->description;
  }
  candidate->info.options = names;
  candidate->info.option_texts = texts;
  candidate->info.option_count = count;
  return true;
}

static bool describe(rs_registry *list, rs_candidate *candidate)
{
  const recsort_plugin *plugin = candidate->plugin;
  const size_t count = plugin->algorithm_count;
  const char **names = rs_arena_array(&list->arena, count, sizeof *names);
  const char **texts = rs_arena_array(&list->arena, count, sizeof *texts);
  if (!names || !texts) return false;
  for (size_t i = 0; i < count; i++) {
    names[i] = plugin->algorithms[i]->name;
    texts[i] = plugin->algorithms[i]->description;
  }
  candidate->info.name = plugin->name;
  candidate->info.version = plugin->version;
  candidate->info.description = plugin->description;
  candidate->info.algorithms = names;
  candidate->info.algorithm_texts = texts;
  candidate->info.algorithm_count = count;
  return describe_options(list, candidate);
}

static bool has_option(const recsort_plugin *plugin, const char *key, size_t length)
{
  const size_t count = options_of(plugin);
  for (size_t i = 0; i < count; i++) {
    const char *const name = plugin->options[i]->name;
    if (strncmp(name, key, length) == 0 && !name[length]) return true;
  }
  return false;
}

const char *rs_registry_lacking(const rs_registry *list, const recsort_plugin *plugin, int *length)
{
  for (size_t i = 0; i < list->host.option_count; i++) {
    const char *const option = list->host.options[i];
    *length = (int)strcspn(option, "=");
    if (!has_option(plugin, option, (size_t)*length)) return option;
  }
  return NULL;
}

/* The plugin's score. 0: it lacks an option or cannot run here, and `reason` says why. Options do
 * not matter for the plugin that is linked in, as "auto" needs it. */
static uint32_t score(const rs_registry *list, const rs_candidate *candidate, char *reason,
                      size_t reason_size)
{
  int length;
  const char *const lacking =
      candidate->library ? rs_registry_lacking(list, candidate->plugin, &length) : NULL;
  if (!lacking) return candidate->plugin->score(&list->host, reason, reason_size);
  (void)snprintf(reason, reason_size, "it has no option \"%.*s\"", length, lacking);
  return 0;
}

/* Checks a table and fills in its description. False: out of memory. */
static bool judge(rs_registry *list, rs_candidate *candidate, const recsort_plugin *table)
{
  char reason[200] = "";
  if (!table) {
    candidate->info.reason = "it cannot work with this version of recsort";
    return true;
  }
  candidate->info.reason = table_fault(table);
  if (candidate->info.reason) return true;
  candidate->plugin = table;
  candidate->info.score = score(list, candidate, reason, sizeof reason);
  reason[sizeof reason - 1] = '\0';
  if (candidate->info.score == 0) {
    candidate->info.reason = rs_arena_text(&list->arena, *reason ? reason : "it gave no reason");
    if (!candidate->info.reason) return false;
  }
  return describe(list, candidate);
}

static bool append(rs_registry *list, rs_candidate candidate)
{
  rs_candidate *const kept = rs_arena_array(&list->arena, 1, sizeof *kept);
  if (!kept) return false;
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 4;
    rs_candidate **grown = rs_arena_array(&list->arena, room, sizeof *grown);
    if (!grown) return false;
    if (list->count) memcpy(grown, list->candidates, list->count * sizeof *grown);
    list->candidates = grown;
    list->room = room;
  }
  RS_ASSERT(list->count < list->room);
  *kept = candidate;
  kept->registry = list;
  list->candidates[list->count++] = kept;
  return true;
}

static bool add_builtin(rs_registry *list)
{
  const recsort_plugin_entry_fn *const entries = rs_builtin_plugins();
  for (size_t i = 0; entries[i]; i++) {
    rs_candidate candidate = {.loaded = true};
    if (!judge(list, &candidate, entries[i](RECSORT_PLUGIN_ABI)) || !append(list, candidate))
      return false;
  }
  return true;
}

#ifdef RS_LOADS_PLUGINS
/* Loads a library and gets its table. On failure, info.reason says why. */
static bool ask(rs_registry *list, rs_candidate *candidate)
{
  char why[RS_PATH_MAX + 200];
  candidate->library = rs_library_open(candidate->info.path, why, sizeof why);
  if (!candidate->library) {
    candidate->info.reason = rs_arena_text(&list->arena, why);
    return candidate->info.reason != NULL;
  }
  const recsort_plugin_entry_fn entry =
      (recsort_plugin_entry_fn)rs_library_find(candidate->library, RECSORT_PLUGIN_ENTRY);
  if (!entry) {
    candidate->info.reason = "it has no symbol " RECSORT_PLUGIN_ENTRY;
    return true;
  }
  return judge(list, candidate, entry(RECSORT_PLUGIN_ABI));
}

static void unload(rs_candidate *candidate)
{
  if (candidate->library) rs_library_close(candidate->library);
}

/* Loads a candidate unless it is loaded. False: out of memory, and the candidate is unchanged. */
static bool load(rs_registry *list, rs_candidate *candidate)
{
  rs_candidate loaded = *candidate;
  if (loaded.loaded) return true;
  loaded.loaded = ask(list, &loaded);
  if (loaded.loaded)
    *candidate = loaded;
  else
    unload(&loaded);
  return loaded.loaded;
}

/* ---- The search ---- */

typedef struct search {
  rs_registry *list;
  const char *folder;
} search;

static bool is_plugin(const char *file)
{
  const size_t length = strlen(file), end = strlen(RS_LIBRARY_SUFFIX);
  return strncmp(file, PLUGIN_PREFIX, strlen(PLUGIN_PREFIX)) == 0 && length > end &&
         strcmp(file + length - end, RS_LIBRARY_SUFFIX) == 0;
}

/* Adds a file if it is called like a plugin. */
static bool add_file(void *context, const char *file)
{
  const search *const s = context;
  rs_arena *const arena = &s->list->arena;
  const size_t size = strlen(s->folder) + strlen(file) + 2;
  if (!is_plugin(file)) return true;
  char *path = rs_arena_array(arena, size, 1);
  if (!path) return false;
  (void)snprintf(path, size, "%s/%s", s->folder, file);
  char *stem = rs_arena_text(arena, file + strlen(PLUGIN_PREFIX));
  if (!stem) return false;
  RS_ASSERT(strlen(stem) >= strlen(RS_LIBRARY_SUFFIX));
  stem[strlen(stem) - strlen(RS_LIBRARY_SUFFIX)] = '\0';
  return append(s->list, (rs_candidate){.info = {.name = stem, .path = path}});
}

/* Adds the plugins of a folder in the order of their names, so that every run finds the same. */
static bool search_folder(rs_registry *list, const char *folder)
{
  search s = {list, folder};
  return rs_folder_list(folder, add_file, &s);
}

/* Returns the folder "recsort" beside the library, so that you can move an installed tree; without
 * it the folder that was compiled in, which may be "". */
static const char *plugin_folder(char path[RS_PATH_MAX + sizeof PLUGIN_FOLDER])
{
  if (!rs_library_own_folder(path)) return RS_PLUGIN_FOLDER;
  (void)strcat(path, PLUGIN_FOLDER);
  return rs_folder_exists(path) ? path : RS_PLUGIN_FOLDER;
}

static bool refuse_folder(rs_registry *list, const char *folder)
{
  return append(list, (rs_candidate){.info = {.name = folder,
                                              .path = folder,
                                              .reason = "RECSORT_PLUGIN_PATH must name absolute "
                                                        "folders"},
                                     .loaded = true});
}

/* Searches the folders of RECSORT_PLUGIN_PATH. */
static bool search_path(rs_registry *list)
{
  static const char name[] = "RECSORT_PLUGIN_PATH";
  const size_t size = rs_environment(name, NULL, 0);
  char *folder = size ? rs_arena_array(&list->arena, size, 1) : NULL;
  if (!folder) return size == 0;
  (void)rs_environment(name, folder, size);
  for (char *next; *folder; folder = next) {
    next = folder + strcspn(folder, RS_PATH_SEPARATOR);
    if (*next) *next++ = '\0';
    if (*folder &&
        !(rs_path_is_absolute(folder) ? search_folder(list, folder) : refuse_folder(list, folder)))
      return false;
  }
  return true;
}

static bool search_folders(rs_registry *list)
{
  char path[RS_PATH_MAX + sizeof PLUGIN_FOLDER];
  const char *const folder = plugin_folder(path);
  return (!*folder || search_folder(list, folder)) && search_path(list);
}

/* Adds the folders that the library searched. */
static void add_folders(char *text, size_t size)
{
  char path[RS_PATH_MAX + sizeof PLUGIN_FOLDER], named[128];
  const char *const folder = plugin_folder(path);
  const size_t used = strlen(text),
               set = rs_environment("RECSORT_PLUGIN_PATH", named, sizeof named);
  (void)snprintf(text + used, size - used,
                 "; the library searched %.128s and RECSORT_PLUGIN_PATH%s%s",
                 *folder ? folder : "no folder of its own", set ? ": " : ", which is not set",
                 set == 0             ? ""
                 : set > sizeof named ? "a long list"
                                      : named);
}
#else /* all plugins are linked in */
static bool load(rs_registry *list, rs_candidate *candidate)
{
  (void)list, (void)candidate;
  return true;
}

static void unload(rs_candidate *candidate)
{
  (void)candidate;
}

static bool search_folders(rs_registry *list)
{
  (void)list;
  return true;
}

static void add_folders(char *text, size_t size)
{
  const size_t used = strlen(text);
  (void)snprintf(text + used, size - used, "; this build of the library loads no other plugins");
}
#endif

/* A stable insertion sort: of equal scores, the first one found stays first. */
static void sort_by_score(rs_registry *list)
{
  for (size_t i = 1; i < list->count; i++) {
    rs_candidate *const moved = list->candidates[i];
    size_t j = i;
    for (; j > 0 && list->candidates[j - 1]->info.score < moved->info.score; j--)
      list->candidates[j] = list->candidates[j - 1];
    list->candidates[j] = moved;
    RS_ASSERT(j == 0 || list->candidates[j - 1]->info.score >= moved->info.score);
  }
}

recsort_status rs_registry_create(const recsort_allocator *allocator, const team *t,
                                  const char *const *options, size_t option_count,
                                  rs_registry **list, recsort_error *error)
{
  const recsort_allocator memory = rs_allocator(allocator);
  const recsort_status whole = rs_check_allocator(allocator, error);
  if (whole) return whole;
  rs_registry *made = rs_allocate(&memory, sizeof *made);
  if (!made) return rs_fail_memory(error, sizeof *made);
  memset(made, 0, sizeof *made);
  rs_arena_init(&made->arena, &memory);
  made->host = (recsort_host){.size = sizeof made->host,
                              .abi = RECSORT_PLUGIN_ABI,
                              .context = made,
                              .allocate = host_allocate,
                              .release = host_release,
                              .run = host_run,
                              .options = options,
                              .option_count = option_count};
  made->team = *t;
  if (!add_builtin(made) || !search_folders(made)) {
    rs_registry_destroy(made);
    return rs_fail_memory(error, sizeof *made);
  }
  RS_ASSERT(made->count > 0);
  *list = made;
  return RECSORT_OK;
}

recsort_status rs_registry_load(rs_registry *list, recsort_error *error)
{
  for (size_t i = 0; i < list->count; i++)
    if (!load(list, list->candidates[i])) return rs_fail_memory(error, sizeof(rs_candidate));
  sort_by_score(list);
  return RECSORT_OK;
}

void rs_registry_destroy(rs_registry *list)
{
  if (!list) return;
  for (size_t i = 0; i < list->count; i++)
    unload(list->candidates[i]);
  const recsort_allocator memory = list->arena.allocator;
  rs_arena_free(&list->arena);
  rs_release(&memory, list, sizeof *list);
}

recsort_status recsort_plugins_find(const recsort_allocator *allocator,
                                    const recsort_plugin_info **plugins, recsort_error *error)
{
  const team t = rs_team(NULL, 0);
  rs_registry *made = NULL;
  if (!plugins) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "plugins must not be NULL");
  recsort_status status = rs_registry_create(allocator, &t, NULL, 0, &made, error);
  if (status == RECSORT_OK) status = rs_registry_load(made, error);
  if (status) {
    rs_registry_destroy(made);
    return status;
  }
  for (size_t i = 1; i < made->count; i++)
    made->candidates[i - 1]->info.next = &made->candidates[i]->info;
  *plugins = &made->candidates[0]->info;
  return RECSORT_OK;
}

void recsort_plugins_destroy(const recsort_plugin_info *plugins)
{
  if (plugins) rs_registry_destroy(((const rs_candidate *)(const void *)plugins)->registry);
}

/* ---- Use ---- */

/* Finds the first plugin with this name that can be used, or else the first with this name. Loads
 * the candidates whose file has the name, or, if `load_others`, all. False: out of memory. */
static bool find_named(rs_registry *list, const char *name, bool load_others, rs_candidate **found)
{
  for (size_t i = 0; i < list->count && !(*found && (*found)->info.score); i++) {
    rs_candidate *const candidate = list->candidates[i];
    if (!load_others && strcmp(candidate->info.name, name) != 0) continue;
    if (!load(list, candidate)) return false;
    if (strcmp(candidate->info.name, name) != 0) continue;
    if (!*found || candidate->info.score) *found = candidate;
  }
  return true;
}

/* Names with commas between them, as many as there is room for. */
static void add_name(char *names, size_t size, const char *name)
{
  const size_t used = strlen(names);
  snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

static recsort_status refuse_plugin(const rs_registry *list, const char *name, recsort_error *error)
{
  char names[400] = "";
  for (size_t i = 0; i < list->count; i++)
    if (list->candidates[i]->info.score) add_name(names, 100, list->candidates[i]->info.name);
  add_folders(names, sizeof names);
  return rs_fail(
      error, RECSORT_PLUGIN_ERROR, "there is no plugin \"%.40s\"; the plugins that work here: %s%s",
      name, names,
      strcmp(name, "cuda") == 0 ? "; install the Debian package or the wheel recsort-cuda" : "");
}

static recsort_status refuse_algorithm(const rs_candidate *candidate, const char *name,
                                       recsort_error *error)
{
  char names[200] = "";
  for (uint32_t i = 0; i < candidate->plugin->algorithm_count; i++)
    add_name(names, sizeof names, candidate->plugin->algorithms[i]->name);
  return rs_fail(error, RECSORT_PLUGIN_ERROR,
                 "plugin \"%s\" has no algorithm \"%.100s\"; it has %s", candidate->info.name, name,
                 names);
}

recsort_status rs_registry_find(rs_registry *list, const char *name, rs_candidate **found,
                                recsort_error *error)
{
  *found = NULL;
  if (!find_named(list, name, false, found) || (!*found && !find_named(list, name, true, found)))
    return rs_fail_memory(error, sizeof(rs_candidate));
  if (!*found) return refuse_plugin(list, name, error);
  if ((*found)->info.score) return RECSORT_OK;
  return rs_fail(error, RECSORT_PLUGIN_ERROR, "plugin \"%s\" cannot be used here: %s", name,
                 (*found)->info.reason);
}

static bool find_algorithm(const recsort_plugin *plugin, const char *name, uint32_t *found)
{
  for (uint32_t i = 0; i < plugin->algorithm_count; i++) {
    if (name && strcmp(plugin->algorithms[i]->name, name) != 0) continue;
    *found = i;
    return true;
  }
  return false;
}

bool rs_plugin_offers(const rs_candidate *candidate, const char *algorithm)
{
  uint32_t found;
  return find_algorithm(candidate->plugin, algorithm, &found);
}

/* The table of an extension; NULL: the plugin has none of this size. */
static const void *find_extension(const recsort_plugin *plugin, const char *name, uint32_t size)
{
  const uint32_t *const found = plugin->extension ? plugin->extension(name) : NULL;
  return found && *found == size ? found : NULL;
}

static const recsort_plugin_records *find_records(const recsort_plugin *plugin)
{
  const recsort_plugin_records *const found =
      find_extension(plugin, RECSORT_PLUGIN_RECORDS, sizeof *found);
  return found && found->suits && found->reason && found->sort ? found : NULL;
}

static const recsort_plugin_device *find_device(const recsort_plugin *plugin)
{
  const recsort_plugin_device *const found =
      find_extension(plugin, RECSORT_PLUGIN_DEVICE, sizeof *found);
  return found && found->plan && found->run ? found : NULL;
}

bool rs_plugin_does_devices(const rs_candidate *candidate)
{
  return candidate->plugin && find_device(candidate->plugin);
}

/* Only a plugin that is linked in merges. */
static const recsort_plugin_merge *find_merge(const rs_candidate *candidate)
{
  return candidate->info.path ? NULL : candidate->plugin->extension(RECSORT_PLUGIN_MERGE);
}

const rs_candidate *rs_registry_linked_in(const rs_registry *list)
{
  size_t i = 0;
  while (list->candidates[i]->info.path)
    i++;
  RS_ASSERT(i < list->count);
  return list->candidates[i];
}

recsort_status rs_plugin_open(const rs_registry *list, const rs_candidate *candidate,
                              const char *algorithm, rs_plugin_instance *instance,
                              recsort_error *error)
{
  RS_ASSERT(candidate->plugin && !instance->plugin);
  rs_plugin_instance made = {.plugin = candidate->plugin,
                             .records = find_records(candidate->plugin),
                             .merge = find_merge(candidate),
                             .device = find_device(candidate->plugin)};
  made.sorts_in_host = made.records && made.records->work_size;
  recsort_error reported = {0};
  if (!find_algorithm(made.plugin, algorithm, &made.algorithm))
    return refuse_algorithm(candidate, algorithm, error);
  const recsort_status status = made.plugin->open(&list->host, &made.state, &reported);
  if (status) return rs_plugin_fail(&made, status, &reported, error);
  *instance = made;
  return RECSORT_OK;
}

void rs_plugin_close(rs_plugin_instance *instance)
{
  if (instance->plugin) instance->plugin->close(instance->state);
  instance->plugin = NULL;
}

/* False for a status that plugin.h does not allow, and for a number that is none. */
static bool may_report(recsort_status status)
{
  return status == RECSORT_OUT_OF_MEMORY || status == RECSORT_PLUGIN_ERROR ||
         status == RECSORT_DEVICE_LOST || status == RECSORT_CORRUPT_RESULT ||
         status == RECSORT_INVALID_RECORD;
}

recsort_status rs_plugin_fail(rs_plugin_instance *instance, recsort_status status,
                              const recsort_error *reported, recsort_error *error)
{
  RS_ASSERT(status != RECSORT_OK);
  const int length = (int)sizeof reported->text - 1;
  instance->lost = status == RECSORT_DEVICE_LOST;
  return rs_fail(error, may_report(status) ? status : RECSORT_DEVICE_ERROR, "plugin \"%s\": %.*s",
                 instance->plugin->name, length,
                 reported->text[0] ? reported->text : "failed without a reason");
}

recsort_status rs_plugin_check_lost(const rs_plugin_instance *instance, recsort_error *error)
{
  if (!instance->lost) return RECSORT_OK;
  return rs_fail(error, RECSORT_DEVICE_LOST, "plugin \"%s\" has lost its device",
                 instance->plugin->name);
}
