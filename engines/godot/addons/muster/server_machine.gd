# The game server's logic without a connection, like packages/game-server. Inputs are responses and commands, outputs
# are requests and orders, as in engines/server-transcript.jsonl. It reads no clock, sends nothing and draws no random
# numbers. This file works with Godot 3 and 4.

const VALUES = preload("values.gd")
const SHAPES = preload("shapes.gd")
const ENVIRONMENT = preload("environment.gd")
const SERVED_MATCH = preload("served_match.gd")
const JOIN_TOKEN = preload("join_token.gd")
# Seconds for which a report may wait for new orders, i.e. the time between two heartbeats.
const WAIT_SECONDS = 10
# Minimum milliseconds between two reports. Muster accepts 50 reports in 5 s.
const GAP_MS = 200.0
# Number of reports after a registration that are sent without this minimum distance, so that a new server takes its
# first match at once.
const EAGER_REPORTS = 3
# The first and the longest delay after a failure, in milliseconds.
const FIRST_PAUSE_MS = 500.0
const LONGEST_PAUSE_MS = 15000.0
# The longest delay that a response may request. Without this limit, one wrong header could end the reports.
const LONGEST_RETRY_MS = 3600000.0
# Smaller differences of the clocks in milliseconds are ignored, because the header has whole seconds.
const CLOCK_TOLERANCE_MS = 2000.0
# Milliseconds for which the server waits for an unknown seat.
const SEAT_MS = 2000.0
# Milliseconds in which the game must end, and in which the last report must be answered after a signal.
const GRACE_MS = 25000.0
const LAST_WORD_MS = 2000.0
# Stands for a time that is not set, and for an unknown version.
const NONE = -1

# Has `random()`, which returns 0 to 1, `json_bytes(value)`, which returns the size of a value as JSON, and what join
# tokens need.
var _platform
var _out = []
var _now = 0.0
var _instance = ""
var _registration = {}
# True if the server enrols in a pool. Below, the token that it got for the key; empty: none.
var _enrols = false
var _token = ""
# The expected beginning of Muster's knock, and the received knock; empty: none.
var _awaited_knock = ""
var _knock = ""
# The matches, in order of arrival.
var _matches = []
# Commands that end once Muster has acknowledged a `revision`.
var _awaited = []
# Players whose seats are not known yet.
var _admissions = []
var _key = null
# Milliseconds by which Muster's clock is ahead; null until a response had a date.
var _muster_ahead_ms = null
# Milliseconds by which the machine's wall clock was set ahead since the start.
var _wall_ahead_ms = 0.0
var _is_healthy = true
var _is_draining = false
var _is_stopping = false
var _is_own_wish = false
var _is_finished = false
# Revision of the server's state, and the last one that Muster has acknowledged.
var _revision = 0
var _acknowledged = 0
var _seq = 0
var _requests = 0
# Version of the orders. NONE: the server is not registered.
var _version = NONE
var _failures = 0
# True if the next report is the first one since the registration.
var _is_first = false
# Number of registrations in a row whose first report was refused, e.g. with two Musters at one address.
var _unheld = 0
var _eager = 0
# The request in flight; null: none.
var _request = null
# Time of the next request, if none is in flight.
var _due_at = NONE
var _spoke_at = -GAP_MS
var _stop_until = NONE
var _last_word_until = NONE
var _last_word_revision = 0
var _wake_at = NONE


func _init(platform):
	_platform = platform


# `at`: epoch milliseconds of a clock that never goes back.
func step(input, at):
	_now = VALUES.later(_now, at)
	_out = []
	if _is_finished:
		return _out
	if input.has("do"):
		_obey(input)
	elif input.has("answer"):
		_take(input)
	_wake()
	if _due_at != NONE and _due_at <= _now:
		_send()
	var next = _next_wake()
	if next != _wake_at:
		_out.append({"wakeAt": null if next == NONE else next})
	_wake_at = next
	return _out


func _done(command):
	_out.append({"done": command})


func _fail(command, fault):
	_out.append({"failed": command, "field": fault[0], "message": fault[0] + ": " + fault[1]})


func _match_of(id):
	for one in _matches:
		if one.id == id:
			return one
	return null


