/* SPDX-License-Identifier: MIT
 * address.h - which addresses lead inside: to this machine, to its networks, or to nowhere on the public internet.
 * Where strangers say what to fetch, those are refused, because what answers there trusts whoever can reach it. */
#ifndef PTC_NET_ADDRESS_H
#define PTC_NET_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/text.h"

/* What is neither IPv4 nor IPv6 leads inside. */
bool ptc_address_is_inside(const struct sockaddr *address);
/* The same for a literal address as in a URL; a name does not lead inside as far as its text can tell. */
bool ptc_address_text_is_inside(PtcText host);
/* Does the environment name a proxy for https, or for http?  Then it is the proxy that looks up names and decides what
 * may be reached. */
bool ptc_address_has_proxy(bool https);

#endif
