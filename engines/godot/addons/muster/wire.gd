# What the client's machine reads of an answer of Muster, and writes into a request.
# This file is right for Godot 3 and 4.


static func body_of(request):
	var body = {"profile": request.profile}
	for name in ["profiles", "attributes", "roles"]:
		if request.get(name) != null:
			body[name] = request[name]
	return body


# The first match or seat that has a server, or null.
static func first_assigned(list):
	for one in list:
		if one.get("assignment") != null:
			return one
	return null


static func assignment_of(assignment):
	var city = null if assignment.get("location") == null else assignment.location.get("city")
	var join_token = assignment.get("join_token")
	return {"fqdn": assignment.fqdn, "ports": assignment.ports, "joinToken": join_token, "city": city}


# What a player is told about a ticket that has no server yet.
static func state_of(ticket):
	var known = {"id": ticket.id, "queue": ticket.profile, "groupId": ticket.get("group_id")}
	if ticket.status != "SEARCHING":
		return {"phase": "found", "ticket": known, "acceptance": ticket.get("acceptance")}
	var wait = ticket.get("estimated_wait")
	if wait != null:
		wait = {"p50Seconds": wait.p50_seconds, "p90Seconds": wait.get("p90_seconds")}
	return {"phase": "searching", "ticket": known, "wait": wait}
