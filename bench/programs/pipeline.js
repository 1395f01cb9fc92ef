// run @K@
{
  const rows = Array.from({length: 1000}, (_, i) => (
    {id: i, dept: "d" + (i * 7 % 8), amount: i * 37 % 500, active: i % 3 !== 0}));

  const totals = new Map();
  for (const row of rows.filter(r => r.active && r.amount > 100)) {
    totals.set(row.dept, (totals.get(row.dept) ?? 0) + row.amount);
  }
  JSON.stringify([...totals].sort((a, b) => b[1] - a[1])[0]);
}
