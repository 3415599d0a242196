locals {
  a = 1 # one
  bbbb = 22222 # two
  c = "three"    // three
  d = 4 /* four */
  eeeeeeeeeee = 5

  f = 6 # six
  # own line
  g = 777777 # seven
}
