/* SPDX-License-Identifier: MIT
 * shelf.h - small texts that outlive a process and that others write too: what a person has allowed, what tools were
 * when they were first seen.  Who uses them does not know where they are: in files of a directory (shelf.c), or in a
 * store that several machines share (store/store_shelf.h).
 *
 * A text on a shelf is a sheet.  It is changed by reading it, and writing the whole of it over what was read; whoever
 * is told PTC_SHEET_CHANGED begins again, so nothing that others wrote meanwhile is lost.  In files the lock of the
 * sheet is held over that; in a store only where the sheet says so.  Any thread may call; nobody does so with a lock
 * that others wait for, because a store may take seconds. */
#ifndef PTC_BASE_OS_SHELF_H
#define PTC_BASE_OS_SHELF_H

#include "base/buf.h"
#include "base/why.h"

enum { PTC_SHELF_PATH = 4200 };

typedef struct PtcShelf PtcShelf;

typedef struct PtcSheet {
    /* In a store: what it is and whose; the owner may be empty.  In files the texts of all owners are one. */
    const char *kind;
    PtcText owner, key;
    const char *file, *lock_file; /* below the directory */
    bool secret;                  /* a store keeps it encrypted or not at all */
    bool alone;                   /* a store too holds a lock while it is changed */
} PtcSheet;

/* Tells one state of a sheet from another. */
typedef struct PtcSheetMark {
    uint64_t part[4]; /* all 0: it was not there */
} PtcSheetMark;

typedef enum {
    PTC_SHEET_OK,
    PTC_SHEET_ABSENT,
    PTC_SHEET_CHANGED, /* somebody else has written it since it was read */
    PTC_SHEET_FAILED,  /* why says what; of a file, errno too */
} PtcSheetStatus;

/* How a sheet is written; what is 0 or false takes the default. */
typedef struct PtcSheetWrite {
    PtcSheetMark over; /* what was read */
    int64_t until_ms;  /* in a store: it ends then */
    int64_t idle_ms;   /* in a store: it ends when nobody has written it for so long */
    bool line, synced; /* in files, as in whole_file.h */
} PtcSheetWrite;

/* It must not move, nor the sheet, until it is unlocked. */
typedef struct PtcSheetLock PtcSheetLock;
struct PtcSheetLock {
    int fd;               /* of a file; or -1 */
    const PtcSheet *held; /* in a store; NULL: it needs no lock there */
    PtcSheetLock *next;
};

struct PtcShelf {
    bool shared;  /* by machines: it is a store */
    bool secrets; /* it keeps sheets that are secret */
    /* Appends the text. */
    PtcSheetStatus (*read)(PtcShelf *shelf, const PtcSheet *sheet, PtcBuf *out, PtcSheetMark *mark,
                           PtcWhy *why);
    /* What a read would find.  False: that cannot be known now. */
    bool (*look)(PtcShelf *shelf, const PtcSheet *sheet, PtcSheetMark *mark);
    /* *mark: what is there now. */
    PtcSheetStatus (*write)(PtcShelf *shelf, const PtcSheet *sheet, PtcText text,
                            const PtcSheetWrite *how, PtcSheetMark *mark, PtcWhy *why);
    PtcSheetStatus (*remove)(PtcShelf *shelf, const PtcSheet *sheet);
    /* Waits for at most `wait_ms`.  False: errno and why say what; EWOULDBLOCK: somebody else holds it. */
    bool (*lock)(PtcShelf *shelf, const PtcSheet *sheet, int64_t wait_ms, PtcSheetLock *lock,
                 PtcWhy *why);
    void (*unlock)(PtcShelf *shelf, PtcSheetLock *lock);
    int64_t (*now_ms)(PtcShelf *shelf); /* by the clock that all who share it have */
};

/* Sheets as files of a directory, which need not be there; locks are files too. */
typedef struct PtcFileShelf {
    PtcShelf shelf;
    char dir[PTC_SHELF_PATH];
} PtcFileShelf;

/* False: the name is too long. */
PTC_MUST_USE bool ptc_file_shelf_init(PtcFileShelf *files, const char *dir);
/* What a person may call the sheet: the path of its file, or "KIND in the store". */
const char *ptc_sheet_place(const PtcShelf *shelf, const PtcSheet *sheet,
                            char place[PTC_SHELF_PATH]);

static inline bool ptc_sheet_same(const PtcSheetMark *a, const PtcSheetMark *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] && a->part[2] == b->part[2] &&
           a->part[3] == b->part[3];
}

#endif
