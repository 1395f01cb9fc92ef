"""The company of the missions, as command tools: company.py TOOL, arguments on standard input, the result on standard output.

What it knows follows from numbers, what was written is in the file `ledger` of the current directory.  Every third read of a
list is refused once, as a busy service would."""
import json
import pathlib
import sys

ORDERS = [{"id": 5000 + i, "customer_id": 100 + i * 7 % 24, "total": 20.5 + i * 37 % 480, "status": ["open", "sent", "paid"][i % 3],
           "carrier": ["DHL", "UPS", "GLS"][i // 3 % 3], "days": 1 + i * 13 % 17, "placed": f"2026-{1 + i % 6:02}-{1 + i % 28:02}"}
          for i in range(240)]
CUSTOMERS = [{"id": 100 + i, "name": f"Customer {i}", "country": ["NO", "SE", "DK", "FI"][i % 4], "tier": ["basic", "gold"][i % 5 == 0]}
             for i in range(24)]
CLAIMS = [{"id": 900 + i, "order_id": 5000 + i * 11, "amount": 12.5 + i * 9 % 70, "state": "locked" if i == 5 else "new"} for i in range(9)]
# The description says: amount in euros, state one of open, closed.
INVOICES = [{"id": i, "amount": f"{150 + i * 91 % 7000}" if i % 2 else (150 + i * 91 % 7000) / 100,
             "state": ["open", "Open ", "CLOSED", "closed"][i % 4], "due": f"{1 + i % 28:02}.03.2026" if i % 3 else f"2026-03-{1 + i % 28:02}"}
            for i in range(160)]
MOODS = [("good", "Came a day early, well packed, and the handle is nicer than in the picture. My sister has ordered one too."),
         ("bad", "The lid does not close, nobody answers the phone, and the form for returns leads to an empty page since Monday."),
         ("good", "I was afraid it would be too small for six people, but it is just right, and it cleans easily. I would buy it again."),
         ("bad", "Second cup that arrives in pieces. Kind letter, no money back so far. I am done with this shop, sorry to say so."),
         ("bad", "Fine for a week, then the colour came off on the table cloth. The voucher that I got does not cover the cloth."),
         ("good", "The wrong one came at first, they sent the right one overnight and let us keep the other. That is how it should be.")]
REVIEWS = [{"id": 70 + i, "text": text + f" (Order {5000 + i * 3}, written {1 + i} May, from the app.)", "stars": None} for i, (_, text) in enumerate(MOODS * 2)]


def ledger():
    path = pathlib.Path("ledger")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write(entry):
    with open("ledger", "a", encoding="utf-8") as out:
        out.write(json.dumps(entry) + "\n")


def fail(text, status=1):
    print(text, file=sys.stderr)
    sys.exit(status)


def page(rows, args, size):
    write({"read": True})
    if sum("read" in e for e in ledger()) % 3 == 0:
        fail("HTTP 503: temporarily unavailable")
    start = int(args.get("cursor") or 0)
    more = start + size < len(rows)
    return {"items": rows[start:start + size], "next_cursor": str(start + size) if more else None}


def by_id(rows, ident):
    return next((r for r in rows if r["id"] == ident), None) or fail(f"there is no {ident}")


def credit(args):
    claim = by_id(CLAIMS, args["claim_id"])
    if claim["state"] == "locked":
        fail(f"claim {claim['id']} is locked and cannot be paid; leave it out")
    write({"credit": claim["id"], "amount": args["amount"]})
    return {"credit_id": 7000 + claim["id"], "claim_id": claim["id"], "state": "paid", "booked_by": "api", "currency": "EUR"}


def tag(args):
    if not args["tag"].islower():
        fail("tags are lower case")
    write({"tag": args["customer_id"], "as": args["tag"]})
    return {"customer_id": args["customer_id"], "tags": [args["tag"]], "version": 3}


TOOLS = {"list_orders": lambda a: page([o for o in ORDERS if a.get("status") in (None, o["status"])], a, 40),
         "list_invoices": lambda a: page(INVOICES, a, 40), "list_claims": lambda a: page(CLAIMS, a, 5),
         "list_reviews": lambda a: page(REVIEWS, a, 6), "get_customer": lambda a: by_id(CUSTOMERS, a["id"]),
         "list_written": lambda a: [e for e in ledger() if "read" not in e], "credit": credit, "tag": tag}

if __name__ == "__main__":
    print(json.dumps(TOOLS[sys.argv[1]](json.load(sys.stdin) or {})))
