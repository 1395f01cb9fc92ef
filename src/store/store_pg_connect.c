/* SPDX-License-Identifier: MIT
 * Connections to PostgreSQL.  What always holds: nothing waits without a deadline, because libpq's own waits are not
 * used; a connection is fit for records before anybody gets it; a write that may have left without a verdict of the
 * server is unknown, and its connection is closed; no message holds a password. */
#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/os/thread.h"
#include "store/store_pg_int.h"

enum {
    LISTENER_STACK = 512 * PTC_KB,
    LISTENER_PAUSE_MS = 1000,
    TIMEOUT_MARGIN_MS = 500, /* so that the server gives up before we do */
    PG_ATTEMPTS = 5,
    SIGN_IN_STEPS = 6,
};

static bool await_socket(PtcPg *lib, PGconn *c, short events, int64_t until_ns)
{
    struct pollfd fd = {.fd = lib->socket(c), .events = events};
    int64_t left;
    while ((left = until_ns - ptc_clock_ns(NULL)) > 0) {
        int n = poll(&fd, 1, (int)(left / PTC_MS) + 1);
        if (n > 0)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------- asking */

/* How asking ended: PG_LOST and PG_LATE say nothing about what the server did. */
typedef enum { PG_ANSWERED, PG_REFUSED, PG_LOST, PG_LATE } Asked;

/* Sends the rest of what is to be sent, and waits until there is a result to take. */
static Asked await_result(PtcPg *lib, PGconn *c, int64_t until_ns)
{
    for (;;) {
        int more = lib->flush(c);
        if (more < 0)
            return PG_LOST;
        if (!more && !lib->isBusy(c))
            return PG_ANSWERED;
        if (!await_socket(lib, c, (short)(more ? POLLIN | POLLOUT : POLLIN), until_ns))
            return PG_LATE;
        if (!lib->consumeInput(c))
            return PG_LOST;
    }
}

/* A result without rows that means something: did the server itself say no, and goes on? */
static Asked judge(PtcPg *lib, PGconn *c, const PGresult *r)
{
    const char *severity = lib->resultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity && strcmp(severity, "ERROR") == 0 && lib->status(c) == CONNECTION_OK
               ? PG_REFUSED
               : PG_LOST;
}

/* Waits for the answer to what was sent.  *result becomes the one with rows, or the one that says what went wrong;
 * the caller frees it however this ends. */
static Asked collect_results(PtcPg *lib, PGconn *c, int64_t until_ns, PGresult **result)
{
    Asked ended = PG_ANSWERED, how;
    while ((how = await_result(lib, c, until_ns)) == PG_ANSWERED) {
        PGresult *next = lib->getResult(c);
        if (!next)
            return lib->status(c) == CONNECTION_OK ? ended : PG_LOST;
        ExecStatusType status = lib->resultStatus(next);
        if (status == PGRES_COMMAND_OK) {
            lib->clear(next);
            continue;
        }
        lib->clear(*result);
        *result = next;
        if (status != PGRES_TUPLES_OK)
            ended = judge(lib, c, next);
    }
    return how;
}

/* -------------------------------------------------------------------------------- words */

/* What the server or the library said, as the end of a sentence; of several servers, the last. */
static void take_words(const char *text, char words[PTC_STORE_WHY])
{
    for (const char *p; (p = strstr(text, "failed: "));)
        text = p + strlen("failed: ");
    if (strncmp(text, "FATAL:  ", 8) == 0)
        text += 8;
    snprintf(words, PTC_STORE_WHY, "%.*s", PTC_ARG_OF(text, strcspn(text, "\n")));
    if (ptc_ascii_is_upper(words[0]) && !ptc_ascii_is_upper(words[1]))
        words[0] = (char)(words[0] | 0x20);
}

static bool has_state(Pg *pg, const PGresult *r, const char *start)
{
    const char *state = r ? pg->lib.resultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    return state && strncmp(state, start, strlen(start)) == 0;
}

/* What the server said, as a status with words. */
static PtcStoreStatus translate(Pg *pg, PGconn *c, const PGresult *r, char words[PTC_STORE_WHY])
{
    const char *text = r ? pg->lib.resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    bool busy = has_state(pg, r, "57014") || has_state(pg, r, "55P03") || has_state(pg, r, "40");
    take_words(busy                        ? "the store is busy"
               : has_state(pg, r, "25006") ? "the store is read-only"
               : has_state(pg, r, "53100") ? "the store is full"
               : text                      ? text
                                           : pg->lib.errorMessage(c),
               words);
    return busy ? PTC_STORE_BUSY : PTC_STORE_FAILED;
}

/* ---------------------------------------------------------------------------- connecting */

static const char *const refusals[] = {"authentication failed", "no password supplied",
                                       "no pg_hba.conf entry", "is not permitted to log in"};

static bool say_refused(Pg *pg, PGconn *c, PtcWhy *why)
{
    char words[PTC_STORE_WHY];
    const char *text = pg->lib.errorMessage(c);
    bool unknown = strstr(text, "does not exist");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strstr(text, refusals[i]) || (unknown && strstr(text, "role \"")))
            return ptc_why_say(why, PTC_WHY_REFUSED, "the store refused user \"%s\"",
                               pg->lib.user(c));
    take_words(text, words);
    return ptc_why_say(why, unknown ? PTC_WHY_REFUSED : PTC_WHY_UNAVAILABLE,
                       "cannot connect to %s:%s: %s", pg->lib.host(c), pg->lib.port(c),
                       words[0] ? words : "no answer");
}

static int64_t patience(const Pg *pg)
{
    return ptc_clock_ns(NULL) + pg->timeout_ms * PTC_MS;
}

/* The server must take the connection until then; for each thing that it says afterwards it has the time of an
 * operation, because signing in takes several, and a slow store is to be used. */
static bool finish_connecting(Pg *pg, PGconn *c, int64_t until_ns, PtcWhy *why)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    int64_t most = ptc_clock_ns(NULL) + SIGN_IN_STEPS * pg->timeout_ms * PTC_MS;
    while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
        int64_t until = pg->lib.status(c) == CONNECTION_STARTED ? until_ns : patience(pg);
        until = until < most ? until : most;
        if (!await_socket(&pg->lib, c, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until))
            return say_refused(pg, c, why);
        next = pg->lib.connectPoll(c);
    }
    return next == PGRES_POLLING_OK || say_refused(pg, c, why);
}

