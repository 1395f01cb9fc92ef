/* SPDX-License-Identifier: MIT
 * Signing in to an upstream, by a person at a terminal.  What always holds: a token file is written whole or not at
 * all, so a sign-in that is broken off changes nothing. */
#include "cli/upstreams/upstreams_login.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/interrupt.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/term/browser.h"
#include "upstream/connect/sign_in_flow.h"
#include "value/coll/fields.h"

extern char **environ;

enum { LOGIN_LOOK_MS = 50, LOGIN_LOCK_MS = 30 * 1000 };

typedef struct {
    PtcUpstreamsCommand *command;
    PtcEntry entry;
    PtcOauthPlace place;
} LoginTarget;

static int fail_login(const PtcUpstreamsCommand *c, const char *why)
{
    PtcBuf line;
    ptc_buf_init(&line, c->mem, 32 * PTC_KB);
    ptc_buf_addf(&line, "ptc upstreams: %s: %s", c->argv[0], why);
    (void)!ptc_shown_write_line(PTC_IO_STDERR, line.data ? line.data : "", line.len);
    ptc_buf_deinit(&line);
    return PTC_EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------ target */

static PtcValue find_upstream_entry(PtcUpstreams *u, PtcText name)
{
    for (size_t i = 0; u->mem && i < ptc_fields_count(u->entries); i++) {
        PtcValue form = ptc_seq_nth(u->entries, i);
        if (ptc_text_same(ptc_fields_text(&u->scratch.heap, form, "name"), name) ||
            ptc_text_same(ptc_fields_text(&u->scratch.heap, form, "namespace"), name))
            return form;
    }
    return PTC_NONE;
}

/* False: it cannot be signed in to, and standard error says why. */
static bool find_login_target(PtcUpstreamsCommand *c, LoginTarget *t)
{
    PtcUpstreams *u = c->upstreams;
    const char *why = NULL;
    if (!ptc_upstreams_knows(u, ptc_text_cstr(c->argv[0])))
        return false;
    PtcValue form = find_upstream_entry(u, ptc_text_cstr(c->argv[0]));
    t->command = c;
    if (!ptc_entry_read(&u->scratch.arena, &u->scratch.heap, form, (const char *const *)environ, 0,
                        &t->entry))
        why = "out of memory";
    else if (t->entry.unusable.bytes)
        why = "it cannot be used; ptc upstreams list says why";
    else if (!t->entry.url)
        why = "it is a program of this machine, and has no sign-in";
    else if (ptc_fields_count(t->entry.auth))
        why = "its entry has credentials of its own (auth), which would be used instead";
    else if (!ptc_manager_tokens(u->manager))
        why = "there is no place for tokens: set HOME or XDG_STATE_HOME";
    else
        why = ptc_sign_in_forbidden(&t->entry);
    if (why)
        (void)fail_login(c, why);
    else
        ptc_oauth_place_init(&t->place, ptc_manager_tokens(u->manager), t->entry.name,
                             t->entry.url);
    return !why;
}

/* ------------------------------------------------------------------------------------ person */

static void show_login_address(void *user, const char *url, const char *code)
{
    const PtcUpstreamsCommand *c = user;
    ptc_io_printf(PTC_IO_STDOUT, "To sign in to %s, open this address in a browser:\n\n  %s\n\n",
                  c->argv[0], url);
    if (code)
        ptc_io_printf(PTC_IO_STDOUT, "and type this code if it asks for one: %s\n", code);
    else if (c->paste)
        ptc_io_printf(PTC_IO_STDOUT,
                      "At the end the browser cannot show a page of 127.0.0.1. Copy the address of "
                      "that page and paste it here:\n");
    else
        ptc_browser_open(url);
}

/* A line of standard input; false: there is none, or somebody wants to leave. */
static bool read_pasted_address(void *user, PtcBuf *address)
{
    struct pollfd p = {.fd = PTC_IO_STDIN, .events = POLLIN};
    (void)user;
    while (!ptc_cancelled(&ptc_interrupt)) {
        char c;
        if (poll(&p, 1, LOGIN_LOOK_MS) <= 0)
            continue;
        ssize_t n = read(PTC_IO_STDIN, &c, 1);
        if (n <= 0 || c == '\n')
            return address->len > 0;
        if (c > ' ' && !ptc_buf_add_char(address, c))
            return false;
    }
    return false;
}

/* ------------------------------------------------------------------------------------- login */

static int sign_in(LoginTarget *t, PtcOauthWork *w, const PtcOauthSite *site)
{
    PtcUpstreamsCommand *c = t->command;
    PtcOauthRecord record;
    PtcOauthPerson person = {show_login_address, read_pasted_address, c};
    PtcOauthWay way = t->entry.client_grant ? PTC_OAUTH_CLIENT
                      : c->device           ? PTC_OAUTH_DEVICE
                      : c->paste            ? PTC_OAUTH_PASTE
                                            : PTC_OAUTH_BROWSER;
    if (!ptc_sign_in_login(w, site, way, &person, &t->place, &record))
        return fail_login(c, w->why.text);
    ptc_io_printf(PTC_IO_STDOUT, "Signed in to %s at %s.\n", c->argv[0], record.issuer);
    return PTC_EXIT_OK;
}

int ptc_upstreams_login(PtcUpstreamsCommand *c)
{
    LoginTarget t;
    PtcOauthSite site;
    PtcOauthWork w;
    int status = PTC_EXIT_FAILED;
    if (!find_login_target(c, &t))
        return status;
    PtcClient *http = ptc_client_new(c->mem, t.entry.ca_file);
    if (!http)
        return fail_login(c, "out of memory");
    ptc_interrupt_catch();
    ptc_oauth_work_init(&w, c->mem, http, &ptc_interrupt, PTC_OAUTH_LOGIN_MS);
    if (ptc_sign_in_site(&w.arena, &c->upstreams->scratch.heap, &t.entry, &site))
        status = sign_in(&t, &w, &site);
    else
        (void)fail_login(c, "out of memory");
    ptc_oauth_work_deinit(&w);
    ptc_client_free(http);
    ptc_interrupt_let();
    return status;
}

/* ------------------------------------------------------------------------------------ logout */

/* Another process that is replacing the token right now would write it again behind our back, so it is waited for. */
static int remove_token(LoginTarget *t, bool *was)
{
    PtcSheetLock lock;
    PtcSheetMark mark, none = {{0}};
    PtcShelf *shelf = t->place.shelf;
    *was = !shelf->look(shelf, &t->place.sheet, &mark) || !ptc_sheet_same(&mark, &none);
    if (!*was)
        return PTC_EXIT_OK;
    ptc_interrupt_catch();
    int64_t end_ns = ptc_clock_ns(NULL) + LOGIN_LOCK_MS * PTC_MS;
    bool locked = ptc_oauth_store_lock(&t->place, end_ns, &ptc_interrupt, &lock);
    ptc_interrupt_let();
    if (!locked)
        return fail_login(t->command, "its token is being replaced by another process; try again");
    *was = ptc_oauth_store_remove(&t->place);
    ptc_oauth_store_unlock(&t->place, &lock);
    return PTC_EXIT_OK;
}

int ptc_upstreams_logout(PtcUpstreamsCommand *c)
{
    LoginTarget t;
    bool was;
    if (!find_login_target(c, &t) || remove_token(&t, &was) != PTC_EXIT_OK)
        return PTC_EXIT_FAILED;
    ptc_io_printf(PTC_IO_STDOUT, was ? "Signed out of %s.\n" : "Nobody was signed in to %s.\n",
                  c->argv[0]);
    return PTC_EXIT_OK;
}
