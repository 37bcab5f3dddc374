/* shard_peers.h - other ways to sort what is on several devices: by CUB with NCCL, and by cudax's
 * own sort. They need another CCCL than the toolkit's, so they are compiled separately
 * (shard_peers.cu, with RECSORT_BENCH_CCCL) and export only this table. */
#ifndef BENCH_SHARD_PEERS_H
#define BENCH_SHARD_PEERS_H

#include <memory>
#include <stddef.h>
#include <string>
#include <vector>

namespace bench
{

/* Device s has `counts[s]` records at `shards[s]`, before and after a sort. The sort may leave
 * other counts than it found, up to `room`. */
struct shard_peer {
  virtual ~shard_peer() = default;
  virtual std::string sort() = 0; // waits; returns what failed, or nothing
  std::vector<void *> shards;
  std::vector<size_t> counts;
  size_t room = 0;
};

struct shard_peer_named {
  const char *name;
  std::unique_ptr<shard_peer> (*make)(size_t record_size, std::vector<void *> shards, size_t count,
                                      size_t room);
};

/* Ends with a name that is NULL. */
extern __attribute__((visibility("default"))) const shard_peer_named shard_peers[];

} // namespace bench

#endif
