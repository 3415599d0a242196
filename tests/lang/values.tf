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
# Error: 1:10-16 Call to unknown function: There is no function named "tolist".
set    = toset(["b", "a"])
# Error: 1:10-15 Call to unknown function: There is no function named "toset".
map    = tomap({ a = 1 })
# Error: 1:10-15 Call to unknown function: There is no function named "tomap".
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
# Error: 1:11-19 Call to unknown function: There is no function named "tostring".
# Error: 1:27-35 Call to unknown function: There is no function named "tonumber".
# Error: 1:43-49 Call to unknown function: There is no function named "tobool".
# Error: 1:57-63 Call to unknown function: There is no function named "tolist".
# Error: 1:71-76 Call to unknown function: There is no function named "tomap".
# Error: 1:84-89 Call to unknown function: There is no function named "toset".
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
# Error: 1:15-21 Call to unknown function: There is no function named "tolist".
map    = type(tomap({ a = tolist(["x"]) }))
# Error: 1:15-20 Call to unknown function: There is no function named "tomap".
empty  = type({}) # = object({})

# --- conversion ---
text_number = tonumber("1.50")
# Error: 1:15-23 Call to unknown function: There is no function named "tonumber".
text_bool   = tobool("1")
# Error: 1:15-21 Call to unknown function: There is no function named "tobool".
bool_text   = tostring(true)
# Error: 1:15-23 Call to unknown function: There is no function named "tostring".
number_text = tostring(1e3)
# Error: 1:15-23 Call to unknown function: There is no function named "tostring".
no_number   = tonumber("x")
# Error: 1:15-23 Call to unknown function: There is no function named "tonumber".
no_bool     = tobool("yes")
# Error: 1:15-21 Call to unknown function: There is no function named "tobool".
bool_number = tonumber(true)
# Error: 1:15-23 Call to unknown function: There is no function named "tonumber".
list_set    = toset(["a", "b", "a"])
# Error: 1:15-20 Call to unknown function: There is no function named "toset".
mixed       = tolist([1, "a", true])
# Error: 1:15-21 Call to unknown function: There is no function named "tolist".
unfit       = tolist([[], "a"])
# Error: 1:15-21 Call to unknown function: There is no function named "tolist".
object_map  = tomap({ a = 1, b = "x" })
# Error: 1:15-20 Call to unknown function: There is no function named "tomap".
no_map      = tomap([1])
# Error: 1:15-20 Call to unknown function: There is no function named "tomap".
null        = tostring(null)
# Error: 1:15-23 Call to unknown function: There is no function named "tostring".

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
