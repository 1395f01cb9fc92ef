/* SPDX-License-Identifier: MIT
 * What runs inside of Redis.  What always holds: a script checks everything before its first write, and its first write
 * is one that Redis refuses when it is full, so that it is done whole or not at all; versions are texts, because
 * numbers of Lua are not exact beyond 2^53; what ends is told to Redis one millisecond early, because Redis keeps a key
 * through its last one.
 *
 * r:KIND:OWNER:KEY  a record: v version, t tag, c u x i times, m meta, b bytes, s q seals
 * o:KIND:OWNER      keys of an owner by their end;  k:KIND  "OWNER:KEY" of all owners;  kinds  all kinds
 * h:KIND:OWNER:KEY  holds: "N:UNTIL" by node, never written to a log or a replica
 * meta              schema;  w  the channel of those who wait */
#include "store/store_redis_int.h"

#define LUA_CLOCK                               \
    "local call=redis.call\n"                   \
    "local function clock()\n"                  \
    " local t=call('TIME')\n"                   \
    " return t[1]*1000+math.floor(t[2]/1000)\n" \
    "end\n"                                     \
    "local function whole(n) return string.format('%.0f',n) end\n"

/* What is not kept must not wait for a disk either. */
#define LUA_LET_GO                                                       \
    "local function let_go(key,node)\n"                                  \
    " if redis.replicate_commands then redis.replicate_commands() end\n" \
    " redis.set_repl(redis.REPL_NONE)\n"                                 \
    " call('HDEL',key,node)\n"                                           \
    " redis.set_repl(redis.REPL_ALL)\n"                                  \
    "end\n"

#define LUA_CLAIM                                                        \
    "local function claim(key,node,n,most,span)\n"                       \
    " n,most=tonumber(n),tonumber(most)\n"                               \
    " if n==0 then let_go(key,node) return true end\n"                   \
    " local now,sum=clock(),0\n"                                         \
    " local last,all,over=now+span,call('HGETALL',key),{}\n"             \
    " for i=1,#all,2 do\n"                                               \
    "  local held,till=all[i+1]:match('^(%d+):(%d+)$')\n"                \
    "  till=tonumber(till or 0)\n"                                       \
    "  if till<=now then over[#over+1]=all[i]\n"                         \
    "  elseif all[i]~=node then\n"                                       \
    "   sum=sum+held\n"                                                  \
    "   last=math.max(last,till)\n"                                      \
    "  end\n"                                                            \
    " end\n"                                                             \
    " if sum>most-n then return false end\n"                             \
    " if redis.replicate_commands then redis.replicate_commands() end\n" \
    " redis.set_repl(redis.REPL_NONE)\n"                                 \
    " for _,other in ipairs(over) do call('HDEL',key,other) end\n"       \
    " call('HSET',key,node,whole(n)..':'..whole(now+span))\n"            \
    " call('PEXPIREAT',key,whole(last))\n"                               \
    " redis.set_repl(redis.REPL_ALL)\n"                                  \
    " return true\n"                                                     \
    "end\n"

#define LUA_ROW                                                        \
    "local function row(key)\n"                                        \
    " local r=call('HMGET',key,'v','t','c','u','x','i','m','s','q')\n" \
    " r[10]=r[1] and call('HSTRLEN',key,'b') or 0\n"                   \
    " return r\n"                                                      \
    "end\n"

