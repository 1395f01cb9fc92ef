# run @K@
i = 0
acc = 0
while i < 1000000:
    acc += i
    i += 1

acc
