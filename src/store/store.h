/* SPDX-License-Identifier: MIT
 * store.h - records that outlive their writer and that several processes and machines may share: bytes by kind, owner
 * and key.
 *
 * A record has a version.  Whoever changes a record says which version it has read, and is told when somebody else
 * changed it in between (PTC_STORE_CONFLICT) or removed it for good (PTC_STORE_ABSENT).  So no change is lost, and
 * nothing that was removed comes back: a new record begins with a version above all that its key ever had.  Times and
 * a short text about the bytes (`meta`) are kept beside them, and can be read and changed without them.
 *
 * A store is an engine behind one interface (driver.h): memory, a SQLite file, PostgreSQL, Redis.  All that is the
 * same for every engine is done here once: seals, times, answers that were lost on the way.  Any thread may use a
 * store at any time; every function may wait, `timeout_ms` at most unless it says otherwise, so nobody calls one with
 * a lock of its own held. */
#ifndef PTC_STORE_STORE_H
#define PTC_STORE_STORE_H

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"
#include "base/why.h"

enum {
    PTC_STORE_META = 512,          /* the most bytes that `meta` may have */
    PTC_STORE_NAME = 512,          /* that an owner or a key may have */
    PTC_STORE_BYTES = 16 * PTC_MB, /* that a record may have */
    PTC_STORE_LISTED = 1000,       /* records that one call lists or sweeps */
    PTC_STORE_TAG = 16,
    PTC_STORE_WHY = 200,
};

/* For times and spans that do not end. */
static const int64_t PTC_STORE_NEVER = (int64_t)1 << 52;

typedef struct PtcStore PtcStore;

typedef enum {
    PTC_STORE_OK,
    PTC_STORE_ABSENT,    /* no such record, or no longer */
    PTC_STORE_CONFLICT,  /* it exists, but in another version */
    PTC_STORE_FULL,      /* a bound was reached, or the buffer is too small */
    PTC_STORE_HELD,      /* another node holds it */
    PTC_STORE_FENCED,    /* the record that guards this one has changed */
    PTC_STORE_BUSY,      /* too slow, or locked by somebody else; nothing was done */
    PTC_STORE_NO_MEMORY, /* nothing was done */
    PTC_STORE_DAMAGED,   /* somebody without the store's key changed the record */
    PTC_STORE_NEWER,     /* a newer version of ptc wrote the record */
    PTC_STORE_UNKNOWN,   /* a write was sent, and whether it was done cannot be known */
    PTC_STORE_FAILED, /* the store cannot be read or written; ptc_store_why says why; nothing was done */
    PTC_STORE_STATUSES
} PtcStoreStatus;

/* Names a record.  The texts are borrowed, may hold any bytes, and are never absent. */
typedef struct PtcStoreKey {
    const char *kind; /* keeps the users of one store apart, such as "session" */
    PtcText owner, key;
} PtcStoreKey;

/* What is known about a record without its bytes. */
typedef struct PtcStored {
    uint64_t version;
    int64_t created_ms, used_ms, expires_ms, idle_ms;
    size_t size;                /* of the bytes */
    uint8_t tag[PTC_STORE_TAG]; /* of the write that made this version */
    size_t meta_len;
    char meta[PTC_STORE_META];
} PtcStored;

/* How much there may be of one kind; 0: unlimited. */
typedef struct PtcStoreBounds {
    size_t count, owner_count; /* records in all, of one owner */
    size_t bytes,
        owner_bytes; /* of all records together, of those of one owner; Redis does not count bytes */
} PtcStoreBounds;

static inline bool ptc_store_is_bounded(const PtcStoreBounds *b)
{
    return b->count || b->owner_count || b->bytes || b->owner_bytes;
}

/* A record to write.  It ends at expires_ms, or idle_ms after used_ms, by the store's clock (ptc_store_now). */
typedef struct PtcStorePut {
    uint64_t expected; /* the version that was read; 0: the record must be new */
    int64_t used_ms, expires_ms;
    int64_t idle_ms; /* 0: it is kept however long nobody uses it */
    PtcText meta;
    PtcText bytes; /* absent: bytes and version stay as they are */
    PtcStoreBounds bounds;
    const PtcStoreKey *guard; /* done only if this record has `guard_version`; NULL: in any case */
    uint64_t guard_version;
    bool release; /* this node's hold of the record ends with it */
    bool wakes;   /* other nodes may wait for it */
} PtcStorePut;

/* A number that this node has put beside a record until a time, if those of all nodes together stay within a bound.
 * With n = most = 1, one node at a time holds the record.  A hold may be lost at any time: it saves work, and what
 * must not be lost is decided by versions. */
typedef struct PtcStoreHold {
    int64_t n; /* 0: it ends */
    int64_t most;
    int64_t ms; /* from now */
} PtcStoreHold;

/* Must not use the store.  False: enough. */
typedef bool PtcStoreVisit(void *user, const PtcStoreKey *key, const PtcStored *stored);

typedef struct PtcStoreConfig {
    const char *url; /* memory:, sqlite:FILE, postgres://..., redis://...; NULL: memory */
    const char
        *key_file; /* one or two keys; NULL: a SQLite file has its own beside it, others none */
    int64_t timeout_ms;            /* of one operation [5 s] */
    unsigned connections;          /* at most [8] */
    bool upgrade;                  /* an older schema is made this one's; otherwise it is refused */
    int64_t (*now_ms)(void *user); /* in the place of the store's clock; NULL */
    void *now_user;
    /* told from any thread when the store stops or begins to work; NULL: standard error is */
    void (*say)(void *user, const char *text);
    void *say_user;
} PtcStoreConfig;

