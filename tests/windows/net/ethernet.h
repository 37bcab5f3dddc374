/* ethernet.h - an Ethernet address, for which Windows has no type. */
#ifndef RS_TEST_ETHERNET_H
#define RS_TEST_ETHERNET_H

#include <stdint.h>

struct ether_addr {
  uint8_t octets[6];
};

#endif
