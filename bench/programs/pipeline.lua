-- run @K@
local rows = {}
for i = 0, 999 do
  rows[i + 1] = {id = i, dept = "d" .. (i * 7 % 8), amount = i * 37 % 500, active = i % 3 ~= 0}
end

local totals = {}
for _, row in ipairs(rows) do
  if row.active and row.amount > 100 then
    totals[row.dept] = (totals[row.dept] or 0) + row.amount
  end
end

local sorted = {}
for dept, total in pairs(totals) do sorted[#sorted + 1] = {dept, total} end
table.sort(sorted, function(a, b) return a[2] > b[2] end)
return sorted[1][1], sorted[1][2]
