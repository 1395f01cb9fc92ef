-- run @K@
local totals = {}
for i = 0, 999 do
  local amount = i * 37 % 500
  if i % 3 ~= 0 and amount > 100 then
    local dept = "d" .. (i * 7 % 8)
    totals[dept] = (totals[dept] or 0) + amount
  end
end

local sorted = {}
for dept, total in pairs(totals) do sorted[#sorted + 1] = {dept, total} end
table.sort(sorted, function(a, b) return a[2] > b[2] end)
return sorted[1][1], sorted[1][2]
