#!/usr/bin/env python3
"""Tools that ask databases, with a real SQLite file and a real PostgreSQL.  test_databases.py PTC"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, f"{sys.path[0]}/..")
import engines  # pylint: disable=wrong-import-position
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select {} from c"


def run(tools, program, *options):
    done = subprocess.run([PTC, "eval", *options, "--tools", json.dumps(tools), program], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout.strip() or done.stderr.splitlines()[0]


def ask(url, query, params="{}", *options, **more):
    """What a free query gives."""
    timeout = {"timeout_ms": more.pop("timeout_ms")} if "timeout_ms" in more else {}
    return run({"q": {"sql": {"url": url, **more}, **timeout}}, f"(tool/q {{:query {json.dumps(query)} :params {params}}})", *options)


def fixed(url, query, args, **more):
    return run({"t": {"sql": {"url": url, "query": query, **more}}}, f"(tool/t {args})")


def refused(name, url, said, *queries, **more):
    for query in queries:
        got = ask(url, query, **more)
        check(f"{name}: {query}", got.startswith("error: tool/q failed") and said in got, got)


def test_definitions():
    lite = "sqlite:none.db"
    for sql, said in [({}, "sql must have a url"), ({"url": "mysql://a"}, "sql.url must be"), ({"url": "${PTC_NO_SUCH}"}, "PTC_NO_SUCH is not set"),
                      ({"url": lite, "write": True}, "sql.write needs a query"), ({"url": lite, "query": "drop table x"}, "sql.query must begin"),
                      ({"url": lite, "query": "insert into a values (1)"}, "sql.query must begin"), ({"url": lite, "max_rows": 0}, "sql.max_rows"),
                      ({"url": lite, "queri": ""}, "unknown key sql.queri"), ({"url": lite, "query": "select ?"}, "written :name"),
                      ({"url": "postgres://a", "query": "select $1"}, "written :name")]:
        got = run({"t": {"sql": sql}}, "1")
        check(f"definition {sql}", said in got, got)
    line = json.dumps({"program": "1", "tools": {"t": {"sql": {"url": lite}}}})
    done = subprocess.run([PTC, "eval", "--jsonl"], input=line, capture_output=True, text=True, timeout=60, check=False)
    check("not in a batch line", "sql tools are not allowed here" in done.stdout, done)


def test_lite(where):
    path = f"{where}/shop.db"
    with sqlite3.connect(path) as c:
        c.execute("create table orders(id integer primary key, customer text, total real, raw blob)")
        c.executemany("insert into orders values (?, ?, ?, ?)", [(1, "Ann", 1.5, b"xy"), (2, "b'x", None, None)])
        c.execute("create view named as select customer from orders")
    c.close()
    url = "sqlite:" + path
    check("rows", fixed(url, "select * from orders where id = :id", "{:id 1}") == '[{"id" 1, "customer" "Ann", "total" 1.5, "raw" "eHk="}]')
    check("a value is no text", fixed(url, "select * from orders where customer = :c", '{:c "x\' or 1=1 --"}') == "[]")
    check("names in texts are none", fixed(url, "select ':a' x, \":b\" y from (select :c as [:b]) -- :d", '{:c "é"}') == '[{"x" ":a", "y" "é"}]')
    check("same columns", ask(url, "select 1 a, 2 a, 3 a_2") == '[{"a" 1, "a_3" 2, "a_2" 3}]')
    check("lists", ask(url, "select customer from orders where id in (select value from json_each(:ids))", "{:ids [2 3]}") == '[{"customer" "b\'x"}]')
    check("schema", ask(url, "select name from pragma_table_info('named')") == '[{"name" "customer"}]')
    check("a value is missing", "has :id, which has no value" in ask(url, "select :id"))
    check("a value is too much", "has no :b" in ask(url, "select :a", "{:a 1 :b 2}"))
    check("a write", fixed(url, "insert into orders (customer) values (:c)", '{:c "new"}', write=True) == '{"changed" 1}')
    check("what it returns", fixed(url, "delete from orders where id = :id returning id", "{:id 3}", write=True) == '[{"id" 3}]')
    refused("words", url, "must begin with", "delete from orders", f"attach '{where}/o.db' as o", f"vacuum into '{where}/v.db'", "pragma writable_schema = 1",
            "begin", "create table x(a)", "reindex", "")
    refused("statements", url, "one statement", "select 1; select 2", "select 1; delete from orders")
    refused("writes", url, "SQLite: ", "with x as (select 1) delete from orders", "with x as (select 1) insert into orders(id) values (9)",
            "with x as (select 1) update sqlite_master set sql = ''", "select load_extension('x')", "select zeroblob(1000000000)", "select readfile('/etc/passwd')",
            "select * from pragma_journal_mode('delete')")
    refused("floods", url, "more than 100000 rows", ENDLESS.format("x"))
    refused("floods", url, "more than 10 rows", ENDLESS.format("x"), max_rows=10)
    refused("floods", url, "more than 16777216 bytes", ENDLESS.format("hex(randomblob(100000)) r"))
    begun = time.monotonic()
    got = ask(url, ENDLESS.format("count(*)"), timeout_ms=300)
    check("endless", "300 ms" in got and time.monotonic() - begun < 30, got)
    check("memory", "SQLite: " in ask(url, "select group_concat(hex(randomblob(4000000))) from orders a, orders b, orders c"))
    check("no file", "unable to open" in ask(f"sqlite:{where}/none.db", "select 1") and not os.path.exists(f"{where}/none.db"))
    check("no database", "not a database" in ask("sqlite:" + PTC, "select * from sqlite_master"))
    check("nothing else", sorted(os.listdir(where)) == ["shop.db"], os.listdir(where))
    with sqlite3.connect(path) as c:
        check("nothing changed", c.execute("select count(*) from orders").fetchone() == (2,))
    c.close()


def with_db(program, *dbs, command="eval"):
    options = [part for db in dbs for part in ("--db", db)]
    done = subprocess.run([PTC, command, *options, program], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout.strip() or done.stderr.splitlines()[0]


def test_whole(where):
    with sqlite3.connect(f"{where}/whole.db") as c:
        c.execute("create table orders(id integer primary key, customer text)")
        c.execute("insert into orders values (7, 'Ann')")
    c.close()
    db = f"shop=sqlite:{where}/whole.db"
    check("db: query", with_db('(shop/query "select customer from orders where id = :id" {:id 7})', db) == '[{"customer" "Ann"}]')
    check("db: without parameters", with_db('(shop/query "select 1 a")', db) == '[{"a" 1}]')
    check("db: as a tool", with_db('(tool/shop.query {:query "select :a a" :params {:a 1}})', db) == '[{"a" 1}]')
    check("db: in a function", with_db('(defn f [x] (shop/query "select :a a" {:a x})) (mapv f [1 2])', db) == '[[{"a" 1}] [{"a" 2}]]')
    check("db: mapped", with_db('(mapv shop/query ["select 1 a" "select 2 a"])', db) == '[[{"a" 1}] [{"a" 2}]]')
    check("db: tables", with_db("(shop/tables)", db) == '[{"name" "orders", "kind" "table"}]')
    check("db: columns", with_db('(map :name (shop/columns "orders"))', db) == '["id" "customer"]')
    check("db: two", with_db('(into (a/query "select 1 x") (b/query "select 2 x"))', "a" + db[4:], "b" + db[4:]) == '[{"x" 1} {"x" 2}]')
    got = with_db("(doc 'shop/query)", db)
    check("db: doc", "Tables: orders (id integer, customer text)" in got, got)
    check("db: reads", "must begin with" in with_db('(shop/query "delete from orders")', db))
    check("db: no such function", "there is no namespace shop" in with_db("(shop/nothing)", db))
    for wrong, said in (("shop", "is written NAME=URL"), ("str=sqlite:a", "namespace of the language"), ("a=b", "sqlite:FILE or postgres"), ("data=sqlite:a", "namespace")):
        check(f"db: {wrong}", said in with_db("1", wrong), with_db("1", wrong))
    agent = f"{where}/agent.json"
    with open(agent, "w", encoding="utf-8") as f:
        json.dump({"prompt": "Who?", "llm": [{"content": "```clojure\n(return (:customer (first (shop/query \"select * from orders\"))))\n```"}]}, f)
    check("db: of an agent", with_db(agent, db, command="run") == "Ann", with_db(agent, db, command="run"))
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                                            "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
             {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "lisp_eval", "arguments": {"program": '(shop/query "select * from orders")'}}}]
    for isolation in ("none", "auto"):
        done = subprocess.run([PTC, "mcp", "--isolation", isolation, "--db", db], input="".join(json.dumps(c) + "\n" for c in calls), capture_output=True,
                              text=True, timeout=120, check=False)
        check(f"db: mcp {isolation}", "orders (id integer, customer text)" in done.stdout and '\\"customer\\" \\"Ann\\"' in done.stdout, done)


SET_UP = """
create role reader login; create role writer login; create role owner login; create role column_writer login; create role maker login;
create role member login; grant pg_write_all_data to member; create role runner login; grant pg_execute_server_program to runner;
create table orders(id int primary key, customer text, total numeric(12, 2), at timestamptz, day date, ts timestamp, tm time, doc jsonb, tags text[],
                    raw bytea, f float8, many int[][], big bigint, ok boolean, long interval);
