# Creates refusals: `status` (0: no response), `code`, `message`, and sometimes `field` and `retryAfterMs`. This file
# works with Godot 3 and 4.


static func of(status, code, message):
	return {"status": status, "code": code, "message": message}


static func nothing_to(verb):
	return of(0, "nothing", "There is nothing to " + verb + ".")


static func superseded():
	return of(0, "superseded", "Another command replaced this one before Muster answered.")


# Returns the refusal for a successful response with an unknown shape, e.g. of a proxy or of another version.
static func wrong_answer():
	return of(0, "wrong-answer", "The answer is not a valid answer of Muster.")


static func closed():
	return of(0, "closed", "The client was closed.")


# Returns the refusal in an error response. `body`: any value, or null.
static func of_answer(status, body, retry_after_ms):
	var problem = body if body is Dictionary else {}
	var code = problem.get("code")
	if not code is String:
		code = "unauthorized" if status == 401 else ("offline" if status == 0 else "http-%d" % status)
	var message = problem.get("detail")
	if not message is String:
		message = problem.get("message")
	var refusal = of(status, code, message if message is String else "The answer was %d." % status)
	if problem.get("field") is String:
		refusal["field"] = problem.field
	if retry_after_ms > 0:
		refusal["retryAfterMs"] = retry_after_ms
	return refusal
