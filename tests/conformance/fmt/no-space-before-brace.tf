resource "a" "b"{
  c{
    d = 1
  }
  e   {
  }
}