static void ignore_notice(void *user, const char *text)
{
    (void)user;
    (void)text;
}

static PGconn *connect_socket(Pg *pg, int64_t until_ns, PtcWhy *why)
{
    static const char *const keys[] = {"fallback_application_name",
                                       "keepalives_idle",
                                       "keepalives_interval",
                                       "keepalives_count",
                                       "client_encoding",
                                       "dbname",
                                       NULL};
    const char *const values[] = {"ptc", "10", "3", "3", "UTF8", pg->url, NULL};
    PGconn *c = pg->lib.connectStartParams(keys, values, 1);
    ptc_why_no_memory(why);
    if (!c)
        return NULL;
    pg->lib.setNoticeProcessor(c, ignore_notice, NULL);
    if (pg->lib.status(c) == CONNECTION_BAD)
        say_refused(pg, c, why);
    else if (finish_connecting(pg, c, until_ns, why) && pg->lib.setnonblocking(c, 1) == 0)
        return c;
    pg->lib.finish(c);
    return NULL;
}

/* False with words; those of the server itself are its last. */
static bool run_script(Pg *pg, PGconn *c, const char *sql, PtcWhy *why)
{
    char words[PTC_STORE_WHY];
    PGresult *r = NULL;
    Asked how = PG_LOST;
    if (pg->lib.sendQuery(c, sql))
        how = collect_results(&pg->lib, c, patience(pg), &r);
    PtcStoreStatus status = how == PG_ANSWERED ? PTC_STORE_OK : translate(pg, c, r, words);
    pg->lib.clear(r);
    if (how == PG_LATE || how == PG_LOST)
        return say_refused(pg, c, why);
    return status == PTC_STORE_OK ||
           ptc_why_say(why, status == PTC_STORE_BUSY ? PTC_WHY_UNAVAILABLE : PTC_WHY_REFUSED, "%s",
                       words);
}

static bool make_ready(Pg *pg, PGconn *c, PtcWhy *why)
{
    char sql[500];
    long long ms = pg->timeout_ms > 2 * TIMEOUT_MARGIN_MS ? pg->timeout_ms - TIMEOUT_MARGIN_MS
                                                          : pg->timeout_ms / 2 + 1;
    snprintf(sql, sizeof sql,
             "set statement_timeout = %lld; set lock_timeout = %lld; set jit = off;"
             "set idle_in_transaction_session_timeout = 2000; set client_min_messages = error;"
             "set default_transaction_isolation = 'read committed';"
             "set plan_cache_mode = force_generic_plan; set ptc.again = '%d'; set ptc.first = '%d'",
             ms, ms, pg->upgrade, !atomic_load(&pg->opened));
    return run_script(pg, c, sql, why) && run_script(pg, c, ptc_pg_schema, why) &&
           run_script(pg, c, ptc_pg_statements, why);
}

static void *connect_pg(void *user, int64_t until_ns, PtcWhy *why)
{
    Pg *pg = user;
    PGconn *c = connect_socket(pg, until_ns, why);
    if (c && make_ready(pg, c, why)) {
        atomic_store(&pg->opened, true);
        return c;
    }
    if (c)
        pg->lib.finish(c);
    return NULL;
}

static void disconnect_pg(void *user, void *connection)
{
    ((Pg *)user)->lib.finish(connection);
}

