# The client's logic without a connection, like packages/client/src/machine.ts: it turns responses and commands into
# requests and states. This file works with Godot 3 and 4, so continuations are names of functions.

const REFUSAL = preload("refusal.gd")
const SHAPES = preload("shapes.gd")
const VALUES = preload("values.gd")
const WIRE = preload("wire.gd")
# Seconds for which Muster may hold a long poll. Proxies cut connections that are silent for longer.
const WAIT_SECONDS = 25
# Milliseconds between two reads of a forming group, and at least between two long polls for the same version.
const GATHER_MS = 1000.0
# The first and the longest delay after a failure, before the jitter.
const FIRST_PAUSE_MS = 500.0
const LONGEST_PAUSE_MS = 15000.0
# The longest delay that a response may request. Without this limit, one wrong header could end the game's search.
const LONGEST_RETRY_MS = 3600000.0
# Stands for no request in flight, and for a time that is not set.
const NONE = -1
# Has `random()`, which returns 0 to 1, and `encode(text)`, which escapes a path segment.
var _platform
# The jobs by slot (`me`, `enter`, `follow` or `act`), in the order in which they were started.
var _jobs = {}
var _out = []
var _now = 0.0
var _requests = 0
var _state = {"phase": "idle"}
var _stale_since = NONE
# What the player is in, as far as known: `nothing`, `group` or `ticket`, and its id.
var _place = {"kind": "nothing"}
# Unanswered commands, by the event that ends them. All commands of a kind end together. `resume`: once it is known
# what the player is in. `search`: with a server, or with the end of the search. `group`: with a group. `cancel`: once
# the player is in nothing, even if it was unknown what they were in. `act`: with the response to the job `act`.
var _waiting = {"resume": [], "search": [], "group": [], "cancel": [], "act": []}
# True while a create has no response, or while `_busy` holds its refusal because the player is in something else.
var _is_entering = false
var _busy = null
# The path of the latest long poll, and the time at which it was sent.
var _polled = ["", 0.0]
var _wake_at = NONE
var _is_closed = false


func _init(platform):
	_platform = platform


# `at`: milliseconds of any clock that never goes back.
func step(input, at):
	_now = VALUES.later(VALUES.later(_now, at), _wake_at if input.has("wake") else NONE)
	_out = []
	if _is_closed and input.has("do"):
		_fail(input.command, REFUSAL.closed())
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
	if _is_under_way(slot):
		_out.append({"abort": _jobs[slot].request})
	_jobs.erase(slot)
	if slot == "act":
		_fail_all("act", REFUSAL.superseded())


func _is_under_way(slot):
	return _jobs.has(slot) and _jobs[slot].request != NONE


# `good`, `refused`: names of functions that are called with the job and the response's body or the refusal.
func _start(slot, method, path, good, refused, more = {}):
	_drop(slot)
	var job = {"method": method, "path": path, "good": good, "refused": refused, "body": null, "wait_ms": 0}
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
	_out.append({"done": command})


func _fail(command, refusal):
	_out.append({"failed": command, "refusal": refusal})


func _done_all(kind):
	while _waiting[kind].size() > 0:
		_done(_waiting[kind].pop_front())


func _fail_all(kind, refusal):
	while _waiting[kind].size() > 0:
		_fail(_waiting[kind].pop_front(), refusal)


func _is_cancelling():
	return _waiting.cancel.size() > 0


# Called when the player is in nothing any more. `reason`: null if they were in nothing before.
func _leave(reason):
	for slot in ["follow", "me"]:
		_drop(slot)
	_place = {"kind": "nothing"}
	# The object of a pending cancel is gone. Drop the request: repeating it could cancel a later ticket.
	if _is_cancelling():
		_drop("act")
	_done_all("cancel")
	_show({"phase": "idle"} if reason == null else {"phase": "ended", "reason": reason})
	_done_all("resume")
	_fail_all("search", REFUSAL.of(0, "gone" if reason == null else reason, "The search has ended."))


func _look_up():
	_start("me", "GET", "/me", "_on_me", "_on_me_refused")


# Reads what the player is in. If such a read is in flight, its response is used.
func _look():
	if not _is_under_way("me"):
		_look_up()


func _on_me(_job, me):
	var refusal = _busy
	_set_entering(false)
	_take_up(me, refusal)
	if _is_in("gathering"):
		_done_all("group")
	elif refusal != null:
		_fail_all("group", refusal)
	_done_all("resume")


func _on_me_refused(_job, refusal):
	_fail_all("resume", refusal)
	# Another pending command needs the response too.
	if _is_entering or (_place.kind != "nothing" and not _jobs.has("follow")):
		_look_up()


# `refusal`: reported if the player is in nothing. Null: none.
func _take_up(me, refusal):
	var running = WIRE.first_assigned(me.matches)
	var seat = WIRE.first_assigned(me.get("seats"))
	var ticket = WIRE.first_alive(me.tickets)
	var gathering = WIRE.first_gathering(me.groups)
	# A match with a server comes first. A running match has a ticket as well.
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
	elif refusal != null:
		_refuse(refusal)
	elif _is_cancelling():
		_leave("cancelled")
	else:
		_leave(null if _place.kind == "nothing" else "gone")


