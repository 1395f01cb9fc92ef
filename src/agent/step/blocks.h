/* SPDX-License-Identifier: MIT
 * blocks.h - fenced blocks in a reply, as Markdown has them: lines of backticks or tildes around other lines.  Texts
 * have LF at the ends of their lines.  Nothing is copied. */
#ifndef PTC_AGENT_STEP_BLOCKS_H
#define PTC_AGENT_STEP_BLOCKS_H

#include "base/text.h"

/* The line that opens a block. */
typedef struct PtcBlockFence {
    char sign; /* ` or ~ */
    size_t count;
    PtcText tag;  /* the first word after it; may be empty */
    PtcText rest; /* what follows that word */
} PtcBlockFence;

typedef struct PtcBlock {
    PtcBlockFence fence;
    PtcText body;       /* the lines between the fences, without the last line's end */
    size_t first, last; /* bytes of the text, including the fences */
    bool closed;
} PtcBlock;

/* The line that begins at pos, without its end; *next becomes where the one after it begins. */
PtcText ptc_blocks_line(PtcText text, size_t pos, size_t *next);

/* Does the line open a block?  Backticks after the word make it inline code instead. */
bool ptc_blocks_opens(PtcText line, PtcBlockFence *fence);
/* Does it close the block that this fence opened? */
bool ptc_blocks_closes(PtcText line, const PtcBlockFence *fence);

/* The next block from *pos on, up to the first line that closes it or the end of the text; *pos moves past it. */
bool ptc_blocks_next(PtcText text, size_t *pos, PtcBlock *out);

/* Is the tag this word, ignoring case? */
bool ptc_blocks_tagged(PtcText tag, const char *word);

/* The text without white space around it. */
PtcText ptc_blocks_trim(PtcText text);

#endif
