# The client without its connection, as packages/client/src/machine.ts: answers and wishes in, requests and states out,
# as in engines/transcript.jsonl. This file is right for Godot 3 and 4, so continuations are names of functions.

const REFUSAL = preload("refusal.gd")
const VALUES = preload("values.gd")
# Seconds for which Muster holds a long poll: proxies cut connections that are silent for longer.
const WAIT_SECONDS = 25
# Milliseconds between two looks at a group that gathers.
const GATHER_MS = 1000.0
# The first and the longest pause after a failure, before the jitter.
const FIRST_PAUSE_MS = 500.0
const LONGEST_PAUSE_MS = 15000.0
# A wish that there is none of, a request that is not under way, and a time that is not set.
const NONE = -1

# Has `random()`, from 0 to 1, and `encode(text)`, which escapes a part of a path.
var _platform
# Job by slot: `me`, `enter`, `follow` or `act`; in the order in which they were started.
var _jobs = {}
var _out = []
var _now = 0.0
var _requests = 0
var _state = {"phase": "idle"}
var _stale_since = NONE
# Where the player is, as far as it is known: `nothing`, `group` or `ticket`, and its id.
var _place = {"kind": "nothing"}
# Wishes to know what the player is in: one look answers all of them.
var _resuming = []
# The wish that ends with a server, or without.
var _search = NONE
# What a search asks for if the player is in nothing; null: nothing is asked for.
var _wanted = null
# The wish to be taken out of what there is, although that is not known yet.
var _cancelling = NONE
var _wake_at = NONE
var _is_closed = false


func _init(platform):
	_platform = platform


# At: milliseconds of any clock that does not go backwards.
func step(input, at):
	_now = VALUES.later(VALUES.later(_now, at), _wake_at if input.has("wake") else NONE)
	_out = []
	if _is_closed:
		return _out
	if input.has("do"):
		_obey(input)
	elif input.has("answer"):
		_take(input)
	var next = NONE
	for job in _jobs.values():
		if job.request == NONE and job.due_at <= _now:
			_send(job)
		if job.request == NONE and (next == NONE or job.due_at < next):
			next = job.due_at
	if next != _wake_at:
		_out.append({"wakeAt": null if next == NONE else next})
	_wake_at = next
	return _out


func _show(shown):
	var next = shown.duplicate()
	if _stale_since != NONE:
		next["stale"] = _stale_since
	if VALUES.same(next, _state):
		return
	_state = next
	_out.append({"state": next})


func _set_stale(since):
	if (_stale_since == NONE) == (since == NONE):
		return
	_stale_since = since
	var rest = _state.duplicate()
	rest.erase("stale")
	_show(rest)


func _is_in(phase):
	return _state.phase == phase


func _drop(slot):
	if not _jobs.has(slot):
		return
	if _jobs[slot].request != NONE:
		_out.append({"abort": _jobs[slot].request})
	_jobs.erase(slot)


# Good, refused: the name of a function of the job and the body or the refusal. Without `refused` the wish has failed.
func _start(slot, method, path, good, more = {}):
	var before = _jobs[slot].command if _jobs.has(slot) else NONE
	_drop(slot)
	if before != NONE:
		_fail(before, REFUSAL.of(0, "superseded", "Another wish came before the answer."))
	var job = {"method": method, "path": path, "good": good, "refused": "", "command": NONE, "body": null, "wait_ms": 0}
	job["request"] = NONE
	job["due_at"] = _now
	job["failures"] = 0
	for name in more:
		job[name] = more[name]
	_jobs[slot] = job


func _send(job):
	_requests += 1
	job.request = _requests
	var request = {"request": _requests, "method": job.method, "path": job.path, "waitMs": job.wait_ms}
	if job.body != null:
		request["body"] = job.body
	_out.append(request)


func _done(command):
	if command != NONE:
		_out.append({"done": command})


func _fail(command, refusal):
	if command != NONE:
		_out.append({"failed": command, "refusal": refusal})
	if command == _search:
		_search = NONE


# What is to be cancelled is not there any more: a request that is repeated could cancel what comes next.
func _end_cancelling():
	var command = _cancelling
	if command != NONE:
		_drop("act")
	_cancelling = NONE
	return command


