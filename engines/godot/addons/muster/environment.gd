# Reads the environment variables that the deployment service, or whoever starts the process, sets for a game server.
# This file works with Godot 3 and 4.


# Returns the prefix of the deployment service's variables. It is MUSTER_SERVICE_PREFIX, if set. Otherwise it is the
# known prefix whose variable _REQUEST_ID exists, or else SERVICE.
static func prefix_in(environment):
	var given = environment.get("MUSTER_SERVICE_PREFIX", "")
	if given != "":
		return given
	for known in ["SERVICE", "ARBITRIUM"]:
		if environment.get(known + "_REQUEST_ID", "") != "":
			return known
	return "SERVICE"


# The part of DELETE_URL's path before the request id. An access point's id follows the request id.
const BEFORE_ID = "/self/stop/"


# Returns the request id of the deployment in which this process runs: SERVICE_REQUEST_ID, or else the one in
# SERVICE_DELETE_URL. Empty outside of a deployment.
static func deployment_in(environment):
	var prefix = prefix_in(environment)
	var id = environment.get(prefix + "_REQUEST_ID", "")
	if id != "":
		return id
	var url = environment.get(prefix + "_DELETE_URL", "")
	var from = url.rfind(BEFORE_ID)
	if from == -1:
		return ""
	from += BEFORE_ID.length()
	var to = url.find("/", from)
	return "" if to == -1 else url.substr(from, to - from)


# Returns true if the process enrols in a pool with a key, because Muster has not started it.
static func enrols_in(environment):
	return environment.get("MUSTER_ENROL_KEY", "") != ""


const WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


# Returns the name and the port of an entry of MUSTER_SERVER_PORTS, e.g. `game=7777/udp`. Null if the entry is
# malformed.
static func _listed_port(text):
	var begun = text.strip_edges()
	var equals = begun.find("=")
	if equals < 1 or equals > 64:
		return null
	var name = begun.substr(0, equals)
	var rest = begun.substr(equals + 1, begun.length() - equals - 1)
	var slash = rest.find("/")
	var protocol = "udp" if slash == -1 else rest.substr(slash + 1, rest.length() - slash - 1)
	var port = _port_of(rest if slash == -1 else rest.substr(0, slash))
	if port == null or port == 0 or protocol == "" or not _has_only(name, WORD + "-"):
		return null
	return [name, _port_with(port, port, protocol.to_upper())] if _has_only(protocol, WORD + "/") else null


static func _has_only(text, allowed):
	for one in text:
		if not one in allowed:
			return false
	return true


# Returns the ports of MUSTER_SERVER_PORTS by name, and `fault`, a sentence about a malformed entry, which is omitted.
static func listed_ports_in(environment):
	var ports = {}
	var fault = ""
	for text in environment.get("MUSTER_SERVER_PORTS", "").split(","):
		if text.strip_edges() == "":
			continue
		var listed = _listed_port(text)
		if listed == null:
			fault = "MUSTER_SERVER_PORTS: must be such as game=7777/udp, got \"%s\"" % text
		else:
			ports[listed[0]] = listed[1]
	return {"ports": ports, "fault": fault}


# Returns the deployment's ports by name, with `internal`, `external` and `protocol`. They come from
# SERVICE_PORTS_MAPPING or, without it, from SERVICE_PORT_{NAME}_INTERNAL, _EXTERNAL and _PROTOCOL, with names in
# lower case. With MUSTER_ENROL_KEY, they come from MUSTER_SERVER_PORTS. `environment`: values by name.
static func ports_in(environment, platform):
	if enrols_in(environment):
		return listed_ports_in(environment).ports
	var prefix = prefix_in(environment)
	var mapping = platform.parse_text(environment.get(prefix + "_PORTS_MAPPING", ""))
	var ports = {}
	if mapping is Dictionary and mapping.get("ports") is Dictionary:
		for name in mapping.ports:
			var port = mapping.ports[name]
			if port is Dictionary and _is_port(port.get("internal")):
				ports[name] = _port_with(port.internal, port.get("external"), port.get("protocol"))
		return ports
	var before = prefix + "_PORT_"
	for key in environment:
		var name = key.substr(before.length(), key.length() - before.length() - "_INTERNAL".length())
		if key != before + name + "_INTERNAL" or name == "":
			continue
		var internal = _port_of(environment[key])
		var external = _port_of(environment.get(before + name + "_EXTERNAL", ""))
		if internal != null:
			ports[name.to_lower()] = _port_with(internal, external, environment.get(before + name + "_PROTOCOL"))
	return ports


# Returns the names of the variables with ports. `text`: one variable per line, as NAME=value. A line of a multi-line
# value may look like a variable. Such a variable is not set.
static func port_variables_in(text, prefix):
	var names = []
	for line in text.split("\n"):
		var name = line.split("=")[0]
		if name.begins_with(prefix + "_PORT_"):
			names.append(name)
	return names


# Returns the body of the registration: the game's fields, the deployment and the ports on which the server listens.
# If the server enrols in a pool, it also contains its name, MUSTER_SERVER_NAME, and its address.
static func registration_in(registration, environment, platform):
	var listening = {}
	var reached = {}
	var ports = ports_in(environment, platform)
	for name in ports:
		listening[name] = ports[name].internal
		reached[name] = {"port": ports[name].external, "protocol": ports[name].protocol}
	var made = registration.duplicate()
	if enrols_in(environment):
		made["name"] = environment.get("MUSTER_SERVER_NAME", "")
		made["address"] = {"ports": reached}
		if environment.get("MUSTER_SERVER_ADDRESS", "") != "":
			made["address"]["host"] = environment["MUSTER_SERVER_ADDRESS"]
		return made
	var deployment = deployment_in(environment)
	if deployment != "":
		made["deployment"] = deployment
	if listening.size() > 0:
		made["ports"] = listening
	return made


static func _port_with(internal, external, protocol):
	return {
		"internal": internal,
		"external": external if _is_port(external) else internal,
		"protocol": protocol if protocol is String else "UDP",
	}


static func _is_port(value):
	return (value is float or value is int) and value >= 0 and value <= 65535 and value == floor(value)


# Returns the port number in a string; null if there is none.
static func _port_of(text):
	if text.length() < 1 or text.length() > 5:
		return null
	for one in text:
		if not one in "0123456789":
			return null
	return int(text) if _is_port(int(text)) else null
