a = each.key
b = sensitive("x")
