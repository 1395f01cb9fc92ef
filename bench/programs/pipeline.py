# run @K@
rows = [{'id': i, 'dept': 'd' + str(i * 7 % 8), 'amount': i * 37 % 500, 'active': i % 3 != 0}
        for i in range(1000)]

totals = {}
for row in rows:
    if row['active'] and row['amount'] > 100:
        totals[row['dept']] = totals.get(row['dept'], 0) + row['amount']

list(sorted(totals.items(), key=lambda item: item[1], reverse=True)[0])
