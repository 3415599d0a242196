locals {
  a = {
    one = 1
    two = {
      three = [
        1,
        upper([]),
      ]
    }
  }
}
