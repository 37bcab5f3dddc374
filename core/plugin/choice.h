/* choice.h - chooses the plugin that sorts.
 *
 * If you name a plugin, only that one is loaded, at once, and it is never replaced.
 *
 * "auto" is the fastest one, as far as it has seen. The plugin that is linked in begins. It costs
 * time to load the others, to start a device, and to find out that it is slower: about a twentieth
 * of the time of all sorts so far may be lost so (RS_CHOICE_SHARE). So the others are loaded once
 * sorts have taken twenty times as long as a start; until then no library is loaded and no device
 * is touched. What a start and each try have really lost counts before the next try.
 *
 * Then each plugin with a better score than the one that is linked in sorts three arrays of about
 * so many records, and the fastest one the next ones (pace.h). Arrays smaller than its least_count,
 * and keys that are wider than it sorts, never go to a plugin. Fewer than RS_LOAD_LEAST records are
 * not timed: they go to the plugin with the best score.
 *
 * If the plugin that is linked in lacks the algorithm or an option, all plugins are loaded at once,
 * and the one with the best score sorts.
 *
 * A plugin that fails is dropped, and the next best takes over.
 */
#ifndef RS_PLUGIN_CHOICE_H
#define RS_PLUGIN_CHOICE_H

#include "base/load_least.h"
#include "plugin/registry.h"

enum { RS_CHOICE_SHARE = 20 };
#define RS_CHOICE_START 0.35 /* seconds that it may take to load plugins and start a device */

typedef enum rs_reason { RS_NAMED, RS_ALONE, RS_BEST, RS_TRIED, RS_FASTEST } rs_reason;

typedef struct rs_choice {
  rs_registry *plugins;  /* owned */
  const char *algorithm; /* NULL: the plugin's default */
  uint32_t key_width;    /* plugins that cannot sort such keys are passed over */
  bool automatic;
  bool all_loaded;
  bool asked;   /* the plugin that is linked in lacks the algorithm or an option */
  double spent; /* seconds of the sorts that were timed */
  double lost;  /* seconds that starts and failures took, and sorts longer than by the plugin that
                 * is linked in */
  rs_reason reason;
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

/* Makes the plugin for `count` records the one in use, NULL if there is none; `whole`: whole
 * records may be passed to it. With "auto" this may open plugins, and if `loads`, load them. */
void rs_choice_for(rs_choice *choice, size_t count, bool whole, bool loads);

/* Makes plugin `number` the one in use if "auto" has loaded it and may choose it for `count`
 * records. */
bool rs_choice_take(rs_choice *choice, size_t number, size_t count);

/* True if a sort of `count` records is timed. Then call one of the other two: with the seconds of
 * the sort, or of the plugin that failed. */
bool rs_choice_is_timed(const rs_choice *choice, size_t count);
void rs_choice_note(rs_choice *choice, size_t count, bool whole, double seconds);
void rs_choice_note_failure(rs_choice *choice, double seconds);

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
