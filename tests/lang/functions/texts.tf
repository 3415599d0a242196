# Functions on strings, numbers and encodings.

# --- case-and-space ---
upper = upper("straße") # = "STRAßE"
title = title("hello world") # = "Hello World"
trim  = trim("??a??", "?") # = "a"
space = trimspace("  a\n") # = "a"
chomp = chomp("a\r\n\n") # = "a"
indent = indent(2, "a\nb")
# = <<EOT
# : a
# :   b
# : EOT

# --- pieces ---
split  = split(",", "a,b")
# = tolist([
# :   "a",
# :   "b",
# : ])
join   = join("-", ["a", "b"]) # = "a-b"
substr = substr("hello", -3, 2) # = "ll"
rest   = substr("hello", 1, -1) # = "ello"
turned = strrev("añb") # = "bña"
starts = startswith("hello", "he") # = true
has    = strcontains("hello", "ll") # = true
swap   = replace("a.b", ".", "-") # = "a-b"
regex  = replace("a1b22", "/[0-9]+/", "<$0>") # = "a<1>b<22>"

# --- format ---
verbs   = format("%s %d %05.1f %t %q %v", "a", 3, 2.5, true, "x", [1, "b"]) # = "a 3 002.5 true \"x\" [1,\"b\"]"
width   = format("[%5s|%-5s|%05d]", "a", "b", 42) # = "[    a|b    |00042]"
index   = format("%[2]s %[1]s", "a", "b") # = "b a"
many    = format("%s")
# Error: 1:11-18 Error in function call: Call to function "format" failed: not enough arguments for "%s" at 0: need index 1 but have 0 total.
extra   = format("a", 1)
# Error: 1:23-24 Invalid function argument: Invalid value for "args" parameter: too many arguments; no verbs in format string.
list    = formatlist("%s-%s", ["a", "b"], "x")
# = tolist([
# :   "a-x",
# :   "b-x",
# : ])

# --- regular-expressions ---
plain   = regex("[a-z]+", "12ab") # = "ab"
groups  = regex("(\\d+)-(\\d+)", "1-2")
# = [
# :   "1",
# :   "2",
# : ]
names   = regex("(?P<year>\\d{4})-(?P<month>\\d\\d)", "2020-02")
# = {
# :   "month" = "02"
# :   "year" = "2020"
# : }
no      = regex("z", "a")
# Error: 1:11-17 Error in function call: Call to function "regex" failed: pattern did not match any part of the given string.
all     = regexall("[0-9]", "a1b2")
# = tolist([
# :   "1",
# :   "2",
# : ])

# --- numbers ---
floor    = floor(-1.5) # = -2
ceil     = ceil(1.2) # = 2
power    = pow(2, 10) # = 1024
log      = log(8, 2) # = 3
sign     = signum(-3) # = -1
absolute = abs(-1.5) # = 1.5
parse    = parseint("ff", 16) # = 255
wrong    = parseint("z", 10)
# Error: 1:22-23 Invalid function argument: Invalid value for "number" parameter: cannot parse "z" as a base 10 integer.

# --- encodings ---
json     = jsonencode({ a = [1, "<b>", null], b = true }) # = "{\"a\":[1,\"\\u003cb\\u003e\",null],\"b\":true}"
from     = jsondecode("{\"a\": [1, 2.50, null]}")
# = {
# :   "a" = [
# :     1,
# :     2.5,
# :     null,
# :   ]
# : }
yaml     = yamlencode({ a = [1, "x"], b = { c = null } })
# = <<EOT
# : "a":
# : - 1
# : - "x"
# : "b":
# :   "c": null
# :
# : EOT
base64   = base64encode("héllo") # = "aMOpbGxv"
back     = base64decode("aGk=") # = "hi"
url      = urlencode("a b&c") # = "a+b%26c"
csv      = csvdecode("a,b\n1,2\n")
# = tolist([
# :   {
# :     "a" = "1"
# :     "b" = "2"
# :   },
# : ])
md5      = md5("a") # = "0cc175b9c0f1b6a831c399e269772661"
sha      = sha256("a") # = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

# --- networks ---
host    = cidrhost("10.0.0.0/8", 2) # = "10.0.0.2"
subnet  = cidrsubnet("10.0.0.0/8", 8, 2) # = "10.2.0.0/16"
subnets = cidrsubnets("10.0.0.0/16", 4, 8)
# = tolist([
# :   "10.0.0.0/20",
# :   "10.0.16.0/24",
# : ])
mask    = cidrnetmask("10.0.0.0/12") # = "255.240.0.0"

# --- time ---
format = formatdate("DD MMM YYYY hh:mm ZZZ", "2020-02-03T04:05:06Z") # = "03 Feb 2020 04:05 UTC"
add    = timeadd("2020-02-03T04:05:06Z", "1h30m") # = "2020-02-03T05:35:06Z"
order  = timecmp("2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z") # = -1

# --- unknown-prefixes ---
starts = startswith("ami-${given.string}", "am") # = true
format = startswith(format("x-%s", given.string), "x-") # = true
join   = join(",", [given.string]) # = (known after apply)
json   = jsonencode({ a = given.string }) # = (known after apply)
