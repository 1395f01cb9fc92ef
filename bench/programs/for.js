// run @K@
{
  let acc = 0;
  for (let i = 0; i < 1000000; i++) acc += i;
  acc;
}
