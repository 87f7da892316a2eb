import MediaTiming

/// The CRC-32 checksum of gzip (RFC 1952 §8).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        // Bounded: the index is within a table of 256 or 32 entries.
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    /// Returns the checksum of bytes.
    static func of(_ bytes: [UInt8]) -> UInt32 {
        let table = table
        return ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    /// Returns the checksum of a repeated byte, in a number of steps logarithmic in the count.
    static func of(_ byte: UInt8, repeated count: Int) -> UInt32 {
        var register: UInt32 = ~0
        var run = Run { table[Int(UInt8(truncatingIfNeeded: $0) ^ byte)] ^ $0 >> 8 }
        var left = count
        while left > 0 {
            if left & 1 == 1 { register = run.applied(to: register) }
            run = run.doubled()
            left >>= 1
        }
        return ~register
    }

    /// The effect of a sequence of bytes on the register: a linear map of its 32 bits, and the addition of a constant.
    private struct Run {
        private let columns: [UInt32]
        private let constant: UInt32

        init(_ map: (UInt32) -> UInt32) {
            let constant = map(0)
            self.constant = constant
            // Bounded: the index is within a table of 256 or 32 entries.
            columns = (0..<32).map { map(1 << UInt32($0)) ^ constant }
        }

        func applied(to register: UInt32) -> UInt32 {
            // Bounded: the index is within a table of 256 or 32 entries.
            columns.indices.reduce(constant) { register >> UInt32($1) & 1 == 1 ? $0 ^ columns[$1] : $0 }
        }

        /// Returns the effect of the sequence repeated twice.
        func doubled() -> Run { Run { applied(to: applied(to: $0)) } }
    }
}
