locals {
  for = 1
  if=2
  in = 3
  null=4
  true = 5
}
