resource "x" "y" {
  list = [{
    a = 1
    bb = 2
  },
  {
    a = 3
    bb = 4 },
  { a = 5 }]
}
