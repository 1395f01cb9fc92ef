// run @K@
{
  const totals = new Map();
  for (let i = 0; i < 1000; i++) {
    const amount = i * 37 % 500;
    if (i % 3 !== 0 && amount > 100) {
      const dept = "d" + (i * 7 % 8);
      totals.set(dept, (totals.get(dept) ?? 0) + amount);
    }
  }
  JSON.stringify([...totals].sort((a, b) => b[1] - a[1])[0]);
}
