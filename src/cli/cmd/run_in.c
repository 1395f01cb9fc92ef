/* SPDX-License-Identifier: MIT
 * Texts of the command line, and of the files that it names, into a run.  Buffers hold what was read as long as the run
 * needs it. */
#include "cli/cmd/run_in.h"

#include <string.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/data_in.h"
#include "cli/io.h"

int ptc_run_in_program(const PtcUsage *usage, const char *path, PtcBuf *file, PtcRun *run)
{
    const char *error = ptc_io_read(file, path);
    if (error)
        return ptc_options_refuse(usage, "cannot read %.200s: %s", path, error);
    if (file->len >= 2 && memcmp(file->data, "#!", 2) == 0)
        memcpy(file->data, ";;", 2);
    run->program = file->data ? file->data : "";
    run->program_len = file->len;
    return PTC_EXIT_OK;
}

int ptc_run_in_context(const PtcUsage *usage, Ptc *ptc, const char *text, PtcBuf *file,
                       PtcData **data, PtcRun *run)
{
    const char *error;
    char why[200] = "out of memory";
    PtcWhy forgot;
    if (!text)
        return PTC_EXIT_OK;
    if (ptc_data_in_forgot_at("--context", text, &forgot))
        return ptc_options_wrong(usage, "%s", forgot.text);
    size_t len = strlen(text);
    if (text[0] == '@') {
        if ((error = ptc_io_read(file, text + 1)))
            return ptc_options_refuse(usage, "cannot read the context %.200s: %s", text + 1, error);
        text = file->data ? file->data : "";
        len = file->len;
    }
    if (!(*data = ptc_data_new(ptc, PTC_UNSET)))
        return ptc_options_refuse(usage, "--context: %s", why);
    run->context = ptc_make_json(*data, text, len, why, sizeof why);
    if (!run->context)
        return ptc_options_refuse(usage, "--context: %s", why);
    if (ptc_value_type(run->context) != PTC_TYPE_MAP)
        return ptc_options_wrong(usage, "--context wants a JSON object, {\"key\": value}");
    return PTC_EXIT_OK;
}

int ptc_run_in_wanted(const PtcUsage *usage, const char *signature, const char *schema,
                      PtcBuf *file, PtcRun *run)
{
    const char *error;
    if (signature && schema)
        return ptc_options_wrong(usage, "give --signature or --output-schema, not both");
    run->signature = signature;
    run->signature_len = signature ? strlen(signature) : 0;
    if (!schema)
        return PTC_EXIT_OK;
    run->output_schema = schema;
    run->output_schema_len = strlen(schema);
    if (schema[0] != '@')
        return PTC_EXIT_OK;
    if ((error = ptc_io_read(file, schema + 1)))
        return ptc_options_refuse(usage, "cannot read the schema %.200s: %s", schema + 1, error);
    run->output_schema = file->data ? file->data : "";
    run->output_schema_len = file->len;
    return PTC_EXIT_OK;
}
