#include "cli/cmd.h"
int ptc_cmd_init(PtcMem *mem, int argc, char **argv)
{
    (void)mem;
    (void)argc;
    (void)argv;
    return 2;
}
