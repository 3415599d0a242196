locals {
  a = concat([
    1, 2
    ], [3, 4
  ])
  b = { x = [
    1], y = [
    2
  ] }
  c = (
    1 +
    2
  )
}
