/* peers_none.c - replaces peers.cpp if there is no C++ compiler. */
#include "peers.h"

peer_merge *peer_merge_std(record_id record)
{
  (void)record;
  return NULL;
}

peer_merge *peer_merge_heap(record_id record)
{
  (void)record;
  return NULL;
}

peer_merge *peer_merge_parallel(record_id record)
{
  (void)record;
  return NULL;
}

peer_sort *peer_std(record_id record)
{
  (void)record;
  return NULL;
}

peer_sort *peer_parallel(record_id record)
{
  (void)record;
  return NULL;
}
