-- run @K@
local i, acc = 0, 0
while i < 10000 do
  acc = acc + add({n = i})
  i = i + 1
end
return acc