# The player is in nothing any more. Reason: null if they were in nothing before.
func _leave(reason):
	for slot in ["follow", "enter", "me"]:
		_drop(slot)
	_place = {"kind": "nothing"}
	_wanted = null
	var wish = _search
	_search = NONE
	_done(_end_cancelling())
	_show({"phase": "idle"} if reason == null else {"phase": "ended", "reason": reason})
	_resumed()
	if wish != NONE:
		_fail(wish, REFUSAL.of(0, "gone" if reason == null else reason, "The search has ended."))


# More: `nothing` is a refusal of `entering`, which stands if the player is in nothing; `entering` is the wish; `shown`:
# whether the wish ends once it is shown what they are in.
func _look_up(more = {}):
	var job = {"nothing": null, "entering": NONE, "shown": false, "refused": "_on_not_looked_up"}
	for name in more:
		job[name] = more[name]
	_start("me", "GET", "/me", "_on_me", job)


func _on_me(job, me):
	_take_up(job, me)
	if job.shown and _is_in("gathering"):
		_done(job.entering)
	elif job.shown:
		_fail(job.entering, job.nothing)
	_resumed()


func _on_not_looked_up(_job, refusal):
	for command in _resuming:
		_fail(command, refusal)
	_resuming = []


func _resumed():
	for command in _resuming:
		_done(command)
	_resuming = []


func _take_up(job, me):
	_drop("enter")
	_wanted = null
	var running = _first_assigned(me.get("matches", []))
	var seat = _first_assigned(me.get("seats", []))
	var ticket = null
	for one in me.get("tickets", []):
		if ticket == null and one.status != "CANCELLED" and one.get("ended") == null:
			ticket = one
	var gathering = null
	for one in me.get("groups", []):
		if gathering == null and one.status == "FORMING":
			gathering = one
	# What leads to a server comes first; a match that runs has a ticket as well.
	if running != null:
		_assigned(running.match_id, running.assignment)
	elif ticket != null:
		if _place.kind != "ticket" or _place.id != ticket.id:
			_place = {"kind": "nothing"}
		_set_ticket(ticket, true)
	elif gathering != null:
		_set_member(gathering)
	elif seat != null:
		_assigned(null, seat.assignment)
	elif job.nothing != null:
		_refuse(job.entering, job.nothing)
	elif _cancelling != NONE:
		_leave("cancelled")
	else:
		_leave(null if _place.kind == "nothing" else "gone")


func _first_assigned(list):
	for one in list:
		if one.get("assignment") != null:
			return one
	return null


func _assigned(match_id, assignment):
	for slot in ["follow", "enter"]:
		_drop(slot)
	_place = {"kind": "nothing"}
	_wanted = null
	var where = {"fqdn": assignment.fqdn, "ports": assignment.ports, "joinToken": assignment.get("join_token")}
	where["city"] = null if assignment.get("location") == null else assignment.location.get("city")
	_show({"phase": "assigned", "matchId": match_id, "assignment": where})
	_fail(_end_cancelling(), REFUSAL.of(409, "player-playing", "The player has a server already."))
	_done(_search)
	_search = NONE


# Is followed: whether it is what the player is in, and not an answer to something else.
func _set_ticket(ticket, is_followed):
	var is_known = _place.kind == "ticket"
	if is_known and (_place.id != ticket.id or ticket.version < _place.version):
		return
	if not is_followed and not is_known:
		return
	var is_new = not is_known or ticket.version > _place.version
	_place = {"kind": "ticket", "id": ticket.id, "version": ticket.version}
	var known = {"id": ticket.id, "queue": ticket.profile, "groupId": ticket.get("group_id")}
	if ticket.status == "CANCELLED":
		var reason = ticket.get("cancel_reason")
		return _leave("cancelled" if reason == null else reason)
	if ticket.get("ended") != null:
		return _leave(ticket.ended.reason)
	if ticket.status == "HOST_ASSIGNED" and ticket.get("assignment") != null:
		return _assigned(ticket.get("match_id"), ticket.assignment)
	if _cancelling != NONE:
		return _take_out(_cancelling)
	if is_new or is_followed:
		if ticket.status == "SEARCHING":
			var wait = ticket.get("estimated_wait")
			if wait != null:
				wait = {"p50Seconds": wait.p50_seconds, "p90Seconds": wait.get("p90_seconds")}
			_show({"phase": "searching", "ticket": known, "wait": wait})
		else:
			_show({"phase": "found", "ticket": known, "acceptance": ticket.get("acceptance")})
	_follow()


