/* choice.h - chooses the plugin that sorts.
 *
 * If you name a plugin, only that one is loaded, at once, and it is never replaced.
 *
 * "auto" starts with the plugin that is linked in. It sorts as long as no call has RS_LOAD_LEAST
 * records; until then no library is loaded and no device is touched. For that many records, or at
 * once if the plugin that is linked in lacks the algorithm or an option, all plugins are loaded.
 * From then on the one with the best score sorts; smaller counts than its least_count go to the
 * next best, and so do keys that are wider than it sorts. A plugin that fails is dropped, and the
 * next best takes over.
 */
#ifndef RS_PLUGIN_CHOICE_H
#define RS_PLUGIN_CHOICE_H

#include "base/load_least.h"
#include "plugin/registry.h"

typedef struct rs_choice {
  rs_registry *plugins;  /* owned */
  const char *algorithm; /* NULL: the plugin's default */
  uint32_t key_width;    /* plugins that cannot sort such keys are passed over */
  bool automatic;
  bool all_loaded;
  rs_candidate *in_use;                            /* is open; NULL: every plugin has failed */
  rs_plugin_instance linked_in;                    /* of the linked-in plugin, once it has merged */
  char why[400];                                   /* recsort_stats.choice */
  char fallback[sizeof((recsort_error *)0)->text]; /* empty: none */
} rs_choice;

/* Chooses the plugin that the options name, or "auto"; with on_device, one that does jobs on a
 * device. `choice` is zeroed; it takes ownership of `plugins` and keeps the pointer `algorithm`.
 * Call rs_choice_close even if this fails. */
recsort_status rs_choice_open(rs_choice *choice, rs_registry *plugins,
                              const recsort_options *options, const char *algorithm,
                              uint32_t key_width, recsort_error *error);
void rs_choice_close(rs_choice *choice);

/* Makes the plugin for `count` records the one in use. With "auto" this may load and open plugins.
 * Errors: OUT_OF_MEMORY. */
recsort_status rs_choice_for(rs_choice *choice, size_t count, recsort_error *error);

/* Replaces the plugin in use, which has failed, by the next best one for `count` records. False if
 * there is none, or the plugin was named. */
bool rs_choice_replace(rs_choice *choice, size_t count, const recsort_error *cause);

/* True if the plugin in use is to get whole records instead of keys. */
bool rs_choice_moves(const rs_choice *choice, const recsort_key_program *program);

/* The plugin that merges: the one that is linked in, which this opens if need be. */
recsort_status rs_choice_merger(rs_choice *choice, rs_plugin_instance **merger,
                                recsort_error *error);

/* Fills in the members of `stats` that describe the plugin. */
void rs_choice_describe(const rs_choice *choice, const recsort_key_program *program,
                        recsort_stats *stats);

#endif
