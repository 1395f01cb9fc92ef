#!/bin/sh
# restart.sh PORT...: restarts nodes one after the other, each when the one before takes calls again.
set -eu
[ "$#" -gt 0 ] || set -- 7401 7402 7403
for port; do
    systemctl restart "ptc@$port"
    tries=0
    until curl -fsS -o /dev/null "http://127.0.0.1:$port/ready" 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ]; then
            echo "ptc@$port does not get ready; the others were left alone" >&2
            exit 1
        fi
        sleep 0.1
    done
done
