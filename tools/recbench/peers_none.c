/* peers_none.c - in place of peers.cpp where there is no C++ compiler. */
#include "peers.h"

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
