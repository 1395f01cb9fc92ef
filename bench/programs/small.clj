(reduce + (map inc [1 2 3 @K@]))
