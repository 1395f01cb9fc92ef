# run @K@
acc = 0
for i in range(1000000):
    acc += i

acc
