[1, 2, 3, @K@].map(x => x + 1).reduce((a, b) => a + b, 0)