/* A server that has gone has closed the socket; otherwise there is nothing to read. */
static bool is_pg_alive(void *user, void *connection)
{
    struct pollfd fd = {.fd = ((Pg *)user)->lib.socket(connection), .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

const PtcStorePoolClass ptc_pg_pool_class = {connect_pg, disconnect_pg, is_pg_alive};

/* ----------------------------------------------------------------------------- operations */

static Asked run_prepared(Pg *pg, PGconn *c, const char *statement, const PgArgs *a,
                          int64_t until_ns, PGresult **result)
{
    int binary[PG_PARAMETERS];
    for (int i = 0; i < PG_PARAMETERS; i++)
        binary[i] = 1;
    return pg->lib.sendQueryPrepared(c, statement, a->count, a->values, a->lengths, binary, 1)
               ? collect_results(&pg->lib, c, until_ns, result)
               : PG_LOST;
}

/* How an attempt failed, in words too; *again: nothing was done, or it does not matter. */
static PtcStoreStatus judge_attempt(Pg *pg, PGconn *c, Asked how, const PGresult *r, bool writes,
                                    bool *again)
{
    char words[PTC_STORE_WHY];
    PtcStoreStatus status = translate(pg, c, r, words);
    *again = how == PG_REFUSED ? has_state(pg, r, "40") : how == PG_LOST && !writes;
    ptc_store_trouble_say(&pg->base.trouble, "%s",
                          how == PG_LATE ? "the store is busy: it does not answer"
                          : words[0]     ? words
                                         : "the store closed the connection");
    return how == PG_REFUSED ? status
           : writes          ? PTC_STORE_UNKNOWN
           : how == PG_LATE  ? PTC_STORE_BUSY
                             : PTC_STORE_FAILED;
}

static PtcStoreStatus ask_once(Pg *pg, const char *statement, const PgArgs *args, bool writes,
                               int64_t until_ns, PGresult **result, bool *again)
{
    void *c;
    *result = NULL;
    *again = false;
    PtcStoreStatus status = ptc_store_pool_take(pg->pool, until_ns, &c);
    if (status != PTC_STORE_OK)
        return status;
    Asked how = run_prepared(pg, c, statement, args, until_ns, result);
    if (how != PG_ANSWERED)
        status = judge_attempt(pg, c, how, *result, writes, again);
    /* a read-only server may be found to be another one, and tables that are gone may be made again */
    bool useless =
        how == PG_LOST || how == PG_LATE ||
        (how == PG_REFUSED && (has_state(pg, *result, "25") || has_state(pg, *result, "42")));
    ptc_store_pool_give(pg->pool, c, useless);
    if (how != PG_ANSWERED) {
        pg->lib.clear(*result);
        *result = NULL;
    }
    return status;
}

PtcStoreStatus ptc_pg_ask(Pg *pg, const char *statement, const PgArgs *args, bool writes,
                          PGresult **result)
{
    int64_t until = patience(pg);
    bool again = true;
    PtcStoreStatus status = PTC_STORE_BUSY;
    for (int i = 0; i < PG_ATTEMPTS && again; i++)
        status = ask_once(pg, statement, args, writes, until, result, &again);
    return status;
}

/* ----------------------------------------------------------------------------- listening */

/* Until the time has come, or the end, or (c not NULL) there is something to read. */
static void await_news(Pg *pg, PGconn *c, int ms)
{
    struct pollfd fds[2] = {{.fd = pg->stop[0], .events = POLLIN},
                            {.fd = c ? pg->lib.socket(c) : -1, .events = POLLIN}};
    (void)!poll(fds, 2, ms);
}

/* Until the connection breaks. */
static void hear(Pg *pg, PGconn *c)
{
    while (!atomic_load(&pg->ends) && pg->lib.consumeInput(c)) {
        bool heard = false;
        for (PGnotify *n; (n = pg->lib.notifies(c)); heard = true)
            pg->lib.freemem(n);
        if (heard)
            pg->base.woke(pg->base.woke_user);
        await_news(pg, c, -1);
    }
}

/* While it does not listen, those who wait ask by themselves. */
static void *listen_on(void *user)
{
    Pg *pg = user;
    while (!atomic_load(&pg->ends)) {
        PtcWhy why;
        PGconn *c = connect_socket(pg, ptc_clock_ns(NULL) + PTC_STORE_CONNECT_MS * PTC_MS, &why);
        if (c && run_script(pg, c, "listen ptc", &why))
            hear(pg, c);
        if (c)
            pg->lib.finish(c);
        await_news(pg, NULL, LISTENER_PAUSE_MS);
    }
    return NULL;
}

bool ptc_pg_listen(Pg *pg)
{
    if (pipe2(pg->stop, O_CLOEXEC) != 0)
        return false;
    pg->has_listener = ptc_thread_start(&pg->listener, LISTENER_STACK, listen_on, pg);
    return pg->has_listener;
}

void ptc_pg_listen_no_more(Pg *pg)
{
    atomic_store(&pg->ends, true);
    if (pg->stop[1] >= 0)
        (void)!write(pg->stop[1], "", 1);
    if (pg->has_listener)
        pthread_join(pg->listener, NULL);
    for (int i = 0; i < 2; i++)
        if (pg->stop[i] >= 0)
            close(pg->stop[i]);
}