func _end(one, reason):
	if not one.is_ended:
		_out.append({"ended": one.id, "reason": reason})
	one.is_ended = true


# Called when the server's state has changed. The change is reported at once.
func _changed():
	_revision += 1
	if _request == null or not _request.is_waiting:
		return
	_out.append({"abort": _request.number})
	_request = null
	_speak_in(0)


func _speak_in(ms):
	var gap = 0.0 if _eager > 0 and _version != NONE else GAP_MS
	_due_at = VALUES.later(_now + ms, _spoke_at + gap)


func _acknowledge(up_to):
	_acknowledged = up_to
	var rest = []
	for one in _awaited:
		if one.revision <= up_to:
			_done(one.command)
		else:
			rest.append(one)
	_awaited = rest


func _send():
	_due_at = NONE
	_spoke_at = _now
	_requests += 1
	var is_registration = _version == NONE
	_eager = 0 if is_registration or _eager == 0 else _eager - 1
	var waits = not is_registration and _revision == _acknowledged
	_request = {"number": _requests, "is_registration": is_registration, "is_waiting": waits, "revision": _revision}
	var body = {"instance": _instance}
	var path = "/servers"
	if is_registration:
		for name in _registration:
			body[name] = _registration[name]
	else:
		_seq += 1
		body["seq"] = _seq
		body["healthy"] = _is_healthy
		body["draining"] = _is_draining
		body["matches"] = []
		for one in _matches:
			body["matches"].append(one.report())
		if _registration.has("attributes"):
			body["attributes"] = _registration.attributes
		if _knock != "":
			body["knock"] = _knock
		path = "/servers/me"
		if waits:
			path += "?wait=%d&version=%d" % [WAIT_SECONDS, _version]
	var request = {"request": _requests, "path": path, "body": body}
	request["method"] = "POST" if is_registration else "PUT"
	request["waitMs"] = WAIT_SECONDS * 1000 if waits else 0
	if _token != "":
		request["token"] = _token
	_out.append(request)


func _take(input):
	if _request == null or _request.number != input.answer:
		return
	var sent = _request
	_request = null
	var status = input.status
	var body = input.get("body")
	if not body is Dictionary:
		body = {}
	_compare_clocks(input.get("date", ""))
	var is_good = status == 200 or status == 201
	if is_good and SHAPES.fits("registered" if sent.is_registration else "orders", body):
		if sent.is_registration:
			_key = JOIN_TOKEN.new(_platform, body)
			var given = VALUES.text_in(body, "token")
			if _enrols and given != null:
				_token = given
		else:
			_acknowledge(sent.revision)
		_version = body.version
		_failures = 0
		_is_first = sent.is_registration
		if not _is_first:
			_unheld = 0
		if sent.is_registration and _seq == 0:
			_eager = EAGER_REPORTS
		_speak_in(0)
		_follow(body)
		# The next report has to tell the state of the matches.
		if sent.is_registration:
			_revision += 1
		if _last_word_until != NONE and _acknowledged >= _last_word_revision:
			_finish()
		return
	# Muster's master secret has changed, e.g. because Muster restarted without a store.
	var is_stranger = status == 401 and _token != ""
	if is_stranger:
		_token = ""
	if is_stranger or (status == 409 and not sent.is_registration):
		_version = NONE
		_failures = _unheld if _is_first else 0
		if not _is_first:
			return _speak_in(0)
		_unheld += 1
	_is_first = false
	var longest = min(FIRST_PAUSE_MS * pow(2, _failures), LONGEST_PAUSE_MS)
	_failures += 1
	var wanted = min(input.get("retryAfterMs", 0), LONGEST_RETRY_MS)
	_speak_in(VALUES.later(wanted, _platform.random() * longest))
	var detail = VALUES.text_in(body, "detail")
	var said = VALUES.text_in(body, "message") if detail == null else detail
	if status == 410:
		return _stop("no longer needed" if said == null else said, false)
	var field = VALUES.text_in(body, "field")
	_out.append({"problem": _fault_of(status, null if is_good else said, field, is_stranger, sent.is_registration)})


