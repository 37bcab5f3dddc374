/* registry.h - finds and loads plugins, and knows why some cannot be used.
 *
 * Only this file of the project loads libraries. Plugins are trusted code, so only two places are
 * searched: the folder "recsort" beside the library (or else the one that was compiled in), and the
 * absolute folders in RECSORT_PLUGIN_PATH.
 */
#ifndef RS_PLUGIN_REGISTRY_H
#define RS_PLUGIN_REGISTRY_H

#include "base/error.h"
#include "base/memory.h"
#include "recsort/team.h"
#include "plugin/builtin.h"
#include "plugin/pace.h"
#include "recsort/plugin.h"
#include "recsort/tools.h"

/* An open plugin with a chosen algorithm. */
typedef struct rs_plugin_instance {
  const recsort_plugin *plugin; /* NULL: not open */
  void *state;
  const recsort_plugin_records *records; /* its functions for whole records; NULL: none */
  bool sorts_in_host;                    /* these work in the host's memory, also in place */
  const recsort_plugin_merge *merge;     /* likewise, that merge */
  const recsort_plugin_device *device;   /* likewise, for jobs on devices */
  uint32_t algorithm;
  bool lost; /* it has reported DEVICE_LOST: only close may be called */
} rs_plugin_instance;

/* A plugin that was found, in the registry's arena. Until it is loaded, only its path and the name
 * in it are known. `info` comes first. */
typedef struct rs_candidate {
  recsort_plugin_info info;
  const recsort_plugin *plugin; /* NULL: not loaded, or no usable table */
  void *library;                /* it is loaded; NULL: linked in */
  bool loaded;
  rs_plugin_instance instance; /* opened and closed by choice.c */
  bool dropped;                /* it failed and must not be used again */
  rs_pace pace;                /* noted by choice.c */
  struct rs_registry *registry;
} rs_candidate;

typedef struct rs_registry {
  rs_arena arena;
  recsort_host host;
  team team;                 /* runs the tasks of plugins */
  rs_candidate **candidates; /* first the one that is linked in, then in search order */
  size_t count;
  size_t room;
} rs_registry;

/* Finds plugins, without loading any. They will use the threads of `t` and get `options`
 * (recsort_host.options), which must live as long as the list. A plugin from a file is refused when
 * it is loaded if it lacks one of the options. */
recsort_status rs_registry_create(const recsort_allocator *allocator, const team *t,
                                  const char *const *options, size_t option_count,
                                  rs_registry **list, recsort_error *error);

/* Unloads the plugins; NULL is allowed. */
void rs_registry_destroy(rs_registry *list);

/* Loads all plugins and sorts them, best score first. The only failure is OUT_OF_MEMORY; you may
 * then call it again. */
recsort_status rs_registry_load(rs_registry *list, recsort_error *error);

/* The first of the list's options that the plugin lacks, of `length` characters; NULL: none. */
const char *rs_registry_lacking(const rs_registry *list, const recsort_plugin *plugin, int *length);

/* Finds and loads the plugin with this name, or says why none can be used. Loads only
 * librecsort_NAME.so; if there is no such file, all others too, as the plugin may be in one of
 * them. */
recsort_status rs_registry_find(rs_registry *list, const char *name, rs_candidate **found,
                                recsort_error *error);

/* True if a plugin that is loaded does jobs on devices. */
bool rs_plugin_does_devices(const rs_candidate *candidate);

/* True if a loaded plugin has `algorithm` (NULL: the default). */
bool rs_plugin_offers(const rs_candidate *candidate, const char *algorithm);

/* The plugin that is linked in. */
const rs_candidate *rs_registry_linked_in(const rs_registry *list);

/* Opens an instance with `algorithm` (NULL: the default). Close it with rs_plugin_close. */
recsort_status rs_plugin_open(const rs_registry *list, const rs_candidate *candidate,
                              const char *algorithm, rs_plugin_instance *instance,
                              recsort_error *error);
void rs_plugin_close(rs_plugin_instance *instance);

/* Passes on what a plugin has reported, with its name before the text. */
recsort_status rs_plugin_fail(rs_plugin_instance *instance, recsort_status status,
                              const recsort_error *reported, recsort_error *error);

/* Fails if the plugin has lost its device. */
recsort_status rs_plugin_check_lost(const rs_plugin_instance *instance, recsort_error *error);

#endif
