/* registry.h - the plugins that can be found, those that cannot be used, and why.
 *
 * The one place of the project with dlopen. Plugins are trusted code, so they are looked for only
 * in the folder "recsort" beside the library (or else the one that was compiled in) and in absolute
 * folders that RECSORT_PLUGIN_PATH names.
 */
#ifndef RS_PLUGIN_REGISTRY_H
#define RS_PLUGIN_REGISTRY_H

#include "base/error.h"
#include "base/memory.h"
#include "recsort/team.h"
#include "plugin/trial.h"
#include "recsort/plugin.h"

/* An open plugin with a chosen algorithm. */
typedef struct rs_plugin_instance {
  const recsort_plugin *plugin; /* NULL: not open */
  void *state;
  const recsort_plugin_records *records; /* how it takes whole records; NULL: it does not */
  uint32_t algorithm;
  bool lost;          /* it said so: only close may be called */
  rs_trial trial;     /* of whole records, if it takes them */
  char transfer[200]; /* what that has shown */
} rs_plugin_instance;

/* A plugin that was found, in the registry's arena. Until it is loaded, only the path of its file
 * and the name in that are known. */
typedef struct rs_candidate {
  recsort_plugin_info info;
  const recsort_plugin *plugin; /* NULL: not loaded, or refused before it could say anything */
  void *library;                /* of dlopen; NULL for one that is linked in */
  bool loaded;
  rs_plugin_instance instance; /* choice.c opens and drops it */
  bool dropped;                /* it failed, and is not to be used again */
} rs_candidate;

struct recsort_plugin_list {
  rs_arena arena;
  recsort_host host;
  team team;                 /* runs what plugins ask the host to run */
  rs_candidate **candidates; /* the one linked in, then in the order of the search */
  size_t count;
  size_t room;
};

/* Finds plugins, which will work with the threads of `t` and get `options` (recsort_host.options),
 * which live as long as the list. Loads none but what is linked in. A plugin of a file that has not
 * all of the options is refused when it is loaded. */
recsort_status rs_registry_create(const recsort_allocator *allocator, const team *t,
                                  const char *const *options, size_t option_count,
                                  recsort_plugin_list **list, recsort_error *error);

/* Loads all, and sorts them: best score first. May be tried again after a failure, which is one of
 * memory. */
recsort_status rs_registry_load(recsort_plugin_list *list, recsort_error *error);

/* The first of the list's options that the plugin does not have, its `length` characters; NULL:
 * none.
 */
const char *rs_registry_lacking(const recsort_plugin_list *list, const recsort_plugin *plugin,
                                int *length);

/* The plugin by that name, loaded, or an error that says why there is none that can be used. Loads
 * only librecsort_NAME.so; if no file is called so, the others too, as their plugins may be. */
recsort_status rs_registry_find(recsort_plugin_list *list, const char *name, rs_candidate **found,
                                recsort_error *error);

/* Whether a plugin that is loaded has `algorithm` (NULL: the default). */
bool rs_plugin_offers(const rs_candidate *candidate, const char *algorithm);

/* Finds `algorithm` (NULL: the default) and opens. An instance is closed by rs_plugin_close. */
recsort_status rs_plugin_open(const recsort_plugin_list *list, const rs_candidate *candidate,
                              const char *algorithm, rs_plugin_instance *instance,
                              recsort_error *error);
void rs_plugin_close(rs_plugin_instance *instance);

/* Turns what a plugin reports into a status of the library, with the plugin's name in the text. */
recsort_status rs_plugin_fail(const rs_plugin_instance *instance, recsort_plugin_status status,
                              const recsort_plugin_error *reported, recsort_error *error);

#endif
