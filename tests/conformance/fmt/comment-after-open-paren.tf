locals {
  a = foo( # why
    1, # one
    2  # two
  ) # end
  b = (# x
  1
  )
}
