# A match on a game server: its roster, the players who are on it, and its part of the reports. This file works with
# Godot 3 and 4.

const VALUES = preload("values.gd")
const LARGEST_RESULT_BYTES = 8192

var id
# The match's status: `loading`, `open`, `over` or `refused`.
var status = "loading"
var seats = null
var result = null
# The revision of the report with which Muster learns of the match's end. -1: it has not ended.
var told = -1
# True if the game was notified of the end.
var is_ended = false
# Players by id. `seat`: empty if they never came. `iat`: that of the newest token. `status`: empty if they have left
# and got another seat since. `until`: time until which their seat is kept, or -1.
var attendants = {}

var _queue
var _attributes = {}
# Players by id: those who were matched, and those who joined later.
var _players = {}
var _teams = {}
# The seats of the players in the newest orders; null if Muster does not send seats.
var _seats = {}
# The tickets of players, as far as Muster sends them.
var _tickets = {}


func _init(order):
	id = order.id
	_queue = order.profile
	for kind in ["equality", "intersection"]:
		var given = order.get(kind)
		if given != null:
			for name in given:
				_attributes[name] = given[name]
	update(order)


# Returns the match as the game sees it.
func seen():
	return {"id": id, "queue": _queue, "attributes": _attributes, "teams": _teams}


# Returns the player with this seat, by the newest orders; null if there is none. A removed player has no seat. A new
# seat invalidates tokens of the previous one. For a player who has left without having come, the server waits for
# newer orders.
func player_of(claims):
	var one = attendants.get(claims.sub)
	var has_left = one != null and one.status == "left"
	# A player who has left with this seat is refused at once, without waiting for newer orders.
	if one != null and one.status in ["left", ""] and one.seat != "" and one.seat == claims.sid:
		return _players.get(claims.sub)
	if not _seats.has(claims.sub) or (has_left and one.seat == ""):
		return null
	var own = _seats[claims.sub]
	return _players.get(claims.sub) if own == null or own == claims.sid else null


# Applies the roster of newer orders. Returns the players who are new or have joined again.
func update(order):
	var tickets = {}
	for team in order.teams:
		for member in team.players:
			tickets[member.ticket_id] = tickets.get(member.ticket_id, 0) + 1
	var joined = []
	_teams = {}
	_seats = {}
	for team in order.teams:
		var members = []
		for member in team.players:
			_seats[member.id] = member.get("seat_id")
			var player = {"id": member.id, "matchId": id}
			player["team"] = null if team.name == "" else team.name
			player["groupId"] = member.ticket_id if tickets[member.ticket_id] > 1 else null
			var given = member.get("attributes")
			player["attributes"] = {} if given == null else given
			if _is_new(member.id, member.ticket_id):
				joined.append(player)
			_players[member.id] = player
			members.append(player)
		_teams[team.name] = members
	return joined


func _is_new(player_id, ticket):
	var before = _tickets.get(player_id, "")
	if ticket != "":
		_tickets[player_id] = ticket
	if _players.has(player_id) and (before == "" or ticket == "" or before == ticket):
		return false
	# A player who has left got another seat. Nothing is reported about the player until they enter with it.
	if attendants.has(player_id) and attendants[player_id].status == "left":
		attendants[player_id].status = ""
	return true


# Returns why the token's player is not admitted; an empty string if the player is admitted.
func enter(claims):
	var iat = claims.get("iat", 0)
	var before = attendants.get(claims.sub)
	if before != null and before.seat == claims.sid:
		var is_fresh = iat >= before.iat if before.status == "away" else iat > before.iat
		if before.status in ["left", ""] or not is_fresh:
			return "used"
	attendants[claims.sub] = {"seat": claims.sid, "iat": iat, "status": "in", "until": -1}
	return ""


# Called when a player has left or will not come. Returns true if anything has changed.
func leave(player_id, may_return_ms, now):
	if not attendants.has(player_id) and _players.has(player_id):
		attendants[player_id] = {"seat": "", "iat": 0, "status": "in", "until": -1}
	var before = attendants.get(player_id)
	if before == null or before.status in ["left", ""]:
		return false
	before.status = "away" if may_return_ms > 0 else "left"
	before.until = now + may_return_ms if may_return_ms > 0 else -1
	return true


# Returns the field of a result that Muster would refuse, and why; an empty list if it is valid. `bytes`: its size as
# JSON.
func fault_of(given, bytes):
	if given == null:
		return []
	if not given is Dictionary:
		return ["result", "must be an object of `ranking` and `data`"]
	for name in given:
		if name != "ranking" and name != "data":
			return ["result", "has the unknown member " + VALUES.quoted(name) + ": put it into `data`"]
	var ranks = given.get("ranking", [])
	if not _are_lists(ranks):
		return ["ranking", "must be a list of lists of player ids"]
	var ranked = {}
	var fault = []
	for rank in ranks:
		if rank.size() == 0 and fault.size() == 0:
			fault = ["ranking", "has a rank without players"]
		for one in rank:
			if not _players.has(one):
				return ["ranking", VALUES.to_text(one) + " is not a player of the match"]
			if ranked.has(one):
				fault = ["ranking", "lists " + VALUES.quoted(one) + " twice"]
			ranked[one] = true
	if fault.size() == 0 and bytes > LARGEST_RESULT_BYTES:
		return ["data", "the result must have at most %d bytes as JSON, got %d" % [LARGEST_RESULT_BYTES, bytes]]
	return fault


static func _are_lists(ranks):
	if not ranks is Array:
		return false
	for rank in ranks:
		if not rank is Array:
			return false
	return true


# Returns the field of a seat request that Muster would refuse, and why; an empty list if it is valid.
func fault_of_seats(wanted):
	for team in wanted:
		if not _teams.has(team):
			return ["teams." + team, "the match has no such team"]
		var count = wanted[team]
		if count < 0 or count > 1000 or count != floor(count):
			# Formats the number like JSON, without trailing zeros.
			return ["teams." + team, "must be a whole number up to 1,000, got " + str(count)]
	return []


# Ends an unfinished match without a result. A match to which no player was sent yet goes to another server.
func give_up():
	if status == "over":
		return
	status = "over" if status == "open" else "refused"
	seats = null


func report():
	var statuses = {}
	# Muster knows of players who have left and are no longer in its orders. In a long match these become many.
	for player_id in attendants:
		var player_status = attendants[player_id].status
		if player_status != "" and (player_status != "left" or _seats.has(player_id)):
			statuses[player_id] = player_status
	# A ranking may contain players who never came.
	if result != null and result.get("ranking") != null:
		for rank in result.ranking:
			for one in rank:
				if not statuses.has(one):
					statuses[one] = "left"
	var made = {"id": id, "status": status, "players": statuses}
	if seats != null:
		made["seats"] = seats
	if result != null:
		made["result"] = result
	return made
