# `condition ? then : otherwise`

# --- branches-have-one-type ---
number_text = true ? 1 : "x" # = "1"
bool_text   = false ? true : "x" # = "x"
null_then   = true ? null : "x" # = tostring(null)
null_else   = false ? 1 : null # = tonumber(null)
lists       = true ? ["a"] : []
# = tolist([
# :   "a",
# : ])
tuple_list  = true ? [1, 2] : tolist(["a"])
# = tolist([
# :   "1",
# :   "2",
# : ])
object_map  = true ? { a = 1 } : tomap({ b = "x" })
# = tomap({
# :   "a" = "1"
# : })
same_object = true ? { a = 1 } : { a = 2 }
# = {
# :   "a" = 1
# : }

# --- branches-that-do-not-fit ---
kinds      = true ? [] : {}
# Error: 1:21-28 Inconsistent conditional result types: The true and false result expressions must have consistent types. The 'true' value is tuple, but the 'false' value is object.
attributes = true ? { a = 1 } : { b = 1 }
# = tomap({
# :   "a" = 1
# : })
missing    = true ? { a = 1 } : {}
# = tomap({
# :   "a" = 1
# : })
deeper     = true ? { a = [] } : { a = "x" }
# Error: 1:21-45 Inconsistent conditional result types: The true and false result expressions must have consistent types. Type mismatch for object attribute "a": The 'true' value is tuple, but the 'false' value is string.
lengths    = true ? [1, "a"] : [{}]
# Error: 1:21-36 Inconsistent conditional result types: The true and false result expressions must have consistent types. The 'true' tuple has length 2, but the 'false' tuple has length 1.
elements   = true ? tolist([{ a = 1 }]) : tolist([{ b = 1 }])
# = tolist([
# :   tomap({
# :     "a" = 1
# :   }),
# : ])

# --- only-the-branch-that-is-taken-may-fail ---
taken     = true ? 1 : null.a # = 1
not_taken = false ? null.a : 2 # = 2
fails     = true ? null.a : 2
# Error: 1:24-26 Attempt to get attribute from null value: This value is null, so it does not have any attributes.

# --- conditions ---
text    = "true" ? 1 : 2 # = 1
null    = null ? 1 : 2
# Error: 1:11-15 Null condition: The condition value is null. Conditions must either be true or false.
number  = 1 ? "a" : "b"
# Error: 1:11-12 Incorrect condition type: The condition expression must be of type bool.
unknown = given.bool ? 1 : 2 # = (known after apply)
error   = null.a ? 1 : 2
# Error: 1:15-17 Attempt to get attribute from null value: This value is null, so it does not have any attributes.

# --- unknown-conditions-keep-what-both-branches-share ---
type     = type(given.bool ? "a" : "b") # = string
not_null = (given.bool ? "a" : "b") == null # = false
maybe    = (given.bool ? "a" : null) == null # = (known after apply)
range    = (given.bool ? 1 : 5) > 5 # = (known after apply)
length   = length(given.bool ? tolist(["a"]) : tolist(["a", "b"])) > 2 # = (known after apply)
null     = given.bool ? null : null # = null

# --- marks-of-all-parts-join ---
condition = sensitive(true) ? 1 : 2 # = (sensitive value)
then      = true ? sensitive(1) : 2 # = (sensitive value)
otherwise = true ? 1 : sensitive(2) # = (sensitive value)
inside    = true ? [sensitive(1)] : [2]
# = [
# :   (sensitive value),
# : ]
