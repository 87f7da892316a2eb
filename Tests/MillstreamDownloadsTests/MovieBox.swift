/// Returns a box of an MP4 file.
func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
    let payload = parts.flatMap(\.self)
    let size = payload.count + 8
    return [UInt8(size >> 24 & 0xFF), UInt8(size >> 16 & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF)]
        + Array(type.utf8) + payload
}