const char *const ptc_redis_scripts[PTC_REDIS_SCRIPTS] = {
    /* record, hold; with bytes, node or '', n, most, span.  A full or read-only server can still be read: then nobody
     * holds anything. */
    [PTC_REDIS_GET] = LUA_CLOCK LUA_LET_GO LUA_CLAIM LUA_ROW
    "local r=row(KEYS[1])\n"
    "if not r[1] then return {'absent'} end\n"
    "if ARGV[2]~='' then\n"
    " local works,mine=pcall(claim,KEYS[2],ARGV[2],ARGV[3],ARGV[4],ARGV[5])\n"
    " if works and not mine then return {'held'} end\n"
    "end\n"
    "r[11]=ARGV[1]=='1' and call('HGET',KEYS[1],'b') or ''\n"
    "return {'ok',unpack(r,1,11)}\n",

    /* record, owner's index, kind's index, kinds, hold, guard; expected, version, tag, created, used, expires, idle,
     * meta, bytes, seal, rest seal, whole, key, owner:key, kind, owner's most, most, guard's version or '', node or '',
     * channel or '' */
    [PTC_REDIS_PUT] = LUA_CLOCK LUA_LET_GO
    "local v=call('HGET',KEYS[1],'v')\n"
    "local now=whole(clock())\n"
    "local function has_room(index,most)\n"
    " return most=='0' or call('ZCOUNT',index,'('..now,'+inf')<tonumber(most)\n"
    "end\n"
    /* sent again after its answer was lost */
    "if v and ARGV[12]=='1' and call('HGET',KEYS[1],'t')==ARGV[3] then return {'ok'} end\n"
    "if ARGV[18]~='' and call('HGET',KEYS[6],'v')~=ARGV[18] then return {'fenced'} end\n"
    "if (v or '0')~=ARGV[1] then return v and {'conflict',v} or {'absent'} end\n"
    "if not v and not (has_room(KEYS[2],ARGV[16]) and has_room(KEYS[3],ARGV[17])) then\n"
    " return {'full'}\n"
    "end\n"
    "call('HSET',KEYS[1],'u',ARGV[5],'x',ARGV[6],'i',ARGV[7],'m',ARGV[8],'q',ARGV[11])\n"
    "if not v then call('HSET',KEYS[1],'c',ARGV[4]) call('SADD',KEYS[4],ARGV[15]) end\n"
    "if ARGV[12]=='1' then\n"
    " call('HSET',KEYS[1],'v',ARGV[2],'t',ARGV[3],'b',ARGV[9],'s',ARGV[10])\n"
    "end\n"
    "local e=math.min(ARGV[6],ARGV[5]+ARGV[7])\n"
    "call('ZADD',KEYS[2],whole(e),ARGV[13])\n"
    "call('ZADD',KEYS[3],whole(e),ARGV[14])\n"
    "if e<2^52 then call('PEXPIREAT',KEYS[1],whole(math.max(e-1,1))) else call('PERSIST',KEYS[1]) "
    "end\n"
    "if ARGV[19]~='' then let_go(KEYS[5],ARGV[19]) end\n"
    "if ARGV[20]~='' then call('PUBLISH',ARGV[20],KEYS[1]) end\n"
    "return {'ok'}\n",

    /* record, owner's index, kind's index; expected or 0, key, owner:key */
    [PTC_REDIS_REMOVE] = "local v=redis.call('HGET',KEYS[1],'v')\n"
                         "if not v then return {'absent'} end\n"
                         "if ARGV[1]~='0' and v~=ARGV[1] then return {'conflict'} end\n"
                         "redis.call('DEL',KEYS[1])\n"
                         "redis.call('ZREM',KEYS[2],ARGV[2])\n"
                         "redis.call('ZREM',KEYS[3],ARGV[3])\n"
                         "return {'ok'}\n",

    /* hold; node, n, most, span */
    [PTC_REDIS_HOLD] = LUA_CLOCK LUA_LET_GO LUA_CLAIM
    "return {claim(KEYS[1],ARGV[1],ARGV[2],ARGV[3],ARGV[4]) and 'ok' or 'held'}\n",

    /* kinds; prefix, kind or '' for all, which index, its owner */
    [PTC_REDIS_NAMES] =
        "local found={'ok'}\n"
        "local kinds=ARGV[2]~='' and {ARGV[2]} or redis.call('SMEMBERS',KEYS[1])\n"
        "local owner=ARGV[3]=='o:' and ':'..ARGV[4] or ''\n"
        "for _,kind in ipairs(kinds) do\n"
        " for _,name in ipairs(redis.call('ZRANGE',ARGV[1]..ARGV[3]..kind..owner,0,-1)) do\n"
        "  found[#found+1]=kind\n"
        "  found[#found+1]=name\n"
        " end\n"
        "end\n"
        "return found\n",

    /* records */
    [PTC_REDIS_ROWS] = LUA_CLOCK LUA_ROW "local found={'ok'}\n"
                                         "for _,key in ipairs(KEYS) do\n"
                                         " local r=row(key)\n"
                                         " for i=1,10 do found[#found+1]=r[i] or '' end\n"
                                         "end\n"
                                         "return found\n",

    /* The engine removes the records; what is left of them is in the indexes.  kind's index; what the names of owners'
     * indexes begin with, how many */
    [PTC_REDIS_EXPIRE] = LUA_CLOCK
    "for _,m in ipairs(call('ZRANGEBYSCORE',KEYS[1],'-inf',whole(clock()),'LIMIT',0,ARGV[2])) do\n"
    " local owner,key=m:match('^(.-):(.*)$')\n"
    " call('ZREM',KEYS[1],m)\n"
    " if owner then call('ZREM',ARGV[1]..owner,key) end\n"
    "end\n"
    "return {'ok'}\n",

    /* index; what the names of its records begin with */
    [PTC_REDIS_SUM] =
        LUA_CLOCK "local n,bytes=0,0\n"
                  "for _,m in ipairs(call('ZRANGEBYSCORE',KEYS[1],'('..whole(clock()),'+inf')) do\n"
                  " n=n+1\n"
                  " bytes=bytes+call('HSTRLEN',ARGV[1]..m,'b')\n"
                  "end\n"
                  "return {'ok',n,bytes}\n",
};

_Static_assert(PTC_STORE_SCHEMA == 1, "the number that is set");
const char ptc_redis_schema[] = "local found=redis.call('HGET',KEYS[1],'schema')\n"
                                "if found then return found end\n"
                                "redis.call('HSET',KEYS[1],'schema',1)\n"
                                "return '1'\n";
