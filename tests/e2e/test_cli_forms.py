#!/usr/bin/env python3
"""Programs without the word eval, scripts, help and version.  test_cli_forms.py PTC"""
import re
import sys

sys.dont_write_bytecode = True
from cli_help import CSV4, Desk  # noqa: E402

desk = Desk(sys.argv[1])
COMMANDS = re.findall(r"^  (\w+) ", desk.sh("ptc --help")[1].partition("commands:\n")[2].partition("\n\n")[0], re.M)


def test_programs():
    """What begins like a program is one; standard input, which never ends here, is not waited for."""
    for program, result in [("(+ 1 2)", "3"), ("[1 2]", "[1,2]"), ('{"a" 1}', '{"a":1}'), ('"x"', '"x"'), ("42", "42"),
                            ("#{1}", "[1]"), (":a", '"a"'), ("'(1 2)", "[1,2]"), ("; c\n(+ 1 2)", "3")]:
        desk.prints(f'ptc "$(cat <<"X"\n{program}\nX\n)"', result + "\n")
    desk.prints("ptc -e '(+ 1 2)'", "3\n")
    desk.prints("ptc eval -e '(+ 1 2)'", "3\n")
    desk.prints("ptc --expression='(+ 1 2)'", "3\n")
    desk.prints("""ptc '(let [database 1 arrows 2] (+ database arrows))'""", "3\n")
    desk.write("x.tsv", "a\tb\n1\t2\n")
    desk.write("inc.clj", "(inc 1)")
    desk.write("env.json", '{"upstreams": {"shop": {"url": "https://shop.example/mcp", "env": {}}}}')
    desk.write("cmd.json", '{"upstreams": {"shop": {"cmd": "x"}}}')
    desk.prints("ptc x.tsv '(count data)'", "1\n")


REFUSED = [  # what is typed, and what the message must say
    ("ptc eval -e 1 2", "give one program, not several"),
    ("ptc eval x.tsv", "x.tsv is a file; for data write ptc x.tsv '(count data)'"),
    ("ptc eval '(count rows)' x.tsv", "write ptc x.tsv '(count data)'"),
    ("ptc eval inc.clj", "write ptc eval -f inc.clj"),
    ("ptc x.tsv -o csv rows", "-o names a file; for the format write --format csv"),
    ("ptc run a.json --model haiku", "unknown option --model; did you mean --llm?"),
    ("ptc run", "ptc init DIR makes one"),
    ("ptc trace x.tsv", "the form comes first: ptc trace summary x.tsv"),
    ("ptc keys", "unknown command 'keys'; as a program: ptc '(keys data)'"),
    ("ptc serve", "unknown command 'serve'; did you mean mcp?"),
    ("ptc x.tsv --table rows", "unknown option --table; did you mean --format table?"),
    ("ptc x.tsv --format tabel rows", "not 'tabel'; did you mean table?"),
    ("ptc --data x.tsv '(count rows)'", "x.tsv has no name; write --data NAME=@x.tsv"),
    ("ptc run a.json --debug", "did you mean --trace FILE?"),
    ("ptc mcp --port 8080", "did you mean --http 127.0.0.1:PORT?"),
    ("ptc mcp --install claude", "not 'claude'; did you mean claude-code?"),
    ("ptc mcp install cursor", "'install' is not an option; did you mean --install?"),
    ("ptc mcp x.tsv", "'x.tsv' is not an option; programs see a file as data with --data NAME=@x.tsv"),
    ("ptc upstreams ls", "there is no 'ls'; there are list, check,"),
    ("ptc upstreams", "say which: list, check,"),
    ("ptc upstreams call shop", "call: shop is not NAME/TOOL"),
    ("ptc upstreams call shop list '{}'", "it takes NAME/TOOL, and the arguments as a JSON object"),
    ("ptc upstreams call shop/list page=1", "must be a JSON object, such as '{"),
    ("ptc upstreams list --upstreams cmd.json", 'shop.cmd: there is no such key here; did you mean "command"?'),
    ("ptc upstreams list --upstreams env.json", 'shop.env: this key is only for servers with a "command"'),
    ("ptc upstreams list --upstreams x.json", 'entries belong under one of them: {"upstreams":'),
    ("ptc evl", "unknown command", "did you mean eval?"),
    ("ptc docss", "unknown command", "did you mean docs?"),
    ("ptc xyzzy", "unknown command"),
    ("ptc ''", "unknown command"),
    ("ptc ordes.csv '(count rows)'", "ordes.csv: No such file"),
    ("ptc ordes.cvs '(count rows)'", "ordes.cvs: No such file or directory\n"),
    ("ptc ordes.csv", "ordes.csv: there is no such file"),
    ("ptc ./ordes", "./ordes: there is no such file"),
    ("ptc report.clj", "report.clj: there is no such file"),
    ("ptc report.clj 20", "report.clj: No such file"),
    ("ptc --each orders.csv", "which program?", "ptc --each orders.csv '(:total row)'"),
    ("ptc --raw", "which program?", "ptc orders.csv '(count rows)'"),
    ("ptc '(count rows)' orders.csv", "the file comes first"),
    ("ptc orders.csv ordes.csv '(count rows)'", "ordes.csv: there is no such file"),
    ("ptc orders.csv ordes.csv", "ordes.csv: there is no such file"),
    ("ptc a=ordes.csv '(count a)'", "ordes.csv: there is no such file"),
    ("ptc orders.csv '(count rows)' '(count rows)'", "give files and one program, the program last"),
    ("ptc --no-such '(+ 1 2)'", "unknown option --no-such"),
    ("ptc --jsonl", "write ptc eval --jsonl"),
    ("ptc upstreams --jsonl", "unknown option --jsonl"),
    ("ptc help evl", "unknown command 'evl'"),
]