insert into orders values (1, 'Ann', 12.50, '2024-01-02 03:04:05.5+02', '2024-01-02', '2024-01-02 03:04:05', '03:04:05', '{"a": [1, 2.5]}',
                           '{a,"b \\"c",NULL,"NULL"}', '\\x0001ff', 1.5, '{{1,2},{3,4}}', 9223372036854775807, true, '1 day 2 hours');
insert into orders(id, customer, day, total) values (2, 'b''x', 'infinity', 'NaN');
create table notes(id serial, text text);
create sequence counter; grant usage, update on sequence counter to reader;
grant select on orders, notes to reader, member, runner; grant select, insert on notes to writer; grant usage on sequence notes_id_seq to writer;
grant update (customer) on orders to column_writer; create table mine(a int); alter table mine owner to owner;
grant create, usage on schema public to maker; grant select on orders to maker;
"""


def test_pg_values(url, writer):
    got = ask(url, "select * from orders where id = 1")
    check("values", got == '[{"id" 1, "customer" "Ann", "total" 12.50M, "at" "2024-01-02T01:04:05.500Z", "day" "2024-01-02", "ts" "2024-01-02T03:04:05", '
          '"tm" "03:04:05", "doc" {"a" [1 2.5]}, "tags" ["a" "b \\"c" nil "NULL"], "raw" "AAH/", "f" 1.5, "many" [[1 2] [3 4]], '
          '"big" 9223372036854775807, "ok" true, "long" "P1DT2H"}]', got)
    types = run({"q": {"sql": {"url": url, "query": "select at, day, ts, total from orders where id = 1"}}},
                "(let [r (first (tool/q))] [(inst? (:at r)) (.getYear (:day r)) (.getHour (:ts r)) (decimal? (:total r)) (+ (:total r) 1)])")
    check("types", types == "[true 2024 3 true 13.50M]", types)
    check("what has no value of ours", ask(url, "select day, total, customer from orders where id = 2") == '[{"day" "infinity", "total" ##NaN, "customer" "b\'x"}]')
    check("parameters", ask(url, "select :s::text s, :n::int n, :l::int[] l, :j::jsonb j, :b::bool b, :z::text z, ':x' x, $$:y$$ y, E'\\':v' v /* :w /* :u */ */",
                            '{:s "a\' or 1=1" :n 7 :l [1 nil 3] :j {:k ["v"]} :b true :z nil}')
          == '[{"s" "a\' or 1=1", "n" 7, "l" [1 nil 3], "j" {"k" ["v"]}, "b" true, "z" nil, "x" ":x", "y" ":y", "v" "\':v"}]')
    check("any of", ask(url, "select id from orders where customer = any(:names)", '{:names ["b\'x" "{" "\\\\"]}') == '[{"id" 2}]')
    check("no rows", ask(url, "select id from orders where false") == "[]")
    check("a write", fixed(writer, "insert into notes (text) values (:t) returning text", '{:t "x\'; drop table notes; --"}', write=True)
          == '[{"text" "x\'; drop table notes; --"}]')
    check("rows changed", fixed(writer, "insert into notes (text) values (:a), (:b)", '{:a "1" :b "2"}', write=True) == '{"changed" 2}')


def test_pg_whole(pg, url):
    tables = with_db("(mapv :name (shop/tables))", "shop=" + url)
    check("db: tables that it may read", tables == '["notes" "orders"]', tables)
    columns = with_db('(mapv (juxt :name :type :nullable :key) (take 3 (shop/columns "orders")))', "shop=" + url)
    check("db: columns", columns == '[["id" "integer" false true] ["customer" "text" true false] ["total" "numeric(12,2)" true false]]', columns)
    done = subprocess.run([PTC, "eval", "--db", "shop=" + pg.url("shop"), "1"], capture_output=True, text=True, timeout=60, check=False)
    check("db: a superuser", done.stdout == "1\n" and "--db shop: the role ptc is a superuser" in done.stderr, done)


def test_pg_guards(pg, url):
    for role, said in [("writer", "may change public.notes"), ("owner", "may change public.mine"), ("column_writer", "may change public.orders"),
                       ("member", "is in a role that may write"), ("runner", "is in a role that may write"), ("ptc", "is a superuser")]:
        refused(role, pg.url("shop", user=role), f"the role {role} {said}", "select 1")
    check("to create is not to write", ask(pg.url("shop", user="maker"), "select 1 a") == '[{"a" 1}]')
    admin = pg.url("shop")
    check("allowed", ask(admin, "select 1 a", allow_writing_role=True) == '[{"a" 1}]')
    refused("read-only", admin, "read-only transaction", "with x as (insert into notes(text) values ('a') returning id) select * from x", "select nextval('counter')",
            "select setval('counter', 7)", allow_writing_role=True)
    refused("read-only", url, "read-only transaction", "select nextval('counter')", "select setval('counter', 7)", "with x as (insert into notes(text) values ('a')) select 1")
    refused("words", url, "must begin with", "copy orders to program 'id'", "delete from orders", "commit", "do $$ begin end $$", "set role ptc", "listen a", "prepare transaction 'x'", "")
    refused("statements", url, "multiple commands", "select 1; select 2", "select 1; commit; delete from orders")
    refused("rights", url, "PostgreSQL: ", "select pg_import_system_collations('public')", "select pg_read_file('/etc/passwd')", "select lo_export(1, '/tmp/x')",
            "select set_config('transaction_read_only', 'off', false)", "select * from dblink('dbname=shop', 'select 1') t(a int)")
    ask(url, "select lo_create(0)")
    ask(url, "select pg_notify('a', 'b')")
    ask(admin, "select pg_import_system_collations('public')", allow_writing_role=True)
    left = pg.sql("select (select count(*) from pg_largeobject_metadata), (select count(*) from pg_collation c join pg_namespace n on n.oid = collnamespace "
                  "where nspname = 'public'), (select count(*) from notes), (select is_called from counter)", "shop")
    check("all of it is undone", left == "0|0|3|f", left)


def test_pg_bounds(pg, url):
    refused("floods", url, "more than 100000 rows", "select x from generate_series(1, 200000) x")
    refused("floods", url, "more than 16777216 bytes", "select repeat('x', 100000) from generate_series(1, 1000)")
    begun = time.monotonic()
    for query in ("select pg_sleep(1000)", ENDLESS.format("count(*)"), "select count(*) from generate_series(1, 100000000000)"):
        got = ask(url, query, timeout_ms=400)
        check(f"late: {query}", "400 ms" in got, got)
    check("in time", time.monotonic() - begun < 60)
    active = "select count(*) from pg_stat_activity where state = 'active' and usename = 'reader'"
    check("nothing goes on", engines.wait_until(lambda: pg.sql(active) == "0"))
    got = ask(url, "select count(*) from generate_series(1, 3) x where x = :x", '{:x "a"}')
    check("a wrong value", "PostgreSQL: " in got, got)
    got = ask(url.replace("127.0.0.1", "127.0.0.1:1/x?host=127.0.0.1&port=1#"), "select 1")
    check("nobody there", "error: tool/q failed" in got, got)
    got = ask("postgres://u:hidden-word@127.0.0.1:99999999/x", "select 1")
    check("no password is told", "failed" in got and "hidden-word" not in got, got)


def test_pg():
    try:
        with engines.Postgres() as pg:
            pg.database("shop")
            pg.sql(SET_UP, "shop")
            url = pg.url("shop", user="reader")
            test_pg_values(url, pg.url("shop", user="writer"))
            test_pg_guards(pg, url)
            test_pg_whole(pg, url)
            test_pg_bounds(pg, url)
    except engines.Missing as why:
        print(f"left out: {why}")


with tempfile.TemporaryDirectory() as directory:
    test_definitions()
    test_lite(directory)
    test_whole(directory)
test_pg()
finish()
