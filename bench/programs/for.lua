-- run @K@
local acc = 0
for i = 0, 999999 do acc = acc + i end
return acc