FAILED = [  # programs that people write who know another language
    ("ptc x.tsv '(sum-by a rows)'", "a key of the data begins with a colon: :a"),
    ("ptc x.tsv '(count orders)'", "the data here is called data, rows; other names are"),
    ("ptc x.tsv '(count rws)'", "did you mean rows?"),
    ("ptc 'x[0]'", "to take one element write (nth x 0)"),
    ("ptc 'map(.a)'", "the name goes inside: (map :a data)"),
    ("ptc 'select(.a > 1)'", "(filter #(> (:total %) 10) coll)"),
    ("ptc '.[]'", "write (map f data)"),
    ("ptc x.tsv '(take 2)'", "is an argument missing? (take 2) is a function"),
    ("ptc upstreams check shop --no-upstreams", "shop: there is no such upstream"),
]


def test_mistakes():
    for status, cases in ((2, REFUSED), (1, FAILED)):
        for command, *texts in cases:
            desk.refuses(command, *texts, status=status)


def test_help():
    for command in ("eval", "run", "repl", "mcp", "docs"):
        same = desk.sh(f"ptc help {command}"), desk.sh(f"ptc {command} --help")
        desk.check(f"help {command}", same[0] == same[1] and same[0][0] == 0, same[0])
    for word in ("--version", "-V", "-v"):
        desk.check(word, desk.sh("ptc version") == desk.sh("ptc " + word), desk.sh("ptc " + word))
    desk.check("no upstreams", "--import CLIENT" in desk.sh("ptc upstreams list")[1], desk.sh("ptc upstreams list"))
    for page in ("data.md", "docs/data.md"):
        desk.check(page, desk.sh("ptc docs " + page) == desk.sh("ptc docs data") and desk.sh("ptc docs " + page)[0] == 0, desk.sh("ptc docs " + page))
    desk.check("help", "ptc orders.csv" in desk.sh("ptc help")[1], desk.sh("ptc help"))


MCP_GROUPS = ["serving", "HTTP", "programs and limits", "upstreams", "approvals", "tasks", "sessions", "traces", "help", "examples"]


def options_of(command):
    """The options of a command, as fish is told of them."""
    return re.findall(rf"'__ptc_in {command}' -l ([\w-]+)", desk.sh("ptc completions fish")[1])


