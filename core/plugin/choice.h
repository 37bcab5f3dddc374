/* choice.h - which plugin sorts, and what it gets.
 *
 * By name: that plugin alone is loaded, at once, and it is never replaced.
 *
 * "auto" begins with the plugin that is linked in. It sorts as long as no call has RS_LOAD_LEAST
 * records; until then no library is loaded and no device woken. For that many, or at once if the
 * algorithm or the options are not those of the plugin that is linked in, all plugins are loaded.
 * From then on the one with the best score sorts, but for fewer records than it is worth: these go
 * to the next best. One that fails is dropped, and the next best takes over.
 *
 * A plugin may take whole records in place of keys. Where it cannot tell which is faster, both are
 * tried (trial.h).
 */
#ifndef RS_PLUGIN_CHOICE_H
#define RS_PLUGIN_CHOICE_H

#include "plugin/registry.h"

/* As many as the CUDA plugin asks for (CUDA_LEAST_COUNT). */
enum { RS_LOAD_LEAST = 12 << 10 };

typedef struct rs_choice {
  recsort_plugin_list *plugins; /* owned */
  const char *algorithm;        /* NULL: the default of the plugin that sorts */
  bool automatic;
  bool all_loaded;
  rs_candidate *in_use; /* its instance is open; NULL: every plugin has failed */
  char why[400];        /* recsort_stats.choice */
  char fallback[sizeof((recsort_error *)0)->text]; /* empty: none */
} rs_choice;

/* Chooses plugin `name` (NULL: "auto"). `choice` is zeroed; it takes over `plugins` and keeps
 * `algorithm`. Whether this fails or not, rs_choice_close ends it. */
recsort_status rs_choice_open(rs_choice *choice, recsort_plugin_list *plugins, const char *name,
                              const char *algorithm, recsort_error *error);
void rs_choice_close(rs_choice *choice);

/* The plugin for `count` records becomes the one in use. With "auto" this may load and open
 * plugins. Errors: OUT_OF_MEMORY. */
recsort_status rs_choice_for(rs_choice *choice, size_t count, recsort_error *error);

/* The plugin in use has failed: it is dropped for the next best one for `count` records. False:
 * there is none, or the plugin was asked for by name. */
bool rs_choice_replace(rs_choice *choice, size_t count, const recsort_error *cause);

/* Whether the plugin in use gets the records themselves in a sort of `count`. */
bool rs_choice_moves(const rs_choice *choice, const recsort_key_program *program, size_t count);

/* After a sort that put the records where they are wanted. */
void rs_choice_note(rs_choice *choice, const recsort_key_program *program,
                    const recsort_stats *stats);

/* Fills in the members of `stats` that tell of plugins. */
void rs_choice_describe(const rs_choice *choice, const recsort_key_program *program,
                        recsort_stats *stats);

#endif
