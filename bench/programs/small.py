sum([x + 1 for x in [1, 2, 3, @K@]])
