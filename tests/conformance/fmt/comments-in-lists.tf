locals {
  a = [
  # first
  1, # one
  // second
  2, // two
  /* third */ 3, /* three */
  4
  # end
  ]
  b = [ # open
    1
  ]
  c = {# tight
    x = 1#tight
    y = 2 //tight
  }
}
