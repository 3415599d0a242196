locals {
  a = {
    b = [
      for x in [1, 2] :
      {
        c = x +
      }
    ]
  }
}
