locals {
  a = replace(
    "a",
    "b",
    [],
  )
}