# `date`: the response's header, e.g. `Thu, 26 Nov 2026 12:00:00 GMT`.
func _compare_clocks(date):
	var parts = date.split(" ")
	if parts.size() != 6:
		return
	var nth = "JanFebMarAprMayJunJulAugSepOctNovDec".find(parts[2])
	var time = parts[4].split(":")
	if nth < 0 or time.size() != 3:
		return
	# The year begins in March here, so that a leap day is its last day.
	var month = (int(nth / 3.0) + 10) % 12
	var year = int(parts[3]) - (1 if month >= 10 else 0)
	var days = year * 365 + int(year / 4.0) - int(year / 100.0) + int(year / 400.0) + int((month * 153 + 2) / 5.0)
	days += int(parts[1]) - 1 - 719468
	var seconds = ((days * 24 + int(time[0])) * 60 + int(time[1])) * 60 + int(time[2])
	var ahead = seconds * 1000.0 - _now
	_muster_ahead_ms = 0.0 if abs(ahead) < CLOCK_TOLERANCE_MS else ahead


# Returns a sentence about a response that contains no orders. It quotes nothing that this server has sent.
func _fault_of(status, said, field, is_stranger, is_registration):
	if status == 0:
		return "Muster does not answer. The game continues; the state is sent once Muster answers."
	if status == 401 and not is_stranger:
		return "Muster does not know %s (401)." % ("MUSTER_ENROL_KEY" if _enrols else "MUSTER_SERVER_TOKEN")
	if said == null:
		return "The answer of MUSTER_URL is not from Muster (%d): is there a proxy in between?" % status
	var what = ("the enrolment" if _enrols else "the registration") if is_registration else "a report"
	return "Muster refuses %s (%d%s): %s" % [what, status, "" if field == null else ", " + field, said]


# Carries out Muster's orders.
func _follow(orders):
	_awaited_knock = "" if orders.get("knock") == null else orders.knock
	if _awaited_knock == "":
		_knock = ""
	var wanted = {}
	for order in orders.matches:
		wanted[order.id] = true
	var rest = []
	for one in _matches:
		if wanted.has(one.id):
			rest.append(one)
		else:
			_end(one, "The match is over." if one.status == "over" else "Muster has ended the match.")
	_matches = rest
	for order in orders.matches:
		var known = _match_of(order.id)
		if known != null:
			var joined = known.update(order)
			if joined.size() > 0:
				_out.append({"joined": known.id, "players": joined})
			continue
		var begun = SERVED_MATCH.new(order)
		_matches.append(begun)
		if _is_stopping:
			begun.status = "refused"
		else:
			_out.append({"match": begun.seen()})
	if orders.get("want") == "drain":
		_drain(_reason_in(orders, "wanted"))
	if orders.get("want") == "stop":
		_stop(_reason_in(orders, "no longer needed"), false)
	_retry_admissions(true)


static func _reason_in(orders, otherwise):
	return otherwise if orders.get("reason") == null else orders.reason


func _drain(reason):
	if _is_draining:
		return
	_is_draining = true
	_out.append({"draining": reason})
	_changed()


# `is_own_wish`: true if Muster does not know about the stop yet. Then players of matches that load go elsewhere now.
func _stop(reason, is_own_wish):
	if _is_stopping:
		return
	_is_stopping = true
	_is_own_wish = is_own_wish
	for one in _matches:
		_end(one, "The server is to end: " + reason + ".")
		if is_own_wish and one.status == "loading":
			one.give_up()
			_changed()
	_stop_until = _now + GRACE_MS
	_out.append({"stop": reason, "until": _stop_until + _wall_ahead_ms})


func _stopped():
	if _stop_until == NONE:
		return
	_stop_until = NONE
	if not _is_own_wish:
		return _finish()
	for one in _matches:
		one.give_up()
	_changed()
	_last_word_until = _now + LAST_WORD_MS
	_last_word_revision = _revision


func _finish():
	if _request != null:
		_out.append({"abort": _request.number})
	_request = null
	_due_at = NONE
	for one in _awaited:
		_done(one.command)
	_out.append({"finished": true})
	_is_finished = true


