"""Eight missions at the company (company.py), two of each kind, with the programs that a model writes for them before and after.

`before` is how models wrote when the card and the prompt were silent: a helper that retries, seven lines that page, a turn to look, a
turn to find out what a failed program had written.  `after` uses what is there now.  Each makes the same mistakes and the same
writes, and what is returned and written is checked for both."""
from company import CLAIMS, CUSTOMERS, INVOICES, MOODS, ORDERS, REVIEWS

HELPERS = """(defn again [f]
  (loop [n 1]
    (let [r (try [(f)] (catch Exception e (if (< n 4) nil (throw e))))]
      (if r (first r) (recur (inc n))))))
(defn all [f]
  (loop [rows [] cursor nil]
    (let [p (again #(f (if cursor {:cursor cursor} {})))
          rows (into rows (:items p))]
      (if (:next_cursor p) (recur rows (:next_cursor p)) rows))))
"""
PAGE = "{items [:map], next_cursor :string?}"
SIGNATURES = {
    "list_orders": (f"(status :string?, cursor :string?) -> {PAGE}", "orders of 2026: id, customer_id, total, status, carrier, days, placed"),
    "list_invoices": (f"(cursor :string?) -> {PAGE}", "invoices: id, amount in euros, state open or closed, due (ISO date)"),
    "list_claims": (f"(cursor :string?) -> {PAGE}", "claims: id, order_id, amount, state"),
    "list_reviews": (f"(cursor :string?) -> {PAGE}", "reviews of customers: id, text, stars"),
    "list_written": ("() -> [:map]", "credits and tags that were written"),
    "get_customer": ("(id :int) -> {id :int, name :string, country :string, tier :string}", "a customer"),
    "credit": ("(claim_id :int, amount :float) -> :map", "pays a claim; at most 50 each"),
    "tag": ("(customer_id :int, tag :string) -> :map", "tags a customer; tags are lower case"),
}
COUNTRY = {c["id"]: c["country"] for c in CUSTOMERS}
SPENT = {c["id"]: sum(o["total"] for o in ORDERS if o["customer_id"] == c["id"]) for c in CUSTOMERS}
VIP, KEEP = ([c["id"] for c in CUSTOMERS if SPENT[c["id"]] > 2800],
             [c["id"] for c in CUSTOMERS if c["tier"] == "gold" and SPENT[c["id"]] <= 2800])
OPEN = [i for i in INVOICES if i["state"].strip().lower() == "open"]
CENTS = sum(int(i["amount"]) if isinstance(i["amount"], str) else round(i["amount"] * 100) for i in OPEN)


def rounded(x):
    return int(x * 10 + 0.5) / 10


def carriers():
    out = []
    for name in sorted({o["carrier"] for o in ORDERS}):
        days = sorted(o["days"] for o in ORDERS if o["carrier"] == name and o["status"] == "paid")
        at = (len(days) - 1) * 0.9
        low = int(at)
        p90 = days[low] + (at - low) * (days[min(low + 1, len(days) - 1)] - days[low])
        out.append({"carrier": name, "mean": rounded(sum(days) / len(days)), "p90": rounded(p90)})
    return out


