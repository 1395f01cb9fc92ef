/* SPDX-License-Identifier: MIT
 * Bytes that results refer to instead of containing them: kept as long as the run, given to the program when it asks,
 * and added to the answer if the answer refers to them.  What always holds: what leaves here is base64 that an upstream
 * sent in this run, without secrets; whoever asks can only name it by number. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>

#include "base/ascii.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

/* LOOKS: refs of an answer that are looked up, since a program may write as many as it likes. */
enum {
    BLOB_BYTES = 64 * PTC_MB,
    PICTURES = 4,
    PICTURE_BYTES = PTC_MB,
    BLOB_LOOKS = 1000,
    MIME = 100,
};

typedef struct PtcUpBlob {
    struct PtcUpBlob *next;
    size_t number, len;
    bool looked;         /* for the answer at hand */
    char mime[MIME + 1]; /* "": not known */
    char data[];         /* base64 as it came */
} PtcUpBlob;

/* ------------------------------------------------------------------------------------- keep */

/* A media type that our answers may contain; "" for anything else. */
static void take_mime(char to[MIME + 1], PtcText mime)
{
    static const char more[] = "!#$&-^_.+/;= ";
    to[0] = '\0';
    if (!mime.bytes || mime.len > MIME)
        return;
    for (size_t i = 0; i < mime.len; i++) {
        char c = mime.bytes[i];
        if (!(ptc_ascii_is_alnum(c) || (c && strchr(more, c))))
            return;
    }
    memcpy(to, mime.bytes, mime.len);
    to[mime.len] = '\0';
}

static bool keep_run_blob(PtcUpRun *run, PtcText data, PtcText mime, size_t number)
{
    PtcUpBlob *blob;
    size_t bytes = sizeof *blob + data.len; /* many that are empty take room as well */
    if (bytes > BLOB_BYTES - run->blob_bytes || !(blob = ptc_mem_alloc(run->mem, bytes)))
        return false;
    *blob = (PtcUpBlob){.next = run->blobs, .number = number, .len = data.len};
    take_mime(blob->mime, mime);
    memcpy(blob->data, data.bytes, data.len);
    run->blobs = blob;
    run->blob_bytes += bytes;
    return true;
}

/* Numbers are taken before the answer is read, which may take long, so that other calls of the run need not wait for
 * it. */
PtcBlobNumbers ptc_run_take_numbers(PtcUpRun *run, size_t most)
{
    pthread_mutex_lock(&run->lock);
    PtcBlobNumbers numbers = {run->blob_count, most};
    run->blob_count += most;
    pthread_mutex_unlock(&run->lock);
    return numbers;
}

bool ptc_run_keep_blobs(PtcUpRun *run, PtcHeap *heap, PtcValue blobs, PtcBlobNumbers numbers)
{
    bool ok = true;
    size_t count = ptc_fields_count(blobs);
    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; ok && i < count; i++) {
        PtcValue blob = ptc_seq_nth(blobs, i);
        PtcText data = ptc_fields_text(heap, blob, "data");
        ok = keep_run_blob(run, data.bytes ? data : (PtcText){"", 0},
                           ptc_fields_text(heap, blob, "mimeType"), numbers.before + i + 1);
    }
    if (run->blob_count == numbers.before + numbers.most && count <= numbers.most)
        run->blob_count = numbers.before + count; /* those that were not needed */
    pthread_mutex_unlock(&run->lock);
    return ok;
}

void ptc_run_free_blobs(PtcUpRun *run)
{
    for (PtcUpBlob *blob; (blob = run->blobs);) {
        run->blobs = blob->next;
        ptc_mem_free(run->mem, blob, sizeof *blob + blob->len);
    }
}

void ptc_run_save_blobs(PtcUpRun *run, PtcBuf *out)
{
    ptc_pack_i64(out, (int64_t)run->blob_count);
    for (const PtcUpBlob *blob = run->blobs; blob; blob = blob->next) {
        ptc_pack_text(out, (PtcText){blob->data, blob->len});
        ptc_pack_text(out, ptc_text_cstr(blob->mime));
        ptc_pack_i64(out, (int64_t)blob->number);
    }
    ptc_pack_text(out, (PtcText){NULL, 0});
}

/* Absent data end them. */
void ptc_run_restore_blobs(PtcUpRun *run, PtcPackedReader *in)
{
    int64_t count = ptc_unpack_upto(in, INT32_MAX);
    while (!in->bad) {
        PtcText data = ptc_unpack_text(in);
        if (!data.bytes)
            break;
        PtcText mime = ptc_unpack_text(in);
        int64_t number = ptc_unpack_upto(in, count);
        in->bad = in->bad || number < 1 || !keep_run_blob(run, data, mime, (size_t)number);
    }
    run->blob_count = in->bad ? 0 : (size_t)count;
}

/* The number of blob-7, written as we write it; 0: it is none. */
static size_t blob_number_of(PtcText ref)
{
    enum { BLOB_DIGITS = 9 };
    static const char begin[] = "blob-";
    size_t at = sizeof begin - 1, n = 0;
    if (!ptc_text_starts(ref, begin) || ref.len > at + BLOB_DIGITS || ref.len == at ||
        ref.bytes[at] == '0')
        return 0;
    for (; at < ref.len; at++) {
        if (!ptc_ascii_is_digit(ref.bytes[at]))
            return 0;
        n = 10 * n + (size_t)(ref.bytes[at] - '0');
    }
    return n;
}

