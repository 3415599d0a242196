terraform {
  encryption {}
  encryption {}
}
