/* A program inside of an application: two tools are C functions, the program comes from elsewhere, the result has a
 * type. */
#include <ptc/ptc.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t cents;
} prices[] = {{"bolt", 12}, {"nut", 5}, {"hinge", 340}};

/* (tool/price {:item "bolt"}): an integer, or a failure that the program can catch. */
static PtcToolAnswer price(PtcToolCall *call, void *user)
{
    const char *item;
    size_t len;
    (void)user;
    if (ptc_value_string(ptc_value_get(ptc_call_args(call), "item", 4), &item, &len))
        for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
            if (strlen(prices[i].name) == len && memcmp(prices[i].name, item, len) == 0) {
                ptc_call_return(call, ptc_make_int(ptc_call_data(call), prices[i].cents));
                return PTC_TOOL_ANSWERED;
            }
    ptc_call_fail(call, "no such item", 12);
    return PTC_TOOL_ANSWERED;
}

/* (tool/orders): JSON text becomes values at once. */
static PtcToolAnswer orders(PtcToolCall *call, void *user)
{
    const char *json = user;
    ptc_call_return_json(call, json, strlen(json));
    return PTC_TOOL_ANSWERED;
}

static bool add_tool(PtcTools *tools, const char *name, PtcToolFn function, void *user,
                     const char *signature)
{
    char error[200];
    PtcToolDef def;
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = function;
    def.user = user;
    def.signature = signature;
    def.signature_len = strlen(signature);
    if (ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK)
        return true;
    fprintf(stderr, "%s: %s\n", name, error);
    return false;
}

static void show(PtcOutcome *outcome)
{
    PtcError error = {.size = sizeof error};
    if (ptc_outcome_ok(outcome))
        printf("%s\n", ptc_outcome_text(outcome, NULL, NULL));
    else if (ptc_outcome_error(outcome, 0, &error))
        printf("%s at line %u: %s\n", error.kind, error.line, error.message);
}

static void run(Ptc *ptc, PtcTools *tools, const char *program)
{
    PtcOutcome *outcome = NULL;
    PtcRun r;
    ptc_run_init(&r, sizeof r);
    r.program = program;
    r.program_len = strlen(program);
    r.tools = tools;
    r.signature = "{cents :int}";
    r.signature_len = strlen(r.signature);
    if (ptc_eval(ptc, &r, &outcome) == PTC_OK)
        show(outcome);
    ptc_outcome_free(outcome);
}

int main(void)
{
    static char json[] = "[{\"item\":\"bolt\",\"pieces\":100},{\"item\":\"hinge\",\"pieces\":2}]";
    Ptc *ptc = ptc_new(NULL);
    PtcTools *tools = ptc_tools_new();
    if (ptc && tools && add_tool(tools, "price", price, NULL, "(item :string) -> :int") &&
        add_tool(tools, "orders", orders, json, "() -> [{item :string, pieces :int}]")) {
        run(ptc, tools,
            "{:cents (sum-by #(* (:pieces %) (tool/price {:item (:item %)})) (tool/orders))}");
        run(ptc, tools, "{:cents (tool/price {:item \"saw\"})}");
        run(ptc, tools, "(loop [] (recur))");
    }
    ptc_tools_free(tools);
    ptc_free(ptc);
    return 0;
}
