locals {
  a = 1      # far
  b = 22 # near

  c = [ # open
    1,    # one
    222, # two
  ] # close
  d = 1 # after multi
}
