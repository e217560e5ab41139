# The expected types of Muster's responses, limited to the fields that are read. This file works with Godot 3 and 4.

# The same in every language. A type with `?` may be null or missing. `[]` is a list of a type, and `{}` an object
# whose values have the type.
const SHAPES = {
	"me": {"tickets": "ticket[]", "groups": "member[]", "matches": "running[]", "seats": "seat[]?"},
	"ticket": {
		"id": "text", "profile": "text", "status": "text", "version": "count", "group_id": "text?",
		"match_id": "text?", "assignment": "assignment?", "acceptance": "acceptance?", "cancel_reason": "text?",
		"ended": "ended?", "estimated_wait": "wait?",
	},
	"assignment": {"fqdn": "text", "ports": "object{}", "location": "place?", "join_token": "text?"},
	"place": {"city": "text?"},
	"acceptance": {"accepted": "boolean", "until": "text"},
	"ended": {"reason": "text"},
	"wait": {"p50_seconds": "number", "p90_seconds": "number?"},
	"member": {"group_id": "text", "member_id": "text", "is_ready": "boolean", "status": "text", "ticket_id": "text?"},
	"group": {"status": "text", "members": "gathered[]"},
	"gathered": {"player_id": "text", "is_ready": "boolean"},
	"running": {"match_id": "text", "assignment": "assignment?"},
	"seat": {"assignment": "assignment?"},
	"registered": {
		"id": "text", "alg": "text", "key": "text", "version": "count", "want": "text", "reason": "text?",
		"matches": "order[]", "knock": "text?",
	},
	"orders": {"version": "count", "want": "text", "reason": "text?", "matches": "order[]", "knock": "text?"},
	"order": {"id": "text", "profile": "text", "teams": "team[]", "equality": "object?", "intersection": "object?"},
	"team": {"name": "text", "players": "roster[]"},
	"roster": {"id": "text", "ticket_id": "text", "seat_id": "text?", "attributes": "object?"},
	"claims": {
		"aud": "text", "sub": "text", "mid": "text", "sid": "text", "team": "text?", "grp": "text?", "iat": "number",
		"exp": "number",
	},
	"command": {
		"id": "number", "do": "text", "token": "text?", "player": "text?", "mayReturnMs": "number?", "match": "text?",
	},
}


# Returns true if a value has this type. Otherwise it is no response of Muster and must not be compared with anything,
# because comparing values of different types is a script error.
static func fits(type, value):
	if type.ends_with("?"):
		return value == null or fits(type.substr(0, type.length() - 1), value)
	var of = type.substr(0, type.length() - 2)
	if type.ends_with("[]"):
		return value is Array and _all_fit(of, value)
	if type.ends_with("{}"):
		return value is Dictionary and _all_fit(of, value.values())
	match type:
		"text":
			return value is String
		"boolean":
			return value is bool
		"number":
			return _is_number(value)
		"count":
			return _is_number(value) and value >= 0 and value <= 9007199254740991.0 and value == floor(value)
		"object":
			return value is Dictionary
	if not value is Dictionary:
		return false
	for name in SHAPES[type]:
		if not fits(SHAPES[type][name], value.get(name)):
			return false
	return true


static func _all_fit(type, values):
	for value in values:
		if not fits(type, value):
			return false
	return true


static func _is_number(value):
	return (value is float or value is int) and not is_nan(float(value)) and not is_inf(float(value))
