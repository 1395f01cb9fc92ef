/* SPDX-License-Identifier: MIT
 * What PostgreSQL keeps and does for a store.  What always holds: each operation is one statement, which commits by
 * itself, so that no node that is stopped holds a lock; times are the engine's; locks are taken in one order: of the
 * bounds, of the guard, of the record.
 *
 * `sweep` is the end of a record, rounded up to a minute: nearly no touch changes it, and what is in no index is
 * changed in place.  Bytes are not compressed, so that their size is known without reading them. */
#include "store/store_pg_int.h"
#include "store/store_seal.h"

#define RECORD "kind = k and owner = o and key = y"
#define LIVE "least(expires, used + idle) > ptc_now()"

const char ptc_pg_schema[] =
    "do $do$ declare v int; begin "
    "if current_setting('server_version_num')::int < 120000 then"
    " raise 'PostgreSQL % is too old: it must be 12 or newer', current_setting('server_version');"
    "end if;"
    /* a replica may be behind; one that became read-only later can still be read */
    "if pg_is_in_recovery() or (current_setting('ptc.first') = '1' and"
    " current_setting('transaction_read_only') = 'on') then raise 'the store is read-only'; end if;"
    "if current_setting('synchronous_commit') = 'off' then"
    " raise 'the store would lose what it acknowledged: synchronous_commit is off'; end if;"
    "for i in 1..2 loop"
    " if to_regclass('ptc_meta') is not null then select schema into v from ptc_meta; end if;"
    " exit when v > 0 or v < 1 and current_setting('ptc.again') = '0';"
    " if i = 1 then perform pg_advisory_xact_lock(8102099357864587376); continue; end if;"
    "create table if not exists ptc_meta(one bool primary key default true check(one),"
    "schema int not null);"
    "create table if not exists ptc_record(kind text collate \"C\" not null, owner bytea not null,"
    "key bytea not null, version bigint not null, tag bytea not null, created bigint not null,"
    "used bigint not null, expires bigint not null, idle bigint not null, sweep bigint not null,"
    "meta bytea not null, bytes bytea not null, seal bytea not null, rest_seal bytea not null,"
    "primary key(kind, owner, key)) with (fillfactor = 70);"
    "alter table ptc_record alter column bytes set storage external;"
    "create index if not exists ptc_record_sweep on ptc_record(kind, sweep);"
    "create unlogged table if not exists ptc_hold(kind text collate \"C\", owner bytea, key bytea,"
    "node bytea, n bigint not null, until bigint not null, primary key(kind, owner, key, node))"
    "with (fillfactor = 50);"

    "create or replace function ptc_now() returns bigint language sql volatile as $f$"
    " select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $f$;"

    /* For how many records of `len` bytes there is room: 0, 1 or 256. */
    "create or replace function ptc_room(k text, o bytea, y bytea, len bigint, one bigint,"
    "most bigint, own bigint, most_bytes bigint, own_bytes bigint) returns int language plpgsql as "
    "$f$ declare n bigint = 0; b bigint = 0; on_ bigint; ob bigint; lot int;"
    "begin "
    "select count(*), coalesce(sum(octet_length(bytes)), 0) into on_, ob"
    " from ptc_record where kind = k and owner = o and key <> y;"
    "if most + most_bytes > 0 then"
    " select count(*), coalesce(sum(octet_length(bytes)), 0) into n, b"
    " from ptc_record where kind = k and (owner, key) <> (o, y); end if;"
    "foreach lot in array array[256, 1] loop"
    " if not (one * most > 0 and n + lot > most or one * own > 0 and on_ + lot > own"
    " or most_bytes > 0 and b + lot * len > most_bytes"
    " or own_bytes > 0 and ob + lot * len > own_bytes) then return lot; end if;"
    "end loop; return 0; end $f$;"

    /* 0 done, -1 absent, -2 full, -3 fenced, -4 the lock of the bounds is needed alone, else the version there is.
     * Who has plenty of room only shares that lock: it is held until the disk has the record. */
    "create or replace function ptc_put(k text, o bytea, y bytea, old bigint, ver bigint, t bytea,"
    "c bigint, u bigint, x bigint, i bigint, m bytea, b bytea, s bytea, r bytea, gk text, go bytea,"
    "gy bytea, gv bigint, bounds bigint[], alone bigint, who bytea, wakes bigint)"
    " returns bigint language plpgsql as $f$ "
    "declare there bigint; len bigint; room int; lock bigint;"
    "e bigint = (least(x, u + i) / 60000 + 1) * 60000;"
    "begin "
    "if b is null then perform set_config('synchronous_commit', 'off', true); end if;"
    "if bounds is not null and b is not null then"
    " lock = hashtextextended(k || case when bounds[1] + bounds[3] > 0 then '' else ' ' || o::text"
    " end, 26);"
    " if alone > 0 then perform pg_advisory_xact_lock(lock);"
    " else perform pg_advisory_xact_lock_shared(lock); end if;"
    " select version, octet_length(bytes) into there, len from ptc_record where " RECORD
    " and " LIVE ";"
    " if coalesce(there, 0) <> old then return coalesce(there, -1); end if;"
    " if old = 0 or octet_length(b) > len then"
    "  room = ptc_room(k, o, y, octet_length(b), (old = 0)::int, bounds[1], bounds[2], bounds[3],"
    "  bounds[4]);"
    "  if room = 0 then return -2; end if;"
    "  if room = 1 and alone = 0 then return -4; end if;"
    " end if;"
    "end if;"
    "if gk is not null then"
    " perform 1 from ptc_record where kind = gk and owner = go and key = gy and version = gv "
    "and " LIVE " for share;"
    " if not found then return -3; end if;"
    "end if;"
    "if b is null then"
    " update ptc_record set used = u, expires = x, idle = i, sweep = e, meta = m, rest_seal = r"
    " where " RECORD " and version = old and " LIVE ";"
    "elsif old > 0 then"
    " update ptc_record set version = ver, tag = t, used = u, expires = x, idle = i, sweep = e,"
    " meta = m, bytes = b, seal = s, rest_seal = r where " RECORD " and version = old and " LIVE ";"
    "else"
    " insert into ptc_record as p values (k, o, y, ver, t, c, u, x, i, e, m, b, s, r)"
    " on conflict (kind, owner, key) do update set version = ver, tag = t, created = c, used = u,"
    " expires = x, idle = i, sweep = e, meta = m, bytes = b, seal = s, rest_seal = r"
    " where least(p.expires, p.used + p.idle) <= ptc_now();"
    "end if;"
    "if not found then"
    " select version into there from ptc_record where " RECORD " and " LIVE ";"
    " if there is null and old = 0 then raise 'it ended just now' using errcode = '40001'; end if;"
    " return coalesce(there, -1); end if;"
    "if who is not null then"
    " update ptc_hold set until = 0 where " RECORD " and node = who; end if;"
    "if wakes > 0 then perform pg_notify('ptc', ''); end if;"
    "return 0; end $f$;"

    /* 1: the hold is taken, or has ended; a row stays, so that the next one changes it in place */
    "create or replace function ptc_claim(k text, o bytea, y bytea, who bytea, num bigint,"
    "most bigint, ms bigint) returns bigint language plpgsql as $f$ "
    "begin "
    "if num = 0 then"
    " update ptc_hold set until = 0 where " RECORD " and node = who; return 1; end if;"
    "perform pg_advisory_xact_lock(hashtextextended(k || o::text || y::text, 27));"
    "if (select coalesce(sum(n), 0) from ptc_hold where " RECORD
    " and node <> who and until > ptc_now()) > most - num then return 0; end if;"
    "insert into ptc_hold values (k, o, y, who, num, ptc_now() + ms)"
    " on conflict (kind, owner, key, node) do update set n = excluded.n, until = excluded.until;"
    "return 1; end $f$;"

    /* The record as it is when the hold is there; version NULL: no record, and no hold. */
    "create or replace function ptc_get(k text, o bytea, y bytea, who bytea, num bigint,"
    "most bigint, ms bigint, whole bigint, out held bigint, out version bigint, out tag bytea,"
    "out created bigint, out used bigint, out expires bigint, out idle bigint, out size bigint,"
    "out meta bytea, out seal bytea, out rest_seal bytea, out bytes bytea) language plpgsql as $f$ "
    "begin "
    "held = ptc_claim(k, o, y, who, num, most, ms); if held = 0 then return; end if;"
    "select p.version, p.tag, p.created, p.used, p.expires, p.idle, octet_length(p.bytes),"
    " p.meta, p.seal, p.rest_seal, case when whole > 0 then p.bytes end"
    " into version, tag, created, used, expires, idle, size, meta, seal, rest_seal, bytes"
    " from ptc_record p where p.kind = k and p.owner = o and p.key = y;"
    "if version is null then perform ptc_claim(k, o, y, who, 0, 0, 0); end if;"
    "end $f$;"

    "insert into ptc_meta(schema) values (1) on conflict (one) do update set schema = 1; v = 1;"
    "end loop;"
    "if v > 1 then raise 'schema % is newer than this ptc knows (1)', v; end if;"
    "if v < 1 then raise 'the store has schema %, this ptc needs 1: run ptc store migrate', v;"
    "end if; end $do$";