def test_help_width():
    """No line is wider than the terminal, from 60 columns to 120, and 80 where there is none."""
    for command in [""] + COMMANDS + ["upstreams " + word for word in ("list", "check", "call", "doctor", "login")]:
        for columns, most in ((0, 80), (30, 60), (60, 60), (80, 80), (120, 120), (200, 120)):
            if not command and most < 80:
                continue  # the list of commands has one form
            for words in (["--help"], ["--help", "all"]):
                text = desk.terminal(*command.split(), *words, columns=columns)
                wide = [line for line in text.splitlines() if len(line) > most]
                desk.check(f"{command} {words} in {columns}", not wide and "ptc" in text, wide)
        text = desk.sh(f"ptc {command} --help")[1]
        desk.check(f"{command} --help: length", text.count("\n") <= 45 and "\nexamples:\n  " in text, text)


def test_help_groups():
    """--help has the common options of a command with many, and --help all has all of them, in groups."""
    for command in COMMANDS:
        options, few, full = options_of(command), desk.sh(f"ptc {command} --help")[1], desk.sh(f"ptc {command} --help all")[1]
        named = re.findall(r"^  (?:-\w, |    )--([\w-]+)", full, re.M)
        desk.check(f"{command} --help all", sorted(named) == sorted(options) and options, (named, options))
        same = [desk.sh(f"ptc {words}")[1] for words in (f"{command} --help=all", f"help {command} all", f"{command} -h all")]
        desk.check(f"{command}: spellings", same == [full] * 3, same)
        if len(options) - 1 <= 15:
            desk.check(f"{command} has few", few == full and "\noptions:\n" in full, few)
            continue
        shown = re.findall(r"^  (?:-\w, |    )--([\w-]+)", few, re.M)
        more = f"ptc {command} --help all shows {len(options) - len(shown)} more options"
        desk.check(f"{command} has many", 5 <= len(shown) <= 12 and more in few, few)
        parts = re.split(r"^(\S.*):\n", full.partition("\n\n")[2], flags=re.M)
        titles, texts = parts[1::2], parts[2::2]
        desk.check(f"{command}: groups", len(titles) >= 4 and titles[-1] == "examples" and all(x.startswith("  ") for x in texts), titles)
        desk.check("mcp: groups", command != "mcp" or titles == MCP_GROUPS, titles)


def test_help_examples():
    """An example that is broken for a narrow terminal is still a command of the shell."""
    broken = 0
    for command in COMMANDS:
        part = desk.terminal(command, "--help", columns=60).partition("\nexamples:\n")[2]
        broken += part.count(" \\\n")
        whole = desk.terminal(command, "--help", columns=120).partition("\nexamples:\n")[2]
        desk.check(f"examples of {command}", re.sub(r" +(\\\n)? *", " ", part) == re.sub(r" +(\\\n)? *", " ", whole), part)
        desk.write("examples", part)
        desk.check(f"examples of {command} are shell", desk.sh("bash -n examples")[0] == 0, part)
    desk.check("some are broken", broken > 3, broken)


def test_scripts():
    desk.write("args", "#!/usr/bin/env ptc\n(println \"hello\")\n*command-line-args*\n")
    desk.write("sum.clj", "(reduce + (map parse-long *command-line-args*))")
    desk.write("bad", "#!/usr/bin/env ptc\n(+ 1 :a)\n")
    desk.write("filter", "#!/usr/bin/env ptc\n(map :customer rows)\n")
    desk.sh("chmod +x args bad filter")
    got = desk.sh("./args a --format text '' -- é")
    desk.check("arguments", got == (0, '["a","--format","text","","--","é"]\n', "hello\n"), got)
    desk.prints("ptc sum.clj 1 2 39", "42\n")
    desk.refuses("ptc eval -f sum.clj", "nothing is named *command-line-args*", "only a script has arguments: ptc SCRIPT ARGUMENTS", status=1)
    desk.refuses("ptc eval '(count rows)'", "nothing is named rows", "files are read without the word eval; for example ptc orders.csv", status=1)
    desk.prints("ptc --format text ./filter < orders.csv", '["Ada" "Ben" "Ada"]\n', CSV4)
    desk.prints("cat orders.csv | ./filter", '["Ada","Ben","Ada"]\n', CSV4)
    desk.refuses("./bad", "--> ./bad, line 2, column 1", status=1)
    desk.prints("ptc '*command-line-args*'", "[]\n")


for test in (test_programs, test_mistakes, test_help, test_help_width, test_help_groups, test_help_examples, test_scripts):
    test()
sys.exit(desk.end())