func _assigned(match_id, assignment):
	_drop("follow")
	_place = {"kind": "nothing"}
	_show({"phase": "assigned", "matchId": match_id, "assignment": WIRE.assignment_of(assignment)})
	if _is_cancelling():
		_drop("act")
	_fail_all("cancel", REFUSAL.of(409, "player-playing", "The player has a server already."))
	_done_all("search")


# `is_followed`: true if the ticket was read by following it, and not by another request.
func _set_ticket(ticket, is_followed):
	var is_known = _place.kind == "ticket"
	if is_known and (_place.id != ticket.id or ticket.version < _place.version):
		return _follow()
	if not is_followed and not is_known:
		return
	var is_new = not is_known or ticket.version > _place.version
	_place = {"kind": "ticket", "id": ticket.id, "version": ticket.version, "match": ticket.get("match_id")}
	if ticket.status == "CANCELLED":
		return _leave(WIRE.reason_in(ticket))
	if ticket.get("ended") != null:
		return _leave(ticket.ended.reason)
	if ticket.status == "HOST_ASSIGNED" and ticket.get("assignment") != null:
		return _assigned(ticket.get("match_id"), ticket.assignment)
	if _is_cancelling():
		return _take_out()
	if is_new or is_followed:
		_show(WIRE.state_of(ticket))
	_follow()


func _follow():
	if _place.kind != "ticket":
		return
	var path = _own_path() + "?wait=%d&version=%d" % [WAIT_SECONDS, _place.version]
	# The request in flight is the same one.
	if _jobs.has("follow") and _jobs.follow.path == path:
		return
	# A proxy may answer each long poll at once, so keep a minimum distance.
	var due_at = VALUES.later(_now, _polled[1] + GATHER_MS) if _polled[0] == path else _now
	_polled = [path, due_at]
	var more = {"wait_ms": WAIT_SECONDS * 1000, "due_at": due_at}
	_start("follow", "GET", path, "_on_followed", "_on_elsewhere", more)


func _on_followed(_job, answer):
	_set_ticket(answer, true)


# The player's state has changed elsewhere, so read it again.
func _on_elsewhere(_job, _refused):
	_look_up()


func _set_member(member):
	_place = {"kind": "group", "id": member.group_id, "member": member.member_id}
	if _is_cancelling():
		return _take_out()
	if member.get("ticket_id") != null:
		var path = "/tickets/" + _platform.encode(member.ticket_id)
		return _start("follow", "GET", path, "_on_opened", "_on_elsewhere")
	if member.status == "CANCELLED":
		return _leave("cancelled")
	var group = {"members": [], "waitingFor": []}
	if _is_in("gathering") and _state.group.id == member.group_id:
		group = _state.group.duplicate()
	group["id"] = member.group_id
	group["isReady"] = member.is_ready
	_show({"phase": "gathering", "group": group})
	_gather(0)


func _on_opened(_job, answer):
	_place = {"kind": "nothing"}
	_set_ticket(answer, true)


# Returns the path of the ticket, or of the player's place in the group.
func _own_path():
	if _place.kind == "ticket":
		return "/tickets/" + _platform.encode(_place.id)
	return "/groups/" + _platform.encode(_place.id) + "/members/" + _platform.encode(_place.member)


func _gather(in_ms):
	if _place.kind != "group":
		return
	var more = {"due_at": _now + in_ms, "group": _place.id}
	_start("follow", "GET", "/groups/" + _platform.encode(_place.id), "_on_gathered", "_on_elsewhere", more)


func _on_gathered(job, answer):
	if _place.kind != "group" or _place.id != job.group:
		return
	if answer.status != "FORMING":
		return _start("follow", "GET", _own_path(), "_on_member", "_on_elsewhere")
	if _is_in("gathering"):
		_show({"phase": "gathering", "group": WIRE.with_members(_state.group, answer.members)})
	_gather(GATHER_MS)


func _on_member(_job, member):
	_set_member(member)


func _set_entering(is_entering, busy = null):
	_is_entering = is_entering
	_busy = busy


func _enter(path, body):
	_set_entering(true)
	# The response to an earlier read would show an outdated state. After a refusal, the state is read again.
	_drop("me")
	_start("enter", "POST", path, "_on_entered", "_on_not_entered", {"body": body})


func _on_entered(job, answer):
	_set_entering(false)
	if job.path == "/tickets":
		_set_ticket(answer, true)
	else:
		_set_member(answer)
	_done_all("resume")
	_done_all("group")


func _on_not_entered(_job, refusal):
	# Continue with the player's present ticket, group or match. If there is none any more, report the refusal.
	var is_busy = refusal.code in ["player-busy", "player-playing"]
	if is_busy:
		_set_entering(true, refusal)
	else:
		_refuse(refusal)
	if is_busy or _waiting.resume.size() > 0:
		_look_up()


