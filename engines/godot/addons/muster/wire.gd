# Reads the parts of Muster's responses that the client's machine needs, and builds requests. This file works with
# Godot 3 and 4.


# The expected shape of a successful response, by the function that handles it. Empty: any response.
const SHAPES_BY_TAKER = {
	"_on_me": "me",
	"_on_followed": "ticket",
	"_on_opened": "ticket",
	"_on_gathered": "group",
	"_on_member": "member",
	"_on_accepted": "ticket",
	"_on_ready": "member",
}


static func shape_of(job):
	if job.good == "_on_entered":
		return "ticket" if job.path == "/tickets" else "member"
	return SHAPES_BY_TAKER.get(job.good, "")


static func body_of(request):
	var body = {"profile": request.profile}
	for name in ["profiles", "attributes", "roles"]:
		if request.get(name) != null:
			body[name] = request[name]
	return body


# Returns the first match or seat that has a server, or null. `list`: null if there is none.
static func first_assigned(list):
	for one in [] if list == null else list:
		if one.get("assignment") != null:
			return one
	return null


# Returns the first ticket that is searching or playing, or null.
static func first_alive(tickets):
	for one in tickets:
		if one.status != "CANCELLED" and one.get("ended") == null:
			return one
	return null


# Returns why a ticket was cancelled.
static func reason_in(ticket):
	var reason = ticket.get("cancel_reason")
	return "cancelled" if reason == null else reason


# Returns the first forming group, or null.
static func first_gathering(groups):
	for one in groups:
		if one.status == "FORMING":
			return one
	return null


# Returns a group with these members.
static func with_members(known, members):
	var group = known.duplicate()
	group["members"] = []
	group["waitingFor"] = []
	for one in members:
		group.members.append({"playerId": one.player_id, "isReady": one.is_ready})
		if not one.is_ready:
			group.waitingFor.append(one.player_id)
	return group


static func assignment_of(assignment):
	var city = null if assignment.get("location") == null else assignment.location.get("city")
	var join_token = assignment.get("join_token")
	return {"fqdn": assignment.fqdn, "ports": assignment.ports, "joinToken": join_token, "city": city}


# Returns the player's state for a ticket that has no server yet.
static func state_of(ticket):
	var known = {"id": ticket.id, "queue": ticket.profile, "groupId": ticket.get("group_id")}
	if ticket.status != "SEARCHING":
		return {"phase": "found", "ticket": known, "acceptance": ticket.get("acceptance")}
	var wait = ticket.get("estimated_wait")
	if wait != null:
		wait = {"p50Seconds": wait.p50_seconds, "p90Seconds": wait.get("p90_seconds")}
	return {"phase": "searching", "ticket": known, "wait": wait}


# What is sent with an answer to a match: a repeated answer must not count for the next match, which nobody has seen.
static func seen_match(match_id):
	return {} if match_id == null else {"body": {"match_id": match_id}}
