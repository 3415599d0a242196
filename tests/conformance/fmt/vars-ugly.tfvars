   name="x"   # c
   longer_name   ="y" // d
list=["a","b"]
   obj = { a=1 }
