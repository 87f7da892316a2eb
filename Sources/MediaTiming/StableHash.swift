/// A hash that is the same for the same bytes in every process: FNV-1a with 64 bits.
///
/// The hash is not cryptographic: it must not protect secrets, and collisions can be constructed.
package struct StableHash: Sendable, Hashable {
    /// The hash of the bytes so far.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of no bytes.
    package init() {}

    /// Creates the hash of bytes.
    package init(_ bytes: some Sequence<UInt8>) { combine(bytes) }

    /// Creates the hash of the UTF-8 of a text.
    package init(_ text: some StringProtocol) { combine(text.utf8) }

    /// Adds a byte.
    @inline(__always)
    package mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

    /// Adds bytes.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
    }
}
