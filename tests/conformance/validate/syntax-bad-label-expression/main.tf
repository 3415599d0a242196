variable upper("a") {}
