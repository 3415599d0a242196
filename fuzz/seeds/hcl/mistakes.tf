a = 
b = "unclosed
c = {
block "x {
}
 d = 1 +