# Reports a refusal. The player stays in what they were in.
func _refuse(refusal):
	_set_entering(false)
	_fail_all("search", refusal)
	_fail_all("group", refusal)
	_done_all("cancel")


func _take_out():
	var path = _own_path()
	# The request in flight is the same one.
	if not _jobs.has("act") or _jobs.act.method != "DELETE" or _jobs.act.path != path:
		_start("act", "DELETE", path, "_on_taken_out", "_on_not_taken_out")


func _on_taken_out(_job, _body):
	_leave("cancelled")


# The ticket or group no longer exists, or a server was assigned meanwhile.
func _on_not_taken_out(_job, refusal):
	if refusal.status == 404:
		return _leave("cancelled")
	_fail_all("cancel", refusal)
	_look_up()


func _act(command, method, path, good, more = {}):
	# A cancel is pending, so the player must be taken out, whatever the outcome of this request.
	if _is_cancelling():
		return _fail(command, REFUSAL.superseded())
	_start("act", method, path, good, "_on_not_acted", more)
	_waiting.act.append(command)


func _on_accepted(_job, answer):
	_set_ticket(answer, false)
	_done_all("act")


func _on_ready(job, answer):
	if _place.kind == "group" and _place.member == job.member:
		_set_member(answer)
	_done_all("act")


func _on_not_acted(_job, refusal):
	_fail_all("act", refusal)


func _obey(input):
	var command = input.command
	var is_busy = _is_entering or _place.kind != "nothing"
	match input["do"]:
		"resume":
			# Wait for a create in flight. Otherwise nobody would learn whether its ticket was created.
			if _is_entering:
				return _done(command)
			_waiting.resume.append(command)
			_look()
		"play":
			# A player who already has a ticket, group or match continues with it.
			_waiting.search.append(command)
			if not is_busy:
				_enter("/tickets", WIRE.body_of(input.request))
		"group":
			if is_busy:
				return _fail(command, REFUSAL.of(409, "player-busy", "The player already has a ticket, group or match."))
			_waiting.group.append(command)
			var body = WIRE.body_of(input.request)
			body["is_ready"] = false
			var join = input.get("join")
			_enter("/groups" if join == null else "/groups/" + _platform.encode(join) + "/members", body)
		"ready":
			if _place.kind != "group":
				return _fail(command, REFUSAL.nothing_to("be ready for"))
			var more = {"body": {"is_ready": input.isReady}, "member": _place.member}
			_act(command, "PATCH", _own_path(), "_on_ready", more)
		"accept", "decline":
			if _place.kind != "ticket":
				return _fail(command, REFUSAL.nothing_to(input["do"]))
			_act(command, "POST", _own_path() + "/" + input["do"], "_on_accepted", WIRE.seen_match(_place.match))
		"cancel":
			if is_busy:
				_cancel(command)
			else:
				_done(command)
		"close":
			_is_closed = true
			for kind in _waiting:
				_fail_all(kind, REFUSAL.closed())
			for slot in _jobs.keys():
				_drop(slot)
			_done(command)


func _cancel(command):
	_waiting.cancel.append(command)
	_fail_all("group", REFUSAL.superseded())
	if _place.kind != "nothing":
		return _take_out()
	# The response to the create will tell whether there is a ticket. Otherwise, ask Muster.
	if _is_under_way("enter"):
		return
	_drop("enter")
	_look()


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
	# If no command waits for the response, repeat the request: an invalid token may be valid later.
	var is_background = (slot == "me" and _waiting.resume.size() == 0) or (slot == "follow" and status == 401)
	job.request = NONE
	var shape = WIRE.shape_of(job)
	# A malformed response counts as none. Only a command that waits for exactly this response gets an error.
	var is_wrong = is_good and shape != "" and not SHAPES.fits(shape, input.get("body"))
	if is_wrong and slot in ["me", "act"]:
		_fail_all("resume" if slot == "me" else "act", REFUSAL.wrong_answer())
	var is_passing = status == 0 or status == 408 or status == 429 or status >= 500
	if is_wrong or is_passing or (not is_good and is_background):
		_set_stale(_now if _stale_since == NONE else _stale_since)
		var longest = min(FIRST_PAUSE_MS * pow(2, job.failures), LONGEST_PAUSE_MS)
		job.failures += 1
		# Without a version, the next long poll is answered at once, which proves that the connection works again.
		if slot == "follow":
			job.path = job.path.split("?")[0]
		job.wait_ms = 0
		retry_after_ms = min(retry_after_ms, LONGEST_RETRY_MS)
		job.due_at = _now + VALUES.later(retry_after_ms, floor(_platform.random() * longest + 0.5))
		if slot == "enter" and _is_cancelling():
			_drop("enter")
			_look_up()
		return
	_jobs.erase(slot)
	_set_stale(NONE)
	if is_good:
		return call(job.good, job, input.get("body"))
	call(job.refused, job, REFUSAL.of_answer(status, input.get("body"), retry_after_ms))
