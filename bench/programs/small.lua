local sum = 0
for _, x in ipairs({1, 2, 3, @K@}) do sum = sum + (x + 1) end
return sum
