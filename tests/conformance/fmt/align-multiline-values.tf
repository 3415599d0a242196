resource "terraform_data" "x" {
  a = 1
  bbb = {
    c = 1
    dddd = 2
  }
  ee = 3
  ffffff = [
    1,
    2
  ]
  g = 4
  hhhh = upper(
    "x"
  )
  i = 5
}
