# The functions that the machines need from Godot 4.


func random() -> float:
	return randf()


func encode(text: String) -> String:
	return text.uri_encode()


func from_base64(text: String) -> PackedByteArray:
	return Marshalls.base64_to_raw(text)


# Returns null if the bytes are not JSON.
func parse(bytes: PackedByteArray) -> Variant:
	var reader := JSON.new()
	return reader.data if reader.parse(bytes.get_string_from_utf8()) == OK else null


# Returns null if the text is not JSON.
func parse_text(text: String) -> Variant:
	return parse(text.to_utf8_buffer())


func json_bytes(value: Variant) -> int:
	return JSON.stringify(value).to_utf8_buffer().size()


func hmac_sha256(key: PackedByteArray, text: String) -> PackedByteArray:
	return Crypto.new().hmac_digest(HashingContext.HASH_SHA256, key, text.to_utf8_buffer())
