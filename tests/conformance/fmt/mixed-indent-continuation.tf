locals {
    a = "x" == "y" ? [
        1
    ] : [
            2
    ]
    b = length([
  1,
    2]) > 1 ? "a" : "b"
}
