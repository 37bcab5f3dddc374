/* world.h - a world of ranks on one machine, in which a seed decides what happens and when.
 *
 * A rank is a process, so that the program under test is the one that is shipped, with its static
 * variables, descriptors and threads, and a kill is a real one. Only one rank runs at a time: at
 * each call of MPI and of the disk (a point) the seed decides which one goes on. So the order of
 * all that ranks can see of each other follows from the seed, and a seed gives the same run again.
 *
 *   mpi.h, mpi.c   what MPI promises and no more: a send may wait for its receive or not, messages
 *                  are late and overtake those of others, ranks leave a collective call as early
 *                  or as late as is allowed. Wrong calls, buffers that are changed too early,
 *                  requests that are lost and deadlocks are faults of the program.
 *   disk.c         calls that fail, are cut short, interrupted or slow; and whether all that was
 *                  written was brought to the disk before the file got its name
 *   schedule.c     whose turn it is, and when a rank dies
 *   main.c         jobs, their weather, and what must come of them
 */
#ifndef WORLD_H
#define WORLD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_RANKS = 8, MOST_COMMS = 32, MOST_DIRTY = 8 };

/* Calls of the disk. */
enum {
  CALL_OPEN,
  CALL_READ,
  CALL_PREAD,
  CALL_WRITE,
  CALL_PWRITE,
  CALL_SYNC,
  CALL_LINK,
  CALL_RENAME,
  CALL_CLOSE,
  CALLS
};

/* What can happen. The first ones happen at random, the others once in a run, at a drawn place. */
enum {
  LATE,           /* a rank waits for a message that was sent */
  OVERTAKEN,      /* a rank gets a message that was sent after one of another rank to it */
  RENDEZVOUS,     /* a send waits for its receive */
  LOOSE,          /* a rank leaves a collective call before all have come */
  SLOW_RANK,      /* no turn for long */
  SLOW_DISK,      /* a call takes long */
  SHORT,          /* a read or a write does less than it was asked to */
  INTERRUPTED,    /* EINTR */
  FLIPPED_RESULT, /* a bit of what a collective call gives a rank is another one */
  DIES,           /* a rank is killed, and then the others */
  NO_SPACE,       /* ENOSPC, from then on */
  BROKEN,         /* another error, once */
  FLIPPED_MESSAGE,
  FLIPPED_FILE, /* a bit of a temporary file is another one when it is read */
  EVENTS
};

/* One thing that goes wrong. */
typedef struct fault {
  int event; /* DIES or later; LATE: nothing does */
  int rank;
  bool by_thread; /* a call of a thread beside the main one */
  int call;
  uint64_t at; /* the rank's point, call or message of so many bytes, from 1 */
  int number;  /* errno */
  uint64_t bit;
} fault;

/* How the world is besides. Each is a chance in 256. */
typedef struct weather {
  unsigned sticky;     /* that the same rank goes on */
  unsigned eager;      /* that a send does not wait for its receive */
  unsigned loose;      /* that a collective call lets go as early as may be */
  unsigned late;       /* that a message takes its time */
  unsigned slow;       /* that a rank gets no turn for long */
  unsigned slow_disk;  /* likewise after a call */
  unsigned short_call; /* of reads and writes */
  unsigned interrupted;
  unsigned flipped; /* of results */
  uint64_t longest; /* steps that something is late or slow */
} weather;

typedef struct rank_state {
  pid_t pid;
  bool alive, finished, killed;
  int status; /* if finished */
  sem_t turn;
  uint64_t slow_until;
  bool waits;        /* it found that it cannot go on, */
  uint64_t idle_at;  /* when this was the world's `progress`, */
  uint64_t wakes_at; /* nor before this step if nothing else happens */
  const char *in;    /* the call */
  uint64_t points, dies_at, messages;
  atomic_uint_least64_t calls[2][CALLS], temporary_reads[2]; /* [by a thread] */
  uint64_t dirty[MOST_DIRTY]; /* files that it wrote to and did not bring to the disk */
  int requests;               /* open */
  bool initialized, finalized;
} rank_state;

typedef struct world {
  uint64_t random, pure; /* the second one stays, for decisions of threads */
  int ranks, running;
  uint64_t step, progress, trace;
  weather weather;
  fault fault;
  rank_state rank[MOST_RANKS];
  atomic_uint_least64_t events[EVENTS];
  char failure[600];       /* of the program, or "" */
  uint64_t named, renamed; /* the file that was renamed; whose folder has to be synced */
  size_t used;             /* of the memory */
  struct mpi_state *mpi;
} world;

extern world *the_world;
extern int own_rank;

/* ---- schedule.c ---- */

/* A world for all that follows; it is the same memory in all ranks. */
void world_open(void);
/* Memory that all ranks see, zero; the caller of world_run sets `used` back before. */
void *world_memory(size_t size);
uint64_t world_below(uint64_t end);
bool world_chance(unsigned of_256);
/* Runs `body` as each rank. False if the program has a fault: then `failure` says which. */
bool world_run(uint64_t seed, int ranks, const weather *sky, const fault *wrong,
               int (*body)(int rank));
/* A point of this rank. */
void world_point(const char *in);
/* The rank cannot go on before another one does something, or step `wakes_at`. */
void world_wait(const char *in, uint64_t wakes_at);
/* Something has happened that others may wait for. */
void world_progress(void);
/* The program under test is wrong. */
_Noreturn void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_count(int event);
bool world_is_main_thread(void);

/* ---- mpi.c ---- */

void mpi_begin(void);
/* What is left when all ranks have ended well: NULL, or what is wrong. */
const char *mpi_end(void);

/* ---- disk.c ---- */

/* NULL, or what is wrong if all ranks have ended well. */
const char *disk_end(void);

#endif