static PtcUpBlob *find_run_blob(PtcUpRun *run, PtcText ref)
{
    size_t number = blob_number_of(ref);
    PtcUpBlob *blob = number ? run->blobs : NULL;
    while (blob && blob->number != number)
        blob = blob->next;
    return blob;
}

PtcText ptc_run_find_blob(PtcUpRun *run, PtcText ref)
{
    const PtcUpBlob *blob = find_run_blob(run, ref);
    return blob ? (PtcText){blob->data, blob->len} : (PtcText){NULL, 0};
}

/* ------------------------------------------------------------------------------ for programs */

/* Secrets are recognized in base64 too, wherever they begin in it. */
static void put_data(PtcManager *m, PtcBuf *out, PtcText data)
{
    PtcBuf clean;
    ptc_buf_init(&clean, m->mem, PTC_UNBOUNDED);
    ptc_secrets_blot_part(&m->hidden, &clean, data, true);
    ptc_emit_text(out, ptc_buf_view(&clean));
    out->failed = out->failed || !ptc_buf_ok(&clean);
    ptc_buf_deinit(&clean);
}

bool ptc_serve_blob(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcUpRun *run = call->run;
    PtcJsonError error;
    PtcValue in =
        ptc_json_parse(&scratch->heap, call->ask->text.bytes, call->ask->text.len, &error);
    PtcText ref = in == PTC_NONE ? (PtcText){NULL, 0} : ptc_fields_text(&scratch->heap, in, "ref");
    pthread_mutex_lock(&run->lock);
    PtcUpBlob *blob = ref.bytes ? find_run_blob(run, ref) : NULL;
    if (blob)
        put_data(run->manager, out, (PtcText){blob->data, blob->len});
    pthread_mutex_unlock(&run->lock);
    if (blob)
        return true;
    (void)ptc_call_refuse(
        call, PTC_CALL_INVALID_ARGS,
        "there is no such ref: (tool/blob \"blob-1\") takes one of this program's "
        "results");
    return ptc_serve_fail(call, out);
}

/* ------------------------------------------------------------------------------- for answers */

/* The next "ref" of a JSON text that names a blob; absent: there is none.  Inside a string the quotes would have
 * backslashes before them, so it is a member. */
static PtcText next_ref(PtcText json, size_t *at)
{
    static const char mark[] = "\"ref\":\"blob-";
    size_t n = sizeof mark - 1;
    const char *end = json.bytes + json.len;
    const char *found = memmem(json.bytes + *at, json.len - *at, mark, n);
    if (!found)
        return (PtcText){NULL, 0};
    const char *ref = found + n - strlen("blob-"), *stop = memchr(ref, '"', (size_t)(end - ref));
    *at = (size_t)(found - json.bytes) + n;
    return stop ? (PtcText){ref, (size_t)(stop - ref)} : (PtcText){NULL, 0};
}

static void put_block(PtcManager *m, PtcBuf *out, const PtcUpBlob *blob)
{
    PtcText data = {blob->data, blob->len};
    bool image = strncmp(blob->mime, "image/", 6) == 0;
    bool audio = strncmp(blob->mime, "audio/", 6) == 0;
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "type", image ? "image" : audio ? "audio" : "resource");
    if (!image && !audio) {
        ptc_emit_key(out, "resource");
        ptc_emit_object(out);
        ptc_emit_key(out, "uri");
        ptc_buf_addf(out, "\"ptc:blob-%zu\"", blob->number);
    }
    if (blob->mime[0])
        ptc_emit_field_cstr(out, "mimeType", blob->mime);
    ptc_emit_key(out, image || audio ? "data" : "blob");
    put_data(m, out, data);
    if (!image && !audio)
        ptc_emit_object_end(out);
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, '\n');
}

/* Clients refuse a whole answer when the data of a block is no base64, which it is not any more without its secrets. */
static bool has_secret(const PtcManager *m, const PtcUpBlob *blob)
{
    PtcBuf clean;
    PtcText data = {blob->data, blob->len};
    if (!ptc_secrets_any(&m->hidden))
        return false;
    ptc_buf_init(&clean, m->mem, PTC_UNBOUNDED);
    ptc_secrets_blot_part(&m->hidden, &clean, data, true);
    bool changed = !ptc_buf_ok(&clean) || !ptc_text_same(ptc_buf_view(&clean), data);
    ptc_buf_deinit(&clean);
    return changed;
}

/* Each blob is looked at once, however often the answer refers to it. */
void ptc_run_pictures(PtcUpRun *run, PtcText json, PtcBuf *out)
{
    size_t count = 0, bytes = 0, at = 0;
    PtcText ref;
    pthread_mutex_lock(&run->lock);
    for (PtcUpBlob *blob = run->blobs; blob; blob = blob->next)
        blob->looked = false;
    for (size_t looks = 0;
         run->blobs && count < PICTURES && looks < BLOB_LOOKS && (ref = next_ref(json, &at)).bytes;
         looks++) {
        PtcUpBlob *blob = find_run_blob(run, ref);
        size_t decoded = blob ? blob->len / 4 * 3 : 0;
        if (!blob || blob->looked || bytes + decoded > PICTURE_BYTES)
            continue;
        blob->looked = true;
        if (has_secret(run->manager, blob))
            continue;
        put_block(run->manager, out, blob);
        count++;
        bytes += decoded;
    }
    pthread_mutex_unlock(&run->lock);
}
