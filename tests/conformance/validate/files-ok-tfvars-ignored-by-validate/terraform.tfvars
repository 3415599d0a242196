a = "not a number"
undeclared = 1
