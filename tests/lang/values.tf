# Literals, objects, types and conversion.

# --- literals ---
null    = null # = null
true    = true # = true
integer = 12345678901234567890123 # = 12345678901234567890123
float   = 1.50 # = 1.5
small   = 1e-7 # = 0.0000001
large   = 1e20 # = 100000000000000000000
text    = "a\tb" # = "a\tb"

# --- objects ---
name     = "c" # = "c"
bare     = { a = 1, "b" = 2, (local.name) = 3 }
# = {
# :   "a" = 1
# :   "b" = 2
# :   "c" = 3
# : }
colon    = { a : 1 }
# = {
# :   "a" = 1
# : }
computed = { "${"x"}y" = 1 }
# = {
# :   "xy" = 1
# : }
keyword  = { null = 1, true = 2 }
# = {
# :   "null" = 1
# :   "true" = 2
# : }
number   = { 1 = "x" }
# = {
# :   "1" = "x"
# : }
null     = { (null) = 1 }
# Error: 1:23-24 Null value as key: Can't use a null value as a key.
list     = { ([]) = 1 }
# Error: 1:14-18 Incorrect key type: Can't use this value as a key: string required, but have tuple.
path     = { a.b = 1 }
# Error: 1:14-17 Ambiguous attribute key: If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal.
unknown  = { (given.string) = 1 } # = (known after apply)
secret   = { (sensitive("a")) = 1 } # = (sensitive value)
twice    = { a = 1, a = 2 }
# = {
# :   "a" = 2
# : }

# --- printing ---
list   = tolist(["a"])
# = tolist([
# :   "a",
# : ])
set    = toset(["b", "a"])
# = toset([
# :   "a",
# :   "b",
# : ])
map    = tomap({ a = 1 })
# = tomap({
# :   "a" = 1
# : })
nested = { a = [1, { b = null }], c = {} }
# = {
# :   "a" = [
# :     1,
# :     {
# :       "b" = null
# :     },
# :   ]
# :   "c" = {}
# : }
lines  = "a\nb"
# = <<EOT
# : a
# : b
# : EOT
inside = ["a\nEOT\n"]
# = [
# :   <<-EOT_
# :   a
# :   EOT
# :
# :   EOT_,
# : ]
quoted = "a\"b\\c\u0001" # = "a\"b\\c\x01"
nulls  = [tostring(null), tonumber(null), tobool(null), tolist(null), tomap(null), toset(null)]
# = [
# :   tostring(null),
# :   tonumber(null),
# :   tobool(null),
# :   tolist(null) /* of dynamic */,
# :   tomap(null) /* of dynamic */,
# :   toset(null) /* of dynamic */,
# : ]
hidden = [sensitive("a"), given.ephemeral, given.string]
# = [
# :   (sensitive value),
# :   (ephemeral value),
# :   (known after apply),
# : ]

# --- types ---
number = type(1) # = number
null   = type(null) # = dynamic
tuple  = type([1, "a"])
# = tuple([
# :     number,
# :     string,
# : ])
object = type({ a = [], b = { c = true } })
# = object({
# :     a: tuple([]),
# :     b: object({
# :         c: bool,
# :     }),
# : })
list   = type(tolist([{ a = 1 }]))
# = list(
# :     object({
# :         a: number,
# :     }),
# : )
map    = type(tomap({ a = tolist(["x"]) })) # = map(list(string))
empty  = type({}) # = object({})

# --- conversion ---
text_number = tonumber("1.50") # = 1.5
text_bool   = tobool("1") # = true
bool_text   = tostring(true) # = "true"
number_text = tostring(1e3) # = "1000"
no_number   = tonumber("x")
# Error: 1:25-26 Invalid function argument: Invalid value for "v" parameter: cannot convert "x" to number; given string must be a decimal representation of a number.
no_bool     = tobool("yes")
# Error: 1:23-26 Invalid function argument: Invalid value for "v" parameter: cannot convert "yes" to bool; only the strings "true" or "false" are allowed.
bool_number = tonumber(true)
# Error: 1:24-28 Invalid function argument: Invalid value for "v" parameter: cannot convert bool to number.
list_set    = toset(["a", "b", "a"])
# = toset([
# :   "a",
# :   "b",
# : ])
mixed       = tolist([1, "a", true])
# = tolist([
# :   "1",
# :   "a",
# :   "true",
# : ])
unfit       = tolist([[], "a"])
# Error: 1:22-23 Invalid function argument: Invalid value for "v" parameter: cannot convert tuple to list of any single type.
object_map  = tomap({ a = 1, b = "x" })
# = tomap({
# :   "a" = "1"
# :   "b" = "x"
# : })
no_map      = tomap([1])
# Error: 1:21-22 Invalid function argument: Invalid value for "v" parameter: cannot convert tuple to map of any single type.
null        = tostring(null) # = tostring(null)

# --- convert ---
object  = convert({ a = 1, b = 2 }, object({ a = string }))
# = {
# :   "a" = "1"
# : }
missing = convert({ a = 1 }, object({ b = string }))
# Error: 1:19-20 Invalid function argument: Invalid value for "value" parameter: attribute "b" is required.
list    = convert(["1"], list(number))
# = tolist([
# :   1,
# : ])
element = convert(["x"], list(number))
# Error: 1:19-20 Invalid function argument: Invalid value for "value" parameter: a number is required.
bad     = convert(1, strng)
# Error: 1:22-27 Invalid type specification: The keyword "strng" is not a valid type specification.