def days_due():
    out = {}
    for i in OPEN:
        day = int(i["due"][:2]) if "." in i["due"] else int(i["due"][8:])
        out[(day - 1) // 7 + 1] = out.get((day - 1) // 7 + 1, 0) + 1
    return [{"week": w, "invoices": n} for w, n in sorted(out.items())]


LOOK = '(println (count rows) "rows")\n(println (take 5 rows))\n'
BAD = [r["id"] for r, (mood, _) in zip(REVIEWS, MOODS * 2) if mood == "bad"]
MONEY = [r["id"] for r in REVIEWS if "money" in r["text"] or "voucher" in r["text"]]
CLEAN = """(defn cents [a] (if (string? a) (parse-long a) (* 100 a)))
(def open (filter #(= "open" (str/lower-case (str/trim (:state %)))) rows))
"""
WEEK = """(defn week [d]
  (inc (quot (dec (if (str/includes? d ".") (parse-long (subs d 0 2)) (parse-long (subs d 8)))) 7)))
(return (for [[w xs] (sort-by first (group-by #(week (:due %)) open))] {:week w :invoices (count xs)}))"""
PAY = """(doseq [c rows%s]
  (tool/credit {:claim_id (:id c) :amount (min 50.0 (:amount c))}))
"""
PAID = """(def paid (remove #(= "locked" (:state %)) rows))
(return {:paid (map :id paid) :total (reduce + (map #(min 50.0 (:amount %)) paid))})"""
GROUPS = """(def spent (update-vals (group-by :customer_id rows) #(sum-by :total %)))
(def vip (sort (filter #(> (spent %) 2800) (keys spent))))
(def gold (sort (filter #(and (= "gold" (:tier (who %))) (<= (spent %) 2800)) (keys spent))))
"""
TAGS = """(doseq [id vip%s] (tool/tag {:customer_id id :tag "vip"}))
(doseq [id gold] (tool/tag {:customer_id id :tag "%s"}))
"""
TAGGED = "(return {:vip vip :keep gold})"


def judged(kind, ids):
    """A list is printed and read; the answer is what the model makes of it."""
    look = '(doseq [r rows] (println (:id r) (:text r)))'
    answer = f"(return [{' '.join(map(str, ids))}])"
    return {"prompt": kind, "signature": "() -> [:int]", "tools": ["list_reviews"], "answer": ids,
            "before": [HELPERS + "(def rows (all tool/list_reviews))\n" + look, answer],
            "after": ["(def rows (pages tool/list_reviews))\n" + look, answer]}


MISSIONS = {
    "sums": {
        "prompt": "What do all open orders come to in each country, by name of the country?",
        "signature": "() -> [{country :string, total :float}]", "tools": ["list_orders", "get_customer"],
        "answer": [{"country": k, "total": sum(o["total"] for o in ORDERS if o["status"] == "open" and COUNTRY[o["customer_id"]] == k)}
                   for k in sorted(set(COUNTRY.values()))],
        "before": [HELPERS + '(def rows (all #(tool/list_orders (assoc % :status "open"))))\n' + LOOK + "(frequencies (map :status rows))",
                   """(def ids (distinct (map :customer_id rows)))
(def country (zipmap ids (pmap (fn [id] (:country (again #(tool/get_customer {:id id})))) ids)))
(return (for [[c xs] (sort-by first (group-by #(country (:customer_id %)) rows))] {:country c :total (sum-by :total xs)}))"""],
        "after": ["""(def rows (pages tool/list_orders {:status "open"}))
(def ids (distinct (map :customer_id rows)))
(def country (zipmap ids (map :country (pmap tool/get_customer ids))))
(println (count rows) (first rows))
(when (every? :total rows)
  (return (for [[c xs] (sort-by first (group-by #(country (:customer_id %)) rows))] {:country c :total (sum-by :total xs)})))"""]},
    "figures": {
        "prompt": "For each carrier: the mean and the 90th percentile (linear) of the days of paid orders, to one place, by name.",
        "signature": "() -> [{carrier :string, mean :float, p90 :float}]", "tools": ["list_orders"], "answer": carriers(),
        "before": [HELPERS + '(def rows (all #(tool/list_orders (assoc % :status "paid"))))\n' + LOOK + "(frequencies (map :carrier rows))",
                   """(defn round1 [x] (/ (Math/floor (+ 0.5 (* 10.0 x))) 10.0))
(defn p90 [xs]
  (let [s (vec (sort xs)) at (* 0.9 (dec (count s))) low (int (Math/floor at)) high (min (inc low) (dec (count s)))]
    (+ (s low) (* (- at low) (- (s high) (s low))))))
(return (for [[c xs] (sort-by first (group-by :carrier rows)) :let [days (map :days xs)]]
  {:carrier c :mean (round1 (/ (reduce + days) (double (count days)))) :p90 (round1 (p90 days))}))"""],
        "after": ["""(def rows (pages tool/list_orders {:status "paid"}))
(println (count rows) (first rows))
(when (every? :days rows)
  (return (for [[c xs] (sort-by first (group-by :carrier rows)) :let [days (map :days xs)]]
    {:carrier c :mean (round (mean days) 1) :p90 (round (percentile 90 days) 1)})))"""]},
    "claims": {
        "prompt": "Pay all claims, at most 50 each. Which were paid, and what do they come to?",
        "signature": "() -> {paid [:int], total :float}", "tools": ["list_claims", "credit", "list_written"],
        "answer": {"paid": [c["id"] for c in CLAIMS if c["state"] == "new"], "total": sum(min(50.0, c["amount"]) for c in CLAIMS if c["state"] == "new")},
        "written": {f"credit {c['id']}" for c in CLAIMS if c["state"] == "new"},
        "before": [HELPERS + "(def rows (all tool/list_claims))\n" + PAY % "" + PAID,
                   "(println (tool/list_written))",
                   HELPERS + "(def rows (all tool/list_claims))\n(def done (set (map :credit (tool/list_written))))\n"
                   + PAY % ' :when (not (or (= "locked" (:state c)) (done (:id c))))' + PAID],
        "after": ["(def rows (pages tool/list_claims))\n" + PAY % "" + PAID,
                  "(def rows (pages tool/list_claims))\n(def done (set (map #(get-in % [:args :claim_id]) (:done data/fail))))\n"
                  + PAY % ' :when (not (or (= "locked" (:state c)) (done (:id c))))' + PAID]},
    "tags": {
        "prompt": "Tag customers whose orders come to more than 2800 as vip, and others of tier gold as keep. Who got which?",
        "signature": "() -> {vip [:int], keep [:int]}", "tools": ["list_orders", "get_customer", "tag", "list_written"],
        "answer": {"vip": VIP, "keep": KEEP}, "written": {f"tag {i}" for i in VIP + KEEP},
        "before": [HELPERS + "(def rows (all tool/list_orders))\n" + LOOK + "(frequencies (map :customer_id rows))",
                   "(def who (into {} (pmap (fn [id] [id (again #(tool/get_customer {:id id}))]) (distinct (map :customer_id rows)))))\n"
                   + GROUPS + TAGS % ("", "Keep") + TAGGED,
                   "(println (tool/list_written))",
                   "(def who (into {} (pmap (fn [id] [id (again #(tool/get_customer {:id id}))]) (distinct (map :customer_id rows)))))\n"
                   "(def done (set (map :tag (tool/list_written))))\n" + GROUPS + TAGS % (" :when (not (done id))", "keep") + TAGGED],
        "after": ["(def rows (pages tool/list_orders))\n(def who (index-by :id (pmap tool/get_customer (distinct (map :customer_id rows)))))\n"
                  + GROUPS + TAGS % ("", "Keep") + TAGGED,
                  "(def done (set (map #(get-in % [:args :customer_id]) (:done data/fail))))\n"
                  "(def rows (pages tool/list_orders))\n(def who (index-by :id (pmap tool/get_customer (distinct (map :customer_id rows)))))\n"
                  + GROUPS + TAGS % (" :when (not (done id))", "keep") + TAGGED]},
    "moods": judged("Which reviews are written by customers who are unhappy with the shop? Their ids.", BAD),
    "money": judged("Which reviews speak of money that was given or asked for? Their ids.", MONEY),
    "cents": {
        "prompt": "What do the open invoices come to, in cents, and how many are there?",
        "signature": "() -> {cents :int, count :int}", "tools": ["list_invoices"], "answer": {"cents": CENTS, "count": len(OPEN)},
        "before": [HELPERS + "(def rows (all tool/list_invoices))\n" + LOOK + "(frequencies (map :state rows))",
                   CLEAN + "(return {:cents (reduce + (map #(cents (:amount %)) open)) :count (count open)})",
                   "(return {:cents (Math/round (reduce + (map #(cents (:amount %)) open))) :count (count open)})"],
        "after": ["(def rows (pages tool/list_invoices))\n" + LOOK + "(frequencies (map :state rows))",
                  CLEAN + "(return {:cents (round (reduce + (map #(cents (:amount %)) open)) 0) :count (count open)})"]},
    "weeks": {
        "prompt": "How many open invoices are due in each week of March 2026? Days 1 to 7 are week 1, and so on.",
        "signature": "() -> [{week :int, invoices :int}]", "tools": ["list_invoices"], "answer": days_due(),
        "before": [HELPERS + "(def rows (all tool/list_invoices))\n" + LOOK + "(frequencies (map :state rows))", CLEAN + WEEK],
        "after": ["(def rows (pages tool/list_invoices))\n" + LOOK + "(frequencies (map :state rows))", CLEAN + WEEK]},
}