func _follow():
	if _place.kind != "ticket":
		return
	var query = "?wait=%d&version=%d" % [WAIT_SECONDS, _place.version]
	var path = "/tickets/" + _platform.encode(_place.id) + query
	# The one that is under way asks for the same.
	if _jobs.has("follow") and _jobs.follow.path == path:
		return
	_start("follow", "GET", path, "_on_followed", {"wait_ms": WAIT_SECONDS * 1000, "refused": "_on_elsewhere"})


func _on_followed(_job, answer):
	_set_ticket(answer, true)
	_follow()


# What is known is not so any more.
func _on_elsewhere(_job, _refused):
	_look_up()


func _set_member(member):
	_place = {"kind": "group", "id": member.group_id, "member": member.member_id}
	if _cancelling != NONE:
		return _take_out(_cancelling)
	if member.get("ticket_id") != null:
		var path = "/tickets/" + _platform.encode(member.ticket_id)
		return _start("follow", "GET", path, "_on_opened", {"refused": "_on_elsewhere"})
	if member.status == "CANCELLED":
		return _leave("cancelled")
	var members = []
	if _is_in("gathering") and _state.group.id == member.group_id:
		members = _state.group.members
	var group = {"id": member.group_id, "isReady": member.is_ready, "members": members}
	_show({"phase": "gathering", "group": group})
	_gather(0)


func _on_opened(_job, answer):
	_place = {"kind": "nothing"}
	_set_ticket(answer, true)


func _own_place():
	return "/groups/" + _platform.encode(_place.id) + "/members/" + _platform.encode(_place.member)


func _gather(in_ms):
	if _place.kind != "group":
		return
	var more = {"refused": "_on_elsewhere", "due_at": _now + in_ms, "group": _place.id}
	_start("follow", "GET", "/groups/" + _platform.encode(_place.id), "_on_gathered", more)


func _on_gathered(job, answer):
	if _place.kind != "group" or _place.id != job.group:
		return
	if answer.status != "FORMING":
		return _start("follow", "GET", _own_place(), "_on_member", {"refused": "_on_elsewhere"})
	if _is_in("gathering"):
		var members = []
		for one in answer.members:
			members.append({"playerId": one.player_id, "isReady": one.is_ready})
		var group = _state.group.duplicate()
		group["members"] = members
		_show({"phase": "gathering", "group": group})
	_gather(GATHER_MS)


func _on_member(_job, member):
	_set_member(member)


func _enter(command):
	# An answer about what there was before would be taken for what there is. After a refusal it is asked for again.
	var was_asked = _jobs.has("me")
	_drop("me")
	var more = {"body": _wanted.body, "refused": "_on_not_entered", "entering": command, "was_asked": was_asked}
	more["is_group"] = _wanted.path.begins_with("/groups")
	_start("enter", "POST", _wanted.path, "_on_entered", more)


func _on_entered(job, answer):
	_wanted = null
	_place = {"kind": "nothing"}
	if job.is_group:
		_set_member(answer)
	else:
		_set_ticket(answer, true)
	_resumed()
	if job.is_group and _is_in("gathering"):
		_done(job.entering)


func _on_not_entered(job, refusal):
	if not refusal.code in ["player-busy", "player-playing"]:
		_refuse(job.entering, refusal)
		if job.was_asked:
			_look_up()
		return
	# What the player is in is taken up. If there is nothing any more, the refusal stands.
	_look_up({"nothing": refusal, "entering": job.entering, "shown": job.is_group})


# The player is where they were before.
func _refuse(command, refusal):
	_wanted = null
	_fail(command, refusal)
	_done(_end_cancelling())


# Of the ticket or the group.
func _take_out(command):
	_cancelling = command
	var path = _own_place() if _place.kind == "group" else "/tickets/" + _platform.encode(_place.id)
	_start("act", "DELETE", path, "_on_taken_out", {"refused": "_on_not_taken_out"})