func _obey(input):
	match input["do"]:
		"start":
			_instance = input.instance
			var environment = input.get("environment", {})
			_enrols = ENVIRONMENT.enrols_in(environment)
			_registration = ENVIRONMENT.registration_in(input.registration, environment, _platform)
			_due_at = _now
			var fault = ENVIRONMENT.listed_ports_in(environment).fault if _enrols else ""
			if fault != "":
				_out.append({"problem": fault})
		"clock":
			_wall_ahead_ms = input.aheadMs
		"knock":
			# Ignore a knock with another beginning, because anybody may have sent it.
			if _awaited_knock != "" and input.text != _knock and input.text.begins_with(_awaited_knock):
				_knock = input.text
				_changed()
		"healthy":
			_is_healthy = input.isHealthy
		"admit":
			var admission = {"command": input.command, "token": input.token, "until": _now + SEAT_MS}
			if not _admit(admission):
				_admissions.append(admission)
		"left":
			for one in _matches:
				if one.leave(input.player, input.get("mayReturnMs", 0), _now):
					_changed()
		"drain":
			_drain(input.reason)
		"stop":
			_drain(input.reason)
			_stop(input.reason, true)
		"stopped":
			_stopped()
		_:
			_obey_match(input, _match_of(input["match"]))


# Runs a command about a match: `open`, `refuse`, `over` or `seats`.
func _obey_match(input, one):
	var what = input["do"]
	if what == "open" or what == "refuse":
		if one == null or one.status == "over" or (what == "open" and one.status != "loading"):
			return
		one.status = "open" if what == "open" else "refused"
		return _changed()
	if one == null:
		return _fail(input.command, ["match", "there is no such match"])
	if what == "seats":
		var fault = one.fault_of_seats(input.get("teams", {}))
		if fault.size() > 0:
			return _fail(input.command, fault)
		one.seats = {"open": input.open}
		if input.has("teams"):
			one.seats["teams"] = input.teams
		return _changed()
	if one.told < 0:
		var result = input.get("result")
		var fault = one.fault_of(result, _platform.json_bytes(result))
		if fault.size() > 0:
			return _fail(input.command, fault)
		one.result = result
		one.status = "over"
		one.seats = null
		_changed()
		one.told = _revision
	if one.told <= _acknowledged:
		return _done(input.command)
	_awaited.append({"revision": one.told, "command": input.command})


# Returns true if the admission is decided.
func _admit(admission):
	var refused = ""
	var player = null
	if _key != null:
		var ahead = _wall_ahead_ms if _muster_ahead_ms == null else _muster_ahead_ms
		var read = _key.read(admission.token, _now + ahead)
		refused = read.get("refused", "")
		if refused == "":
			var one = _match_of(read.claims.mid)
			if one != null and one.status != "over" and not _is_stopping:
				player = one.player_of(read.claims)
			if player != null:
				refused = one.enter(read.claims)
	if player != null and refused == "":
		_changed()
		_out.append({"admitted": admission.command, "player": player})
		return true
	if refused == "" and (_now >= admission.until or _is_stopping):
		refused = "other-match"
	if refused == "":
		return false
	_out.append({"refused": admission.command, "code": refused, "message": JOIN_TOKEN.SENTENCES[refused]})
	return true


# `is_heard`: true if new orders have arrived. Otherwise only admissions whose time is over are decided.
func _retry_admissions(is_heard):
	var rest = []
	for one in _admissions:
		if not (is_heard or one.until <= _now) or not _admit(one):
			rest.append(one)
	_admissions = rest


func _wake():
	for one in _matches:
		for attendant in one.attendants.values():
			if attendant.until != NONE and attendant.until <= _now:
				attendant.until = NONE
				attendant.status = "left"
				_changed()
	_retry_admissions(false)
	if _stop_until != NONE and _stop_until <= _now:
		_stopped()
	if not _is_finished and _last_word_until != NONE and _last_word_until <= _now:
		_finish()


func _next_wake():
	if _is_finished:
		return NONE
	var times = [_due_at, _stop_until, _last_word_until]
	for one in _admissions:
		times.append(one.until)
	for one in _matches:
		for attendant in one.attendants.values():
			times.append(attendant.until)
	var next = NONE
	for time in times:
		if time != NONE and (next == NONE or time < next):
			next = time
	return next
