# run @K@
totals = {}
for i in range(1000):
    amount = i * 37 % 500
    if i % 3 != 0 and amount > 100:
        dept = 'd' + str(i * 7 % 8)
        totals[dept] = totals.get(dept, 0) + amount

list(sorted(totals.items(), key=lambda item: item[1], reverse=True)[0])
