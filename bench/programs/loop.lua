-- run @K@
local i, acc = 0, 0
while i < 1000000 do
  acc = acc + i
  i = i + 1
end
return acc