func _on_taken_out(_job, _body):
	_leave("cancelled")


# What there was is gone, or a server was assigned meanwhile.
func _on_not_taken_out(_job, refusal):
	if refusal.status == 404:
		return _leave("cancelled")
	_fail(_end_cancelling(), refusal)
	_look_up()


func _act(command, verb):
	if _place.kind != "ticket":
		return _fail(command, REFUSAL.nothing_to(verb))
	var path = "/tickets/" + _platform.encode(_place.id) + "/" + verb
	_start("act", "POST", path, "_on_acted", {"command": command})


func _on_acted(job, answer):
	_set_ticket(answer, false)
	_done(job.command)


func _on_ready(job, answer):
	_set_member(answer)
	_done(job.command)


func _obey(input):
	var command = input.command
	match input["do"]:
		"resume":
			# A create that is under way is not overtaken: whether it came about would never be known.
			if _wanted != null:
				return _done(command)
			_resuming.append(command)
			if not _jobs.has("me") or _jobs.me.request == NONE:
				_look_up()
		"play", "group":
			_begin(input)
		"ready":
			if _place.kind != "group":
				return _fail(command, REFUSAL.nothing_to("be ready for"))
			var more = {"body": {"is_ready": input.isReady}, "command": command}
			_start("act", "PATCH", _own_place(), "_on_ready", more)
		"cancel":
			if _place.kind != "nothing":
				return _take_out(command)
			if _wanted == null:
				return _done(command)
			_cancelling = command
			# Whether there is a ticket is known by the answer, or else by asking.
			if _jobs.has("enter") and _jobs.enter.request != NONE:
				return
			_drop("enter")
			_look_up()
		"accept", "decline":
			_act(command, input["do"])
		"close":
			_is_closed = true
			for slot in _jobs.keys():
				_drop(slot)
			_done(command)


func _begin(input):
	var command = input.command
	var is_busy = _search != NONE or _wanted != null or _is_in("gathering") or _is_in("found")
	var body = {"profile": input.request.profile}
	for name in ["profiles", "attributes", "roles"]:
		if input.request.get(name) != null:
			body[name] = input.request[name]
	var path = "/tickets"
	if input["do"] == "play":
		# The same search, taken up: the newest wish is told how it ends.
		_done(_search)
		_search = command
		if is_busy or _is_in("searching"):
			return
	else:
		if is_busy or _is_in("searching"):
			return _fail(command, REFUSAL.of(409, "player-busy", "The player is in something already."))
		path = "/groups"
		if input.get("join") != null:
			path = "/groups/" + _platform.encode(input.join) + "/members"
		body["is_ready"] = false
	_wanted = {"path": path, "body": body}
	_enter(command)


func _take(input):
	var slot = null
	for one in _jobs:
		slot = one if _jobs[one].request == input.answer else slot
	if slot == null:
		return
	var job = _jobs[slot]
	var status = input.status
	var retry_after_ms = input.get("retryAfterMs", 0)
	var is_good = status >= 200 and status < 300
	# Where nothing waits for the answer it is asked again, since a token that is wrong may be right later.
	var is_background = (slot == "me" and _resuming.size() == 0) or (slot == "follow" and status == 401)
	job.request = NONE
	if status == 0 or status == 429 or status >= 500 or (not is_good and is_background):
		_set_stale(_now if _stale_since == NONE else _stale_since)
		var longest = min(FIRST_PAUSE_MS * pow(2, job.failures), LONGEST_PAUSE_MS)
		job.failures += 1
		# The next answer comes at once, and tells that the connection is back.
		if slot == "follow":
			job.path = job.path.split("?")[0]
		job.wait_ms = 0
		job.due_at = _now + VALUES.later(retry_after_ms, floor(_platform.random() * longest + 0.5))
		if slot == "enter" and _cancelling != NONE:
			_drop("enter")
			_look_up()
		return
	_jobs.erase(slot)
	_set_stale(NONE)
	if is_good:
		return call(job.good, job, input.get("body"))
	var refusal = REFUSAL.of_answer(status, input.get("body"), retry_after_ms)
	if job.refused != "":
		return call(job.refused, job, refusal)
	_fail(job.command, refusal)
