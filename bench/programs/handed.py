# run @K@
totals = {}
for row in rows:
    if row['active'] and row['amount'] > 100:
        totals[row['dept']] = totals.get(row['dept'], 0) + row['amount']

list(sorted(totals.items(), key=lambda item: item[1], reverse=True)[0])
