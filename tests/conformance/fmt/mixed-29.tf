locals { # tail
  a = [1111111111111111111111, 2222222222222222222222, 3333333333333333333333, 4444444444444444444444, 5555555555555555555555]
  short = !x
  very_long_attribute_name_that_goes_on_and_on = upper("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"  )
}
