/* SPDX-License-Identifier: MIT
 * test_mcp_app.c - answers of lisp_eval, made of parts that an executor of the test gives: what no program of ours leads to,
 * as when a worker lies. */
#include "mcp_help.h"

#include "mcp/app/app.h"

/* What the next task gives. */
static struct {
    bool ok;
    const char *text, *json, *prints, *feedback, *warnings, *calls;
} given;

static void put(PtcBuf *part, const char *text)
{
    if (text)
        ptc_buf_add_cstr(part, text);
}

static PtcTaskStatus submit(PtcExecutor *self, const char *owner, const PtcTaskIn *in,
                            const PtcCancel *cancel, PtcTaskOut *out)
{
    (void)self, (void)owner, (void)in, (void)cancel;
    out->ok = given.ok;
    put(&out->text, given.text);
    put(&out->json, given.json);
    put(&out->prints, given.prints);
    put(&out->feedback, given.feedback);
    put(&out->warnings, given.warnings);
    put(&out->calls, given.calls);
    if (!given.ok) {
        snprintf(out->reason, sizeof out->reason, "runtime_error");
        snprintf(out->message, sizeof out->message, "the message");
    }
    return PTC_TASK_DONE;
}

#define ONE                                                                             \
    "[{\"kind\":\"unknown_data\",\"message\":\"no data/rwos\",\"line\":1,\"column\":7," \
    "\"hint\":\"did you mean data/rows?\"}]"
#define CALL REQUEST("1", "tools/call", "\"name\":\"lisp_eval\",\"arguments\":{\"program\":\"1\"}")
#define ANSWER(text, structured)                                           \
    RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]," \
                "\"structuredContent\":{" structured "}")
#define FAILED(text) \
    RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":true")

static void test_slim(PtcMcp *mcp)
{
    given.ok = true;
    given.text = "{:a 1}";
    given.json = "{\"a\":1}";
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("{:a 1}", "\"result\":{\"a\":1}"));
    given.json = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("{:a 1}", "\"result\":\"{:a 1}\""));
    given.prints = "one\n\ntwo";
    CHECK_STR(
        tell(mcp, NULL, CALL),
        ANSWER("one\\n\\ntwo\\n{:a 1}", "\"result\":\"{:a 1}\",\"prints\":[\"one\",\"\",\"two\"]"));
    given.prints = NULL;
    given.text = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("", "\"result\":\"\""));
}

static void test_warnings(PtcMcp *mcp)
{
    given.ok = true;
    given.text = given.json = "0";
    given.warnings = ONE;
    CHECK_STR(tell(mcp, NULL, CALL),
              ANSWER("0\\n[warning: line 1, column 7: no data/rwos; did you mean data/rows?]",
                     "\"result\":0,\"warnings\":" ONE));
    given.warnings = "[{\"message\":\"just so\"},{},7,{\"message\":[1]}]";
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("0\\n[warning: just so]",
                                            "\"result\":0,\"warnings\":"
                                            "[{\"message\":\"just so\"},{},7,{\"message\":[1]}]"));
    given.ok = false;
    given.feedback = "it failed\n";
    given.warnings = ONE;
    CHECK_STR(tell(mcp, NULL, CALL),
              FAILED("runtime_error: it failed\\n[warning: line 1, column 7: no data/rwos; did you "
                     "mean data/rows?]"));
    given.feedback = given.warnings = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), FAILED("runtime_error: the message"));
}

int main(void)
{
    PtcExecutor executor = {.submit = submit};
    PtcAppConfig config = {.executor = &executor};
    char why[PTC_MCP_WHY] = "";
    PtcApp *app = ptc_app_new(&config, why);
    CHECK(app);
    test_slim(ptc_app_mcp(app));
    test_warnings(ptc_app_mcp(app));
    ptc_app_free(app);
    return check_done("test_mcp_app");
}
