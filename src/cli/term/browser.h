/* SPDX-License-Identifier: MIT
 * browser.h - showing an address to the person at this machine. */
#ifndef PTC_CLI_TERM_BROWSER_H
#define PTC_CLI_TERM_BROWSER_H

/* Starts the program that $BROWSER names, or xdg-open, with the address, and does not wait for it.  An empty BROWSER
 * starts nothing.  Whether it worked is not known, so the caller shows the address as well. */
void ptc_browser_open(const char *url);

#endif