/* Opens a store, and sets up one that is empty.  NULL with a text in why. */
PTC_MUST_USE PtcStore *ptc_store_open(const PtcStoreConfig *config, PtcWhy *why);
void ptc_store_free(PtcStore *store);
/* Does it name a store?  If not, why says what would. */
bool ptc_store_is_url(const char *url, PtcWhy *why);
/* Can other processes see it, and does it outlive this one? */
bool ptc_store_is_shared(const PtcStore *store);
/* Is what is written sealed? */
bool ptc_store_is_sealed(const PtcStore *store);
/* Was it empty or of an older schema when it was opened? */
bool ptc_store_is_new(const PtcStore *store);

/* Reads a record; the bytes are appended to `bytes` unless that is NULL.  With a hold, that is taken in the same
 * step, or the answer is PTC_STORE_HELD. */
PTC_MUST_USE PtcStoreStatus ptc_store_get(PtcStore *store, const PtcStoreKey *key,
                                          const PtcStoreHold *hold, PtcStored *stored,
                                          PtcBuf *bytes);
/* Writes a record in one step or not at all.  *version becomes the new one, or on a conflict the one that is there.
 * A new record counts as created now. */
PTC_MUST_USE PtcStoreStatus ptc_store_put(PtcStore *store, const PtcStoreKey *key,
                                          const PtcStorePut *put, uint64_t *version);
/* Removes a record, if it has this version (0: any): nobody who has read it can write it any more. */
PTC_MUST_USE PtcStoreStatus ptc_store_remove(PtcStore *store, const PtcStoreKey *key,
                                             uint64_t expected);
/* Visits at most n records of an owner (absent: of everyone) behind `after` (NULL: from the first), in the order of
 * the bytes of owner and key, until a visit returns false.  Expired and damaged ones are left out. */
PTC_MUST_USE PtcStoreStatus ptc_store_list(PtcStore *store, const char *kind, PtcText owner,
                                           const PtcStoreKey *after, size_t n, PtcStoreVisit *visit,
                                           void *user);
/* Removes at most n records that have expired. */
PTC_MUST_USE PtcStoreStatus ptc_store_expire(PtcStore *store, const char *kind, size_t n);
/* Counts the records of a kind and their bytes. */
PTC_MUST_USE PtcStoreStatus ptc_store_sum(PtcStore *store, const char *kind, size_t *count,
                                          size_t *bytes);
/* Sets this node's number beside a record that need not exist: PTC_STORE_OK or PTC_STORE_HELD. */
PTC_MUST_USE PtcStoreStatus ptc_store_hold(PtcStore *store, const PtcStoreKey *key,
                                           const PtcStoreHold *hold);
/* Waits until the record may have another version than this one, ms at most; a wake-up may be lost, so nobody waits
 * longer than a second or so for one. */
void ptc_store_wait(PtcStore *store, const PtcStoreKey *key, uint64_t version, int64_t ms);

/* The store's time: that of the engine, whatever this machine's clock says. */
int64_t ptc_store_now(PtcStore *store);
/* What was wrong last, in words that may be shown: no password is in them. */
void ptc_store_why(PtcStore *store, char text[PTC_STORE_WHY]);
/* Can it be read and written at the moment?  Does not wait; false with the words. */
bool ptc_store_ready(PtcStore *store, char text[PTC_STORE_WHY]);
/* "postgresql 15.3, schema 1, sealed with key 3f9a", and then what does not work with it, a line each. */
PTC_MUST_USE PtcStoreStatus ptc_store_tell(PtcStore *store, PtcBuf *out);
/* Is what was acknowledged still there after the engine was killed?  As it was when the store was opened or told. */
bool ptc_store_is_durable(PtcStore *store);

/* ---- store_many.c */
/* Removes what belongs to an owner, of all kinds.  *count: how much that was. */
PTC_MUST_USE PtcStoreStatus ptc_store_erase(PtcStore *store, PtcText owner, size_t *count);
/* Seals with the first key what is sealed with another one, or in an older format.  *count: how much that was. */
PTC_MUST_USE PtcStoreStatus ptc_store_reseal(PtcStore *store, size_t *count);
/* Removes records until one of this size fits within the bounds of an owner: his oldest.  With the owner absent, within
 * the bounds of all: the oldest of whoever has the most, so that nobody pushes out others by keeping more. */
PTC_MUST_USE PtcStoreStatus ptc_store_make_room(PtcStore *store, const char *kind, PtcText owner,
                                                const PtcStoreBounds *bounds, size_t size);

/* ---- store_secret.c */
enum { PTC_STORE_SECRET = 32 };
/* Random bytes with a name, the same for everybody who uses the store: whoever asks first makes them.  False with a
 * text in why. */
PTC_MUST_USE bool ptc_store_secret(PtcStore *store, const char *name,
                                   uint8_t bytes[PTC_STORE_SECRET], PtcWhy *why);

/* ---- store_keeper.c */
/* Keeps this node's hold of a record (which it has) alive until it is let go. */
PTC_MUST_USE bool ptc_store_keep_hold(PtcStore *store, const PtcStoreKey *key);
/* Stops keeping it.  `end`: it also ends now, otherwise with the next put that releases it. */
void ptc_store_let_go(PtcStore *store, const PtcStoreKey *key, bool end);

/* ---- store_stats.c */
/* How often what was done, how it ended and how long it took, for Prometheus. */
void ptc_store_metrics(PtcStore *store, PtcBuf *out);

#endif
