// run @K@
{
  const rows = JSON.parse(rowsText);

  const totals = new Map();
  for (const row of rows.filter(r => r.active && r.amount > 100)) {
    totals.set(row.dept, (totals.get(row.dept) ?? 0) + row.amount);
  }
  JSON.stringify([...totals].sort((a, b) => b[1] - a[1])[0]);
}