_Static_assert(PTC_STORE_SCHEMA == 1, "the number in it");

/* Whoever may write the store may make anything of any length: no more is fetched than shows that it is too long. */
#define PG_ROW                                                                 \
    "version, substr(tag, 1, 17), created, used, expires, idle, "              \
    "octet_length(bytes)::bigint, substr(meta, 1, 513), substr(seal, 1, 34), " \
    "substr(rest_seal, 1, 34)"
#define PG_HELD_ROW                                                     \
    "version, substr(tag, 1, 17), created, used, expires, idle, size, " \
    "substr(meta, 1, 513), substr(seal, 1, 34), substr(rest_seal, 1, 34)"
#define PG_BYTES "substr(bytes, 1, 16777217)"
_Static_assert(PTC_STORE_BYTES == 16777216 && PTC_STORE_META == 512 && PTC_STORE_SEALED == 33 &&
                   PTC_STORE_TAG == 16,
               "the numbers in it");
#define PG_THIS "kind = $1 and owner = $2 and key = $3"
#define PG_LISTED \
    "select 1::bigint, " PG_ROW ", null::bytea, owner, key, kind from ptc_record where "

const char ptc_pg_statements[] =
    "prepare ptc_get(text, bytea, bytea, bigint) as select 1::bigint, " PG_ROW
    ", case when $4 > 0 then " PG_BYTES " end from ptc_record where " PG_THIS ";"
    "prepare ptc_get_held(text, bytea, bytea, bytea, bigint, bigint, bigint, bigint) as"
    " select held, " PG_HELD_ROW ", " PG_BYTES " from ptc_get($1, $2, $3, $4, $5, $6, $7, $8);"
    "prepare ptc_claim(text, bytea, bytea, bytea, bigint, bigint, bigint) as"
    " select ptc_claim($1, $2, $3, $4, $5, $6, $7);"
    "prepare ptc_put(text, bytea, bytea, bigint, bigint, bytea, bigint, bigint, bigint, bigint,"
    " bytea, bytea, bytea, bytea, text, bytea, bytea, bigint, bigint, bigint, bigint, bigint,"
    " bigint, bytea, bigint) as select ptc_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,"
    " $13, $14, $15, $16, $17, $18, case when $19 + $20 + $21 + $22 > 0 then"
    " array[$19, $20, $21, $22] end, $23, $24, $25);"
    /* the version that was there; NULL: none; then how many were removed */
    "prepare ptc_remove(text, bytea, bytea, bigint) as with gone as (delete from ptc_record "
    "where " PG_THIS " and ($4 = 0 or version = $4) returning 1) select (select count(*) from "
    "ptc_record where " PG_THIS "), (select count(*) from gone);"
    "prepare ptc_list_owner(text, bytea, text, bytea, bytea, bigint) as " PG_LISTED
    "kind = $1 and owner = $2 and (owner, key) > ($4, $5) and $3 is not null"
    " order by owner, key limit $6;"
    "prepare ptc_list_kind(text, bytea, text, bytea, bytea, bigint) as " PG_LISTED
    "kind = $1 and $2 is null and (owner, key) > ($4, $5) and $3 is not null"
    " order by owner, key limit $6;"
    "prepare ptc_list_all(text, bytea, text, bytea, bytea, bigint) as " PG_LISTED
    "$1 is null and ($2 is null or owner = $2) and (owner, key, kind) > ($4, $5, $3)"
    " order by owner, key, kind limit $6;"
    "prepare ptc_sum(text, bytea) as select count(*), coalesce(sum(octet_length(bytes)), 0)::bigint"
    " from ptc_record where kind = $1 and ($2 is null or owner = $2);"
    "prepare ptc_expire(text, bigint) as with holds as (delete from ptc_hold where ctid = "
    "any(array("
    "select ctid from ptc_hold where until <= ptc_now() limit 1000 for update skip locked)))"
    "delete from ptc_record where ctid = any(array(select ctid from ptc_record where kind = $1"
    " and sweep <= ptc_now() + 60000 and least(expires, used + idle) <= ptc_now()"
    " limit $2 for update skip locked));"
    "prepare ptc_clock as select ptc_now();"
    "prepare ptc_tell as select (current_setting('fsync') = 'on')::int::bigint,"
    " convert_to(current_setting('server_version'), 'UTF8')";
