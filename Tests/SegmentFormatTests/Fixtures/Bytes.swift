/// Returns the low 8 bits of an integer; the functions that follow return more bits in big-endian order.
func u8(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value)] }
func u16(_ value: Int) -> [UInt8] { u8(value >> 8) + u8(value) }
func u24(_ value: Int) -> [UInt8] { u8(value >> 16) + u16(value) }
func u32(_ value: Int) -> [UInt8] { u16(value >> 16) + u16(value) }
func u64(_ value: Int) -> [UInt8] { u32(value >> 32) + u32(value) }
func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

extension [UInt8] {
    func join(_ parts: [UInt8]...) -> [UInt8] { parts.reduce(self, +) }
}

/// Returns a box of ISO/IEC 14496-12.
func box(_ type: String, _ payload: [UInt8]...) -> [UInt8] {
    let body = payload.flatMap { $0 }
    return u32(body.count + 8) + ascii(type) + body
}

/// Returns a full box with a version and flags (ISO/IEC 14496-12 §4.2).
func fullBox(_ type: String, _ version: Int = 0, _ flags: Int = 0, _ payload: [UInt8]...) -> [UInt8] {
    box(type, u8(version) + u24(flags), payload.flatMap { $0 })
}
