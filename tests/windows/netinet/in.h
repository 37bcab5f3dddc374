/* in.h - the addresses of Windows. */
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#include <ws2tcpip.h>
#undef far /* of days gone by */
